/* Value index: where the values of Avro records stand in their JSON and of which kind they are, in the order of the text,
 * so that nobody has to scan it. The reader writes it, the scanner reads it. A record may be without entries.
 *
 * A record has an entry that says what it is (`BELOW_RECORD`, its node in the program), then an entry for each member.
 * Behind an entry of the kind OBJECT stands another that says what is below, and how many entries: the members of a
 * record, those of a map with an entry for the name of each before it (`BELOW_MAP`), the values of an image
 * (`BELOW_IMAGE`, where the names of its columns begin; ABSENT for a column that is not in the text), or nothing. `names`
 * has the name of the record that a text begins with, by its number in the program.
 * The entry of a member may say where the same value stands in a record before.
 */
#ifndef CDC_VALUE_INDEX_H
#define CDC_VALUE_INDEX_H

#include "cells.h"
#include "fields.h"

enum below { BELOW_NOTHING = 0, BELOW_RECORD = 1, BELOW_IMAGE = 2, BELOW_MAP = 3 };

#define NO_NAME 0        /* a text that begins with none of the names */
#define UNKNOWN_NAME 255 /* only the text says */

/* Entries beyond the capacity are counted, not written: their record has none in the end. */
#define INDEX_FIELDS(FIELD) \
    FIELD(uint64_t *, cells) \
    FIELD(uint8_t *, names) \
    FIELD(int32_t *, starts) /* by record: its first entry; one more for the end */ \
    FIELD(uint64_t *, columns) /* names of columns, with their quotes */ \
    FIELD(int64_t, capacity) \
    FIELD(int64_t, total) \
    FIELD(int64_t, columns_capacity) \
    FIELD(int64_t, columns_total) \
    FIELD(int64_t, records) \
    FIELD(int64_t, placed) /* messages that were not scanned */

typedef struct {
    INDEX_FIELDS(MEMBER)
} ValueIndex;

static inline int64_t add_entry(ValueIndex *index, uint64_t cell, uint8_t name) {
    if (index->total < index->capacity) index->cells[index->total] = cell, index->names[index->total] = name;
    return index->total++;
}

static inline void set_entry(ValueIndex *index, int64_t at, uint64_t cell) {
    if (at < index->capacity) index->cells[at] = cell;
}

#endif
