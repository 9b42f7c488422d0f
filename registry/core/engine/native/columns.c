/* Columns: values of messages as Arrow text, as integers, and as codes of distinct tokens. */
#include "interface.h"
#include "buffers.h"
#include "escapes.h"

/* The bytes that the texts of values take at most. */
int64_t cdc_text_size(Buffer cell_buffer, uint32_t kinds) {
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), total = 0;
    for (int64_t i = 0; i < count; i++)
        if (kinds >> kind_of(cells[i]) & 1) total += length_of(cells[i]);
    return total;
}

/* Writes the texts of values as an Arrow string array: `count` + 1 offsets, the bytes, and a bit for each that is not
 * null (`valid`, zeros before). A number is its token. Values of other kinds than `kinds` are null. Returns the bytes.
 */
int64_t cdc_texts(Buffer source, Buffer cell_buffer, uint32_t kinds, Buffer offset_buffer, Buffer text_buffer,
                         Buffer valid) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), total = 0;
    int32_t *offsets = ITEMS(offset_buffer, int32_t);
    uint8_t *text = text_buffer.at;
    if (!HOLDS(offset_buffer, int32_t, count + 1) || !HOLDS_BITS(valid, count)) return TOO_SHORT;
    if (text_buffer.size < cdc_text_size(cell_buffer, kinds)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        unsigned kind = kind_of(cells[i]);
        offsets[i] = (int32_t)total;
        if (!(kinds >> kind & 1)) continue;
        valid.at[i >> 3] |= (uint8_t)(1 << (i & 7));
        const uint8_t *from = data + start_of(cells[i]);
        int64_t length = length_of(cells[i]);
        if (kind == ESCAPED) total += unescape(from, length, text + total);
        else copy_bytes(text + total, from, length), total += length;
    }
    offsets[count] = (int32_t)total;
    return total;
}

static int is_replacement(const uint8_t *p, const uint8_t *end) {
    return end - p > 2 && p[0] == 0xEF && p[1] == 0xBF && p[2] == 0xBD;
}

/* The characters of a text without escapes; whether one of them is U+FFFD is written to `replaced`. */
static int32_t count_plain(const uint8_t *p, const uint8_t *end, uint8_t *replaced) {
    uint64_t high = 0, word;
    const uint8_t *at = p;
    for (; end - at >= 8; at += 8) memcpy(&word, at, 8), high |= word;
    for (; at < end; at++) high |= *at;
    if (!(high & 0x8080808080808080ull)) return (int32_t)(end - p);
    int32_t total = 0;
    for (at = p; at < end; at++) total += (*at & 0xC0) != 0x80;
    for (; p < end && !*replaced; p++) *replaced = (uint8_t)is_replacement(p, end);
    return total;
}

/* The same for a text whose escapes are known to be valid. */
static int32_t count_escaped(const uint8_t *p, const uint8_t *end, uint8_t *replaced) {
    int32_t total = 0;
    while (p < end) {
        if (*p != '\\') {
            total += (*p & 0xC0) != 0x80;
            *replaced |= (uint8_t)is_replacement(p, end);
            p++;
            continue;
        }
        total++;
        if (p[1] != 'u') {
            p += 2;
            continue;
        }
        uint32_t unit = hex_of(p + 2);
        *replaced |= (uint8_t)(unit == 0xFFFD);
        p += unit >= 0xD800 && unit < 0xDC00 ? 12 : 6;
    }
    return total;
}

/* Counts the characters of texts; if `behind`, of what follows their first blank. Other values have none. `replaced`,
 * zeros before, marks the texts with U+FFFD. Returns how many these are.
 */
int64_t cdc_count_characters(Buffer source, Buffer cell_buffer, int32_t behind, Buffer character_buffer,
                                    Buffer replaced_buffer) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), found = 0;
    int32_t *characters = ITEMS(character_buffer, int32_t);
    uint8_t *replaced = replaced_buffer.at;
    if (!HOLDS(character_buffer, int32_t, count) || !HOLDS(replaced_buffer, uint8_t, count)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        unsigned kind = kind_of(cells[i]);
        characters[i] = 0;
        if (kind != TEXT && kind != ESCAPED) continue;
        const uint8_t *p = data + start_of(cells[i]), *end = p + length_of(cells[i]);
        if (behind) {
            while (p < end && *p != ' ') p++;
            if (p < end) p++;
        }
        characters[i] = (kind == TEXT ? count_plain : count_escaped)(p, end, replaced + i);
        found += replaced[i];
    }
    return found;
}

/* Reads values of the kind INTEGER; the others are 0. */
int64_t cdc_integers(Buffer source, Buffer cell_buffer, Buffer number_buffer) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), *numbers = ITEMS(number_buffer, int64_t);
    if (!HOLDS(number_buffer, int64_t, count)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        int64_t number = 0;
        if (kind_of(cells[i]) == INTEGER) {
            const uint8_t *p = data + start_of(cells[i]), *end = p + length_of(cells[i]);
            int negative = *p == '-';
            for (p += negative; p < end; p++) number = number * 10 + (*p - '0');
            if (negative) number = -number;
        }
        numbers[i] = number;
    }
    return count;
}

#define MOST_CODES 64

/* Numbers the distinct tokens of values from 0 on; `firsts` gets the place of the first of each. Returns how many there
 * are, or -1 where they are more than 64.
 */
int64_t cdc_codes(Buffer source, Buffer cell_buffer, Buffer code_buffer, Buffer first_buffer) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), *firsts = ITEMS(first_buffer, int64_t), total = 0, latest = 0;
    uint8_t *codes = code_buffer.at;
    if (!HOLDS(code_buffer, uint8_t, count) || !HOLDS(first_buffer, int64_t, MOST_CODES)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        uint64_t cell = cells[i], tail = cell & 0xFFFFFFFFu;
        uint32_t length = kind_of(cell) == ABSENT ? 0 : length_of(cell);
        const uint8_t *token = data + start_of(cell);
        int64_t code = -1;
        for (int64_t step = 0; step < total; step++) {
            int64_t one = step == 0 ? latest : step <= latest ? step - 1 : step;
            uint64_t other = cells[firsts[one]];
            if (other == cell ||
                ((other & 0xFFFFFFFFu) == tail && memcmp(data + start_of(other), token, length) == 0)) {
                code = one;
                break;
            }
        }
        if (code < 0) {
            if (total == MOST_CODES) return -1;
            firsts[code = total++] = i;
        }
        codes[i] = (uint8_t)(latest = code);
    }
    return total;
}

/* Finds the kinds of the first `count` values of each column, a bit each, and how many of these are absent; the cells of the
 * columns follow each other, as many for each, and so do the two numbers of each.
 */
int64_t cdc_find_kinds(Buffer cell_buffer, int64_t count, Buffer found_buffer) {
    int64_t columns = COUNT_OF(found_buffer, int64_t) / 2, *found = ITEMS(found_buffer, int64_t);
    int64_t capacity = columns > 0 ? COUNT_OF(cell_buffer, uint64_t) / columns : 0;
    if (count < 0 || columns < 1 || count > capacity) return TOO_SHORT;
    for (int64_t column = 0; column < columns; column++) {
        const uint64_t *cells = ITEMS(cell_buffer, uint64_t) + column * capacity;
        int64_t held = 0, absent = 0;
        for (int64_t i = 0; i < count; i++) held |= 1 << kind_of(cells[i]), absent += kind_of(cells[i]) == ABSENT;
        found[2 * column] = held, found[2 * column + 1] = absent;
    }
    return count;
}
