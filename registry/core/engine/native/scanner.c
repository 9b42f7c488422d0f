/* Scanner: walks messages whose members are known, and writes where each value is and of which kind.
 *
 * It takes a message only where it is sure that the message is strict JSON, holds exactly the members it knows, each
 * once and of a kind that is asked for. Everything else it refuses, and leaves to the parser that decides.
 */
#include "interface.h"
#include "json_texts.h"
#include "scan.h"

#include <stdlib.h>

static int scan_leaf(Scan *scan, int32_t number) {
    Plan *plan = scan->plan;
    const Node *node = plan->node + number;
    const uint8_t *p = scan->p, *end = scan->end, *after;
    unsigned kind;
    if (*p == '{' || *p == '[') {
        kind = *p == '{' ? OBJECT : ARRAY;
        if (!(node->b >> kind & 1)) return 0;
        uint64_t latest = plan->latest[number];
        int64_t length = length_of(latest);
        if (node->d && latest && end - p > length && same_bytes(p, scan->data + start_of(latest), (int32_t)length)) {
            put(scan, node->c, node->a, latest); /* the same bytes, which cdc_codes then need not compare */
            scan->p = p + length;
            return 1;
        }
        after = skip_nested(p, end);
        if (after == NULL || after - p > MOST_LENGTH) return 0;
        plan->latest[number] = make_cell((uint64_t)(p - scan->data), (uint64_t)(after - p), kind);
    } else {
        after = skip_scalar(p, end, &kind);
        if (after == NULL || after - p > MOST_LENGTH || !(node->b >> kind & 1)) return 0;
    }
    int quote = kind == TEXT || kind == ESCAPED;
    put(scan, node->c, node->a,
        make_cell((uint64_t)(p - scan->data + quote), (uint64_t)(after - p - 2 * quote), kind));
    scan->p = after;
    return 1;
}

static int scan_literal(Scan *scan, const Node *node) {
    if (scan->end - scan->p <= node->c || !same_bytes(scan->p, scan->plan->names + node->b, node->c)) return 0;
    put_literal(scan, node, (uint64_t)(scan->p - scan->data));
    scan->p += node->c;
    return 1;
}

static int scan_object(Scan *scan, int32_t number, int depth);

static int scan_row(Scan *scan, int32_t image, int32_t row, int depth) {
    if (!has_row(scan, image)) return 0;
    open_row(scan, image);
    if (!scan_object(scan, row, depth)) return 0;
    scan->rows[image]++;
    return 1;
}

/* A row that is a JSON text: the object that it holds is written behind those before, and scanned there. What was written
 * stays where it is also if the message is refused, for the plan may point into it.
 */
static int scan_text_row(Scan *scan, const Node *node, int depth) {
    const uint8_t *data = scan->data, *end = scan->end, *row = scan->text;
    const uint8_t *close = put_content(&scan->text, scan->p + 1, end);
    if (close == NULL || row == scan->text || *row != '{') return 0;
    scan->data = scan->texts, scan->p = row, scan->end = scan->text;
    int fits = scan_row(scan, node->a, node->b, depth) && scan->p == scan->end;
    scan->data = data, scan->p = close + 1, scan->end = end;
    return fits;
}

static int scan_image(Scan *scan, const Node *node, int depth) {
    int32_t *state = state_of(scan, node->a);
    const uint8_t *end = scan->end;
    if (*scan->p == 'n') {
        const uint8_t *after = skip_word(scan->p, end, "null", 4);
        if (after == NULL) return 0;
        scan->p = after, *state = -1;
    } else if (scan->text != NULL) {
        if (node->c || *scan->p != '"' || !scan_text_row(scan, node, depth)) return 0;
        *state = 1;
    } else if (!node->c) {
        if (*scan->p != '{' || !scan_row(scan, node->a, node->b, depth)) return 0;
        *state = 1;
    } else {
        if (*scan->p != '[') return 0;
        int32_t rows = 0;
        scan->p = skip_blank(scan->p + 1, end);
        if (scan->p >= end) return 0;
        while (*scan->p != ']' || rows == 0) {
            if (*scan->p == ']') break;
            if (*scan->p != '{' || !scan_row(scan, node->a, node->b, depth)) return 0;
            rows++;
            scan->p = skip_blank(scan->p, end);
            if (scan->p >= end) return 0;
            if (*scan->p == ']') break;
            if (*scan->p != ',') return 0;
            scan->p = skip_blank(scan->p + 1, end);
            if (scan->p >= end || *scan->p != '{') return 0;
        }
        scan->p++, *state = rows;
    }
    return *state >= node->d;
}

