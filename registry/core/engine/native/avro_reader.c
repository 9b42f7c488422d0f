/* Avro reader: walks the records of a block by the program of their schema, and writes each as JSON.
 *
 * What it writes is what `message/transport.py` writes of the same record. It stops at a record of which it is not
 * sure, or that no schema fits, and leaves it to that. While it writes, it notes each value in a value index.
 */
#include "interface.h"
#include "avro.h"
#include "tokens.h"

#define FRAME 5 /* a byte of zero, and an id */

#define WIDEST 9000000000000000000 /* the least number that is no INTEGER */

static int read_node(AvroRead *read, int32_t number, int depth);

static inline int is_indexed(const AvroRead *read) { return read->index != NULL && !read->within; }

/* The cell of a value that begins at `value`, and was written last. A record with one that has none has no entries. */
static uint64_t cell_of(const AvroRead *read, const uint8_t *value) {
    uint64_t start = (uint64_t)(value - read->out), length = (uint64_t)(read->to - value);
    unsigned quote = read->kind == TEXT || read->kind == ESCAPED;
    if (length > MOST_LENGTH) {
        read->index->total = read->index->capacity + 1;
        return ABSENT;
    }
    return make_cell(start + quote, length - 2 * quote, read->kind);
}

/* Notes what the entries behind `at` are, and how many. */
static void close_below(AvroRead *read, int64_t at, int64_t what, enum below below) {
    uint64_t total = (uint64_t)(read->index->total - at - 1);
    set_entry(read->index, at, make_cell((uint64_t)what, total, below));
}

/* The cell of a member of a map or of its name. Where it is that of the record before, it is the one that stands there
 * already: whoever reads it later need not wait for the memory.
 */
static uint64_t repeated(AvroRead *read, const uint8_t *value, int32_t member) {
    uint64_t cell = cell_of(read, value);
    LatestValue *latest = read->latest + (uint32_t)member % LATEST;
    if ((uint32_t)cell == (uint32_t)latest->cell && latest->text_length == read->to - value &&
        same_bytes(value, latest->text, latest->text_length))
        return latest->cell;
    *latest = (LatestValue){.text = value, .cell = cell, .text_length = (int32_t)(read->to - value)};
    return cell;
}

/* Notes the value of a member, for which an entry was made; of a collection nothing is noted that is below. */
static void note_member(ValueIndex *index, int64_t at, uint64_t cell) {
    set_entry(index, at, cell);
    if (index->total > index->capacity) return;
    if (kind_of(cell) != OBJECT) index->total = at + 1;
    else if (index->total == at + 1) add_entry(index, make_cell(0, 0, BELOW_NOTHING), NO_NAME);
}

/* Whether a value is kept for the record that follows: its bytes alone say what it is and where it ends, and to read it again
 * takes longer than to compare them, which of a number it does not.
 */
static int is_alone(const AvroRead *read, int32_t node, uint64_t cell) {
    unsigned kind = kind_of(cell);
    int32_t type = read->program->node[node].type;
    return type == AVRO_WORD ? kind != ABSENT : (kind == TEXT || kind == ESCAPED) && type != AVRO_COLUMNS;
}

/* Reads a member of a record and notes its value. Where the bytes that follow are those of its last value it is written
 * as that, and noted where that stands.
 */
static int read_member(AvroRead *read, int32_t node, int32_t member, int depth) {
    LatestValue *latest = read->latest + (uint32_t)member % LATEST;
    const uint8_t *record = read->p, *value = read->to;
    if (latest->member == member + 1 && latest->record_length <= read->end - record &&
        same_bytes(record, latest->record, latest->record_length)) {
        note_member(read->index, add_entry(read->index, ABSENT, NO_NAME), latest->cell);
        read->p += latest->record_length;
        return put_raw(read, latest->text, latest->text_length);
    }
    int64_t at = add_entry(read->index, ABSENT, NO_NAME);
    TRY(read_node(read, node, depth));
    uint64_t cell = cell_of(read, value);
    note_member(read->index, at, cell);
    if (is_alone(read, node, cell))
        *latest = (LatestValue){record, value, cell, member + 1, (int32_t)(read->p - record), (int32_t)(read->to - value)};
    return READ;
}

