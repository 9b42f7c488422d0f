/* Placing: messages that were written with a value index are not scanned. Their values are put where the plan has them.
 *
 * What is placed is what the scanner finds in the text of the same message. It gives up where it is not sure, or where
 * the scanner would refuse the message.
 */
#include "scan.h"

#include <stdlib.h>

int bind_index(Scan *scan) {
    const AvroProgram *program = scan->program;
    size_t images = (size_t)scan->plan->images + 1, nodes = (size_t)program->nodes + 1;
    Bound *bound = &scan->bound;
    bound->object = malloc(nodes * sizeof(int32_t)), bound->fits = malloc(nodes);
    bound->member = malloc(((size_t)program->links + 1) * sizeof(Column));
    bound->columns = malloc(images * sizeof(int64_t)), bound->count = malloc(images * sizeof(int32_t));
    bound->column = malloc(images * MOST_COLUMNS * sizeof(Column));
    if (!bound->object || !bound->fits || !bound->member || !bound->columns || !bound->count ||
        !bound->column)
        return 0;
    for (size_t n = 0; n < nodes; n++) bound->object[n] = -1;
    for (size_t i = 0; i < images; i++) bound->columns[i] = -1;
    return 1;
}

void free_bound(Bound *bound) {
    free(bound->object), free(bound->fits), free(bound->member), free(bound->columns), free(bound->count);
    free(bound->column);
}

/* The next entry; one of nothing where there is none. */
static inline uint64_t next_entry(Scan *scan) {
    return scan->at < scan->stop ? scan->index->cells[scan->at++] : make_cell(0, 0, BELOW_NOTHING);
}

/* Passes over what is below a value. */
static inline void skip_below(Scan *scan, uint64_t cell) {
    if (kind_of(cell) == OBJECT) scan->at += length_of(next_entry(scan));
}

/* Finds the members of a record in an object, which may be a row of an image. Returns 0 where the object has no such
 * member, lacks one, or has to have them in another order, and where two have one name.
 */
static int bind_members(Scan *scan, int32_t image, int32_t number, const AvroNode *record, Column *members) {
    const Plan *plan = scan->plan;
    const Node *node = plan->node + number;
    uint64_t object = ++scan->objects;
    int32_t before = -1, required = 0;
    for (int32_t i = 0; i < record->b; i++) {
        const int32_t *word = scan->program->word_start + scan->program->link[record->a + 2 * i];
        const uint8_t *name = scan->program->words + word[0] + 1; /* between a comma or bracket and a colon */
        int32_t place = find_member(plan, number, name, word[1] - word[0] - 2);
        if (place < 0 || plan->seen[node->a + place] == object || (node->f && place <= before)) return 0;
        plan->seen[node->a + place] = object;
        const Member *member = plan->member + node->a + place;
        const Node *leaf = plan->node + member->node;
        int in_row = image != ANY_IMAGE && leaf->c == image;
        members[i] = (Column){member->node, place, member->required, -1, 0, in_row};
        if (leaf->type == IS_LEAF && leaf->a >= 0 && (in_row ? leaf->a < scan->columns[image] : leaf->c == ANY_IMAGE))
            members[i].slot = leaf->a, members[i].kinds = leaf->b & ~(1 << OBJECT);
        before = place, required += member->required;
    }
    return required == node->c;
}

/* The members of a record in an object; NULL where they do not fit. Those of a row are kept by its image, since a record is
 * often a row of two.
 */
static const Column *find_members(Scan *scan, int32_t image, int32_t number, int32_t record) {
    const AvroNode *node = scan->program->node + record;
    Bound *bound = &scan->bound;
    if (image == ANY_IMAGE) {
        Column *members = bound->member + node->a;
        if (bound->object[record] != number) {
            bound->object[record] = number;
            bound->fits[record] = (uint8_t)bind_members(scan, image, number, node, members);
        }
        return bound->fits[record] ? members : NULL;
    }
    Column *members = bound->column + (int64_t)image * MOST_COLUMNS;
    int64_t name_of_record = -2 - (int64_t)record; /* names in the index are from 0 on, and -1 is none */
    if (bound->columns[image] != name_of_record) {
        int fits = node->b <= MOST_COLUMNS && bind_members(scan, image, number, node, members);
        bound->columns[image] = name_of_record, bound->count[image] = fits ? node->b : -1;
    }
    return bound->count[image] < 0 ? NULL : members;
}

