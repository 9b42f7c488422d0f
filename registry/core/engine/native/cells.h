/* Cells: one JSON value of a message in 64 bits: where it begins in the buffer, how long it is, and its kind.
 *
 * Bits 0-3 hold the kind, bits 4-31 the length in bytes, bits 32-63 the place of the first byte. A text is without its
 * quotes. Whatever is read lies between the first and the last byte of one message; of Avro records, of one that has
 * the same value.
 */
#ifndef CDC_CELLS_H
#define CDC_CELLS_H

#include <stdint.h>
#include <string.h>

enum kind {
    ABSENT = 0,
    NUL = 1,
    TEXT = 2,    /* no escapes: the bytes are the text */
    ESCAPED = 3, /* a text with escapes, all of them valid */
    INTEGER = 4, /* at most 18 digits, or 19 of which the first is no 9: it fits in 64 bits; not -0 */
    DECIMAL = 5, /* a number with a point and without exponent, at most MOST_DECIMAL bytes */
    NUMBER = 6,  /* any other number */
    TRUTH = 7,
    FALSEHOOD = 8,
    ARRAY = 9,
    OBJECT = 10
};

#define MOST_LENGTH 0x0FFFFFFF
#define MOST_DECIMAL 300
#define MOST_DIGITS 18

static inline int same_bytes(const uint8_t *left, const uint8_t *right, int32_t length) {
    uint64_t one, other;
    if (length < 4) /* the first, one in the middle, and the last */
        return length <= 0 || (left[0] == right[0] && left[length / 2] == right[length / 2] && left[length - 1] == right[length - 1]);
    if (length < 8) {
        uint32_t first[2], last[2];
        memcpy(first, left, 4), memcpy(first + 1, right, 4);
        memcpy(last, left + length - 4, 4), memcpy(last + 1, right + length - 4, 4);
        return first[0] == first[1] && last[0] == last[1];
    }
    int32_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&one, left + i, 8), memcpy(&other, right + i, 8);
        if (one != other) return 0;
    }
    memcpy(&one, left + length - 8, 8), memcpy(&other, right + length - 8, 8);
    return one == other;
}

/* Copies bytes, most often few of them, without a call. */
static inline void copy_bytes(uint8_t *to, const uint8_t *from, int64_t length) {
    uint64_t first, last;
    uint32_t begin, end;
    if (length > 16) {
        memcpy(to, from, (size_t)length);
    } else if (length >= 8) {
        memcpy(&first, from, 8), memcpy(&last, from + length - 8, 8);
        memcpy(to, &first, 8), memcpy(to + length - 8, &last, 8);
    } else if (length >= 4) {
        memcpy(&begin, from, 4), memcpy(&end, from + length - 4, 4);
        memcpy(to, &begin, 4), memcpy(to + length - 4, &end, 4);
    } else {
        for (int64_t i = 0; i < length; i++) to[i] = from[i];
    }
}

static inline uint64_t make_cell(uint64_t start, uint64_t length, unsigned kind) {
    return start << 32 | length << 4 | kind;
}
static inline unsigned kind_of(uint64_t cell) { return (unsigned)(cell & 15); }
static inline uint32_t length_of(uint64_t cell) { return (uint32_t)(cell >> 4) & MOST_LENGTH; }
static inline uint32_t start_of(uint64_t cell) { return (uint32_t)(cell >> 32); }
static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/* Asks for the bytes of a value some places ahead: the values of a column lie a whole message apart. A macro, because GCC
 * takes a function that only does this for one without effects, and removes its calls.
 */
#define AHEAD 12
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)0)
#endif
#define FETCH_AHEAD(data, cells, place, count) \
    do { \
        if ((place) + AHEAD < (count)) FETCH((data) + start_of((cells)[(place) + AHEAD])); \
    } while (0)

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#endif
