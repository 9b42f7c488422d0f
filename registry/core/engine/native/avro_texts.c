/* Texts: what is written of the values of Avro records, as JSON. */
#include "avro.h"
#include "text_bytes.h"

#include <stdio.h>
#include <stdlib.h>

static int put_escape(AvroRead *read, uint8_t byte) {
    static const uint8_t digits[] = "0123456789abcdef";
    uint8_t letter = byte == '"' || byte == '\\' ? byte
                     : byte == '\b'              ? 'b'
                     : byte == '\f'              ? 'f'
                     : byte == '\n'              ? 'n'
                     : byte == '\r'              ? 'r'
                     : byte == '\t'              ? 't'
                                                 : 0;
    uint8_t escape[6] = {'\\', letter ? letter : 'u', '0', '0', digits[byte >> 4 & 15], digits[byte & 15]};
    read->kind = ESCAPED;
    return put_raw(read, escape, letter ? 2 : 6);
}

int put_text(AvroRead *read, const uint8_t *p, int64_t length) {
    const uint8_t *end = p + length;
    while (p < end) {
        const uint8_t *plain = skip_plain(p, end);
        TRY(put_raw(read, p, plain - p));
        for (p = plain; p < end && !is_plain(*p);) {
            if (*p < 0x80) {
                TRY(put_escape(read, *p++));
                continue;
            }
            const uint8_t *after = skip_utf8(p, end);
            if (after == NULL) return MALFORMED;
            TRY(put_raw(read, p, after - p));
            p = after;
        }
    }
    return READ;
}

int put_quoted(AvroRead *read, const uint8_t *p, int64_t length) {
    if (has_room(read, length + 2) && skip_plain(p, p + length) == p + length) {
        uint8_t *to = read->to;
        to[0] = '"', to[length + 1] = '"';
        copy_bytes(to + 1, p, length);
        read->to = to + length + 2;
        return READ;
    }
    TRY(put_byte(read, '"'));
    TRY(put_text(read, p, length));
    return put_byte(read, '"');
}

int put_code_page(AvroRead *read, const uint8_t *p, int64_t length, const int32_t *page) {
    for (const uint8_t *end = p + length; p < end; p++) {
        int32_t point = page[*p];
        if (point < 0) return UNSURE;
        if (point < 0x80) {
            TRY(is_plain((uint8_t)point) || point == 0x7F ? put_byte(read, (uint8_t)point) : put_escape(read, (uint8_t)point));
        } else if (point < 0x800) {
            TRY(put_byte(read, (uint8_t)(0xC0 | point >> 6)));
            TRY(put_byte(read, (uint8_t)(0x80 | (point & 63))));
        } else {
            TRY(put_byte(read, (uint8_t)(0xE0 | point >> 12)));
            TRY(put_byte(read, (uint8_t)(0x80 | (point >> 6 & 63))));
            TRY(put_byte(read, (uint8_t)(0x80 | (point & 63))));
        }
    }
    return READ;
}

int put_base64(AvroRead *read, const uint8_t *p, int64_t length) {
    static const uint8_t letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!has_room(read, (length + 2) / 3 * 4)) return FULL;
    uint8_t *to = read->to;
    for (; length >= 3; length -= 3, p += 3, to += 4) {
        to[0] = letters[p[0] >> 2], to[1] = letters[(p[0] & 3) << 4 | p[1] >> 4];
        to[2] = letters[(p[1] & 15) << 2 | p[2] >> 6], to[3] = letters[p[2] & 63];
    }
    if (length) {
        uint8_t second = length == 2 ? p[1] : 0;
        to[0] = letters[p[0] >> 2], to[1] = letters[(p[0] & 3) << 4 | second >> 4];
        to[2] = length == 2 ? letters[(second & 15) << 2] : '=', to[3] = '=';
        to += 4;
    }
    read->to = to;
    return READ;
}

static const uint8_t pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                               "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                               "9899";

#define EIGHT_DIGITS 100000000u

static int digits_of(uint64_t number) {
    int count = 1;
    for (; number >= EIGHT_DIGITS; number /= EIGHT_DIGITS) count += 8;
    uint32_t rest = (uint32_t)number;
    if (rest >= 10000) rest /= 10000, count += 4;
    return count + (rest >= 10) + (rest >= 100) + (rest >= 1000);
}

static void put_four(uint8_t *to, uint32_t number) {
    memcpy(to, pairs + 2 * (number / 100), 2), memcpy(to + 2, pairs + 2 * (number % 100), 2);
}

/* With zeros before it where it is shorter than `width`, of which a minus is a part. */
int put_long(AvroRead *read, int64_t value, int width) {
    if (width == 2 && (uint64_t)value < 100) return put_raw(read, pairs + 2 * value, 2);
    int negative = value < 0;
    uint64_t rest = negative ? 0 - (uint64_t)value : (uint64_t)value;
    int count = digits_of(rest), length = negative + count < width ? width : negative + count;
    if (!has_room(read, length)) return FULL;
    uint8_t *first = read->to + negative, *at = read->to += length;
    if (negative) first[-1] = '-';
    for (; rest >= EIGHT_DIGITS; rest /= EIGHT_DIGITS) { /* whose halves do not wait for each other */
        uint32_t low = (uint32_t)(rest % EIGHT_DIGITS);
        at -= 8;
        put_four(at, low / 10000), put_four(at + 4, low % 10000);
    }
    for (; rest >= 100; rest /= 100) at -= 2, memcpy(at, pairs + 2 * (rest % 100), 2);
    if (rest >= 10) at -= 2, memcpy(at, pairs + 2 * rest, 2);
    else *--at = (uint8_t)('0' + rest);
    while (at > first) *--at = '0';
    return READ;
}