/* The items of an array or map, with commas between them; `named` where each has a name before it. */
static int read_items(AvroRead *read, int32_t item, int named, int depth) {
    int first = 1, indexed = named && is_indexed(read);
    int64_t at = -1;
    for (;;) {
        int64_t count;
        TRY(read_count(read, &count));
        if (count == 0) return READ;
        if (count > read->end - read->p) return UNSURE;
        for (int64_t i = 0; i < count; i++) {
            if (!first) TRY(put_byte(read, ','));
            first = 0;
            if (named) {
                const uint8_t *name = read->to;
                TRY(read_quoted(read));
                if (indexed) {
                    add_entry(read->index, repeated(read, name, item + 1), NO_NAME);
                    at = add_entry(read->index, ABSENT, NO_NAME);
                }
                TRY(put_byte(read, ':'));
            }
            const uint8_t *value = read->to;
            TRY(read_node(read, item, depth));
            if (indexed) note_member(read->index, at, *value == '{' ? cell_of(read, value) : repeated(read, value, item));
        }
    }
}

static int read_array(AvroRead *read, const AvroNode *node, int depth) {
    TRY(put_byte(read, '['));
    read->within++;
    TRY(read_items(read, node->a, 0, depth));
    read->within--, read->kind = ARRAY;
    return put_byte(read, ']');
}

static int read_map(AvroRead *read, const AvroNode *node, int depth) {
    int indexed = is_indexed(read);
    int64_t at = indexed ? add_entry(read->index, ABSENT, NO_NAME) : -1;
    TRY(put_byte(read, '{'));
    TRY(read_items(read, node->a, 1, depth));
    read->kind = OBJECT;
    if (indexed) close_below(read, at, 0, BELOW_MAP);
    return put_byte(read, '}');
}

static int same_name(const AvroRead *read, int32_t one, int32_t other) {
    return read->name_length[one] == read->name_length[other] &&
           memcmp(read->out + read->name_start[one], read->out + read->name_start[other], (size_t)read->name_length[one]) == 0;
}

/* Whether no two columns have one name. */
static int are_distinct(const AvroRead *read) {
    int16_t table[2 * MOST_COLUMNS];
    uint32_t size = 16;
    while (size < 2 * (uint32_t)read->columns) size *= 2;
    memset(table, -1, size * sizeof(int16_t));
    for (int32_t column = 0; column < read->columns; column++) {
        const uint8_t *name = read->out + read->name_start[column];
        uint32_t hash = 2166136261u;
        for (int32_t i = 0; i < read->name_length[column]; i++) hash = (hash ^ name[i]) * 16777619u;
        uint32_t at = (hash ^ hash >> 15) & (size - 1);
        for (; table[at] >= 0; at = (at + 1) & (size - 1))
            if (same_name(read, column, table[at])) return 0;
        table[at] = (int16_t)column;
    }
    return 1;
}

/* Notes the names of columns for the images that follow. */
static void note_columns(AvroRead *read) {
    ValueIndex *index = read->index;
    read->columns_entry = -1;
    if (index == NULL || index->columns_capacity - index->columns_total < read->columns) return;
    read->columns_entry = index->columns_total;
    for (int32_t column = 0; column < read->columns; column++)
        index->columns[index->columns_total++] =
            make_cell((uint64_t)read->name_start[column], (uint64_t)read->name_length[column], TEXT);
}

