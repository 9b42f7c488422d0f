/* Columns: values of messages as Arrow text, as integers, as codes of distinct tokens, and as digests. */
#include "interface.h"
#include "buffers.h"

static int put_utf8(uint8_t *to, uint32_t point) {
    if (point < 0x80) return to[0] = (uint8_t)point, 1;
    if (point < 0x800) return to[0] = (uint8_t)(0xC0 | point >> 6), to[1] = (uint8_t)(0x80 | (point & 63)), 2;
    if (point < 0x10000)
        return to[0] = (uint8_t)(0xE0 | point >> 12), to[1] = (uint8_t)(0x80 | (point >> 6 & 63)),
               to[2] = (uint8_t)(0x80 | (point & 63)), 3;
    return to[0] = (uint8_t)(0xF0 | point >> 18), to[1] = (uint8_t)(0x80 | (point >> 12 & 63)),
           to[2] = (uint8_t)(0x80 | (point >> 6 & 63)), to[3] = (uint8_t)(0x80 | (point & 63)), 4;
}

static uint32_t hex_of(const uint8_t *p) {
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) unit = unit * 16 + (uint32_t)(is_digit(p[i]) ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    return unit;
}

/* Writes a text whose escapes are known to be valid; what is written is never longer than what is read. */
static int64_t unescape(const uint8_t *p, int64_t length, uint8_t *to) {
    static const uint8_t letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const uint8_t *end = p + length;
    uint8_t *start = to;
    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] != 'u') {
            for (int i = 0; i < 16; i += 2)
                if (letters[i] == p[1]) *to++ = letters[i + 1];
            p += 2;
        } else {
            uint32_t point = hex_of(p + 2);
            p += 6;
            if (point >= 0xD800 && point < 0xDC00) {
                point = 0x10000 + ((point - 0xD800) << 10) + (hex_of(p + 2) - 0xDC00);
                p += 6;
            }
            to += put_utf8(to, point);
        }
    }
    return to - start;
}

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

/* Counts the values of each kind; in turn in four tables, since one would wait for its own last count. */
int64_t cdc_count_kinds(Buffer cell_buffer, Buffer total_buffer) {
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), *totals = ITEMS(total_buffer, int64_t), turns[4][16] = {{0}};
    if (!HOLDS(total_buffer, int64_t, 16)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) turns[i & 3][kind_of(cells[i])]++;
    for (int kind = 0; kind < 16; kind++)
        totals[kind] += turns[0][kind] + turns[1][kind] + turns[2][kind] + turns[3][kind];
    return count;
}

/* Picks the values that are not absent: their cells, and their indices; `present` gets a byte for each value. Returns how
 * many there are.
 */
int64_t cdc_pick_present(Buffer cell_buffer, Buffer picked_buffer, Buffer held_buffer, Buffer present_buffer) {
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    uint64_t *picked = ITEMS(picked_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), *held = ITEMS(held_buffer, int64_t), total = 0;
    uint8_t *present = present_buffer.at;
    if (!HOLDS(picked_buffer, uint64_t, count) || !HOLDS(held_buffer, int64_t, count)) return TOO_SHORT;
    if (!HOLDS(present_buffer, uint8_t, count)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        int there = kind_of(cells[i]) != ABSENT;
        picked[total] = cells[i], held[total] = i, present[i] = (uint8_t)there;
        total += there;
    }
    return total;
}

#define PERIOD 65536
#define BASE 0xD1B54A32D192ED03ull
#define SHORT 64 /* words whose powers are kept, so that none has to wait for the power of the one before it */

static inline uint64_t mix(uint64_t digest) {
    digest = (digest ^ digest >> 30) * 0xBF58476D1CE4E5B9ull;
    digest = (digest ^ digest >> 27) * 0x94D049BB133111EBull;
    return digest ^ digest >> 31;
}

/* Up to eight bytes as a number, the first byte lowest. */
static inline uint64_t word_of(const uint8_t *p, int64_t length) {
    uint64_t word = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (length >= 8) {
        memcpy(&word, p, 8);
        return word;
    }
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4), memcpy(&last, p + length - 4, 4);
        return first | (uint64_t)last << (length - 4) * 8;
    }
#endif
    for (int64_t at = 0; at < length && at < 8; at++) word |= (uint64_t)p[at] << at * 8;
    return word;
}

static inline uint64_t digest_text(const uint8_t *p, int64_t length, const uint64_t *powers) {
    uint64_t sum = 0, power = powers[SHORT - 1];
    int64_t at = 0, words = (length + 7) / 8, first = words < SHORT ? words : SHORT;
    for (; at < first; at++) sum += (word_of(p + at * 8, length - at * 8) + 1) * powers[at];
    for (; at < words; at++) {
        power = at % PERIOD ? power * BASE : BASE;
        sum += (word_of(p + at * 8, length - at * 8) + 1) * power;
    }
    return mix(sum + (uint64_t)length * 0x9E3779B97F4A7C15ull);
}

/* Writes the digest of each text or token, as `text_digests.py` does: a polynomial of its words. Values of other kinds
 * than `kinds` have the digest `other`. A `name` other than 0 is mixed into each. `room` has as many bytes as the
 * longest text with escapes.
 */
int64_t cdc_digests(Buffer source, Buffer cell_buffer, uint32_t kinds, uint64_t other, uint64_t name, Buffer room,
                           Buffer digest_buffer) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t);
    uint64_t powers[SHORT], power = 1, *digests = ITEMS(digest_buffer, uint64_t);
    if (!HOLDS(digest_buffer, uint64_t, count)) return TOO_SHORT;
    for (int i = 0; i < SHORT; i++) powers[i] = power *= BASE;
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        unsigned kind = kind_of(cells[i]);
        const uint8_t *p = data + start_of(cells[i]);
        int64_t length = length_of(cells[i]);
        uint64_t value = other;
        if (kinds >> kind & 1) {
            if (kind == ESCAPED) {
                if (length > room.size) return TOO_SHORT;
                length = unescape(p, length, room.at), p = room.at;
            }
            value = digest_text(p, length, powers);
        }
        digests[i] = name ? mix(value + name) : value;
    }
    return count;
}
