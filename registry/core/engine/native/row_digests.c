/* Row digests: digests of images, of their columns and of their keys, row by row: the values of a row lie side by side. */
#include "interface.h"
#include "buffers.h"
#include "escapes.h"

#define PERIOD 65536
#define BASE 0xD1B54A32D192ED03ull
#define ROWS_AHEAD 8
#define DIGESTED_KINDS (1u << TEXT | 1u << ESCAPED | 1u << INTEGER | 1u << DECIMAL | 1u << NUMBER | 1u << TRUTH | 1u << FALSEHOOD)
#define SHORT 64 /* words whose powers are kept, so that none has to wait for the power of the one before it */

static inline uint64_t mix(uint64_t digest) {
    digest = (digest ^ digest >> 30) * 0xBF58476D1CE4E5B9ull;
    digest = (digest ^ digest >> 27) * 0x94D049BB133111EBull;
    return digest ^ digest >> 31;
}

#define BEFORE 8 /* bytes that are readable before a text */

/* The last bytes of a text, one to eight, as a number, the first of them lowest. */
static inline uint64_t last_word(const uint8_t *end, int64_t length) {
    uint64_t word = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&word, end - BEFORE, 8);
    return word >> (8 - length) * 8; /* without a branch, which would depend on every length */
#else
    for (int64_t at = 0; at < length; at++) word |= (uint64_t)end[at - length] << at * 8;
    return word;
#endif
}

/* A polynomial of the words of a text, which has readable bytes before it. */
static inline uint64_t digest_text(const uint8_t *p, int64_t length, const uint64_t *powers) {
    uint64_t sum = 0, power = powers[SHORT - 1];
    int64_t at = 0, whole = length ? (length - 1) / 8 : 0, first = whole < SHORT ? whole : SHORT;
    for (; at < first; at++) sum += (last_word(p + at * 8 + 8, 8) + 1) * powers[at];
    for (; at < whole; at++) {
        power = at % PERIOD ? power * BASE : BASE;
        sum += (last_word(p + at * 8 + 8, 8) + 1) * power;
    }
    if (at >= SHORT) power = at % PERIOD ? power * BASE : BASE;
    else power = powers[at];
    if (length) sum += (last_word(p + length, length - at * 8) + 1) * power;
    return mix(sum + (uint64_t)length * 0x9E3779B97F4A7C15ull);
}

/* Whether all rows that are wanted, none below `least`, are in a column. */
static int has_rows(Buffer rows, int64_t least, Buffer column) {
    int64_t most = COUNT_OF(column, uint64_t);
    for (int64_t i = 0; i < COUNT_OF(rows, int64_t); i++)
        if (ITEMS(rows, int64_t)[i] < least || ITEMS(rows, int64_t)[i] >= most) return 0;
    return 1;
}

/* Whether the columns hold all rows that are wanted. */
static int has_columns(Buffer columns, Buffer rows, Buffer below_rows) {
    if (IS_GIVEN(below_rows) && !HOLDS(below_rows, int64_t, COUNT_OF(rows, int64_t))) return 0;
    for (int64_t i = 0; i < COUNT_OF(columns, DigestedColumn); i++) {
        const DigestedColumn *column = ITEMS(columns, DigestedColumn) + i;
        if (IS_GIVEN(column->cells) && !has_rows(rows, 0, column->cells)) return 0;
        if (IS_GIVEN(column->digests) && !has_rows(rows, 0, column->digests)) return 0;
        if (IS_GIVEN(column->below_cells) && !has_rows(below_rows, -1, column->below_cells)) return 0;
        if (IS_GIVEN(column->below_digests) && !has_rows(below_rows, -1, column->below_digests)) return 0;
    }
    return 1;
}

/* The digest of a value with the name of its column; 0 for one that is absent. `room` is for texts with escapes: `longest`
 * becomes the bytes of the longest of them.
 */
static inline uint64_t digest_cell(const uint8_t *data, uint64_t cell, const DigestedColumn *column, Buffer room,
                                   const uint64_t *powers, int64_t *longest) {
    unsigned kind = kind_of(cell);
    const uint8_t *p = data + start_of(cell);
    int64_t length = length_of(cell);
    if (kind == ABSENT) return 0;
    if (!(DIGESTED_KINDS >> kind & 1)) return column->null;
    if (kind == ESCAPED || (length < BEFORE && start_of(cell) < BEFORE)) {
        if (length > *longest) *longest = length;
        if (length > room.size - BEFORE) return 0;
        uint8_t *copy = room.at + BEFORE;
        if (kind == ESCAPED) length = unescape(p, length, copy);
        else copy_bytes(copy, p, length);
        p = copy;
    }
    return mix(digest_text(p, length, powers) + column->name);
}

