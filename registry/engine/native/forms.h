/* Value forms, and what is asked of a value besides. */
#ifndef CDC_FORMS_H
#define CDC_FORMS_H

#include "buffers.h"

enum form {
    ANY_TEXT = 0,
    INTEGERS = 1,       /* a number, or the text of one */
    DECIMALS = 2,
    FLOATS = 3,         /* a number of up to 30 characters without exponent, or the text of one */
    BOOLEANS = 4,
    BASE64 = 5,
    HEX = 6,
    BIT_BASE64 = 7,     /* up to eight bytes */
    BIT_HEX = 8,
    DATE = 9,
    TIME = 10,          /* HH:mm:ss with two digits of hours, and a fraction */
    SQL_DATETIME = 11,
    ISO_MINUTES = 12,   /* with a T, with seconds or without; a fraction is noted */
    ISO_INSTANT = 13,
    SECONDS = 14,       /* digits of seconds, number or text */
    SECONDS_FRACTION = 15,
    TIME_MINUTES = 16   /* HH:mm or HH:mm:ss; a fraction is noted */
};

/* What became of a value, as in `form_values.Flag`. */
enum flag { OK = 0, BROKEN = 1, NOTED = 3, OPEN = 255 };

/* What a declared type and a context ask besides: whole numbers between two bounds, digits before and after a point. */
typedef struct {
    int32_t form, most_whole, most_fraction, zeros_open; /* a fraction that ends in zero is left open */
    int64_t least, most;
    int32_t earliest, latest; /* years */
    const uint8_t *literal;   /* left open wherever it stands */
    int64_t literal_length;
} Check;

static inline int sextet(uint8_t byte) {
    if (byte >= 'A' && byte <= 'Z') return byte - 'A';
    if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
    if (is_digit(byte)) return byte - '0' + 52;
    return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* The number of bytes, or -1. */
static inline int64_t base64_size(const uint8_t *p, int64_t length, const int8_t *table) {
    if (length % 4) return -1;
    if (length == 0) return 0;
    int padding = p[length - 1] != '=' ? 0 : p[length - 2] != '=' ? 1 : 2;
    int bad = 0;
    for (int64_t i = 0; i < length - padding; i++) bad |= table[p[i]];
    if (bad < 0) return -1;
    int last = table[p[length - padding - 1]];
    if ((padding == 1 && (last & 3)) || (padding == 2 && (last & 15))) return -1;
    return length / 4 * 3 - padding;
}

static inline void make_sextets(int8_t *table) {
    for (int byte = 0; byte < 256; byte++) table[byte] = (int8_t)sextet((uint8_t)byte);
}

/* The unsigned integer of up to eight bytes in Base64. */
static inline uint64_t base64_number(const uint8_t *p, int64_t length, int64_t size, const int8_t *table) {
    uint64_t number = 0;
    int64_t letters = (size * 8 + 5) / 6;
    for (int64_t i = 0; i < letters && i < length; i++) {
        int spare = i == letters - 1 ? (int)(letters * 6 - size * 8) : 0;
        number = number << (6 - spare) | (uint64_t)(table[p[i]] >> spare);
    }
    return number;
}

static inline int hex_digit(uint8_t byte) { return is_digit(byte) ? byte - '0' : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1; }

/* The unsigned integer of up to sixteen hex digits. */
static inline uint64_t hex_number(const uint8_t *p, int64_t length) {
    uint64_t number = 0;
    for (int64_t i = 0; i < length; i++) number = number << 4 | (uint64_t)hex_digit(p[i]);
    return number;
}

#endif