/* The columns, which mostly are, byte for byte, those of the record before. */
static int read_columns(AvroRead *read, const AvroNode *node, int depth) {
    const uint8_t *before = read->p;
    if (read->columns_length && read->end - read->p >= read->columns_length &&
        memcmp(read->p, read->columns_at, (size_t)read->columns_length) == 0) {
        read->p += read->columns_length, read->kind = read->columns_kind;
        return put_raw(read, read->out + read->columns_text, read->columns_text_length);
    }
    read->columns = 0, read->columns_length = 0;
    int64_t text = read->to - read->out;
    TRY(read_node(read, node->a, depth));
    read->distinct = are_distinct(read);
    read->columns_at = before, read->columns_length = read->p - before;
    read->columns_text = text, read->columns_text_length = read->to - read->out - text, read->columns_kind = read->kind;
    note_columns(read);
    return READ;
}

static int read_column_name(AvroRead *read) {
    uint8_t *before = read->to;
    if (read->columns == MOST_COLUMNS) return UNSURE;
    TRY(read_quoted(read));
    read->name_start[read->columns] = before - read->out;
    read->name_length[read->columns++] = (int32_t)(read->to - before);
    return READ;
}

static int is_text(const AvroRead *read, const uint8_t *from, const char *text) {
    return read->to - from == (int64_t)strlen(text) && memcmp(from, text, strlen(text)) == 0;
}

/* Reads the values of an image as an object by column. `fits` becomes 0 where they are not as many as the columns. */
static int read_row(AvroRead *read, int32_t item, int indexed, int depth, int *fits) {
    int32_t column = 0;
    int first = 1;
    TRY(put_byte(read, '{'));
    for (;;) {
        int64_t count;
        TRY(read_count(read, &count));
        if (count == 0) break;
        if (count > read->columns - column) {
            *fits = 0;
            return READ;
        }
        for (int64_t i = 0; i < count; i++, column++) {
            uint8_t *before = read->to;
            if (!first) TRY(put_byte(read, ','));
            TRY(put_raw(read, read->out + read->name_start[column], read->name_length[column]));
            TRY(put_byte(read, ':'));
            uint8_t *value = read->to;
            read->name = UNKNOWN_NAME;
            TRY(read_node(read, item, depth));
            if (is_text(read, value, "\"NONE\"")) {
                read->to = before;
                if (indexed) add_entry(read->index, ABSENT, NO_NAME);
                continue;
            }
            first = 0;
            if (is_text(read, value, "\"NULL\"")) memcpy(value, "null", 4), read->to = value + 4, read->kind = NUL;
            if (indexed) add_entry(read->index, cell_of(read, value), read->name);
        }
    }
    *fits = column == read->columns, read->kind = OBJECT;
    return put_byte(read, '}');
}

static int read_image(AvroRead *read, const AvroNode *node, int depth) {
    const uint8_t *p = read->p;
    uint8_t *to = read->to;
    int fits = 0, indexed = is_indexed(read) && read->columns_entry >= 0;
    int64_t at = indexed ? add_entry(read->index, ABSENT, NO_NAME) : -1;
    read->within++;
    if (read->distinct) {
        TRY(read_row(read, node->a, indexed, depth, &fits));
        if (fits) {
            read->within--;
            if (indexed) close_below(read, at, read->columns_entry, BELOW_IMAGE);
            return READ;
        }
    }
    read->p = p, read->to = to;
    TRY(put_byte(read, '['));
    TRY(read_items(read, node->a, 0, depth));
    read->within--, read->kind = ARRAY;
    return put_byte(read, ']');
}

static int read_record(AvroRead *read, const AvroNode *node, int depth) {
    const int32_t *link = read->program->link + node->a;
    int indexed = is_indexed(read);
    int64_t at = indexed ? add_entry(read->index, ABSENT, NO_NAME) : -1;
    for (int32_t member = 0; member < node->b; member++, link += 2) {
        TRY(put_word(read, link[0]));
        TRY(indexed ? read_member(read, link[1], node->a + 2 * member, depth) : read_node(read, link[1], depth));
    }
    read->kind = OBJECT;
    if (indexed) close_below(read, at, node - read->program->node, BELOW_RECORD);
    return node->b ? put_byte(read, '}') : put_raw(read, "{}", 2);
}

