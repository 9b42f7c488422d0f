/* Buffers: memory from outside comes with its length. Each function checks once, before it reads or writes, that all it
 * is about to touch lies within; if not, it does nothing and returns TOO_SHORT, which the caller raises as an error.
 *
 * Cells, flags and indices that the library wrote itself are not checked again: they come back with the buffer that they
 * point into.
 */
#ifndef CDC_BUFFERS_H
#define CDC_BUFFERS_H

#include "cells.h"

typedef struct {
    uint8_t *at;
    int64_t size; /* in bytes */
} Buffer;

#define TOO_SHORT -1000

static inline int holds_bytes(Buffer buffer, int64_t count, int64_t width) {
    return count >= 0 && (count == 0 || (buffer.at != NULL && count <= buffer.size / width));
}

/* Whether a buffer has room for a number of items of a type. */
#define HOLDS(buffer, type, count) holds_bytes(buffer, count, (int64_t)sizeof(type))
#define HOLDS_BITS(buffer, count) holds_bytes(buffer, (int64_t)(count) / 8 + ((count) % 8 != 0), 1)
#define IS_GIVEN(buffer) ((buffer).at != NULL)

/* The whole items of a type that are in a buffer. */
#define COUNT_OF(buffer, type) ((buffer).size / (int64_t)sizeof(type))
#define ITEMS(buffer, type) ((type *)(void *)(buffer).at)

/* An Arrow array of texts, from the first that is wanted on. */
typedef struct {
    const int32_t *offsets;
    const uint8_t *bytes, *there; /* a bit for each from `first` on; NULL where all are there */
    int64_t count, size, first, bits;
} Texts;

static inline Texts texts_in(Buffer offsets, Buffer bytes, Buffer there, int64_t first) {
    return (Texts){ITEMS(offsets, int32_t), bytes.at, there.at, COUNT_OF(offsets, int32_t) - 1, bytes.size, first, there.size * 8};
}

static inline int has_text(const Texts *texts, int64_t place) {
    return place >= 0 && place < texts->count && texts->offsets[place] >= 0 &&
           texts->offsets[place] <= texts->offsets[place + 1] && texts->offsets[place + 1] <= texts->size &&
           (!texts->there || texts->first + place < texts->bits);
}

static inline int is_there(const Texts *texts, int64_t place) {
    int64_t bit = texts->first + place;
    return !texts->there || (texts->there[bit >> 3] >> (bit & 7) & 1);
}

static inline int32_t text_length(const Texts *texts, int64_t place) {
    return texts->offsets[place + 1] - texts->offsets[place];
}

#endif
