/* Fuzzing of the native part: messages of real contracts, changed by chance, through the real plans of their shapes.
 *
 *     native_fuzz CORPUS MESSAGES SEED
 *
 * CORPUS is what tests/native_corpus.py writes. Every buffer is allocated just as large as it has to be, so that a
 * sanitizer sees what is read or written beyond it. What was taken is checked: it is UTF-8, and lies within the batch.
 */
#include "forms.h"
#include "images.h"
#include "row_digests.h"
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>

Plan *cdc_make_plan(Buffer nodes, Buffer members, Buffer names, int32_t images, int32_t slots);
void cdc_free_plan(Plan *plan);
int64_t cdc_scan(Plan *plan, Buffer source, Buffer offsets, Buffer numbers, int64_t most_bytes, int64_t patience,
                 Buffer cells, int64_t row_capacity, Buffer row_cells, Buffer columns, Buffer states, Buffer rows,
                 Buffer taken, Buffer left, const AvroProgram *program, ValueIndex *index, Buffer row_names, Buffer texts);
int64_t cdc_open_texts(Buffer source, Buffer offsets, Buffer valid, Buffer keyed, Buffer places, Buffer names, int64_t most_bytes,
                       Buffer out, Buffer out_offsets, Buffer left);
int64_t cdc_is_avro_program(const AvroProgram *program);
int64_t cdc_read_avro(const AvroProgram *program, Buffer source, Buffer offsets, Buffer valid, int64_t first,
                      int64_t most_bytes, int32_t framed, Buffer order, Buffer roots, Buffer frames, Buffer out,
                      Buffer text_offsets, ValueIndex *index, Buffer why);
int64_t cdc_check(Buffer sources, Buffer columns, Buffer checks, Buffer flags, Buffer totals);
int64_t cdc_canonical(Buffer source, Buffer cells, const Check *check, Buffer flags, Buffer offsets,
                      Buffer text, Buffer valid);
int64_t cdc_text_size(Buffer cells, uint32_t kinds);
int64_t cdc_texts(Buffer source, Buffer cells, uint32_t kinds, Buffer offsets, Buffer text, Buffer valid);
int64_t cdc_digest_rows(Buffer source, Buffer columns, Buffer rows, Buffer below_rows, Buffer room, Buffer out,
                        Buffer below_out);
int64_t cdc_integers(Buffer source, Buffer cells, Buffer numbers);
int64_t cdc_codes(Buffer source, Buffer cells, Buffer codes, Buffer firsts);
int64_t cdc_last_counts(Buffer source, Buffer cells, Buffer numbers);
int64_t cdc_strip_names(Buffer source, Buffer cells, Buffer names, Buffer starts, Buffer named, Buffer own_places,
                        Buffer behind, Buffer places);
int64_t cdc_count_characters(Buffer source, Buffer cells, int32_t behind, Buffer characters, Buffer replaced);
int64_t cdc_fingerprint(Buffer source, Buffer offsets, Buffer numbers, Buffer marks, Buffer starts, Buffer more, Buffer closes,
                 Buffer looks);
int64_t cdc_find_kinds(Buffer cells, int64_t count, Buffer found);
int64_t cdc_read_texts(Buffer offsets, Buffer bytes, Buffer there, int64_t first_there, Buffer places, int32_t kind,
                       int32_t precision, int32_t scale, Buffer out, Buffer valid, int64_t first);
int64_t cdc_read_base64(Buffer offsets, Buffer bytes, Buffer there, int64_t first_there, Buffer places, int64_t from,
                        Buffer ends, Buffer out, Buffer valid, int64_t first);

#define MOST_BATCH 24
#define MOST_HELD 128 /* buffers of one step */
#define EVERY_TEXT 0xFFFu

/* Chance */

static uint64_t state;

static uint64_t draw(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? state % below : 0;
}

static void fail(const char *what) {
    fprintf(stderr, "native_fuzz: %s\n", what);
    abort();
}

/* Memory, just as much as is asked for */

static void *held[MOST_HELD];
static int holding;

static Buffer room(int64_t count, int64_t width) {
    Buffer buffer = {malloc((size_t)(count * width) + (count * width == 0)), count * width};
    if (buffer.at == NULL || holding == MOST_HELD) fail("no memory");
    held[holding++] = buffer.at;
    return buffer;
}

static Buffer zeros(int64_t count, int64_t width) {
    Buffer buffer = room(count, width);
    memset(buffer.at, 0, (size_t)buffer.size);
    return buffer;
}

