/* Scan: the messages of a batch that are scanned by one plan, and what was found in them. */
#ifndef CDC_SCAN_H
#define CDC_SCAN_H

#include "avro.h"
#include "buffers.h"
#include "plans.h"

#define MOST_NESTED 16 /* of objects that are taken apart */

/* A column, or member of a record, in the plan: its node, its place in the row or object, and whether it is required. Of a
 * leaf also its slot, which is in the row or the message, and the kinds that are taken.
 */
typedef struct {
    int32_t node, place, required, slot, kinds, in_row;
} Column;

/* What the members of records and the columns of images are in the plan, found once. */
typedef struct {
    int32_t *object;  /* by node of the program: the object of the plan that its members were looked for in, -1 */
    uint8_t *fits;    /* and whether it has them */
    Column *member;   /* by link of the program: those of a record from its first on */
    int64_t *columns; /* by image: the names of columns that were found last, -1 */
    int32_t *count;   /* by image: how many; -1 where they do not fit */
    Column *column;   /* by image and column */
} Bound;

typedef struct {
    Plan *plan;
    const uint8_t *data, *p, *end;
    uint64_t *cells; /* by slot and record */
    int64_t record, capacity;
    const Buffer *row_cells; /* by image: cells by column and row */
    int64_t *rows;        /* by image: rows so far */
    int64_t row_capacity;
    int32_t *states; /* by image and record: absent -2, null -1, or how many rows */
    const int32_t *columns;
    uint64_t objects;
    int full;
    const AvroProgram *program; /* of messages that were written with a value index; NULL of others */
    ValueIndex *index;
    const Buffer *row_names; /* by image: names of records by column and row */
    Bound bound;
    int64_t at, stop; /* entries of the message */
    uint8_t *texts, *text; /* where rows that are JSON texts are written, and the next of them; NULL where none may be */
} Scan;

static inline uint64_t *row_cells_of(const Scan *scan, int32_t image) {
    return ITEMS(scan->row_cells[image], uint64_t) + scan->rows[image];
}

static inline uint8_t *row_names_of(const Scan *scan, int32_t image) {
    return scan->row_names[image].at + scan->rows[image];
}

static inline int32_t *state_of(const Scan *scan, int32_t image) {
    return scan->states + image * scan->capacity + scan->record;
}

static inline void put(Scan *scan, int32_t image, int32_t slot, uint64_t cell) {
    if (slot < 0) return;
    if (image == ANY_IMAGE) scan->cells[slot * scan->capacity + scan->record] = cell;
    else if (slot < scan->columns[image]) row_cells_of(scan, image)[slot * scan->row_capacity] = cell;
}

/* Whether there is room for another row. */
static inline int has_row(Scan *scan, int32_t image) {
    scan->full |= scan->rows[image] >= scan->row_capacity;
    return !scan->full;
}

/* Begins a row in which all columns are absent. */
static inline void open_row(Scan *scan, int32_t image) {
    uint64_t *cells = row_cells_of(scan, image);
    for (int32_t column = 0; column < scan->columns[image]; column++) cells[column * scan->row_capacity] = ABSENT;
    if (scan->row_names == NULL) return;
    uint8_t *names = row_names_of(scan, image);
    for (int32_t column = 0; column < scan->columns[image]; column++) names[column * scan->row_capacity] = UNKNOWN_NAME;
}

static inline void put_literal(Scan *scan, const Node *node, uint64_t start) {
    uint8_t first = scan->data[start];
    unsigned kind = first == '"' ? TEXT : first == '{' ? OBJECT : first == '[' ? ARRAY : NUL;
    if (kind == TEXT) put(scan, node->d, node->a, make_cell(start + 1, (uint64_t)node->c - 2, TEXT));
    else put(scan, node->d, node->a, make_cell(start, (uint64_t)node->c, kind));
}

/* Whether all messages of some numbers lie within the bytes of their batch. */
int are_messages(Buffer source, Buffer offsets, Buffer numbers);

int bind_index(Scan *scan);
void free_bound(Bound *bound);

/* Whether the entries of a message in the index follow the plan; if so, they are put in their places. If not, only its
 * text says whether it does.
 */
int place_message(Scan *scan, int64_t number);

#endif