/* The columns of an image; NULL where its rows have no such column. Their names are distinct. */
static const Column *find_columns(Scan *scan, int32_t image, int32_t row, int64_t first, int32_t count) {
    const Plan *plan = scan->plan;
    Column *columns = scan->bound.column + (int64_t)image * MOST_COLUMNS;
    if (scan->bound.columns[image] == first && scan->bound.count[image] == count) return columns;
    scan->bound.columns[image] = -1;
    if (count > MOST_COLUMNS || first + count > scan->index->columns_total) return NULL;
    for (int32_t i = 0; i < count; i++) {
        uint64_t cell = scan->index->columns[first + i];
        const uint8_t *name = scan->data + start_of(cell);
        if (memchr(name, '\\', length_of(cell)) != NULL) return NULL;
        int32_t place = find_member(plan, row, name, length_of(cell));
        if (place < 0) return NULL;
        const Member *member = plan->member + plan->node[row].a + place;
        const Node *leaf = plan->node + member->node;
        if (leaf->type != IS_LEAF || leaf->c != image || leaf->a < 0 || leaf->a >= scan->columns[image]) return NULL;
        columns[i] = (Column){member->node, place, member->required, leaf->a, leaf->b, 1};
    }
    scan->bound.columns[image] = first, scan->bound.count[image] = count;
    return columns;
}

static int place_row(Scan *scan, int32_t image, int32_t number, uint64_t header) {
    const Node *node = scan->plan->node + number;
    int32_t count = (int32_t)length_of(header), before = -1, required = 0;
    const Column *columns = find_columns(scan, image, number, start_of(header), count);
    if (columns == NULL || scan->stop - scan->at < count || !has_row(scan, image)) return 0;
    if (count < scan->columns[image]) open_row(scan, image);
    const uint64_t *from = scan->index->cells + scan->at;
    const uint8_t *names = scan->index->names + scan->at;
    uint64_t *cells = row_cells_of(scan, image);
    uint8_t *row_names = row_names_of(scan, image);
    for (int32_t i = 0; i < count; i++) {
        const Column *column = columns + i;
        uint64_t cell = from[i];
        cells[column->slot * scan->row_capacity] = cell, row_names[column->slot * scan->row_capacity] = names[i];
        if (kind_of(cell) == ABSENT) continue;
        if (!(column->kinds >> kind_of(cell) & 1) || (node->f && column->place <= before)) return 0;
        before = column->place, required += column->required;
    }
    scan->at += count, scan->rows[image]++;
    return required == node->c;
}

static int place_member(Scan *scan, int32_t number, uint64_t cell, int depth);

/* Places the members of a record that is an object of the plan, or a row of an image. */
static int place_record(Scan *scan, int32_t image, int32_t number, int32_t record, int depth) {
    const Column *members = find_members(scan, image, number, record);
    if (members == NULL) return 0;
    const uint64_t *entries = scan->index->cells;
    uint64_t *cells[2] = {scan->cells + scan->record, image == ANY_IMAGE ? NULL : row_cells_of(scan, image)};
    int64_t width[2] = {scan->capacity, scan->row_capacity}, at = scan->at, stop = scan->stop;
    int32_t count = scan->program->node[record].b;
    for (int32_t i = 0; i < count; i++) {
        const Column *member = members + i;
        if (at >= stop) return 0;
        uint64_t cell = entries[at++];
        if (member->kinds >> kind_of(cell) & 1) {
            cells[member->in_row][member->slot * width[member->in_row]] = cell;
        } else {
            scan->at = at;
            if (!place_member(scan, member->node, cell, depth)) return 0;
            at = scan->at;
        }
    }
    scan->at = at;
    return 1;
}