static int scan_object(Scan *scan, int32_t number, int depth) {
    Plan *plan = scan->plan;
    const Node *node = plan->node + number;
    const uint8_t *end = scan->end;
    int32_t guess = plan->first[number], before = -1, required = 0;
    uint64_t object = ++scan->objects;
    if (depth > MOST_NESTED) return 0;
    scan->p = skip_blank(scan->p + 1, end);
    if (scan->p >= end) return 0;
    if (*scan->p == '}') {
        scan->p++;
        return node->c == 0;
    }
    for (;;) {
        const uint8_t *p = scan->p;
        const Member *member = plan->member + node->a + guess;
        int32_t place = guess;
        if (node->b == 0) return 0;
        if (end - p > member->length && same_bytes(p, plan->names + member->name, member->length)) {
            p += member->length;
        } else {
            unsigned kind;
            if (*p != '"') return 0;
            const uint8_t *close = skip_text(p + 1, end, &kind);
            if (close == NULL || kind != TEXT) return 0;
            place = find_member(plan, number, p, close + 1 - p);
            if (place < 0) return 0;
            if (before < 0) plan->first[number] = place;
            else plan->next[node->a + before] = place;
            member = plan->member + node->a + place;
            p = close + 1;
        }
        if (node->f && place <= before) return 0;
        if (plan->seen[node->a + place] == object) return 0; /* of two with one name another parser decides */
        plan->seen[node->a + place] = object;
        required += member->required;
        p = skip_blank(p, end);
        if (p >= end || *p != ':') return 0;
        scan->p = skip_blank(p + 1, end);
        if (scan->p >= end) return 0;
        const Node *below = plan->node + member->node;
        int fits;
        switch (below->type) {
        case IS_LEAF: fits = scan_leaf(scan, member->node); break;
        case IS_LITERAL: fits = scan_literal(scan, below); break;
        case IS_IMAGE: fits = scan_image(scan, below, depth + 1); break;
        default:
            if (*scan->p == 'n') {
                const uint8_t *after = skip_word(scan->p, end, "null", 4);
                fits = after != NULL && below->c == 0;
                if (fits) put(scan, ANY_IMAGE, below->d, make_cell((uint64_t)(scan->p - scan->data), 4, NUL)), scan->p = after;
            } else {
                uint64_t start = (uint64_t)(scan->p - scan->data);
                fits = *scan->p == '{' && scan_object(scan, member->node, depth + 1);
                if (fits) put(scan, ANY_IMAGE, below->d, make_cell(start, 2, OBJECT));
            }
        }
        if (!fits) return 0;
        scan->p = skip_blank(scan->p, end);
        if (scan->p >= end) return 0;
        if (*scan->p == '}') break;
        if (*scan->p != ',') return 0;
        scan->p = skip_blank(scan->p + 1, end);
        if (scan->p >= end) return 0;
        before = place, guess = plan->next[node->a + place];
    }
    scan->p++;
    return required == node->c;
}

static int scan_message(Scan *scan, const uint8_t *start, const uint8_t *end) {
    int32_t own = scan->plan->node[0].e;
    int fits;
    scan->p = start, scan->end = end;
    if (own >= 0) {
        fits = scan->text == NULL && scan_row(scan, own, 0, 0);
        *state_of(scan, own) = 1;
    } else {
        fits = scan_object(scan, 0, 0);
    }
    return fits && scan->p == end;
}

/* Whether a message has a row; where rows are texts, the row of one without may be in its key. */
static int has_rows(const Scan *scan) {
    for (int32_t image = 0; image < scan->plan->images; image++)
        if (*state_of(scan, image) > 0) return 1;
    return 0;
}

/* Forgets what was found in a message. */
static void clear_message(Scan *scan, const int64_t *before) {
    for (int32_t image = 0; image < scan->plan->images; image++) {
        scan->rows[image] = before[image];
        *state_of(scan, image) = -2;
    }
    for (int32_t slot = 0; slot < scan->plan->slots; slot++) scan->cells[slot * scan->capacity + scan->record] = ABSENT;
}

/* Whether there is a buffer for the rows of each image, and one for their names if they are asked for. */
static int has_row_buffers(const Scan *scan, Buffer row_cells, Buffer row_names) {
    int32_t images = scan->plan->images;
    if (scan->row_capacity < 0 || !HOLDS(row_cells, Buffer, images)) return 0;
    if (scan->row_names != NULL && !HOLDS(row_names, Buffer, images)) return 0;
    for (int32_t image = 0; image < images; image++) {
        int64_t cells = scan->columns[image] * scan->row_capacity;
        if (!HOLDS(scan->row_cells[image], uint64_t, cells)) return 0;
        if (scan->row_names != NULL && !HOLDS(scan->row_names[image], uint8_t, cells)) return 0;
    }
    return 1;
}

int are_messages(Buffer source, Buffer offset_buffer, Buffer number_buffer) {
    const int32_t *offsets = ITEMS(offset_buffer, int32_t);
    const int64_t *numbers = ITEMS(number_buffer, int64_t);
    int64_t most = COUNT_OF(offset_buffer, int32_t) - 1;
    for (int64_t i = 0; i < COUNT_OF(number_buffer, int64_t); i++) {
        if (numbers[i] < 0 || numbers[i] >= most) return 0;
        int32_t start = offsets[numbers[i]], end = offsets[numbers[i] + 1];
        if (start < 0 || start > end || end > source.size) return 0;
    }
    return 1;
}