/* What is left of a record, if it surely is one JSON object. It is for the scanner: it has no entries in the index. */
static int read_rest(AvroRead *read) {
    const uint8_t *start = read->p;
    if (start >= read->end || *start != '{' || skip_nested(start, read->end) != read->end) return UNSURE;
    if (read->index != NULL) read->index->total = read->index->capacity + 1;
    read->p = read->end, read->kind = OBJECT;
    return put_raw(read, start, read->end - start);
}

/* Writes JSON that stands for no bytes. A record with a word that is none has no entries. */
static int read_word(AvroRead *read, const AvroNode *node) {
    const uint8_t *word = read->to;
    TRY(put_word(read, node->a));
    if (read->index == NULL) return READ;
    if (read->to > word && (*word == '{' || *word == '[')) read->kind = *word == '{' ? OBJECT : ARRAY;
    else if (read->to == word || skip_scalar(word, read->to, &read->kind) != read->to) read->index->total = read->index->capacity + 1;
    return READ;
}

static int read_node(AvroRead *read, int32_t number, int depth) {
    const AvroNode *node = read->program->node + number;
    int64_t value;
    double real;
    for (; node->type == AVRO_UNION; depth++) {
        if (depth == MOST_AVRO_DEPTH) return UNSURE;
        TRY(read_long(read, &value));
        if (value < 0 || value >= node->b) return MALFORMED;
        node = read->program->node + read->program->link[node->a + value];
    }
    if (depth == MOST_AVRO_DEPTH) return UNSURE;
    switch (node->type) {
    case AVRO_NULL:
        read->kind = NUL;
        return put_raw(read, "null", 4);
    case AVRO_BOOLEAN:
        if (read->p >= read->end) return MALFORMED;
        if (*read->p > 1) return UNSURE;
        read->kind = *read->p ? TRUTH : FALSEHOOD;
        return *read->p++ ? put_raw(read, "true", 4) : put_raw(read, "false", 5);
    case AVRO_LONG:
        TRY(read_long(read, &value));
        read->kind = value < WIDEST && value > -WIDEST ? INTEGER : NUMBER;
        return put_long(read, value, 0);
    case AVRO_DOUBLE:
        TRY(read_double(read, &real));
        if (real - real != 0) return UNSURE;
        return put_double(read, real);
    case AVRO_FLOAT: {
        float small;
        if (read->end - read->p < 4) return MALFORMED;
        uint32_t bits = read->p[0] | (uint32_t)read->p[1] << 8 | (uint32_t)read->p[2] << 16 | (uint32_t)read->p[3] << 24;
        memcpy(&small, &bits, 4);
        read->p += 4;
        return put_float(read, small);
    }
    case AVRO_STRING: return read_quoted(read);
    case AVRO_FIXED: case AVRO_BYTES:
        value = node->a;
        if (node->type == AVRO_BYTES) TRY(read_length(read, &value));
        if (read->end - read->p < value) return MALFORMED;
        TRY(put_byte(read, '"'));
        TRY(put_base64(read, read->p, value));
        read->p += value, read->kind = TEXT;
        return put_byte(read, '"');
    case AVRO_ENUM:
        TRY(read_long(read, &value));
        read->kind = TEXT;
        return value < 0 || value >= node->b ? MALFORMED : put_word(read, node->a + (int32_t)value);
    case AVRO_ARRAY: return read_array(read, node, depth + 1);
    case AVRO_MAP: return read_map(read, node, depth + 1);
    case AVRO_RECORD: return read_record(read, node, depth + 1);
    case AVRO_COLUMNS: return read_columns(read, node, depth + 1);
    case AVRO_COLUMN_NAME: return read_column_name(read);
    case AVRO_WORD: return read_word(read, node);
    case AVRO_REST: return read_rest(read);
    case AVRO_IMAGE: return read_image(read, node, depth + 1);
    default: return read_named(read, node);
    }
}

