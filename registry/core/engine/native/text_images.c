/* Text images: messages whose rows are JSON texts, with the object of each text in its place.
 *
 * A message is opened only where it is sure that all of it and of its texts is strict JSON, that no blank and no escape
 * is among the names that lead to an image, and that each text is an object. It is then, byte for byte, what
 * `TextImages.open` makes of it; every other message is left to that.
 */
#include "interface.h"
#include "json_texts.h"

#define MOST_MEMBERS 64 /* of an object that leads to an image */
#define NO_PLACE (-1)
#define UNSURE (-2)

/* A member that leads to an image: its name, the object that it is in, and the one that it holds; NO_PLACE: an image. */
typedef struct {
    int32_t name, length, holder, holds;
} Place;

/* A member that was seen: its name with its quotes and colon, and its place, NO_PLACE of one that leads to no image. */
typedef struct {
    const uint8_t *name;
    int32_t length, place;
} Seen;

typedef struct {
    const Place *place;
    int32_t places;
    const uint8_t *names, *p, *end, *kept; /* from `kept` on, bytes are not written yet */
    uint8_t *to;
    Seen seen[MOST_HOLDERS][MOST_MEMBERS]; /* by holder, in their order: no two have one name */
    int32_t members[MOST_HOLDERS];
    int is_held; /* whether an image holds anything */
} Opening;

static int32_t find_place(const Opening *opening, int32_t holder, const uint8_t *name, int64_t length) {
    for (int32_t i = 0; i < opening->places; i++) {
        const Place *place = opening->place + i;
        if (place->holder != holder || place->length != length) continue;
        if (memcmp(opening->names + place->name, name, (size_t)length) == 0) return i;
    }
    return NO_PLACE;
}

/* The place of the member that begins at `p`, which is its value then; UNSURE where its name is not sure, or not the only
 * one. Mostly it is the member that was seen in the same place before.
 */
static int32_t read_name(Opening *opening, int32_t holder, int32_t number) {
    Seen *seen = opening->seen[holder];
    const uint8_t *p = opening->p, *end = opening->end;
    unsigned kind;
    if (number < opening->members[holder] && end - p > seen[number].length &&
        same_bytes(p, seen[number].name, seen[number].length)) {
        opening->p += seen[number].length;
        return seen[number].place;
    }
    if (number == MOST_MEMBERS || *p != '"') return UNSURE;
    const uint8_t *close = skip_text(p + 1, end, &kind);
    if (close == NULL || kind != TEXT || end - close < 3 || close[1] != ':') return UNSURE;
    Seen own = {p, (int32_t)(close + 2 - p), find_place(opening, holder, p + 1, close - p - 1)};
    for (int32_t i = 0; i < number; i++)
        if (seen[i].length == own.length && same_bytes(seen[i].name, p, own.length)) return UNSURE;
    seen[number] = own, opening->members[holder] = number + 1;
    opening->p = close + 2;
    return own.place;
}

static void put_kept(Opening *opening, const uint8_t *end) {
    copy_bytes(opening->to, opening->kept, end - opening->kept);
    opening->to += end - opening->kept, opening->kept = end;
}

static int open_text(Opening *opening) {
    put_kept(opening, opening->p);
    uint8_t *text = opening->to;
    const uint8_t *close = put_content(&opening->to, opening->p + 1, opening->end);
    if (close == NULL) return 0;
    opening->p = opening->kept = close + 1, opening->is_held = 1;
    return text < opening->to && *text == '{' && skip_nested(text, opening->to) == opening->to;
}

static int open_object(Opening *opening, int32_t holder);

static int open_value(Opening *opening, int32_t place) {
    int32_t holds = place == NO_PLACE ? NO_PLACE : opening->place[place].holds;
    const uint8_t *p = opening->p;
    unsigned kind;
    if (holds >= 0 && *p == '{') return open_object(opening, holds);
    if (place != NO_PLACE && holds < 0 && *p == '"') return open_text(opening);
    opening->is_held |= place != NO_PLACE && *p != 'n';
    p = *p == '{' || *p == '[' ? skip_nested(p, opening->end) : skip_scalar(p, opening->end, &kind);
    opening->p = p;
    return p != NULL;
}

