/* Row digests: the columns of rows, each with the digests of its name. */
#ifndef CDC_ROW_DIGESTS_H
#define CDC_ROW_DIGESTS_H

#include "buffers.h"
#include "fields.h"

#define DIGESTED_FIELDS(FIELD) \
    FIELD(Buffer, cells) /* by row its value; not given for a column that no row has */ \
    FIELD(Buffer, digests) /* in place of cells: by row the digest of its value with the name, 0 where there is none */ \
    FIELD(Buffer, below_cells) /* both for the rows below */ \
    FIELD(Buffer, below_digests) \
    FIELD(uint64_t, name) /* the digest of its name, */ \
    FIELD(uint64_t, shape) /* the mix of that, */ \
    FIELD(uint64_t, null) /* and that of null with the name */ \
    FIELD(int64_t, keys) /* how often it is in the key */

typedef struct {
    DIGESTED_FIELDS(MEMBER)
} DigestedColumn;

#endif