/* Reads the bytes between `start` and `end`, all of them, by a schema. */
static int read_root(AvroRead *read, const uint8_t *start, const uint8_t *end, int32_t root) {
    read->p = start, read->end = end, read->within = 0;
    int outcome = read_node(read, read->program->root[root], 0);
    if (outcome == READ && read->p == end) return READ;
    read->columns_length = 0; /* what they were written as is overwritten */
    memset(read->latest, 0, sizeof read->latest);
    return outcome == READ ? MALFORMED : outcome;
}

/* Reads one value by the first schema that fits all of it, and puts that schema first. If `framed`, it may have a frame
 * of five bytes.
 */
static int read_value(AvroRead *read, const uint8_t *start, const uint8_t *end, int framed, int32_t *order) {
    uint8_t *before = read->to;
    int64_t entries = read->index == NULL ? 0 : read->index->total;
    int last = framed && *start == 0 ? FRAME : 0;
    for (int frame = 0; frame <= last; frame += FRAME) {
        if (end - start < frame) return MALFORMED;
        for (int32_t place = 0; place < read->program->roots; place++) {
            int32_t root = order[place];
            read->to = before;
            if (read->index != NULL) read->index->total = entries;
            int outcome = read_root(read, start + frame, end, root);
            if (outcome == READ) {
                for (; place > 0; place--) order[place] = order[place - 1];
                order[0] = root;
            }
            if (outcome != MALFORMED) return outcome;
        }
    }
    return MALFORMED;
}

/* Reads one value by the schema that its frame names. */
static int read_framed(AvroRead *read, const uint8_t *start, const uint8_t *end, int frame, int32_t root) {
    if (root < 0 || root >= read->program->roots || end - start < frame) return MALFORMED;
    return read_root(read, start + frame, end, root);
}

/* Whether the schemas to try are schemas of the program. */
static int is_order(const AvroProgram *program, Buffer order) {
    if (!HOLDS(order, int32_t, program->roots)) return 0;
    for (int32_t i = 0; i < program->roots; i++)
        if (ITEMS(order, int32_t)[i] < 0 || ITEMS(order, int32_t)[i] >= program->roots) return 0;
    return 1;
}

/* Whether all records lie within the bytes of their batch. */
static int are_records(Buffer source, Buffer offset_buffer) {
    const int32_t *offsets = ITEMS(offset_buffer, int32_t);
    int64_t count = COUNT_OF(offset_buffer, int32_t) - 1;
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] < 0 || offsets[i] > offsets[i + 1]) return 0;
    return count == 0 || offsets[count] <= source.size;
}

/* Reads the values from `first` on, and writes their texts one after the other from where the first begins in
 * `text_offsets`. Stops before a value that is left, and where `capacity` is reached; values that are not `valid` are
 * empty. `order` has the schemas in the order they are tried, unless `root_buffer` has the schema of each value (-1: it is
 * left) and `frame_buffer` the bytes in front of it; `index` may be NULL. Returns the number of the value it stopped
 * before, and why in `why`: READ where there are no more.
 */
