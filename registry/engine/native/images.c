/* Images: the entries of the maps of rows, put together from the places of their texts.
 *
 * Rows come in blocks that have the same columns. A block says for each of its rows and columns which of all texts is
 * the value; a block without places is one of rows without an image.
 */
#include "cells.h"

typedef struct {
    const int64_t *places;  /* rows by columns, or NULL */
    const uint8_t *present; /* rows by columns, a byte each; NULL where every row has every column */
    const int64_t *names;   /* of each column, which of the names it has */
    int64_t columns;
    int64_t first; /* the number of its first row among the rows of all blocks */
} Block;

/* Adds up the entries of the rows, the bytes of their names and those of their texts. */
EXPORT void cdc_measure_images(const Block *blocks, const int32_t *block_of, const int64_t *order, int64_t rows,
                               const int32_t *name_offsets, const int32_t *text_offsets, int64_t *totals) {
    int64_t entries = 0, names = 0, texts = 0;
    for (int64_t row = 0; row < rows; row++) {
        const Block *block = blocks + block_of[order[row]];
        if (!block->places) continue;
        int64_t at = (order[row] - block->first) * block->columns;
        for (int64_t column = 0; column < block->columns; column++) {
            if (block->present && !block->present[at + column]) continue;
            int64_t name = block->names[column], place = block->places[at + column];
            entries++;
            names += name_offsets[name + 1] - name_offsets[name];
            texts += text_offsets[place + 1] - text_offsets[place];
        }
    }
    totals[0] = entries, totals[1] = names, totals[2] = texts;
}

/* Writes the entries of the rows in their order: where those of each row begin, and where the last ends; of each entry
 * the name and the text, with offsets, and a bit for each text that is not null (zeros before). `there` has such bits for
 * all texts; no bits stand for all of them. */
EXPORT void cdc_write_images(const Block *blocks, const int32_t *block_of, const int64_t *order, int64_t rows,
                             const int32_t *name_offsets, const uint8_t *names, const int32_t *text_offsets,
                             const uint8_t *texts, const uint8_t *there, int64_t first_there, int32_t *begins,
                             int32_t *key_offsets, uint8_t *keys, int32_t *item_offsets, uint8_t *items,
                             uint8_t *valid) {
    int64_t entry = 0, key_at = 0, item_at = 0;
    for (int64_t row = 0; row < rows; row++) {
        const Block *block = blocks + block_of[order[row]];
        begins[row] = (int32_t)entry;
        if (!block->places) continue;
        int64_t at = (order[row] - block->first) * block->columns;
        for (int64_t column = 0; column < block->columns; column++) {
            if (block->present && !block->present[at + column]) continue;
            int64_t name = block->names[column], place = block->places[at + column], bit = first_there + place;
            int32_t start = name_offsets[name], length = name_offsets[name + 1] - start;
            key_offsets[entry] = (int32_t)key_at, item_offsets[entry] = (int32_t)item_at;
            copy_bytes(keys + key_at, names + start, length), key_at += length;
            if (!there || (there[bit >> 3] >> (bit & 7) & 1)) {
                start = text_offsets[place], length = text_offsets[place + 1] - start;
                copy_bytes(items + item_at, texts + start, length), item_at += length;
                valid[entry >> 3] |= (uint8_t)(1 << (entry & 7));
            }
            entry++;
        }
    }
    begins[rows] = (int32_t)entry, key_offsets[entry] = (int32_t)key_at, item_offsets[entry] = (int32_t)item_at;
}

typedef struct {
    const int64_t *places;  /* rows by columns */
    const uint8_t *present; /* rows by columns, a byte each; NULL where every row has every column */
    const int64_t *rows;    /* of each row that is wanted, which it is; -1 where there is none */
} Source;

/* Completes the images of rows by what the images `under` them have of columns that they lack. For each row and column:
 * the place of the text, 0 where there is none, whether it was `sent`, and whether it is there at all; `partial` are the
 * rows that were completed. Bytes of `partial` are zeros before.
 */
EXPORT void cdc_complete_images(const Source *image, const Source *under, int64_t rows, int64_t columns, int64_t *places,
                                uint8_t *sent, uint8_t *there, uint8_t *partial) {
    for (int64_t row = 0; row < rows; row++) {
        int64_t from = image->rows[row] * columns, below = under->rows[row] * columns;
        for (int64_t column = 0; column < columns; column++, places++, sent++, there++) {
            int own = !image->present || image->present[from + column];
            int other = !own && below >= 0 && (!under->present || under->present[below + column]);
            *places = own ? image->places[from + column] : other ? under->places[below + column] : 0;
            *sent = (uint8_t)own, *there = (uint8_t)(own || other);
            partial[row] |= (uint8_t)other;
        }
    }
}