static void release(int down_to) {
    while (holding > down_to) free(held[--holding]);
}

#define ROOM(type, count) room(count, (int64_t)sizeof(type))
static const Buffer nothing = {NULL, 0};

/* The corpus */

typedef struct {
    Plan *plan;
    int32_t images, slots, most_columns;
    int32_t *columns;
} FuzzedPlan;

typedef struct {
    AvroProgram program;
    int32_t is_avro, plans, messages;
    FuzzedPlan *plan;
    Buffer *message;
} Group;

static FILE *corpus;
static Group *groups; /* reachable to the end, so that only the library can leak */
static int64_t taken_in_all, placed_in_all;

static int32_t read_number(void) {
    int32_t number;
    if (fread(&number, 4, 1, corpus) != 1) fail("the corpus is cut short");
    return number;
}

static Buffer read_buffer(void) {
    Buffer buffer = {NULL, read_number()};
    buffer.at = malloc((size_t)buffer.size + 1);
    if (buffer.size && fread(buffer.at, (size_t)buffer.size, 1, corpus) != 1) fail("the corpus is cut short");
    return buffer;
}

static void read_program(AvroProgram *program) {
    Buffer node = read_buffer(), link = read_buffer(), start = read_buffer(), words = read_buffer(), root = read_buffer();
    Buffer charset = read_buffer(), page = read_buffer();
    *program = (AvroProgram){
        .node = ITEMS(node, AvroNode), .link = ITEMS(link, int32_t), .word_start = ITEMS(start, int32_t), .words = words.at,
        .root = ITEMS(root, int32_t), .charset = ITEMS(charset, Charset), .page = ITEMS(page, int32_t),
        .nodes = (int32_t)COUNT_OF(node, AvroNode), .links = (int32_t)COUNT_OF(link, int32_t),
        .word_count = (int32_t)COUNT_OF(start, int32_t) - 1, .roots = (int32_t)COUNT_OF(root, int32_t),
        .charsets = (int32_t)COUNT_OF(charset, Charset), .pages = (int32_t)COUNT_OF(page, int32_t) / 256,
        .digits = read_number(), .words_size = (int32_t)words.size,
    };
    if (!cdc_is_avro_program(program)) fail("a program is refused");
}

static int32_t read_groups(void) {
    int32_t total = read_number();
    groups = calloc((size_t)total, sizeof(Group));
    for (Group *group = groups; group < groups + total; group++) {
        group->is_avro = read_number();
        if (group->is_avro) read_program(&group->program);
        group->plans = read_number(), group->plan = calloc((size_t)group->plans, sizeof(FuzzedPlan));
        for (FuzzedPlan *plan = group->plan; plan < group->plan + group->plans; plan++) {
            Buffer nodes = read_buffer(), members = read_buffer(), names = read_buffer(), columns = read_buffer();
            plan->slots = read_number(), plan->images = (int32_t)COUNT_OF(columns, int32_t);
            plan->columns = ITEMS(columns, int32_t);
            plan->plan = cdc_make_plan(nodes, members, names, plan->images, plan->slots);
            if (plan->plan == NULL) fail("a plan is refused");
            free(nodes.at), free(members.at), free(names.at);
        }
        group->messages = read_number(), group->message = calloc((size_t)group->messages, sizeof(Buffer));
        for (int32_t i = 0; i < group->messages; i++) group->message[i] = read_buffer();
    }
    return total;
}

/* Changes */

static const char *const parts[] = {
    "\\", "\"", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\udc00", "\\u12", "\xc3\xa9", "\xed\xa0\x80", "\xed\xbf\xbf",
    "\xf4\x90\x80\x80", "\xe2\x82", "\xc0\xaf", "\x1f", "\x7f", "-0", "01", "1e5", "0.0", "9999999999999999999", "null", "true",
    "[]", "{}", "[[1,{\"a\":null}],\"x\"]", " ", "\n\t", ",", ":", "}", "]", "\"x\":1,", "\"\":\"\",", "2024-02-30", "1900-02-29",
    "23:59:60", ".123456789", "AA==", "AAB=", "Integer ", "DateTime ", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "\xfe\xff\xff\xff\x0f", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\x02\x02\x02", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
};

