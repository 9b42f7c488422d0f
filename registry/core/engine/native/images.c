/* Images: the entries of the maps of rows, put together from the places of their texts.
 *
 * Rows come in blocks that have the same columns. A block says for each of its rows and columns which of all texts is
 * the value; a block without places is one of rows without an image.
 */
#include "interface.h"
#include "images.h"

/* Where the places of a row are in its block; -1 for a row without an image, TOO_SHORT where something is missing. */
static int64_t find_row(const Buffer *blocks, const Buffer *block_of, int64_t row, const Block **found) {
    if (row < 0 || !HOLDS(*block_of, int32_t, row + 1)) return TOO_SHORT;
    int64_t number = ITEMS(*block_of, int32_t)[row];
    if (number < 0 || !HOLDS(*blocks, Block, number + 1)) return TOO_SHORT;
    const Block *block = *found = ITEMS(*blocks, Block) + number;
    if (!block->held) return -1;
    int64_t at = (row - block->first) * block->columns, end = at + block->columns;
    if (at < 0 || !HOLDS(block->places, int64_t, end) || !HOLDS(block->names, int64_t, block->columns)) return TOO_SHORT;
    return IS_GIVEN(block->present) && !HOLDS(block->present, uint8_t, end) ? TOO_SHORT : at;
}

/* Adds up the entries of the rows, the bytes of their names and those of their texts. */
int64_t cdc_measure_images(Buffer blocks, Buffer block_of, Buffer order, Buffer name_offsets, Buffer name_bytes,
                                  Buffer text_offsets, Buffer text_bytes, Buffer there, int64_t first_there,
                                  Buffer total_buffer) {
    Texts names = texts_in(name_offsets, name_bytes, (Buffer){NULL, 0}, 0);
    Texts texts = texts_in(text_offsets, text_bytes, there, first_there);
    int64_t rows = COUNT_OF(order, int64_t), entries = 0, name_size = 0, text_size = 0;
    if (!HOLDS(total_buffer, int64_t, 3)) return TOO_SHORT;
    for (int64_t row = 0; row < rows; row++) {
        const Block *block;
        int64_t at = find_row(&blocks, &block_of, ITEMS(order, int64_t)[row], &block);
        if (at == TOO_SHORT) return TOO_SHORT;
        if (at < 0) continue;
        for (int64_t column = 0; column < block->columns; column++) {
            if (IS_GIVEN(block->present) && !block->present.at[at + column]) continue;
            int64_t name = ITEMS(block->names, int64_t)[column], place = ITEMS(block->places, int64_t)[at + column];
            if (!has_text(&names, name) || !has_text(&texts, place)) return TOO_SHORT;
            entries++, name_size += text_length(&names, name), text_size += text_length(&texts, place);
        }
    }
    int64_t *totals = ITEMS(total_buffer, int64_t);
    totals[0] = entries, totals[1] = name_size, totals[2] = text_size;
    return rows;
}

/* Writes the entries of the rows in their order, which were measured before: where those of each row begin, and where the
 * last ends; of each entry the name and the text, with offsets, and a bit for each text that is not null (zeros before).
 * `there` has such bits for all texts; no bits stand for all of them. What is read was checked when it was measured.
 */
