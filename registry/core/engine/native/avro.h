/* Avro: the program of a reader schema, and what is read of a record and written of its text. */
#ifndef CDC_AVRO_H
#define CDC_AVRO_H

#include "fields.h"
#include "buffers.h"
#include "value_index.h"

/* What became of reading: only READ and MALFORMED are sure. UNSURE is for another implementation to say. */
enum outcome { READ = 0, MALFORMED = 1, UNSURE = 2, FULL = 3 };

enum avro_type {
    AVRO_NULL = 0,
    AVRO_BOOLEAN = 1,
    AVRO_LONG = 2,
    AVRO_DOUBLE = 3,
    AVRO_STRING = 4,
    AVRO_BYTES = 5,
    AVRO_ENUM = 6,        /* first word, how many */
    AVRO_ARRAY = 7,       /* node of an item */
    AVRO_MAP = 8,         /* node of a value */
    AVRO_UNION = 9,       /* first link, how many: a node for each branch */
    AVRO_RECORD = 10,     /* first link, how many members: for each a word, then a node */
    AVRO_COLUMNS = 11,    /* node: the columns of the images that follow */
    AVRO_COLUMN_NAME = 12,
    AVRO_IMAGE = 13,      /* node of a value: a value for each column */
    NAMED_INTEGER = 14,   /* of all that are named, the second number is that of their name in the value index */
    NAMED_CHARACTER = 15,
    NAMED_DECIMAL = 16,
    NAMED_FLOAT = 17,
    NAMED_TIMESTAMP = 18,
    NAMED_DATETIME = 19,
    NAMED_ZONED = 20,
    NAMED_TEXT = 21,      /* word: the name as the text begins */
    NAMED_BYTES = 22,     /* word */
    AVRO_FLOAT = 23,
    AVRO_FIXED = 24,      /* how many bytes */
    AVRO_WORD = 25,       /* word: JSON that is written for no bytes */
    AVRO_REST = 26,       /* the bytes that are left, which are a JSON object */
    AVRO_TYPES = 27
};

typedef struct {
    int32_t type, a, b;
} AvroNode;

/* A charset by a name it is written with: a page of 256 characters (-1: not sure), or UTF-8 where the page is -1. */
typedef struct {
    int32_t word, page;
} Charset;

/* Words are the pieces of text between two of `word_start`, which has one more. `digits` are those that a part of a
 * second has.
 */
#define PROGRAM_FIELDS(FIELD) \
    FIELD(const AvroNode *, node) \
    FIELD(const int32_t *, link) \
    FIELD(const int32_t *, word_start) \
    FIELD(const uint8_t *, words) \
    FIELD(const int32_t *, root) \
    FIELD(const Charset *, charset) \
    FIELD(const int32_t *, page) \
    FIELD(int32_t, nodes) \
    FIELD(int32_t, links) \
    FIELD(int32_t, word_count) \
    FIELD(int32_t, roots) \
    FIELD(int32_t, charsets) \
    FIELD(int32_t, pages) \
    FIELD(int32_t, digits) \
    FIELD(int32_t, words_size)

typedef struct {
    PROGRAM_FIELDS(MEMBER)
} AvroProgram;

#define MOST_COLUMNS 4096
#define MOST_AVRO_DEPTH 32
#define LATEST 512

/* The last value of a member: its bytes in the record and its text. */
typedef struct {
    const uint8_t *record, *text;
    uint64_t cell;
    int32_t member, record_length, text_length; /* of records, the number of the member, from 1; of maps 0 */
} LatestValue;

/* One record that is read, the text that is written, and the columns that were read last. Their names stand in `out`. */
typedef struct {
    const AvroProgram *program;
    const uint8_t *p, *end;
    uint8_t *out, *to, *out_end;
    const uint8_t *columns_at; /* the bytes of the columns read last, and what was written for them */
    int64_t columns_length, columns_text, columns_text_length;
    int32_t columns, distinct;
    ValueIndex *index;      /* NULL where none is made */
    int64_t columns_entry;  /* where the names of the columns stand in the index, -1 where they do not */
    int32_t within;         /* collections and images around what is read: what they hold has no entries of its own */
    unsigned kind, columns_kind; /* of the value that was read last, and of the columns */
    uint8_t name;           /* of the value that was read last, for the index */
    LatestValue latest[LATEST]; /* by member */
    int64_t name_start[MOST_COLUMNS];
    int32_t name_length[MOST_COLUMNS];
} AvroRead;

static inline int has_room(const AvroRead *read, int64_t length) { return read->out_end - read->to >= length; }

static inline int put_raw(AvroRead *read, const void *from, int64_t length) {
    if (!has_room(read, length)) return FULL;
    copy_bytes(read->to, from, length);
    read->to += length;
    return READ;
}

static inline int put_byte(AvroRead *read, uint8_t byte) {
    if (!has_room(read, 1)) return FULL;
    *read->to++ = byte;
    return READ;
}

static inline int put_word(AvroRead *read, int32_t word) {
    const int32_t *start = read->program->word_start + word;
    return put_raw(read, read->program->words + start[0], start[1] - start[0]);
}

#define TRY(step)                                \
    do {                                         \
        int tried = (step);                      \
        if (tried != READ) return tried;         \
    } while (0)

/* An int or long. One of more than 64 bits is not sure. */
static inline int read_long(AvroRead *read, int64_t *value) {
    const uint8_t *p = read->p;
    uint64_t bits = 0;
    for (int shift = 0; shift <= 63; shift += 7) {
        if (p >= read->end) return MALFORMED;
        uint8_t byte = *p++;
        bits |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            if (shift == 63 && byte > 1) return UNSURE;
            *value = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            read->p = p;
            return READ;
        }
    }
    return MALFORMED;
}

static inline int skip_long(AvroRead *read) {
    int64_t value;
    return read_long(read, &value);
}

/* How many items of an array or map follow in a block, whose size may stand before them; 0 behind the last block. */
static inline int read_count(AvroRead *read, int64_t *count) {
    TRY(read_long(read, count));
    if (*count >= 0) return READ;
    if (*count == INT64_MIN) return UNSURE;
    *count = -*count;
    return skip_long(read);
}

/* The length of a string or bytes, which stand where `p` is after it. */
static inline int read_length(AvroRead *read, int64_t *length) {
    int outcome = read_long(read, length);
    return outcome != READ ? outcome : *length < 0 || *length > read->end - read->p ? MALFORMED : READ;
}

/* A piece of a JSON string without its quotes: the bytes are UTF-8, or it is MALFORMED. */
int put_text(AvroRead *read, const uint8_t *p, int64_t length);
int put_code_page(AvroRead *read, const uint8_t *p, int64_t length, const int32_t *page);
int put_base64(AvroRead *read, const uint8_t *p, int64_t length);
int put_long(AvroRead *read, int64_t value, int width);
int put_quoted(AvroRead *read, const uint8_t *p, int64_t length); /* a JSON string, as put_text */
int put_double(AvroRead *read, double value); /* as Python's repr */
int put_float(AvroRead *read, float value);   /* the fewest digits that are read as the same float */
int read_string(AvroRead *read);              /* as a JSON string without its quotes */
int read_quoted(AvroRead *read);
int skip_string(AvroRead *read);
int read_double(AvroRead *read, double *value);
int read_named(AvroRead *read, const AvroNode *node);

#endif