/* Writes a message that was changed at one to three places, and returns how long it is; `to` has room for `most`. */
static int64_t change(const Group *group, uint8_t *to, int64_t most) {
    const Buffer *one = group->message + draw((uint64_t)group->messages);
    int64_t size = one->size < most ? one->size : most;
    memcpy(to, one->at, (size_t)size);
    if (draw(3) == 0) return size;
    for (uint64_t times = 1 + draw(2) * draw(3); times && size; times--) {
        int64_t at = (int64_t)draw((uint64_t)size), length = 0, cut = 0;
        const uint8_t *from = NULL;
        switch (draw(7)) {
        case 0: to[at] ^= (uint8_t)(1u << draw(8)); continue;
        case 1: to[at] = (uint8_t)draw(256); continue;
        case 2: size = at; continue;
        case 3: cut = 1 + (int64_t)draw(draw(2) ? 4 : 64); break;
        case 4: from = to + at, length = 1 + (int64_t)draw(40); break;
        case 5: {
            const Buffer *other = group->message + draw((uint64_t)group->messages);
            if (other->size == 0) continue;
            from = other->at + draw((uint64_t)other->size), length = other->at + other->size - from, cut = draw(2) ? size : 0;
            break;
        }
        default:
            from = (const uint8_t *)parts[draw(sizeof parts / sizeof *parts)], length = (int64_t)strlen((const char *)from);
            cut = (int64_t)draw(3);
        }
        if (length > most - size) length = most - size;
        if (from >= to && from < to + most && length > size - at) length = size - at;
        if (cut > size - at) cut = size - at;
        uint8_t *copy = malloc((size_t)length + 1);
        memcpy(copy, from == NULL ? (const uint8_t *)"" : from, (size_t)length);
        memmove(to + at + length, to + at + cut, (size_t)(size - at - cut));
        memcpy(to + at, copy, (size_t)length);
        free(copy), size += length - cut;
    }
    return size;
}

/* What is asked of what was found */

/* A decoder of its own, straight from the table of the standard. */
static int is_utf8(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        uint32_t point = *p, least;
        int more;
        if (*p < 0x80) more = 0, least = 0;
        else if (*p >> 5 == 6) more = 1, point &= 31, least = 0x80;
        else if (*p >> 4 == 14) more = 2, point &= 15, least = 0x800;
        else if (*p >> 3 == 30) more = 3, point &= 7, least = 0x10000;
        else return 0;
        for (p++; more; more--, p++) {
            if (p == end || *p >> 6 != 2) return 0;
            point = point << 6 | (*p & 63);
        }
        if (point < least || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return 0;
    }
    return 1;
}

static void look_at_texts(Buffer offsets, Buffer text, Buffer valid, int64_t count) {
    int mark = holding;
    Buffer places = ROOM(int64_t, count), bits = zeros((count + 7) / 8, 1);
    for (int64_t i = 0; i < count; i++) ITEMS(places, int64_t)[i] = draw(8) ? i : -1;
    for (int32_t kind = 0; kind < 6; kind++) {
        int32_t precision = 1 + (int32_t)draw(38), width = kind == 1 ? 16 : kind == 2 ? 4 : 8;
        Buffer out = room(count, width);
        cdc_read_texts(offsets, text, valid, 0, places, kind, precision, (int32_t)draw((uint64_t)precision + 1), out, bits, 0);
    }
    int64_t size = cdc_read_base64(offsets, text, valid, 0, places, 0, nothing, nothing, nothing, 0);
    if (size >= 0) {
        Buffer ends = ROOM(int32_t, count), out = room(size, 1);
        cdc_read_base64(offsets, text, valid, 0, places, 0, ends, out, bits, 0);
    }
    release(mark);
}

