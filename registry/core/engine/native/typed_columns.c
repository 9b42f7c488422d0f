/* Typed columns: canonical texts read into the values of a column, where they surely are values of its type.

What is not written as plainly as nearly all values are is "open": the caller reads the whole column another way. */
#include "interface.h"
#include "forms.h"

#include <float.h>

enum column { WHOLE_COLUMN, DECIMAL_COLUMN, DATE_COLUMN, CLOCK_COLUMN, INSTANT_COLUMN, FLOAT_COLUMN };

/* Digits as a number; -1 where there is another character. */
static int64_t digits(const uint8_t *p, int64_t count) {
    int64_t number = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!is_digit(p[i])) return -1;
        number = number * 10 + (p[i] - '0');
    }
    return number;
}

/* A whole number of 128 bits in two's complement, as Arrow has it: decimals have up to 38 digits. */
typedef struct {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint64_t high, low;
#else
    uint64_t low, high;
#endif
} Wide;

#define MOST_LOW 1000000000000000000u /* ten times this and a digit fit into 64 bits */

static void append_digit(Wide *number, unsigned digit) {
    if (number->high == 0 && number->low < MOST_LOW) {
        number->low = number->low * 10 + digit;
        return;
    }
    uint64_t lower = (number->low & 0xFFFFFFFFu) * 10 + digit, upper = (number->low >> 32) * 10 + (lower >> 32);
    number->low = upper << 32 | (lower & 0xFFFFFFFFu);
    number->high = number->high * 10 + (upper >> 32);
}

static int read_decimal(const uint8_t *p, int64_t length, int precision, int scale, Wide *value) {
    int64_t at = 0, negative = length > 0 && p[0] == '-', whole = 0, fraction = 0;
    Wide number = {0, 0};
    for (at = negative; at < length && is_digit(p[at]); at++, whole++) append_digit(&number, (unsigned)(p[at] - '0'));
    if (whole == 0 || whole > precision) return 0;
    if (p[negative] == '0' ? whole > 1 : whole > precision - scale) return 0;
    if (at < length) {
        if (p[at++] != '.' || at == length || length - at > scale) return 0;
        for (; at < length && is_digit(p[at]); at++, fraction++) append_digit(&number, (unsigned)(p[at] - '0'));
        if (at < length) return 0;
    }
    for (; fraction < scale; fraction++) append_digit(&number, 0);
    if (negative) number.low = ~number.low + 1, number.high = ~number.high + (number.low == 0);
    *value = number;
    return 1;
}

static int read_day(const uint8_t *p, int64_t *days) {
    static const uint8_t lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = digits(p, 4), month = digits(p + 5, 2), day = digits(p + 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || p[4] != '-' || p[7] != '-') return 0;
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > lengths[month - 1] + (month == 2 && leap)) return 0;
    int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    *days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    return 1;
}

