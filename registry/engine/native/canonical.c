/* Canonical texts of values that are surely of their form, straight from the bytes of their message. */
#include "forms.h"

#define MOST_ADDED 32 /* bytes that a canonical text may be longer than what was sent */

static uint8_t *put(uint8_t *to, const uint8_t *from, int64_t length) {
    copy_bytes(to, from, length);
    return to + length;
}

static uint8_t *put_two(uint8_t *to, int64_t number) {
    to[0] = (uint8_t)('0' + number / 10), to[1] = (uint8_t)('0' + number % 10);
    return to + 2;
}

/* A point and digits without the zeros at their end; nothing where only zeros are left. */
static uint8_t *put_fraction(uint8_t *to, const uint8_t *p, int64_t length) {
    while (length > 0 && p[length - 1] == '0') length--;
    return length > 1 ? put(to, p, length) : to;
}

static uint8_t *put_moment(uint8_t *to, int64_t seconds) {
    int64_t days = seconds / 86400 + 719468, of_day = seconds % 86400, era = days / 146097, day = days - era * 146097;
    int64_t of_era = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * of_era + of_era / 4 - of_era / 100;
    int64_t month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5 - 1, month = (month + 2) % 12 + 1;
    int64_t year = of_era + era * 400 + (month <= 2);
    to = put_two(put_two(to, year / 100), year % 100), *to++ = '-';
    to = put_two(to, month), *to++ = '-', to = put_two(to, day), *to++ = 'T';
    to = put_two(to, of_day / 3600), *to++ = ':', to = put_two(to, of_day / 60 % 60), *to++ = ':';
    return put_two(to, of_day % 60);
}

static uint8_t *put_seconds(uint8_t *to, const uint8_t *p, int64_t length) {
    int64_t whole = 0, seconds = 0;
    for (; whole < length && is_digit(p[whole]); whole++) seconds = seconds * 10 + (p[whole] - '0');
    to = put_fraction(put_moment(to, seconds), p + whole, length - whole);
    *to++ = 'Z';
    return to;
}

static uint8_t *put_unsigned(uint8_t *to, uint64_t number) {
    uint8_t digits[20];
    int count = 0;
    do digits[count++] = (uint8_t)('0' + number % 10);
    while (number /= 10);
    while (count) *to++ = digits[--count];
    return to;
}

static uint8_t *put_minutes(uint8_t *to, const uint8_t *p, int64_t length, int64_t minutes) {
    to = put(to, p, minutes);
    if (length == minutes) return put(to, (const uint8_t *)":00", 3);
    return put_fraction(put(to, p + minutes, 3), p + minutes + 3, length - minutes - 3);
}

/* Whether a plain number is the shortest text of its binary64, as `floats._is_shortest` says. */
static int is_shortest(const uint8_t *p, int64_t length) {
    int64_t negative = *p == '-', digits = length - negative;
    p += negative;
    if (digits > 15 || (digits > 1 && p[digits - 1] == '0')) return 0;
    return digits < 3 || p[0] != '0' || p[2] != '0';
}

/* NULL where the text is left to another implementation. */
static uint8_t *put_canonical(uint8_t *to, const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    switch (check->form) {
    case TIME: return put_fraction(put(to, p, 8), p + 8, length - 8);
    case TIME_MINUTES: return put_minutes(to, p, length, 5);
    case SQL_DATETIME:
        to = put(to, p, 10), *to++ = 'T';
        return put_fraction(put(to, p + 11, 8), p + 19, length - 19);
    case ISO_MINUTES: return put_minutes(to, p, length, 16);
    case ISO_INSTANT:
        to = put_fraction(put(to, p, 19), p + 19, length - 20), *to++ = 'Z';
        return to;
    case SECONDS: case SECONDS_FRACTION: return put_seconds(to, p, length);
    case BIT_BASE64: return put_unsigned(to, base64_number(p, length, base64_size(p, length, table), table));
    case BIT_HEX: return put_unsigned(to, hex_number(p, length));
    case FLOATS: return is_shortest(p, length) ? put(to, p, length) : NULL;
    default: return put(to, p, length);
    }
}

/* Writes the canonical texts of values as an Arrow string array, as `cdc_texts` does. `flags` are those of `cdc_check`;
 * a value that is BROKEN or OPEN has no text, and one whose text cannot be written here becomes OPEN. Returns
 * how many became OPEN.
 */
EXPORT int64_t cdc_canonical(Buffer source, Buffer cell_buffer, uint32_t kinds, const Check *check, Buffer flag_buffer,
                             Buffer offset_buffer, Buffer text_buffer, Buffer valid) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int32_t *offsets = ITEMS(offset_buffer, int32_t);
    uint8_t *flags = flag_buffer.at, *text = text_buffer.at;
    int8_t table[256];
    int64_t count = COUNT_OF(cell_buffer, uint64_t), total = 0, opened = 0;
    if (!HOLDS(flag_buffer, uint8_t, count) || !HOLDS(offset_buffer, int32_t, count + 1)) return TOO_SHORT;
    if (!HOLDS_BITS(valid, count)) return TOO_SHORT;
    make_sextets(table);
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        unsigned kind = kind_of(cells[i]);
        offsets[i] = (int32_t)total;
        if (!(kinds >> kind & 1) || (flags[i] != OK && flags[i] != NOTED)) continue;
        uint8_t *to = NULL;
        if (text_buffer.size - total < length_of(cells[i]) + MOST_ADDED) return TOO_SHORT;
        if (kind == TEXT || kind == INTEGER || kind == DECIMAL)
            to = put_canonical(text + total, data + start_of(cells[i]), length_of(cells[i]), check, table);
        if (to == NULL) {
            flags[i] = OPEN, opened++;
            continue;
        }
        valid.at[i >> 3] |= (uint8_t)(1 << (i & 7));
        total = to - text;
    }
    offsets[count] = (int32_t)total;
    return opened;
}