static void look_at_column(Buffer source, Buffer cells, Buffer named) {
    static const char names[] = "Integer Character DateTime ";
    int mark = holding;
    int64_t count = COUNT_OF(cells, uint64_t), longest = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t cell = ITEMS(cells, uint64_t)[i];
        if (kind_of(cell) == ABSENT) continue;
        if ((int64_t)start_of(cell) + length_of(cell) > source.size) fail("a value lies outside of its batch");
        if (!is_utf8(source.at + start_of(cell), source.at + start_of(cell) + length_of(cell))) fail("a value is no UTF-8");
        if (length_of(cell) > longest) longest = length_of(cell);
    }
    cdc_find_kinds(cells, count, zeros(2, 8));
    cdc_integers(source, cells, ROOM(int64_t, count));
    cdc_last_counts(source, cells, ROOM(int64_t, count));
    cdc_codes(source, cells, room(count, 1), ROOM(int64_t, 64));
    cdc_count_characters(source, cells, (int32_t)draw(2), ROOM(int32_t, count), zeros(count, 1));
    DigestedColumn digested[] = {{.cells = cells, .below_cells = cells, .name = 1, .keys = 1},
                                 {.digests = cells, .below_digests = cells, .name = 2}};
    Buffer rows = ROOM(int64_t, count), below_rows = ROOM(int64_t, count);
    for (int64_t i = 0; i < count; i++)
        ITEMS(rows, int64_t)[i] = draw(count), ITEMS(below_rows, int64_t)[i] = (int64_t)draw(count + 1) - 1;
    Buffer digests = ROOM(uint64_t, 3 * count), below_digests = ROOM(uint64_t, 3 * count);
    if (cdc_digest_rows(source, (Buffer){(uint8_t *)digested, sizeof digested}, rows, draw(2) ? below_rows : nothing,
                        room(draw(2) ? longest + 8 : 16, 1), digests, below_digests) < 0)
        fail("digests are refused");
    uint32_t kinds = draw(2) ? EVERY_TEXT & ~(1u << ABSENT) : (1u << TEXT | 1u << ESCAPED);
    Buffer offsets = ROOM(int32_t, count + 1), text = room(cdc_text_size(cells, kinds), 1), valid = zeros((count + 7) / 8, 1);
    if (cdc_texts(source, cells, kinds, offsets, text, valid) < 0) fail("texts are refused");
    look_at_texts(offsets, text, valid, count);
    Buffer starts = ROOM(int32_t, 4), name_bytes = room(sizeof names - 1, 1), own_places = room(256, 1);
    memcpy(starts.at, (int32_t[]){0, 8, 18, 27}, 16), memcpy(name_bytes.at, names, sizeof names - 1);
    for (int i = 0; i < 256; i++) own_places.at[i] = i == 1 ? 0 : i == 2 ? 1 : i == 6 ? 2 : 255;
    Buffer behind = ROOM(uint64_t, count), places = room(count, 1);
    cdc_strip_names(source, cells, name_bytes, starts, named, own_places, behind, places);
    int32_t most[] = {0, 1, 3, 9, 18, 300, INT32_MAX};
    Buffer flags[] = {room(count, 1), room(count, 1)}, totals = ROOM(int64_t, 4);
    Check checks[2] = {{.form = 0}, {.form = 0}}; /* of two forms at once */
    Buffer both = {(uint8_t *)checks, sizeof checks}, flags_of_both = {(uint8_t *)flags, sizeof flags};
    for (int32_t form = 0; form <= TIME_MINUTES; form++) {
        int bounded = (int)draw(2);
        Check check = {.form = form, .kinds = kinds, .most_whole = most[draw(7)], .most_fraction = most[draw(7)],
                       .scale = (int32_t)draw(40) - 4,
                       .zeros_open = (int32_t)draw(2), .least = bounded ? -128 : INT64_MIN, .most = INT64_MAX,
                       .earliest = 0, .latest = 9999, .literals = draw(2) ? (const uint8_t *)"1970-01-01" : NULL,
                       .literals_size = 11, .substitutes = draw(2) ? (const uint8_t *)"08:21:07" : NULL,
                       .substitutes_size = 9};
        if (form == SECONDS || form == SECONDS_FRACTION) check.most = 253402300799;
        Buffer column = draw(2) ? behind : cells;
        checks[form & 1] = check;
        Buffer sources[] = {source, source}, columns[] = {cells, cells};
        columns[form & 1] = column;
        if (cdc_check((Buffer){(uint8_t *)sources, sizeof sources}, (Buffer){(uint8_t *)columns, sizeof columns}, both,
                      flags_of_both, totals) < 0)
            fail("a check is refused");
        int unwritten = holding;
        int64_t size = cdc_text_size(column, kinds);
        size += size / 3 * (form == LATIN1) + 32 * count;
        if (cdc_canonical(source, column, &check, flags[form & 1], offsets, room(size, 1), zeros((count + 7) / 8, 1)) < 0)
            fail("canonical texts are refused");
        release(unwritten);
    }
    release(mark);
}

static void look_at_messages(Buffer source, Buffer offsets, Buffer numbers) {
    static const char names[] = "\"table\"\"before\"\"a\"";
    int mark = holding;
    int64_t count = COUNT_OF(numbers, int64_t);
    Buffer marks = room(sizeof names - 1, 1), starts = ROOM(int32_t, 4), more = ROOM(int32_t, 3), closes = room(6, 1);
    memcpy(marks.at, names, sizeof names - 1), memcpy(starts.at, (int32_t[]){0, 7, 15, 18}, 16);
    memcpy(more.at, (int32_t[]){-1, (int32_t)draw(300), -1}, 12), memcpy(closes.at, ",\0\0\0}}", 6);
    if (cdc_fingerprint(source, offsets, numbers, marks, starts, more, closes, ROOM(uint64_t, count)) < 0) fail("a look is refused");
    release(mark);
}

