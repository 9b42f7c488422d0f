/* Fingerprints: a number for each message that is the same where some slices of its bytes are the same. */
#include "interface.h"
#include "buffers.h"
#include "scan.h"

/* Stands where a slice is missing, and between two. */
#define NO_SLICE 0x9E3779B97F4A7C15ull

static inline uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9ull;
    return hash ^ hash >> 29;
}

static uint64_t add_slice(uint64_t hash, const uint8_t *p, int64_t length) {
    uint64_t word = 0;
    hash = mix(hash, (uint64_t)length);
    for (; length >= 8; p += 8, length -= 8) {
        memcpy(&word, p, 8);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, p, (size_t)length);
    return mix(hash, word);
}

/* Behind the slice that begins with a mark at `p` and has `length` bytes: so many bytes more, or, if those are less than
 * none, with the first of two bytes that follow one another, or with one; NULL where they do not follow.
 */
static const uint8_t *end_slice(const uint8_t *p, int64_t length, const uint8_t *end, int32_t more, const uint8_t *close) {
    if (more >= 0) return end - p < length + more ? end : p + length + more;
    for (; p < end && (p = memchr(p, close[0], (size_t)(end - p))) != NULL; p++)
        if (!close[1] || (end - p > 1 && p[1] == close[1])) return p + 1;
    return NULL;
}

/* Writes the fingerprint of each message of some numbers. Marks lie one after the other, `starts` has where each begins and the
 * last ends; each begins with a quote. `more` has how many bytes behind a mark are of its slice; where it is less than 0,
 * `closes` has the one or two bytes at its end.
 */
int64_t cdc_fingerprint(Buffer source, Buffer offset_buffer, Buffer number_buffer, Buffer mark_buffer, Buffer start_buffer,
                        Buffer more_buffer, Buffer close_buffer, Buffer print_buffer) {
    const int32_t *offsets = ITEMS(offset_buffer, int32_t), *starts = ITEMS(start_buffer, int32_t);
    const int32_t *more = ITEMS(more_buffer, int32_t);
    const int64_t *numbers = ITEMS(number_buffer, int64_t);
    uint64_t *prints = ITEMS(print_buffer, uint64_t);
    int64_t count = COUNT_OF(number_buffer, int64_t), marks = COUNT_OF(start_buffer, int32_t) - 1;
    uint64_t slices[MOST_MARKS];
    if (marks < 0 || marks > MOST_MARKS || !HOLDS(print_buffer, uint64_t, count)) return TOO_SHORT;
    if (!HOLDS(more_buffer, int32_t, marks) || !HOLDS(close_buffer, uint8_t, 2 * marks)) return TOO_SHORT;
    if (starts[0] < 0 || starts[marks] > mark_buffer.size) return TOO_SHORT;
    for (int64_t mark = 0; mark < marks; mark++)
        if (starts[mark + 1] - starts[mark] < 2) return TOO_SHORT;
    if (!are_messages(source, offset_buffer, number_buffer)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *p = source.at + offsets[numbers[i]], *end = source.at + offsets[numbers[i] + 1];
        uint32_t open = (uint32_t)((1ull << marks) - 1);
        for (int64_t mark = 0; mark < marks; mark++) slices[mark] = NO_SLICE;
        while (open && p < end && (p = memchr(p, '"', (size_t)(end - p))) != NULL) {
            for (int64_t mark = 0; mark < marks; mark++) {
                int64_t length = starts[mark + 1] - starts[mark];
                if (!(open >> mark & 1) || end - p < length) continue;
                const uint8_t *text = mark_buffer.at + starts[mark];
                if (p[1] != text[1] || memcmp(p, text, (size_t)length) != 0) continue;
                const uint8_t *stop = end_slice(p, length, end, more[mark], close_buffer.at + 2 * mark);
                if (stop != NULL) slices[mark] = add_slice(0, p, stop - p);
                open &= ~(1u << mark);
            }
            p++;
        }
        prints[i] = 0;
        for (int64_t mark = 0; mark < marks; mark++) prints[i] = mix(prints[i], slices[mark]);
    }
    return count;
}
