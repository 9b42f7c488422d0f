/* Images: rows in blocks with the same columns, and rows that are completed by others. */
#ifndef CDC_IMAGES_H
#define CDC_IMAGES_H

#include "buffers.h"
#include "fields.h"

#define BLOCK_FIELDS(FIELD) \
    FIELD(Buffer, places) /* rows by columns, each the place of a text */ \
    FIELD(Buffer, present) /* rows by columns, a byte each; not given where every row has every column */ \
    FIELD(Buffer, names) /* of each column, which of the names it has */ \
    FIELD(int64_t, columns) \
    FIELD(int64_t, first) /* the number of its first row among the rows of all blocks */ \
    FIELD(int64_t, held) /* 0 for a block of rows without an image */

typedef struct {
    BLOCK_FIELDS(MEMBER)
} Block;

#define SOURCE_FIELDS(FIELD) \
    FIELD(Buffer, places) /* rows by columns, each the place of a text */ \
    FIELD(Buffer, present) /* rows by columns, a byte each; not given where every row has every column */ \
    FIELD(Buffer, rows) /* of each row that is wanted, which it is; -1 where there is none */

typedef struct {
    SOURCE_FIELDS(MEMBER)
} Source;

#endif
