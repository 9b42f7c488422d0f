/* Images: rows in blocks with the same columns, and rows that are completed by others. */
#ifndef CDC_IMAGES_H
#define CDC_IMAGES_H

#include "buffers.h"

typedef struct {
    Buffer places;  /* rows by columns, each the place of a text */
    Buffer present; /* rows by columns, a byte each; not given where every row has every column */
    Buffer names;   /* of each column, which of the names it has */
    int64_t columns;
    int64_t first;  /* the number of its first row among the rows of all blocks */
    int64_t held;   /* 0 for a block of rows without an image */
} Block;

typedef struct {
    Buffer places;  /* rows by columns, each the place of a text */
    Buffer present; /* rows by columns, a byte each; not given where every row has every column */
    Buffer rows;    /* of each row that is wanted, which it is; -1 where there is none */
} Source;

#endif