static int place_image(Scan *scan, const Node *node, uint64_t cell, int depth) {
    int32_t *state = state_of(scan, node->a);
    if (kind_of(cell) == NUL) {
        *state = -1;
    } else {
        if (kind_of(cell) != OBJECT || node->c) return 0;
        uint64_t header = next_entry(scan);
        if (kind_of(header) == BELOW_RECORD) {
            if (!has_row(scan, node->a)) return 0;
            open_row(scan, node->a);
            if (!place_record(scan, node->a, node->b, (int32_t)start_of(header), depth)) return 0;
            scan->rows[node->a]++;
        } else if (kind_of(header) != BELOW_IMAGE || !place_row(scan, node->a, node->b, header)) return 0;
        *state = 1;
    }
    return *state >= node->d;
}

/* The text of most literals is that of the message before: of columns that are the same there is one text. */
static int place_literal(Scan *scan, int32_t number, uint64_t cell) {
    const Node *node = scan->plan->node + number;
    int quote = kind_of(cell) == TEXT || kind_of(cell) == ESCAPED;
    uint64_t start = start_of(cell) - (uint64_t)quote;
    if (cell != scan->plan->latest[number]) {
        if (length_of(cell) + 2 * quote != (uint32_t)node->c) return 0;
        if (!same_bytes(scan->data + start, scan->plan->names + node->b, node->c)) return 0;
        scan->plan->latest[number] = cell;
    }
    put_literal(scan, node, start);
    return 1;
}

static int place_object(Scan *scan, int32_t number, int depth);

static int place_member(Scan *scan, int32_t number, uint64_t cell, int depth) {
    const Node *node = scan->plan->node + number;
    switch (node->type) {
    case IS_LEAF:
        if (!(node->b >> kind_of(cell) & 1)) return 0;
        put(scan, node->c, node->a, cell);
        skip_below(scan, cell);
        return 1;
    case IS_LITERAL:
        skip_below(scan, cell);
        return place_literal(scan, number, cell);
    case IS_IMAGE: return place_image(scan, node, cell, depth + 1);
    default:
        if (kind_of(cell) == NUL) {
            put(scan, ANY_IMAGE, node->d, cell);
            return node->c == 0;
        }
        put(scan, ANY_IMAGE, node->d, make_cell(start_of(cell), 2, OBJECT));
        return kind_of(cell) == OBJECT && place_object(scan, number, depth + 1);
    }
}

static int place_map(Scan *scan, int32_t number, int64_t end, int depth) {
    Plan *plan = scan->plan;
    const Node *node = plan->node + number;
    uint64_t object = ++scan->objects;
    int32_t before = -1, required = 0;
    while (scan->at < end) {
        uint64_t name = next_entry(scan), cell = next_entry(scan);
        if (kind_of(name) != TEXT) return 0;
        int32_t place = find_member(plan, number, scan->data + start_of(name) - 1, length_of(name) + 2);
        if (place < 0 || plan->seen[node->a + place] == object || (node->f && place <= before)) return 0;
        plan->seen[node->a + place] = object;
        const Member *member = plan->member + node->a + place;
        before = place, required += member->required;
        if (!place_member(scan, member->node, cell, depth)) return 0;
    }
    return required == node->c;
}

static int place_object(Scan *scan, int32_t number, int depth) {
    uint64_t header = next_entry(scan);
    if (depth > MOST_NESTED) return 0;
    if (kind_of(header) == BELOW_MAP) return place_map(scan, number, scan->at + length_of(header), depth);
    if (kind_of(header) != BELOW_RECORD) return 0;
    return place_record(scan, scan->plan->node[number].e, number, (int32_t)start_of(header), depth);
}

int place_message(Scan *scan, int64_t number) {
    scan->at = scan->index->starts[number], scan->stop = scan->index->starts[number + 1];
    int32_t own = scan->plan->node[0].e;
    if (scan->at >= scan->stop) return 0;
    if (own >= 0) {
        if (!has_row(scan, own)) return 0;
        open_row(scan, own);
    }
    if (!place_object(scan, 0, 0) || scan->at != scan->stop) return 0;
    if (own >= 0) scan->rows[own]++, *state_of(scan, own) = 1;
    scan->index->placed++;
    return 1;
}
