/* Canonical texts of values that are surely of their form, straight from the bytes of their message. */
#include "interface.h"
#include "escapes.h"
#include "forms.h"
#include "latin1.h"

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

static int64_t floor_of(int64_t number, int64_t divisor) { return number / divisor - (number % divisor < 0); }

static uint8_t *put_date(uint8_t *to, int64_t days) {
    days += 719468;
    int64_t era = floor_of(days, 146097), day = days - era * 146097;
    int64_t of_era = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * of_era + of_era / 4 - of_era / 100;
    int64_t month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5 - 1, month = (month + 2) % 12 + 1;
    int64_t year = of_era + era * 400 + (month <= 2);
    to = put_two(put_two(to, year / 100), year % 100), *to++ = '-';
    to = put_two(to, month), *to++ = '-';
    return put_two(to, day);
}

/* Two digits of hours, or three. */
static uint8_t *put_clock(uint8_t *to, int64_t seconds) {
    int64_t hours = seconds / 3600;
    if (hours > 99) *to++ = (uint8_t)('0' + hours / 100);
    to = put_two(to, hours % 100), *to++ = ':', to = put_two(to, seconds / 60 % 60), *to++ = ':';
    return put_two(to, seconds % 60);
}

static uint8_t *put_moment(uint8_t *to, int64_t seconds) {
    int64_t days = floor_of(seconds, 86400);
    to = put_date(to, days), *to++ = 'T';
    return put_clock(to, seconds - days * 86400);
}

/* A part of a second with a number of digits; nothing where it is zero. */
static uint8_t *put_part(uint8_t *to, int64_t part, int digits) {
    uint8_t text[10] = {'.'};
    for (int place = digits; place > 0; place--) text[place] = (uint8_t)('0' + part % 10), part /= 10;
    return put_fraction(to, text, digits + 1);
}

static int64_t number_of(const uint8_t *p, int64_t length) {
    int64_t number = 0, negative = *p == '-';
    for (int64_t i = negative; i < length; i++) number = number * 10 + (p[i] - '0');
    return negative ? -number : number;
}

#define MILLI 1000
#define MICRO 1000000
#define NANO 1000000000

/* A moment as a number of parts of a second. */
static uint8_t *put_since(uint8_t *to, int64_t count, int64_t part, int digits, const Check *check) {
    int64_t rest = count % part;
    to = put_part(put_moment(to, floor_of(count, part)), rest < 0 ? rest + part : rest, digits);
    if (check->is_instant) *to++ = 'Z';
    return to;
}

static uint8_t *put_duration(uint8_t *to, int64_t count, int64_t part, int digits) {
    if (count < 0) *to++ = '-', count = -count;
    return put_part(put_clock(to, count / part), count % part, digits);
}

/* The moment of a clock that is ahead of UTC by an offset, with a fraction of so many bytes. */
static uint8_t *put_instant(uint8_t *to, const uint8_t *p, int64_t fraction, int64_t offset) {
    int64_t year = number_of(p, 4), month = number_of(p + 5, 2), day = number_of(p + 8, 2);
    year -= month <= 2;
    int64_t era = floor_of(year, 400), of_era = year - era * 400, of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    int64_t seconds = number_of(p + 11, 2) * 3600 + number_of(p + 14, 2) * 60 + number_of(p + 17, 2);
    to = put_moment(to, days * 86400 + seconds - offset);
    to = put_fraction(to, p + 19, fraction), *to++ = 'Z';
    return to;
}

/* Up to three bytes in Base64, the first of them the highest of the lower 24 bits. */
static uint8_t *put_group(uint8_t *to, uint32_t group, int64_t held) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int letter = 0; letter < 4; letter++)
        *to++ = letter > held ? '=' : (uint8_t)letters[group >> (18 - 6 * letter) & 63];
    return to;
}

/* Bytes in Base64, from pairs of hex digits. */
static uint8_t *put_hex_bytes(uint8_t *to, const uint8_t *p, int64_t length) {
    for (int64_t i = 0; i < length; i += 6) {
        int64_t held = length - i < 6 ? (length - i) / 2 : 3;
        to = put_group(to, (uint32_t)hex_number(p + i, held * 2) << (8 * (3 - held)), held);
    }
    return to;
}