static void open_messages(Buffer source, Buffer offsets) {
    static const char names[] = "payloadbeforeafter";
    static const int32_t places[] = {0, 7, 0, 1, 7, 6, 1, -1, 13, 5, 1, -1, 7, 6, 0, -1, 13, 5, 0, -1};
    int mark = holding;
    int64_t count = COUNT_OF(offsets, int32_t) - 1;
    Buffer place = room(sizeof places, 1), name = room(sizeof names - 1, 1), keyed = zeros(count, 1), left = ROOM(int64_t, count);
    Buffer out = room(source.size, 1), ends = ROOM(int32_t, count + 1);
    memcpy(place.at, places, sizeof places), memcpy(name.at, names, sizeof names - 1);
    for (int64_t i = 0; i < count; i++) keyed.at[i] = (uint8_t)draw(2);
    int64_t refused = cdc_open_texts(source, offsets, nothing, draw(2) ? keyed : nothing, place, name, 1 << 20, out, ends, left);
    if (refused < 0 || refused > count) fail("messages are not opened");
    for (int64_t i = 0, next = 0; i < count; i++) {
        if (next < refused && ITEMS(left, int64_t)[next] == i) next++;
        else if (!is_utf8(out.at + ITEMS(ends, int32_t)[i], out.at + ITEMS(ends, int32_t)[i + 1])) fail("what is opened is no UTF-8");
    }
    release(mark);
}

/* One batch */

static void scan_batch(const Group *group, Buffer source, Buffer offsets, ValueIndex *index) {
    int64_t count = COUNT_OF(offsets, int32_t) - 1;
    for (const FuzzedPlan *plan = group->plan; plan < group->plan + group->plans; plan++) {
        int mark = holding;
        Buffer numbers = ROOM(int64_t, count), cells = ROOM(uint64_t, plan->slots * count), states = ROOM(int32_t, plan->images * count);
        Buffer rows = ROOM(int64_t, plan->images), taken = ROOM(int64_t, count), left = ROOM(int64_t, count);
        Buffer columns = {(uint8_t *)plan->columns, plan->images * 4};
        Buffer row_cells = ROOM(Buffer, plan->images), row_names = ROOM(Buffer, plan->images);
        for (int64_t i = 0; i < count; i++) ITEMS(numbers, int64_t)[i] = i;
        Buffer texts = index == NULL && draw(2) ? room(source.size, 1) : nothing;
        look_at_messages(source, offsets, numbers);
        int64_t found = -1, capacity = (int64_t)draw((uint64_t)count + 2);
        for (; found == -1; capacity = 2 * capacity + 1) {
            int again = holding;
            for (int32_t image = 0; image < plan->images; image++) {
                ITEMS(row_cells, Buffer)[image] = ROOM(uint64_t, plan->columns[image] * capacity);
                ITEMS(row_names, Buffer)[image] = room(plan->columns[image] * capacity, 1);
            }
            found = cdc_scan(plan->plan, source, offsets, numbers, 1 << 20, 1 << 20, cells, capacity, row_cells, columns, states,
                             rows, taken, left, index ? &group->program : NULL, index, row_names, texts);
            if (found != -1) break;
            release(again);
        }
        if (found < 0 || found > count) fail("a scan is refused");
        taken_in_all += found;
        for (int32_t slot = 0; slot < plan->slots; slot++) {
            Buffer column = {(uint8_t *)(ITEMS(cells, uint64_t) + slot * count), found * 8};
            if (found && draw(2)) look_at_column(source, column, nothing);
        }
        for (int32_t image = 0; image < plan->images; image++) {
            int64_t total = ITEMS(rows, int64_t)[image];
            for (int32_t one = 0; one < plan->columns[image] && total; one++) {
                Buffer own = ITEMS(row_cells, Buffer)[image], names = ITEMS(row_names, Buffer)[image];
                Buffer column = {own.at + 8 * one * capacity, total * 8}, named = {names.at + one * capacity, total};
                if (draw(3) == 0) look_at_column(IS_GIVEN(texts) ? texts : source, column, index ? named : nothing);
            }
        }
        release(mark);
    }
}

