/* Layouts: what this library and its caller have to agree on, beside the functions. */
#include "forms.h"
#include "images.h"
#include "plans.h"
#include "avro.h"

#include <stddef.h>

#define PART(type, member) (int32_t)offsetof(type, member), (int32_t)sizeof(((type *)0)->member)

static const int32_t layouts[] = {
    sizeof(Buffer), PART(Buffer, at), PART(Buffer, size),
    sizeof(Check), PART(Check, form), PART(Check, most_whole), PART(Check, most_fraction), PART(Check, zeros_open),
    PART(Check, least), PART(Check, most), PART(Check, earliest), PART(Check, latest), PART(Check, literal),
    PART(Check, literal_length),
    sizeof(Block), PART(Block, places), PART(Block, present), PART(Block, names), PART(Block, columns), PART(Block, first),
    PART(Block, held),
    sizeof(Source), PART(Source, places), PART(Source, present), PART(Source, rows),
    sizeof(AvroProgram), PART(AvroProgram, node), PART(AvroProgram, link), PART(AvroProgram, word_start),
    PART(AvroProgram, words), PART(AvroProgram, root), PART(AvroProgram, charset), PART(AvroProgram, page),
    PART(AvroProgram, nodes), PART(AvroProgram, links), PART(AvroProgram, word_count), PART(AvroProgram, roots),
    PART(AvroProgram, charsets), PART(AvroProgram, pages), PART(AvroProgram, digits), PART(AvroProgram, words_size),
    sizeof(ValueIndex), PART(ValueIndex, cells), PART(ValueIndex, names), PART(ValueIndex, starts),
    PART(ValueIndex, columns), PART(ValueIndex, capacity), PART(ValueIndex, total), PART(ValueIndex, columns_capacity),
    PART(ValueIndex, columns_total), PART(ValueIndex, records), PART(ValueIndex, placed),
    sizeof(Node), sizeof(Member), sizeof(AvroNode), sizeof(Charset),
    OBJECT, TIME_MINUTES, OPEN, AVRO_TYPES, IS_LITERAL, TOO_SHORT,
};

/* Counted up where a function takes or returns something else. */
EXPORT int32_t cdc_abi(void) { return 4; }

/* Writes the sizes of the structures that cross the boundary, with where their members are and how large, and the last
 * number of each list of names. Returns how many numbers there are; writes none where they do not fit.
 */
EXPORT int64_t cdc_layouts(Buffer out) {
    int64_t count = COUNT_OF(((Buffer){NULL, sizeof layouts}), int32_t);
    if (HOLDS(out, int32_t, count)) memcpy(out.at, layouts, sizeof layouts);
    return count;
}
