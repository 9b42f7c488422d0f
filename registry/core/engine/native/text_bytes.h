/* Bytes of texts: eight of them as one word, and letters in UTF-8. */
#ifndef CDC_TEXT_BYTES_H
#define CDC_TEXT_BYTES_H

#include "cells.h"

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

static inline int is_plain(uint8_t byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HAS_WORDS

/* The high bits of the bytes of a word that are not plain, and of some behind the first of them. */
static inline uint64_t odd_bytes(uint64_t word) {
    uint64_t quote = word ^ ONES * '"', slash = word ^ ONES * '\\';
    uint64_t found = ((word - ONES * 0x20) & ~word) | word | ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash);
    return found & HIGHS;
}

/* The first byte that is not plain: the lowest one that is found always is. */
static inline int first_of(uint64_t found) { return __builtin_ctzll(found) >> 3; }
#endif

/* Behind the letters of a JSON string that stand for themselves. */
static const uint8_t *skip_plain(const uint8_t *p, const uint8_t *end) {
#ifdef HAS_WORDS
    int64_t length = end - p;
    uint64_t word, found;
    if (length >= 8) {
        for (; end - p >= 8; p += 8) {
            memcpy(&word, p, 8), found = odd_bytes(word);
            if (found) return p + first_of(found);
        }
        memcpy(&word, end - 8, 8), found = odd_bytes(word); /* those before `p` are plain */
        return found ? end - 8 + first_of(found) : end;
    }
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4), memcpy(&last, end - 4, 4);
        if (!odd_bytes(first | (uint64_t)last << 32)) return end;
    }
#endif
    while (p < end && is_plain(*p)) p++;
    return p;
}

static const uint8_t *skip_utf8(const uint8_t *p, const uint8_t *end) {
    uint8_t lead = *p;
    int more = lead >= 0xC2 && lead <= 0xDF ? 1 : (lead & 0xF0) == 0xE0 ? 2 : lead >= 0xF0 && lead <= 0xF4 ? 3 : 0;
    if (!more || end - p <= more) return NULL;
    if ((lead == 0xE0 && p[1] < 0xA0) || (lead == 0xED && p[1] > 0x9F)) return NULL;
    if ((lead == 0xF0 && p[1] < 0x90) || (lead == 0xF4 && p[1] > 0x8F)) return NULL;
    for (int i = 1; i <= more; i++)
        if ((p[i] & 0xC0) != 0x80) return NULL;
    return p + more + 1;
}

#endif