int64_t cdc_read_avro(const AvroProgram *program, Buffer source, Buffer offset_buffer, Buffer valid_buffer,
                             int64_t first, int64_t most_bytes, int32_t framed, Buffer order_buffer, Buffer root_buffer,
                             Buffer frame_buffer, Buffer out_buffer, Buffer text_offset_buffer, ValueIndex *index,
                             Buffer why_buffer) {
    const uint8_t *data = source.at, *valid = valid_buffer.at, *frames = frame_buffer.at;
    const int32_t *roots = ITEMS(root_buffer, int32_t);
    const int32_t *offsets = ITEMS(offset_buffer, int32_t);
    int32_t *order = ITEMS(order_buffer, int32_t), *text_offsets = ITEMS(text_offset_buffer, int32_t);
    int32_t *why = ITEMS(why_buffer, int32_t);
    int64_t count = COUNT_OF(offset_buffer, int32_t) - 1, i = first;
    uint8_t *out = out_buffer.at;
    if (first < 0 || first > count || !HOLDS(why_buffer, int32_t, 1)) return TOO_SHORT;
    if (!HOLDS(text_offset_buffer, int32_t, count + 1) || (valid != NULL && valid_buffer.size < count)) return TOO_SHORT;
    if (text_offsets[first] < 0 || text_offsets[first] > out_buffer.size) return TOO_SHORT;
    if (roots == NULL && !is_order(program, order_buffer)) return TOO_SHORT;
    if (roots != NULL && (!HOLDS(root_buffer, int32_t, count) || frame_buffer.size < count)) return TOO_SHORT;
    if (!are_records(source, offset_buffer) || (index != NULL && index->records < count)) return TOO_SHORT;
    AvroRead read = {.program = program, .out = out, .to = out + text_offsets[first], .out_end = out + out_buffer.size,
                     .index = index, .columns_entry = -1};
    *why = READ;
    for (; i < count; i++) {
        const uint8_t *start = data + offsets[i], *end = data + offsets[i + 1];
        uint8_t *before = read.to;
        if (valid == NULL || valid[i]) {
            if (end == start || end - start > most_bytes) *why = MALFORMED;
            else if (roots != NULL) *why = read_framed(&read, start, end, frames[i], roots[i]);
            else *why = read_value(&read, start, end, framed, order);
            if (*why != READ) {
                read.to = before;
                break;
            }
        }
        text_offsets[i + 1] = (int32_t)(read.to - out);
        if (index == NULL) continue;
        if (index->total > index->capacity) index->total = index->starts[i];
        index->starts[i + 1] = (int32_t)index->total;
    }
    if (index != NULL) index->total = index->starts[i];
    return i;
}

/* Whether a program points nowhere outside of itself. */
int64_t cdc_is_avro_program(const AvroProgram *program) {
    for (int32_t i = 0; i <= program->word_count; i++)
        if (program->word_start[i] < (i ? program->word_start[i - 1] : 0) || program->word_start[i] > program->words_size) return 0;
    for (int32_t n = 0; n < program->nodes; n++) {
        const AvroNode *node = program->node + n;
        int64_t from = node->a, total = node->b;
        switch (node->type) {
        case AVRO_FIXED:
            if (from < 0) return 0;
            break;
        case AVRO_ENUM:
            if (from < 0 || total < 0 || from + total > program->word_count) return 0;
            for (int64_t i = 0; i < total; i++) { /* texts without escapes */
                const int32_t *word = program->word_start + from + i;
                if (memchr(program->words + word[0], '\\', (size_t)(word[1] - word[0]))) return 0;
            }
            break;
        case NAMED_TEXT: case NAMED_BYTES: case AVRO_WORD:
            if (from < 0 || from >= program->word_count) return 0;
            break;
        case AVRO_ARRAY: case AVRO_MAP: case AVRO_COLUMNS: case AVRO_IMAGE:
            if (from < 0 || from >= program->nodes) return 0;
            break;
        case AVRO_UNION: case AVRO_RECORD: {
            int step = node->type == AVRO_RECORD ? 2 : 1;
            if (from < 0 || total < 0 || from + step * total > program->links) return 0;
            for (int64_t i = 0; i < step * total; i++) {
                int32_t most = step == 2 && i % 2 == 0 ? program->word_count : program->nodes;
                int32_t link = program->link[from + i];
                if (link < 0 || link >= most) return 0;
            }
            break;
        }
        default:
            if (node->type < 0 || node->type >= AVRO_TYPES) return 0;
        }
    }
    for (int32_t i = 0; i < program->roots; i++)
        if (program->root[i] < 0 || program->root[i] >= program->nodes) return 0;
    for (int32_t i = 0; i < program->charsets; i++) {
        if (program->charset[i].word < 0 || program->charset[i].word >= program->word_count) return 0;
        if (program->charset[i].page >= program->pages) return 0;
    }
    return program->digits >= 0 && program->digits <= 18;
}
