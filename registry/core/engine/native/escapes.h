/* Escapes: what a JSON text with escapes stands for. */
#ifndef CDC_ESCAPES_H
#define CDC_ESCAPES_H

#include "cells.h"

static inline int put_utf8(uint8_t *to, uint32_t point) {
    if (point < 0x80) return to[0] = (uint8_t)point, 1;
    if (point < 0x800) return to[0] = (uint8_t)(0xC0 | point >> 6), to[1] = (uint8_t)(0x80 | (point & 63)), 2;
    if (point < 0x10000)
        return to[0] = (uint8_t)(0xE0 | point >> 12), to[1] = (uint8_t)(0x80 | (point >> 6 & 63)),
               to[2] = (uint8_t)(0x80 | (point & 63)), 3;
    return to[0] = (uint8_t)(0xF0 | point >> 18), to[1] = (uint8_t)(0x80 | (point >> 12 & 63)),
           to[2] = (uint8_t)(0x80 | (point >> 6 & 63)), to[3] = (uint8_t)(0x80 | (point & 63)), 4;
}

static inline uint32_t hex_of(const uint8_t *p) {
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) unit = unit * 16 + (uint32_t)(is_digit(p[i]) ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    return unit;
}

/* Writes a text whose escapes are known to be valid; what is written is never longer than what is read. */
static inline int64_t unescape(const uint8_t *p, int64_t length, uint8_t *to) {
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

#endif
