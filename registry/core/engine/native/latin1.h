/* Text of ISO-8859-1: each of its characters, up to U+00FF, stands for a byte. */
#ifndef CDC_LATIN1_H
#define CDC_LATIN1_H

#include "forms.h"

/* The byte of the character at p, and 256 times the bytes that it is written in; -1 where it is none of ISO-8859-1. */
static inline int latin1_at(const uint8_t *p, const uint8_t *end, int escaped) {
    static const uint8_t letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (escaped && *p == '\\') {
        if (p[1] == 'u') {
            uint64_t unit = hex_number(p + 2, 4);
            return unit < 256 ? (int)unit | 6 << 8 : -1;
        }
        for (int i = 0; i < 16; i += 2)
            if (letters[i] == p[1]) return letters[i + 1] | 2 << 8;
        return -1;
    }
    if (*p < 0x80) return *p | 1 << 8;
    return (*p == 0xC2 || *p == 0xC3) && end - p > 1 ? (*p & 3) << 6 | (p[1] & 63) | 2 << 8 : -1;
}

static inline int is_latin1(const uint8_t *p, int64_t length, int escaped) {
    const uint8_t *end = p + length;
    while (p < end) {
        int found = latin1_at(p, end, escaped);
        if (found < 0) return 0;
        p += found >> 8;
    }
    return 1;
}

#endif