int64_t cdc_write_images(Buffer blocks, Buffer block_of, Buffer order, Buffer name_offsets, Buffer name_bytes,
                                Buffer text_offsets, Buffer text_bytes, Buffer there, int64_t first_there,
                                Buffer total_buffer, Buffer begin_buffer, Buffer key_offset_buffer, Buffer keys,
                                Buffer item_offset_buffer, Buffer items, Buffer valid) {
    Texts names = texts_in(name_offsets, name_bytes, (Buffer){NULL, 0}, 0);
    Texts texts = texts_in(text_offsets, text_bytes, there, first_there);
    const int64_t *totals = ITEMS(total_buffer, int64_t);
    int64_t rows = COUNT_OF(order, int64_t), entry = 0, key_at = 0, item_at = 0;
    int32_t *begins = ITEMS(begin_buffer, int32_t), *key_offsets = ITEMS(key_offset_buffer, int32_t);
    int32_t *item_offsets = ITEMS(item_offset_buffer, int32_t);
    if (!HOLDS(total_buffer, int64_t, 3) || !HOLDS(begin_buffer, int32_t, rows + 1)) return TOO_SHORT;
    if (!HOLDS(key_offset_buffer, int32_t, totals[0] + 1) || !HOLDS(item_offset_buffer, int32_t, totals[0] + 1)) return TOO_SHORT;
    if (keys.size < totals[1] || items.size < totals[2] || !HOLDS_BITS(valid, totals[0])) return TOO_SHORT;
    for (int64_t row = 0; row < rows; row++) {
        int64_t number = ITEMS(order, int64_t)[row];
        const Block *block = ITEMS(blocks, Block) + ITEMS(block_of, int32_t)[number];
        begins[row] = (int32_t)entry;
        if (!block->held) continue;
        int64_t at = (number - block->first) * block->columns;
        for (int64_t column = 0; column < block->columns; column++) {
            if (IS_GIVEN(block->present) && !block->present.at[at + column]) continue;
            int64_t name = ITEMS(block->names, int64_t)[column], place = ITEMS(block->places, int64_t)[at + column];
            int32_t length = text_length(&names, name);
            key_offsets[entry] = (int32_t)key_at, item_offsets[entry] = (int32_t)item_at;
            copy_bytes(keys.at + key_at, names.bytes + names.offsets[name], length), key_at += length;
            if (is_there(&texts, place)) {
                length = text_length(&texts, place);
                copy_bytes(items.at + item_at, texts.bytes + texts.offsets[place], length), item_at += length;
                valid.at[entry >> 3] |= (uint8_t)(1 << (entry & 7));
            }
            entry++;
        }
    }
    begins[rows] = (int32_t)entry, key_offsets[entry] = (int32_t)key_at, item_offsets[entry] = (int32_t)item_at;
    return entry;
}

/* Whether a source has all rows that are wanted, none of them below `least`. */
static int has_rows(const Source *source, int64_t rows, int64_t columns, int64_t least) {
    int64_t most = COUNT_OF(source->places, int64_t);
    if (!HOLDS(source->rows, int64_t, rows)) return 0;
    if (IS_GIVEN(source->present) && source->present.size < most) most = source->present.size;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = ITEMS(source->rows, int64_t)[i];
        if (row < least || (row + 1) * columns > most) return 0;
    }
    return 1;
}

/* Completes the images of rows by what the images `under` them have of columns that they lack. For each row and column:
 * the place of the text, 0 where there is none, whether it was `sent`, and whether it is there at all; `partial` are the
 * rows that were completed. Bytes of `partial` are zeros before.
 */
int64_t cdc_complete_images(const Source *image, const Source *under, int64_t rows, int64_t columns,
                                   Buffer place_buffer, Buffer sent_buffer, Buffer there_buffer, Buffer partial) {
    if (rows < 0 || columns < 0 || !has_rows(image, rows, columns, 0) || !has_rows(under, rows, columns, -1)) return TOO_SHORT;
    if (!HOLDS(place_buffer, int64_t, rows * columns) || !HOLDS(sent_buffer, uint8_t, rows * columns)) return TOO_SHORT;
    if (!HOLDS(there_buffer, uint8_t, rows * columns) || !HOLDS(partial, uint8_t, rows)) return TOO_SHORT;
    const int64_t *own_places = ITEMS(image->places, int64_t), *under_places = ITEMS(under->places, int64_t);
    int64_t *places = ITEMS(place_buffer, int64_t);
    uint8_t *sent = sent_buffer.at, *there = there_buffer.at;
    for (int64_t row = 0; row < rows; row++) {
        int64_t from = ITEMS(image->rows, int64_t)[row] * columns, below = ITEMS(under->rows, int64_t)[row] * columns;
        for (int64_t column = 0; column < columns; column++, places++, sent++, there++) {
            int own = !IS_GIVEN(image->present) || image->present.at[from + column];
            int other = !own && below >= 0 && (!IS_GIVEN(under->present) || under->present.at[below + column]);
            *places = own ? own_places[from + column] : other ? under_places[below + column] : 0;
            *sent = (uint8_t)own, *there = (uint8_t)(own || other);
            partial.at[row] |= (uint8_t)other;
        }
    }
    return rows;
}
