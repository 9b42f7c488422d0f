/* Values of Avro images: each is a record, and is written as one text, its name first. */
#include "avro.h"

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, PART, PARTS };

int read_string(AvroRead *read) {
    int64_t length;
    TRY(read_length(read, &length));
    const uint8_t *p = read->p;
    read->p += length;
    return put_text(read, p, length);
}

int read_quoted(AvroRead *read) {
    int64_t length;
    TRY(read_length(read, &length));
    const uint8_t *p = read->p;
    read->p += length, read->kind = TEXT;
    return put_quoted(read, p, length);
}

/* Nothing is written, but what is no UTF-8 is MALFORMED all the same. */
int skip_string(AvroRead *read) {
    uint8_t *before = read->to;
    unsigned kind = read->kind;
    int outcome = read_string(read);
    read->to = before, read->kind = kind;
    return outcome;
}

int read_double(AvroRead *read, double *value) {
    uint64_t bits = 0;
    if (read->end - read->p < 8) return MALFORMED;
    for (int i = 7; i >= 0; i--) bits = bits << 8 | read->p[i];
    read->p += 8;
    memcpy(value, &bits, 8);
    return READ;
}

#define PUT(read, text) put_raw(read, text, sizeof text - 1)

/* A part of a second without the zeros at its end. Returns -1 where it is a second or more. */
static int64_t put_part(AvroRead *read, int64_t part) {
    int64_t most = 1;
    int digits = read->program->digits;
    if (part == 0) return READ;
    for (int i = 0; i < digits; i++) most *= 10;
    if (part < 0 || part >= most) return -1;
    while (part % 10 == 0) part /= 10, digits--;
    if (put_byte(read, '.') != READ) return FULL;
    return put_long(read, part, digits);
}

static int read_timestamp(AvroRead *read) {
    int64_t seconds, part;
    uint8_t *before = read->to;
    TRY(read_long(read, &seconds));
    TRY(read_long(read, &part));
    TRY(PUT(read, "\"Timestamp "));
    TRY(put_long(read, seconds, 0));
    int64_t outcome = put_part(read, part);
    if (outcome < 0) {
        read->to = before;
        read->name = NO_NAME;
        return PUT(read, "\"Timestamp! \"");
    }
    return outcome == READ ? put_byte(read, '"') : (int)outcome;
}

static int put_date(AvroRead *read, const int64_t *part, const int *there) {
    TRY(put_byte(read, ' '));
    TRY(put_long(read, part[YEAR], 4));
    if (!there[MONTH] || !there[DAY]) return READ;
    TRY(put_byte(read, '-'));
    TRY(put_long(read, part[MONTH], 2));
    TRY(put_byte(read, '-'));
    return put_long(read, part[DAY], 2);
}

static int put_clock(AvroRead *read, const int64_t *part, int negative) {
    TRY(put_byte(read, ' '));
    if (negative) TRY(put_byte(read, '-'));
    TRY(put_long(read, part[HOUR], 2));
    TRY(put_byte(read, ':'));
    TRY(put_long(read, part[MINUTE], 2));
    TRY(put_byte(read, ':'));
    TRY(put_long(read, part[SECOND], 2));
    return (int)put_part(read, part[PART]);
}

static int put_no_time(AvroRead *read) {
    read->name = NO_NAME;
    return PUT(read, "! ");
}