static void read_batch(const Group *group, Buffer source, Buffer offsets) {
    int64_t count = COUNT_OF(offsets, int32_t) - 1, number = 0, capacity = (int64_t)draw(4000), entries = (int64_t)draw(3000);
    Buffer order = ROOM(int32_t, group->program.roots), texts = ROOM(int32_t, count + 1), why = ROOM(int32_t, 1);
    Buffer cells = ROOM(uint64_t, entries), names = room(entries, 1), starts = zeros(count + 1, 4), columns = ROOM(uint64_t, entries);
    ValueIndex index = {.cells = ITEMS(cells, uint64_t), .names = names.at, .starts = ITEMS(starts, int32_t),
                        .columns = ITEMS(columns, uint64_t), .capacity = entries, .columns_capacity = entries, .records = count};
    Buffer out = {malloc((size_t)capacity + 1), capacity};
    for (int32_t i = 0; i < group->program.roots; i++) ITEMS(order, int32_t)[i] = i;
    ITEMS(texts, int32_t)[0] = 0;
    Buffer roots = nothing, frames = nothing;
    if (draw(2)) { /* each by a schema that is named */
        roots = ROOM(int32_t, count), frames = room(count, 1);
        for (int64_t i = 0; i < count; i++)
            ITEMS(roots, int32_t)[i] = (int32_t)draw((uint64_t)group->program.roots + 2) - 1, frames.at[i] = (uint8_t)draw(10);
    }
    while (number < count) {
        number = cdc_read_avro(&group->program, source, offsets, nothing, number, 1 << 20, 1, order, roots, frames, out, texts,
                               &index, why);
        if (number < 0) fail("records are refused");
        int32_t used = ITEMS(texts, int32_t)[number];
        if (ITEMS(why, int32_t)[0] == FULL) {
            Buffer grown = {malloc((size_t)out.size * 2 + 101), out.size * 2 + 100};
            memcpy(grown.at, out.at, (size_t)used);
            free(out.at), out = grown;
        } else if (number < count) { /* as of a record that the transport cannot read either */
            ITEMS(texts, int32_t)[number + 1] = used, ITEMS(starts, int32_t)[number + 1] = (int32_t)index.total, number++;
        }
    }
    Buffer written = room(ITEMS(texts, int32_t)[count], 1);
    memcpy(written.at, out.at, (size_t)written.size);
    free(out.at);
    if (!is_utf8(written.at, written.at + written.size)) fail("what is written of records is no UTF-8");
    scan_batch(group, written, texts, draw(4) ? &index : NULL);
    placed_in_all += index.placed;
}

static int64_t run_batch(const Group *group) {
    static uint8_t changed[1 << 16];
    int64_t count = 1 + (int64_t)draw(MOST_BATCH), size = 0;
    Buffer offsets = ROOM(int32_t, count + 1), pieces = ROOM(Buffer, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t length = change(group, changed, sizeof changed);
        Buffer piece = ITEMS(pieces, Buffer)[i] = room(length, 1);
        memcpy(piece.at, changed, (size_t)length);
        ITEMS(offsets, int32_t)[i] = (int32_t)size, size += length;
    }
    ITEMS(offsets, int32_t)[count] = (int32_t)size;
    Buffer source = room(size, 1);
    for (int64_t i = 0; i < count; i++)
        memcpy(source.at + ITEMS(offsets, int32_t)[i], ITEMS(pieces, Buffer)[i].at, (size_t)ITEMS(pieces, Buffer)[i].size);
    if (group->is_avro) read_batch(group, source, offsets);
    else open_messages(source, offsets), scan_batch(group, source, offsets, NULL);
    release(0);
    return count;
}

int main(int count, char **arguments) {
    if (count != 4 || (corpus = fopen(arguments[1], "rb")) == NULL) fail("native_fuzz CORPUS MESSAGES SEED");
    int64_t wanted = atoll(arguments[2]), done = 0;
    state = 0x9E3779B97F4A7C15ull * (uint64_t)(atoll(arguments[3]) + 1);
    int32_t total = read_groups();
    for (int64_t batch = 0; done < wanted; batch++) done += run_batch(groups + batch % total);
    printf("%lld messages of %d contracts, taken %lld times, %lld placed by their index\n", (long long)done, (int)total,
           (long long)taken_in_all, (long long)placed_in_all), fflush(stdout);
    if (taken_in_all < done / 8 || placed_in_all == 0) fail("hardly a message follows a plan");
    return 0;
}