/* Passes over an object, and opens the texts in it; returns 0 where something is not sure. */
static int open_object(Opening *opening, int32_t holder) {
    const uint8_t *end = opening->end;
    if (++opening->p == end) return 0;
    if (*opening->p == '}') return opening->p++, 1;
    for (int32_t number = 0;; number++) {
        int32_t place = read_name(opening, holder, number);
        if (place == UNSURE || !open_value(opening, place) || opening->p == end) return 0;
        if (*opening->p == '}') return opening->p++, 1;
        if (*opening->p++ != ',' || opening->p == end) return 0;
    }
}

static int are_places(Buffer place_buffer, Buffer names) {
    const Place *places = ITEMS(place_buffer, Place);
    for (int64_t i = 0; i < COUNT_OF(place_buffer, Place); i++) {
        const Place *place = places + i;
        if (place->name < 0 || place->length < 0 || place->name > names.size - place->length) return 0;
        if (place->holder < 0 || place->holds >= MOST_HOLDERS) return 0;
        if (place->holds >= 0 ? place->holds <= place->holder : place->holder >= MOST_HOLDERS) return 0;
    }
    return 1;
}

/* Whether the texts that begin at offsets lie within the bytes. */
static int are_within(const int32_t *offsets, int64_t count, int64_t size) {
    if (offsets[0] < 0 || offsets[count] > size) return 0;
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] > offsets[i + 1]) return 0;
    return 1;
}

/* The bytes of the messages of `valid`, all if it is not given. */
static int64_t bytes_of(const int32_t *offsets, Buffer valid, int64_t count) {
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++)
        if (!IS_GIVEN(valid) || valid.at[i]) total += offsets[i + 1] - offsets[i];
    return total;
}

/* Writes messages one after the other, each with its images opened, or as it is if it is left; `left` gets the numbers of
 * those. One that is none of `valid` stays empty. One of `keyed` is left where no image holds anything. Returns how
 * many are left.
 */
int64_t cdc_open_texts(Buffer source, Buffer offset_buffer, Buffer valid, Buffer keyed, Buffer place_buffer, Buffer names,
                       int64_t most_bytes, Buffer out, Buffer out_offset_buffer, Buffer left_buffer) {
    const int32_t *offsets = ITEMS(offset_buffer, int32_t);
    int32_t *ends = ITEMS(out_offset_buffer, int32_t);
    int64_t count = COUNT_OF(offset_buffer, int32_t) - 1, refused = 0, *left = ITEMS(left_buffer, int64_t);
    Opening opening = {.place = ITEMS(place_buffer, Place), .places = (int32_t)COUNT_OF(place_buffer, Place),
                       .names = names.at, .to = out.at};
    if (count < 0 || !HOLDS(out_offset_buffer, int32_t, count + 1) || !HOLDS(left_buffer, int64_t, count)) return TOO_SHORT;
    if (IS_GIVEN(valid) && !HOLDS(valid, uint8_t, count)) return TOO_SHORT;
    if (IS_GIVEN(keyed) && !HOLDS(keyed, uint8_t, count)) return TOO_SHORT;
    if (!are_within(offsets, count, source.size) || !are_places(place_buffer, names)) return TOO_SHORT;
    if (!HOLDS(out, uint8_t, bytes_of(offsets, valid, count))) return TOO_SHORT;
    ends[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *start = source.at + offsets[i], *end = source.at + offsets[i + 1];
        if (!IS_GIVEN(valid) || valid.at[i]) {
            opening.p = opening.kept = start, opening.end = end, opening.is_held = 0;
            int is_sure = end - start >= 2 && end - start <= most_bytes && *start == '{' && open_object(&opening, 0) &&
                          opening.p == end && (opening.is_held || !IS_GIVEN(keyed) || !keyed.at[i]);
            if (!is_sure) opening.to = out.at + ends[i], opening.kept = start, left[refused++] = i;
            put_kept(&opening, end);
        }
        ends[i + 1] = (int32_t)(opening.to - out.at);
    }
    return refused;
}