/* A DateTime behind its name: a blank and what it says, or `! ` where it says what no time is. */
static int read_datetime(AvroRead *read) {
    int64_t part[PARTS] = {0}, first = 0, most = 1;
    int there[PARTS] = {0}, negative = 0;
    for (int i = 0; i < PARTS; i++) {
        if (read->p >= read->end) return MALFORMED;
        uint8_t branch = *read->p++;
        if (branch != 0 && branch != 2) return MALFORMED;
        if (branch == 0) continue;
        TRY(read_long(read, part + i));
        if (part[i] <= -INT32_MAX || part[i] >= INT32_MAX) return UNSURE;
        there[i] = 1;
    }
    for (int i = HOUR; i < PARTS; i++) {
        if (first == 0) first = part[i];
        negative |= part[i] < 0;
    }
    if (negative && first > 0) return put_no_time(read);
    for (int i = HOUR; i < PARTS; i++) part[i] = part[i] < 0 ? -part[i] : part[i];
    for (int i = 0; i < read->program->digits; i++) most *= 10;
    if (part[PART] >= most || part[YEAR] < 0 || part[MONTH] < 0 || part[DAY] < 0) return put_no_time(read);
    int has_clock = there[HOUR] && there[MINUTE] && there[SECOND];
    if (!there[YEAR] && !has_clock) return put_no_time(read);
    if (there[YEAR]) TRY(put_date(read, part, there));
    return has_clock ? put_clock(read, part, negative) : READ;
}

static int read_character(AvroRead *read) {
    const AvroProgram *program = read->program;
    int64_t name_length, length;
    TRY(read_length(read, &name_length));
    const uint8_t *name = read->p, *value;
    read->p += name_length;
    TRY(read_length(read, &length));
    value = read->p, read->p += length;
    for (int32_t i = 0; i < program->charsets; i++) {
        const Charset *charset = program->charset + i;
        const int32_t *start = program->word_start + charset->word;
        if (start[1] - start[0] != name_length) continue;
        if (memcmp(program->words + start[0], name, (size_t)name_length) != 0) continue;
        TRY(PUT(read, "\"Character "));
        int outcome = charset->page < 0 ? put_text(read, value, length)
                                        : put_code_page(read, value, length, program->page + 256 * charset->page);
        if (outcome == MALFORMED) return UNSURE; /* a value that is not in its charset is read all the same */
        return outcome == READ ? put_byte(read, '"') : outcome;
    }
    return UNSURE;
}

static int read_integer(AvroRead *read) {
    TRY(skip_long(read));
    TRY(PUT(read, "\"Integer "));
    TRY(read_string(read));
    return put_byte(read, '"');
}

static int read_decimal(AvroRead *read) {
    TRY(PUT(read, "\"Decimal "));
    TRY(read_string(read));
    TRY(skip_long(read));
    TRY(skip_long(read));
    return put_byte(read, '"');
}

static int read_float(AvroRead *read) {
    double value;
    TRY(read_double(read, &value));
    TRY(skip_long(read));
    TRY(skip_long(read));
    TRY(PUT(read, "\"Float "));
    TRY(put_double(read, value));
    read->kind = TEXT;
    return put_byte(read, '"');
}

static int read_bytes_named(AvroRead *read, int32_t word) {
    int64_t length;
    TRY(skip_string(read));
    TRY(read_length(read, &length));
    TRY(put_word(read, word));
    TRY(put_base64(read, read->p, length));
    read->p += length;
    return put_byte(read, '"');
}

int read_named(AvroRead *read, const AvroNode *node) {
    read->name = (uint8_t)node->b, read->kind = TEXT;
    switch (node->type) {
    case NAMED_INTEGER: return read_integer(read);
    case NAMED_CHARACTER: return read_character(read);
    case NAMED_DECIMAL: return read_decimal(read);
    case NAMED_FLOAT: return read_float(read);
    case NAMED_TIMESTAMP: return read_timestamp(read);
    case NAMED_BYTES: return read_bytes_named(read, node->a);
    case NAMED_TEXT:
        TRY(skip_string(read));
        TRY(put_word(read, node->a));
        TRY(read_string(read));
        return put_byte(read, '"');
    case NAMED_DATETIME:
        TRY(PUT(read, "\"DateTime"));
        TRY(read_datetime(read));
        return put_byte(read, '"');
    case NAMED_ZONED:
        TRY(PUT(read, "\"TimestampWithTimeZone"));
        TRY(read_datetime(read));
        TRY(put_byte(read, ' '));
        TRY(read_string(read));
        return put_byte(read, '"');
    default: return UNSURE;
    }
}