/* Bytes in Base64, from characters. */
static uint8_t *put_latin1(uint8_t *to, const uint8_t *p, int64_t length, int escaped) {
    const uint8_t *end = p + length;
    uint32_t group = 0;
    int held = 0;
    while (p < end) {
        int found = latin1_at(p, end, escaped);
        p += found >> 8, group = group << 8 | (uint32_t)(found & 0xFF);
        if (++held < 3) continue;
        to = put_group(to, group, held), group = 0, held = 0;
    }
    return held ? put_group(to, group << (8 * (3 - held)), held) : to;
}

static uint8_t *put_base64_url(uint8_t *to, const uint8_t *p, int64_t length) {
    for (int64_t i = 0; i < length; i++) *to++ = p[i] == '-' ? '+' : p[i] == '_' ? '/' : p[i];
    return to;
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

/* Digits with a point before the last ones of them; a zero has no sign. */
static uint8_t *put_scaled(uint8_t *to, WideNumber number, int scale) {
    uint8_t digits[MOST_WIDE_DIGITS + MOST_SCALE];
    int count = wide_digits(number, digits);
    if (count && number.negative) *to++ = '-';
    while (count <= scale) digits[count++] = '0';
    while (count) {
        if (count == scale) *to++ = '.';
        *to++ = digits[--count];
    }
    return to;
}

static uint8_t *put_decimal_object(uint8_t *to, const uint8_t *p, int64_t length, const int8_t *table) {
    ScaledText found;
    if (!read_scaled(p, length, &found)) return NULL;
    int64_t size = base64_size(found.text, found.length, table);
    return put_scaled(to, base64_wide(found.text, size, table), (int)found.scale);
}

/* An array or object without blanks around its tokens; NULL where it has an escape, a name twice, or may hold what stands for
 * another value.
 */
static uint8_t *put_structure(uint8_t *to, const uint8_t *p, int64_t length) {
    uint8_t *start = to;
    const uint8_t *end = p + length;
    if (memchr(p, '$', (size_t)length) != NULL) return NULL;
    while (p < end) {
        const uint8_t *next = p;
        if (*p == '"') {
            const uint8_t *close = memchr(p + 1, '"', (size_t)(end - p - 1));
            if (close == NULL) return NULL;
            next = close + 1;
        } else {
            while (next < end && *next > ' ' && *next != '"') next++;
        }
        to = put(to, p, next - p);
        for (p = next; p < end && *p <= ' '; p++) {}
    }
    return is_written_alike(start, to - start) ? to : NULL;
}

static uint8_t *put_stated(uint8_t *to, const uint8_t *p, int64_t length, const Check *check) {
    const uint8_t *text;
    int64_t size;
    switch (read_stated(p, length, &text, &size)) {
    case OBJECT_ID:
        for (int64_t i = 0; i < size; i++) *to++ = is_digit(text[i]) ? text[i] : text[i] | 0x20;
        return to;
    case MILLISECONDS:
        to = put_since(to, number_of(text, size), MILLI, 3, check), *to++ = 'Z';
        return to;
    case WHOLE_NUMBER: case DECIMAL_NUMBER: return put(to, text, size);
    default: return put_structure(to, p, length);
    }
}

/* Members of a list, a bit for each, with commas between them. */
static uint8_t *put_members(uint8_t *to, uint64_t mask, const Check *check) {
    const uint8_t *member = check->member_texts;
    for (int comma = 0; mask; mask >>= 1) {
        int64_t length = (int64_t)strlen((const char *)member);
        if (mask & 1) {
            if (comma++) *to++ = ',';
            to = put(to, member, length);
        }
        member += length + 1;
    }
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
        if (check->is_instant) return put_instant(to, p, length - 19, check->offset);
        to = put(to, p, 10), *to++ = 'T';
        return put_fraction(put(to, p + 11, 8), p + 19, length - 19);
    case ISO_MINUTES: return put_minutes(to, p, length, 16);
    case ISO_INSTANT: case SQL_DATETIME_Z:
        to = put(to, p, 10), *to++ = 'T';
        to = put_fraction(put(to, p + 11, 8), p + 19, length - 20);
        if (check->is_instant) *to++ = 'Z';
        return to;
    case ISO_OFFSET: {
        int64_t offset, size = offset_size(p, length, &offset);
        return put_instant(to, p, length - 19 - size, offset);
    }
    case SECONDS: case SECONDS_FRACTION: return put_seconds(to, p, length);
    case BIT_BASE64: return put_unsigned(to, base64_number(p, length, base64_size(p, length, table), table));
    case BIT_BASE64_LE: return put_unsigned(to, base64_number_le(p, base64_size(p, length, table), table));
    case DECIMAL_BASE64: return put_scaled(to, base64_wide(p, base64_size(p, length, table), table), check->scale);
    case DECIMAL_OBJECT: return put_decimal_object(to, p, length, table);
    case BIT_HEX: return put_unsigned(to, hex_number(p, length));
    case ENUM_INDEX: return put_members(to, (uint64_t)1 << (number_of(p, length) - 1), check);
    case SET_MASK: return put_members(to, (uint64_t)number_of(p, length), check);
    case HEX: case HEX_LOWER: return put_hex_bytes(to, p, length);
    case HEX_0X: return put_hex_bytes(to, p + 2, length - 2);
    case BASE64_URL: return put_base64_url(to, p, length);
    case BOOLEAN_DIGITS: return *p == '1' ? put(to, (const uint8_t *)"true", 4) : put(to, (const uint8_t *)"false", 5);
    case DAYS: return put_date(to, number_of(p, length));
    case MILLIS: return put_since(to, number_of(p, length), MILLI, 3, check);
    case MICROS: return put_since(to, number_of(p, length), MICRO, 6, check);
    case NANOS: return put_since(to, number_of(p, length), NANO, 9, check);
    case MILLIS_OF_DAY: return put_duration(to, number_of(p, length), MILLI, 3);
    case MICROS_OF_DAY: return put_duration(to, number_of(p, length), MICRO, 6);
    case NANOS_OF_DAY: return put_duration(to, number_of(p, length), NANO, 9);
    case DATE_Z: return put(to, p, 10);
    case TIME_Z: return put_fraction(put(to, p, 8), p + 8, length - 9);
    case TIME_ZONED:
        to = put_fraction(put(to, p, 8), p + 8, length - 9), *to++ = 'Z';
        return to;
    case FLOATS: return is_shortest(p, length) ? put(to, p, length) : NULL;
    default: return put(to, p, length);
    }
}

