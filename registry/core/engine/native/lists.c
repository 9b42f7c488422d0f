/* Lists of whole numbers, and texts that begin with a name: what members and values beside plain ones are asked for. */
#include "interface.h"
#include "buffers.h"
#include "value_index.h"

/* Behind a whole number without a sign, of at most MOST_DIGITS digits, or NULL. */
static const uint8_t *skip_count(const uint8_t *p, const uint8_t *end, int64_t *number) {
    const uint8_t *start = p;
    for (*number = 0; p < end && is_digit(*p) && p - start < MOST_DIGITS; p++) *number = *number * 10 + (*p - '0');
    return p == start || (*start == '0' && p - start > 1) ? NULL : p;
}

/* Writes the last number of each value that is a list of such numbers and commas, and of nothing else; -1 for others. */
int64_t cdc_last_counts(Buffer source, Buffer cell_buffer, Buffer number_buffer) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    int64_t count = COUNT_OF(cell_buffer, uint64_t), *numbers = ITEMS(number_buffer, int64_t);
    if (!HOLDS(number_buffer, int64_t, count)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        FETCH_AHEAD(data, cells, i, count);
        numbers[i] = -1;
        if (kind_of(cells[i]) != ARRAY) continue;
        const uint8_t *p = data + start_of(cells[i]), *end = p + length_of(cells[i]);
        int64_t number;
        do p = skip_count(p + 1, end, &number);
        while (p != NULL && p < end && *p == ',');
        if (p != NULL && end - p == 1) numbers[i] = number; /* the bracket that closes it */
    }
    return count;
}

/* Writes the values without the name before them, and for each the place of its name. `names` are one after the other,
 * `starts` has where each begins and where the last ends. Texts with none of the names become null, and so do all other
 * values; the place of the former is 255, of the latter 0. Where `named` is not NULL, it has the name of each value by
 * its number in the value index, and `own_places` the place of each number. Returns how many have no name.
 */
int64_t cdc_strip_names(Buffer source, Buffer cell_buffer, Buffer name_buffer, Buffer start_buffer,
                               Buffer named_buffer, Buffer own_place_buffer, Buffer behind_buffer, Buffer place_buffer) {
    const uint8_t *data = source.at, *names = name_buffer.at, *named = named_buffer.at, *own_places = own_place_buffer.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    const int32_t *starts = ITEMS(start_buffer, int32_t);
    uint64_t *behind = ITEMS(behind_buffer, uint64_t);
    uint8_t *places = place_buffer.at;
    int64_t count = COUNT_OF(cell_buffer, uint64_t), nameless = 0;
    int32_t total = (int32_t)COUNT_OF(start_buffer, int32_t) - 1;
    if (total < 0 || starts[0] < 0 || starts[total] > name_buffer.size) return TOO_SHORT;
    if (IS_GIVEN(named_buffer) && !HOLDS(named_buffer, uint8_t, count)) return TOO_SHORT;
    if (!HOLDS(own_place_buffer, uint8_t, 256) || !HOLDS(behind_buffer, uint64_t, count)) return TOO_SHORT;
    if (!HOLDS(place_buffer, uint8_t, count)) return TOO_SHORT;
    for (int64_t i = 0; i < count; i++) {
        if (named == NULL) FETCH_AHEAD(data, cells, i, count);
        unsigned kind = kind_of(cells[i]);
        uint32_t length = length_of(cells[i]);
        behind[i] = make_cell(start_of(cells[i]), 0, NUL), places[i] = 0;
        if (kind != TEXT && kind != ESCAPED) continue;
        const uint8_t *text = data + start_of(cells[i]);
        int32_t place = 0;
        if (named != NULL && named[i] != UNKNOWN_NAME) {
            place = own_places[named[i]];
            if (place < total) {
                uint32_t own = (uint32_t)(starts[place + 1] - starts[place]);
                behind[i] = make_cell(start_of(cells[i]) + own, length - own, kind);
            } else {
                nameless++;
            }
            places[i] = (uint8_t)place;
            continue;
        }
        for (; place < total; place++) {
            uint32_t own = (uint32_t)(starts[place + 1] - starts[place]);
            if (length < own || !same_bytes(text, names + starts[place], (int32_t)own)) continue;
            behind[i] = make_cell(start_of(cells[i]) + own, length - own, kind), places[i] = (uint8_t)place;
            break;
        }
        if (place == total) places[i] = 255, nameless++;
    }
    return nameless;
}