/* The bytes of the messages of some numbers. */
static int64_t bytes_of(Buffer offset_buffer, Buffer number_buffer) {
    const int32_t *offsets = ITEMS(offset_buffer, int32_t);
    const int64_t *numbers = ITEMS(number_buffer, int64_t);
    int64_t total = 0;
    for (int64_t i = 0; i < COUNT_OF(number_buffer, int64_t); i++) total += offsets[numbers[i] + 1] - offsets[numbers[i]];
    return total;
}

/* Scans the messages of some numbers (positions in `offsets`) one after the other; `taken` gets the numbers of those
 * that follow the plan, in their order, and `left` those of the others. Returns how many were taken; -1 where the rows
 * are more than `row_capacity`; then all has to be done again. Gives up where most do not fit: where more
 * than `patience` and MOST_OTHERS times those that were taken are left. Messages in `index`, which may be NULL, are not scanned
 * if their entries follow the plan; `row_names` gets the names of records then. If `texts` are given, rows are JSON texts;
 * what these stand for is written there, and the cells of rows point into it.
 */
int64_t cdc_scan(Plan *plan, Buffer source, Buffer offset_buffer, Buffer number_buffer, int64_t most_bytes,
                        int64_t patience, Buffer cell_buffer, int64_t row_capacity, Buffer row_cells, Buffer column_buffer,
                        Buffer states, Buffer row_buffer, Buffer taken_buffer, Buffer left_buffer,
                        const AvroProgram *program, ValueIndex *index, Buffer row_names, Buffer texts) {
    const uint8_t *data = source.at;
    const int32_t *offsets = ITEMS(offset_buffer, int32_t);
    const int64_t *numbers = ITEMS(number_buffer, int64_t);
    int64_t count = COUNT_OF(number_buffer, int64_t), *rows = ITEMS(row_buffer, int64_t);
    int64_t *taken = ITEMS(taken_buffer, int64_t), *left = ITEMS(left_buffer, int64_t);
    Scan scan = {.plan = plan, .data = data, .cells = ITEMS(cell_buffer, uint64_t), .capacity = count,
                 .row_cells = ITEMS(row_cells, Buffer), .rows = rows, .row_capacity = row_capacity,
                 .states = ITEMS(states, int32_t), .columns = ITEMS(column_buffer, int32_t), .program = program,
                 .index = index, .row_names = index == NULL ? NULL : ITEMS(row_names, Buffer),
                 .texts = texts.at, .text = texts.at};
    int64_t refused = 0, i = 0, result = -2;
    if (!HOLDS(cell_buffer, uint64_t, plan->slots * count) || !HOLDS(states, int32_t, plan->images * count)) return TOO_SHORT;
    if (!HOLDS(taken_buffer, int64_t, count) || !HOLDS(left_buffer, int64_t, count)) return TOO_SHORT;
    if (!HOLDS(row_buffer, int64_t, plan->images) || !HOLDS(column_buffer, int32_t, plan->images)) return TOO_SHORT;
    if (!has_row_buffers(&scan, row_cells, row_names) || !are_messages(source, offset_buffer, number_buffer)) return TOO_SHORT;
    if (IS_GIVEN(texts) && !HOLDS(texts, uint8_t, bytes_of(offset_buffer, number_buffer))) return TOO_SHORT;
    if (index != NULL && index->records < COUNT_OF(offset_buffer, int32_t) - 1) return TOO_SHORT;
    int64_t *before = calloc((size_t)plan->images + 1, sizeof(int64_t));
    if (before == NULL || (index != NULL && !bind_index(&scan))) goto end;
    memset(plan->seen, 0, (size_t)plan->members * sizeof(uint64_t));
    memset(plan->latest, 0, (size_t)plan->nodes * sizeof(uint64_t)); /* they point into the buffer of another batch */
    for (int32_t image = 0; image < plan->images; image++) rows[image] = 0;
    for (; i < count && refused <= patience + MOST_OTHERS * scan.record; i++) {
        int64_t number = numbers[i];
        const uint8_t *start = data + offsets[number], *end = data + offsets[number + 1];
        int fits = 0;
        for (int32_t image = 0; image < plan->images; image++) before[image] = rows[image];
        clear_message(&scan, before);
        if (end - start >= 2 && end - start <= most_bytes) {
            fits = index != NULL && place_message(&scan, number);
            if (!fits && !scan.full && *start == '{') {
                if (index != NULL) clear_message(&scan, before);
                fits = scan_message(&scan, start, end) && (scan.text == NULL || has_rows(&scan));
            }
        }
        if (scan.full) {
            result = -1;
            goto end;
        }
        if (fits) {
            taken[scan.record++] = number;
        } else {
            for (int32_t image = 0; image < plan->images; image++) rows[image] = before[image];
            left[refused++] = number;
        }
    }
    for (; i < count; i++) left[refused++] = numbers[i];
    result = scan.record;
end:
    free(before), free_bound(&scan.bound);
    return result;
}