/* A number by its digits, of which there are up to 17 and the last is not zero, and how many stand before the point. */
static int put_digits(AvroRead *read, int negative, const uint8_t *digits, int count, int point) {
    uint8_t text[40];
    int at = 0;
    read->kind = DECIMAL;
    if (negative) text[at++] = '-';
    if (point > 16 || point < -3) {
        int power = point - 1;
        read->kind = NUMBER;
        text[at++] = digits[0];
        if (count > 1) text[at++] = '.', memcpy(text + at, digits + 1, (size_t)count - 1), at += count - 1;
        text[at++] = 'e', text[at++] = power < 0 ? '-' : '+';
        power = power < 0 ? -power : power;
        if (power > 99) text[at++] = (uint8_t)('0' + power / 100);
        text[at++] = (uint8_t)('0' + power / 10 % 10), text[at++] = (uint8_t)('0' + power % 10);
        return put_raw(read, text, at);
    }
    if (point <= 0) text[at++] = '0';
    for (int i = 0; i < point; i++) text[at++] = i < count ? digits[i] : '0';
    text[at++] = '.';
    for (int i = point; i < 0; i++) text[at++] = '0';
    if (point >= count) text[at++] = '0';
    for (int i = point < 0 ? 0 : point; i < count; i++) text[at++] = digits[i];
    return put_raw(read, text, at);
}

/* A number of up to 15 digits: no other number of so few is read as the same double. */
static int find_short(double value, uint8_t *digits, int *count, int *point) {
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (int power = 0; power <= 22; power++) {
        double scaled = value * powers[power];
        if (scaled >= 1e15) return 0;
        uint64_t whole = (uint64_t)(scaled + 0.5);
        if (whole == 0 || (double)whole / powers[power] != value) continue;
        int length = 0;
        for (uint64_t rest = whole; rest; rest /= 10) length++;
        for (int i = length - 1; i >= 0; i--, whole /= 10) digits[i] = (uint8_t)('0' + whole % 10);
        *point = length - power;
        while (digits[length - 1] == '0') length--;
        *count = length;
        return 1;
    }
    return 0;
}

/* The fewest digits that are read as the same double, and of those the nearest. Not sure of powers of two, whose
 * neighbours are not equally far.
 */
static int find_shortest(double value, uint8_t *digits, int *count, int *point) {
    char text[64];
    uint64_t bits;
    memcpy(&bits, &value, 8);
    if ((bits & 0xFFFFFFFFFFFFFull) == 0 || bits >> 52 == 0) return 0;
    for (int length = 15; length <= 17; length++) {
        if (snprintf(text, sizeof text, "%.*e", length - 1, value) >= (int)sizeof text) return 0;
        if (strtod(text, NULL) != value) continue;
        const char *p = text;
        int found = 0;
        for (; *p && *p != 'e'; p++)
            if (is_digit((uint8_t)*p) && found < 17) digits[found++] = (uint8_t)*p;
        if (*p != 'e' || found != length) return 0;
        *point = atoi(p + 1) + 1;
        while (digits[found - 1] == '0') found--;
        *count = found;
        return 1;
    }
    return 0;
}

static int put_zero(AvroRead *read, int negative) {
    read->kind = DECIMAL;
    return negative ? put_raw(read, "-0.0", 4) : put_raw(read, "0.0", 3);
}

int put_double(AvroRead *read, double value) {
    uint8_t digits[24];
    int count, point, negative;
    uint64_t bits;
    memcpy(&bits, &value, 8);
    negative = (int)(bits >> 63);
    if ((bits >> 52 & 0x7FF) == 0x7FF) {
        if (bits & 0xFFFFFFFFFFFFFull) return put_raw(read, "nan", 3);
        return negative ? put_raw(read, "-inf", 4) : put_raw(read, "inf", 3);
    }
    if (value == 0) return put_zero(read, negative);
    if (negative) value = -value;
    if (!find_short(value, digits, &count, &point) && !find_shortest(value, digits, &count, &point)) return UNSURE;
    return put_digits(read, negative, digits, count, point);
}

/* Not sure of powers of two, as `find_shortest`, nor of numbers that are not finite. */
int put_float(AvroRead *read, float value) {
    char text[32];
    uint8_t digits[16];
    uint32_t bits;
    memcpy(&bits, &value, 4);
    int negative = (int)(bits >> 31);
    if (value == 0) return put_zero(read, negative);
    if ((bits >> 23 & 0xFF) == 0xFF || (bits >> 23 & 0xFF) == 0 || (bits & 0x7FFFFF) == 0) return UNSURE;
    if (negative) value = -value;
    for (int length = 1; length <= 9; length++) {
        if (snprintf(text, sizeof text, "%.*e", length - 1, (double)value) >= (int)sizeof text) return UNSURE;
        if (strtof(text, NULL) != value) continue;
        const char *p = text;
        int found = 0;
        for (; *p && *p != 'e'; p++)
            if (is_digit((uint8_t)*p) && found < 9) digits[found++] = (uint8_t)*p;
        if (*p != 'e' || found != length) return UNSURE;
        return put_digits(read, negative, digits, found, atoi(p + 1) + 1);
    }
    return UNSURE;
}