/* Writes the canonical texts of values as an Arrow string array, as `cdc_texts` does. `flags` are those of `cdc_check`;
 * a value that is BROKEN or OPEN has no text, and one whose text cannot be written here becomes OPEN. Returns
 * how many became OPEN.
 */
int64_t cdc_canonical(Buffer source, Buffer cell_buffer, const Check *check, Buffer flag_buffer, Buffer offset_buffer,
                      Buffer text_buffer, Buffer valid) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int32_t *offsets = ITEMS(offset_buffer, int32_t);
    uint8_t *flags = flag_buffer.at, *text = text_buffer.at;
    int8_t table[256];
    int64_t count = COUNT_OF(cell_buffer, uint64_t), total = 0, opened = 0;
    if (!HOLDS(flag_buffer, uint8_t, count) || !HOLDS(offset_buffer, int32_t, count + 1)) return TOO_SHORT;
    if (!HOLDS_BITS(valid, count)) return TOO_SHORT;
    make_sextets(table, check->form);
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        unsigned kind = kind_of(cells[i]);
        offsets[i] = (int32_t)total;
        if (!(check->kinds >> kind & 1)) continue;
        if (flags[i] != OK && flags[i] != NOTED && flags[i] != NO_SCALE && flags[i] != SUBSTITUTE) continue;
        uint8_t *to = NULL;
        int64_t length = length_of(cells[i]);
        if (text_buffer.size - total < length + (check->form == LATIN1) * (length / 3) + MOST_ADDED) return TOO_SHORT;
        if (check->form == LATIN1 && (kind == TEXT || kind == ESCAPED))
            to = put_latin1(text + total, data + start_of(cells[i]), length, kind == ESCAPED);
        else if (check->form == EXTENDED_JSON && kind == ESCAPED)
            to = text + total + unescape(data + start_of(cells[i]), length, text + total);
        else if (flags[i] == NO_SCALE)
            to = put(text + total, data + start_of(cells[i]), length);
        else if ((kind == OBJECT || kind == ARRAY) && check->form == EXTENDED_JSON)
            to = put_stated(text + total, data + start_of(cells[i]), length, check);
        else if (kind == TEXT || kind == INTEGER || kind == DECIMAL || kind == NUMBER ||
                 (kind == OBJECT && check->form == DECIMAL_OBJECT))
            to = put_canonical(text + total, data + start_of(cells[i]), length, check, table);
        else if ((check->form == BOOLEANS || check->form == EXTENDED_JSON) && (kind == TRUTH || kind == FALSEHOOD))
            to = put(text + total, data + start_of(cells[i]), length);
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