static int read_moment(const uint8_t *p, int64_t length, int zoned, int64_t *micros) {
    int64_t days, fraction = 0, scale = 1000000;
    length -= zoned;
    if (length < 19 || (zoned && p[length] != 'Z') || !read_day(p, &days)) return 0;
    if (p[10] != 'T' || p[13] != ':' || p[16] != ':') return 0;
    int64_t hours = digits(p + 11, 2), minutes = digits(p + 14, 2), seconds = digits(p + 17, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return 0;
    if (length > 19) {
        if (p[19] != '.' || length == 20 || length > 26) return 0;
        fraction = digits(p + 20, length - 20);
        if (fraction < 0) return 0;
        for (int64_t held = 20; held < length; held++) scale /= 10;
    }
    *micros = ((days * 24 + hours) * 60 + minutes) * 60000000 + seconds * 1000000 + fraction * scale;
    return 1;
}

#define MOST_FLOAT_DIGITS 17
#define MOST_EXACT 9007199254740992 /* up to this a binary64 holds every whole number */

/* A whole number over a power of ten, both exact as binary64: their quotient is rounded once, to the nearest. */
static int read_float(const uint8_t *p, int64_t length, double *value) {
    static const double tens[MOST_FLOAT_DIGITS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                                       1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};
    int64_t at = 0, negative = length > 0 && p[0] == '-', whole = 0, fraction = 0, number = 0;
    if (FLT_EVAL_METHOD != 0 || length > MOST_FLOAT_DIGITS + 2) return 0;
    for (at = negative; at < length && is_digit(p[at]) && whole < MOST_FLOAT_DIGITS; at++, whole++)
        number = number * 10 + (p[at] - '0');
    if (whole == 0 || (p[negative] == '0' && whole > 1)) return 0;
    if (at < length) {
        if (p[at++] != '.' || at == length) return 0;
        for (; at < length && is_digit(p[at]) && whole + fraction < MOST_FLOAT_DIGITS; at++, fraction++)
            number = number * 10 + (p[at] - '0');
        if (at < length) return 0;
    }
    if (number > MOST_EXACT || (number == 0 && length > 1)) return 0;
    *value = (double)(negative ? -number : number) / tens[fraction];
    return 1;
}

/* Read the text at each place, which is -1 where there is none, into `out`, and mark in `valid` which are not null.
 * A bit of `there` says of each text whether it is one; no bits stand for all. Return whether all were read. */
int64_t cdc_read_texts(Buffer offsets, Buffer bytes, Buffer there, int64_t first_there, Buffer place_buffer,
                              int32_t kind, int32_t precision, int32_t scale, Buffer out_buffer, Buffer valid_buffer,
                              int64_t first) {
    Texts texts = texts_in(offsets, bytes, there, first_there);
    const int64_t *places = ITEMS(place_buffer, int64_t);
    int64_t total = COUNT_OF(place_buffer, int64_t), width = kind == DECIMAL_COLUMN ? 16 : kind == DATE_COLUMN ? 4 : 8;
    uint8_t *out = out_buffer.at, *valid = valid_buffer.at;
    if (first < 0 || !holds_bytes(out_buffer, first + total, width)) return TOO_SHORT;
    if (!HOLDS_BITS(valid_buffer, first + total)) return TOO_SHORT;
    for (int64_t row = 0; row < total; row++) {
        int64_t place = places[row], whole = 0, to = first + row;
        Wide number = {0, 0};
        double real = 0;
        if (place >= 0 && !has_text(&texts, place)) return TOO_SHORT;
        int read = place < 0 || !is_there(&texts, place);
        if (!read) {
            const uint8_t *p = texts.bytes + texts.offsets[place];
            int64_t length = text_length(&texts, place);
            if (kind == WHOLE_COLUMN) {
                read = read_decimal(p, length, MOST_DIGITS, 0, &number) && (number.low || length == 1); /* `-0` is no integer */
                whole = (int64_t)number.low;
            }
            else if (kind == DECIMAL_COLUMN) read = read_decimal(p, length, precision, scale, &number);
            else if (kind == FLOAT_COLUMN) read = read_float(p, length, &real);
            else if (kind == DATE_COLUMN) read = length == 10 && read_day(p, &whole);
            else read = read_moment(p, length, kind == INSTANT_COLUMN, &whole);
            if (!read) return 0;
            valid[to >> 3] |= (uint8_t)(1 << (to & 7));
        }
        if (kind == DECIMAL_COLUMN) memcpy(out + 16 * to, &number, 16);
        else if (kind == FLOAT_COLUMN) ITEMS(out_buffer, double)[to] = real;
        else if (kind == DATE_COLUMN) ITEMS(out_buffer, int32_t)[to] = (int32_t)whole;
        else ITEMS(out_buffer, int64_t)[to] = whole;
    }
    return 1;
}

/* Find the column of each entry of the maps of some rows by its key: `places` gets, for each column and row, which entry
 * it is, and `others` the entries of no column. Return how many these are. The columns are few. */
int64_t cdc_place_keys(Buffer key_offsets, Buffer key_bytes, Buffer map_offset_buffer, Buffer there, int64_t first,
                              int64_t rows, Buffer name_offset_buffer, Buffer name_bytes, int32_t columns,
                              Buffer place_buffer, Buffer other_buffer) {
    Buffer none = {NULL, 0};
    Texts keys = texts_in(key_offsets, key_bytes, none, 0), listed = texts_in(name_offset_buffer, name_bytes, none, 0);
    const int32_t *map_offsets = ITEMS(map_offset_buffer, int32_t), *name_offsets = ITEMS(name_offset_buffer, int32_t);
    const uint8_t *names = name_bytes.at;
    int64_t *places = ITEMS(place_buffer, int64_t), *others = ITEMS(other_buffer, int64_t), found = 0;
    if (rows < 0 || columns < 0 || !HOLDS(map_offset_buffer, int32_t, rows + 1)) return TOO_SHORT;
    if (first < 0 || (IS_GIVEN(there) && !HOLDS_BITS(there, first + rows))) return TOO_SHORT;
    if (!HOLDS(place_buffer, int64_t, rows * columns)) return TOO_SHORT;
    for (int32_t column = 0; column < columns; column++)
        if (!has_text(&listed, column)) return TOO_SHORT;
    for (int64_t row = 0, start = map_offsets[0]; row < rows; row++) {
        int32_t expected = 0;
        if (IS_GIVEN(there) && !(there.at[(first + row) >> 3] >> ((first + row) & 7) & 1)) continue;
        for (int64_t entry = map_offsets[row] - start; entry < map_offsets[row + 1] - start; entry++) {
            if (!has_text(&keys, entry)) return TOO_SHORT;
            const uint8_t *key = keys.bytes + keys.offsets[entry];
            int32_t length = text_length(&keys, entry), tried = 0, column = expected;
            for (; tried < columns; tried++) {
                if (column == columns) column = 0;
                const uint8_t *name = names + name_offsets[column];
                if (name_offsets[column + 1] - name_offsets[column] == length && !memcmp(name, key, (size_t)length)) break;
                column++;
            }
            if (tried < columns) {
                places[column * rows + row] = entry, expected = column + 1;
                continue;
            }
            if (!HOLDS(other_buffer, int64_t, found + 1)) return TOO_SHORT;
            others[found++] = entry;
        }
    }
    return found;
}

static int64_t pads_of(const uint8_t *p, int64_t length) {
    return length && p[length - 1] == '=' ? 1 + (p[length - 2] == '=') : 0;
}

/* The bytes of padded Base64; 0 where a text is none, or its last digit has bits that belong to no byte. */
static int read_base64(const uint8_t *p, int64_t length, int64_t pads, uint8_t *to) {
    for (int64_t at = 0; at < length; at += 4) {
        int64_t held = at + 4 < length ? 4 : 4 - pads;
        uint32_t quad = 0;
        for (int64_t i = 0; i < 4; i++) {
            int six = i < held ? sextet(p[at + i]) : 0;
            if (six < 0) return 0;
            quad = quad << 6 | (uint32_t)six;
        }
        uint8_t bytes[3] = {(uint8_t)(quad >> 16), (uint8_t)(quad >> 8), (uint8_t)quad};
        if (held < 4 && (bytes[2] || (held == 2 && bytes[1]))) return 0;
        memcpy(to, bytes, (size_t)(held - 1)), to += held - 1;
    }
    return 1;
}

/* Read Base64 as `cdc_read_texts` reads other texts; `from` is where the first value begins. Return where the last ends,
 * or where it would end if there is no `out`; -1 where a text is not plainly Base64. */
int64_t cdc_read_base64(Buffer offsets, Buffer bytes, Buffer there, int64_t first_there, Buffer place_buffer,
                               int64_t from, Buffer end_buffer, Buffer out_buffer, Buffer valid_buffer, int64_t first) {
    Texts texts = texts_in(offsets, bytes, there, first_there);
    const int64_t *places = ITEMS(place_buffer, int64_t);
    int64_t total = COUNT_OF(place_buffer, int64_t);
    int32_t *ends = ITEMS(end_buffer, int32_t);
    uint8_t *out = out_buffer.at, *valid = valid_buffer.at;
    if (out && (first < 0 || !HOLDS(end_buffer, int32_t, first + total))) return TOO_SHORT;
    if (out && !HOLDS_BITS(valid_buffer, first + total)) return TOO_SHORT;
    for (int64_t row = 0; row < total; row++) {
        int64_t place = places[row], to = first + row;
        if (place >= 0 && !has_text(&texts, place)) return TOO_SHORT;
        if (place >= 0 && is_there(&texts, place)) {
            const uint8_t *p = texts.bytes + texts.offsets[place];
            int64_t length = text_length(&texts, place);
            if (length % 4) return -1;
            int64_t pads = pads_of(p, length), size = length / 4 * 3 - pads;
            if (from + size > INT32_MAX) return -1;
            if (out) {
                if (from + size > out_buffer.size) return TOO_SHORT;
                if (!read_base64(p, length, pads, out + from)) return -1;
                valid[to >> 3] |= (uint8_t)(1 << (to & 7));
            }
            from += size;
        }
        if (out) ends[to] = (int32_t)from;
    }
    return from;
}