/* The digests of one row: of its values, of the names of its columns, and of its key, which is whole or not. */
typedef struct {
    uint64_t sum, shape, key;
    int has_key;
} RowDigest;

static inline void add_value(RowDigest *row, const DigestedColumn *column, uint64_t digest) {
    if (column->keys && (!digest || digest == column->null)) row->has_key = 0;
    if (digest) row->sum += digest, row->shape += column->shape, row->key += digest * (uint64_t)column->keys;
}

static inline void write_digest(RowDigest row, Buffer out, int64_t total, int64_t place) {
    uint64_t *digests = ITEMS(out, uint64_t) + place;
    digests[0] = row.sum ? row.sum : 1;
    digests[total] = row.shape ? row.shape : 1;
    digests[2 * total] = !row.has_key ? 0 : row.key ? row.key : 1;
}

/* Writes three digests of each row, each to a part of `out`: of its values, each mixed with the name of its column as
 * `text_digests.py` does; of the names of its columns; and of its key, 0 where a part of that is absent or null. A column
 * that a row lacks is that of the row below it (`below_rows`, -1: none), whose digests are written to `below_out`. Returns
 * the bytes of the longest text that was copied to `room` behind BEFORE bytes; if they are more than it holds, the digests
 * are not whole.
 */
int64_t cdc_digest_rows(Buffer source, Buffer column_buffer, Buffer rows, Buffer below_rows, Buffer room, Buffer out,
                        Buffer below_out) {
    int64_t total = COUNT_OF(rows, int64_t), count = COUNT_OF(column_buffer, DigestedColumn);
    const DigestedColumn *columns = ITEMS(column_buffer, DigestedColumn);
    uint64_t powers[SHORT], power = 1;
    int64_t longest = 0;
    int keyed = 0;
    if (!HOLDS(out, uint64_t, 3 * total) || !has_columns(column_buffer, rows, below_rows)) return TOO_SHORT;
    if (IS_GIVEN(below_rows) && !HOLDS(below_out, uint64_t, 3 * total)) return TOO_SHORT;
    for (int i = 0; i < SHORT; i++) powers[i] = power *= BASE;
    for (int64_t i = 0; i < count; i++) keyed |= columns[i].keys > 0;
    for (int64_t i = 0; i < total; i++) {
        int64_t row = ITEMS(rows, int64_t)[i], below = IS_GIVEN(below_rows) ? ITEMS(below_rows, int64_t)[i] : -1;
        int64_t ahead = i + ROWS_AHEAD < total ? i + ROWS_AHEAD : i, next = ITEMS(rows, int64_t)[ahead];
        int64_t next_below = IS_GIVEN(below_rows) ? ITEMS(below_rows, int64_t)[ahead] : -1;
        RowDigest own = {.has_key = keyed}, lower = {.has_key = keyed};
        for (const DigestedColumn *column = columns; column < columns + count; column++) {
            const uint64_t *cells = ITEMS(column->cells, uint64_t), *below_cells = ITEMS(column->below_cells, uint64_t);
            uint64_t digest = 0, under = 0;
            if (cells) {
                FETCH(source.at + start_of(cells[next]));
                digest = digest_cell(source.at, cells[row], column, room, powers, &longest);
            } else if (IS_GIVEN(column->digests)) {
                digest = ITEMS(column->digests, uint64_t)[row];
            }
            if (below_cells && next_below >= 0) FETCH(source.at + start_of(below_cells[next_below]));
            if (below >= 0) {
                if (below_cells) under = digest_cell(source.at, below_cells[below], column, room, powers, &longest);
                else if (IS_GIVEN(column->below_digests)) under = ITEMS(column->below_digests, uint64_t)[below];
            }
            add_value(&lower, column, under);
            add_value(&own, column, digest ? digest : under);
        }
        write_digest(own, out, total, i);
        if (IS_GIVEN(below_rows)) write_digest(lower, below_out, total, i);
    }
    return longest;
}
