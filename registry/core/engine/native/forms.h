/* Value forms, and what is asked of a value besides. */
#ifndef CDC_FORMS_H
#define CDC_FORMS_H

#include "buffers.h"
#include "fields.h"

/* Each form once: its number, its name, by which a value form names it, and what is known of its values come from here.
 * AS_SENT: the canonical text is the text that was sent. LONGER: it may be longer by a third. NUMBERS and BITS: the digits of a declared type bound them, those
 * of BITS and UNSCALED are not on the wire. TIMES: the check looks at zeros at the end of a fraction, or there is none. VALUES: others.
 */
#define FORMS(FORM) \
    FORM(ANY_TEXT, AS_SENT) \
    FORM(ANY_VALUE, AS_SENT)       /* a text, a number, a boolean, an array or object */ \
    FORM(TEXT_NOTING_DAMAGE, AS_SENT) /* U+FFFD is noted */ \
    FORM(INTEGERS, NUMBERS)        /* a number, or the text of one */ \
    FORM(YEARS, NUMBERS)           /* its digits; a date has a year too */ \
    FORM(DECIMALS, NUMBERS) \
    FORM(FLOATS, VALUES)           /* a number of up to 30 characters without exponent, or the text of one */ \
    FORM(BOOLEANS, VALUES) \
    FORM(BASE64, AS_SENT) \
    FORM(BASE64_URL, VALUES) \
    FORM(HEX, VALUES)              /* of capital letters */ \
    FORM(HEX_LOWER, VALUES) \
    FORM(HEX_0X, VALUES)           /* of any letters */ \
    FORM(LATIN1, LONGER)           /* each character a byte */ \
    FORM(BIT_BASE64, BITS)         /* up to eight bytes */ \
    FORM(BIT_BASE64_LE, BITS)      /* the least byte first */ \
    FORM(BIT_HEX, BITS) \
    FORM(DECIMAL_BASE64, UNSCALED) /* two's complement of up to sixteen bytes, the most significant first */ \
    FORM(DECIMAL_OBJECT, NUMBERS)  /* the same beside its scale, as a connector writes the object */ \
    FORM(EXTENDED_JSON, VALUES)    /* any value; of the objects that stand for another one, those of an id, a number or an instant */ \
    FORM(DATE, TIMES) \
    FORM(TIME, TIMES)              /* HH:mm:ss with two digits of hours, and a fraction */ \
    FORM(SQL_DATETIME, TIMES) \
    FORM(SQL_DATETIME_Z, TIMES) \
    FORM(ISO_MINUTES, TIMES)       /* with a T, with seconds or without; a fraction is noted */ \
    FORM(ISO_INSTANT, TIMES) \
    FORM(ISO_OFFSET, TIMES)        /* an instant with Z or an offset */ \
    FORM(SECONDS, TIMES)           /* digits of seconds, number or text */ \
    FORM(SECONDS_FRACTION, TIMES) \
    FORM(DATE_Z, TIMES) \
    FORM(TIME_Z, TIMES)            /* of a day; the Z is not written */ \
    FORM(TIME_ZONED, TIMES) \
    FORM(NANOS, VALUES)            /* up to nineteen digits */ \
    FORM(TIME_MINUTES, TIMES)      /* HH:mm or HH:mm:ss; a fraction is noted */ \
    FORM(ENUM_INDEX, VALUES)       /* of members that are short */ \
    FORM(SET_MASK, VALUES) \
    FORM(BOOLEAN_DIGITS, VALUES) \
    FORM(DAYS, VALUES)             /* since 1970-01-01 */ \
    FORM(MILLIS, VALUES)           /* since 1970-01-01T00:00:00, as are MICROS and NANOS */ \
    FORM(MICROS, VALUES) \
    FORM(MILLIS_OF_DAY, VALUES)    /* a duration */ \
    FORM(MICROS_OF_DAY, VALUES) \
    FORM(NANOS_OF_DAY, VALUES) \
    FORM(COUNTS, VALUES)           /* whole numbers between two; another is none of them */

#define NUMBERED(name, known) name,
enum form { FORMS(NUMBERED) FORM_COUNT };

/* What became of a value, as in `form_values.Flag`. */
enum flag { OK = 0, BROKEN = 1, NOTED = 3, NO_SCALE = 7, SUBSTITUTE = 8 };
#define OPEN 255      /* the flag of a value that is left to another implementation */
#define NOT_KNOWN -2147483647
#define MOST_MILLI_DIGITS 15 /* of milliseconds from 1970 up to the year 9999 */
#define MOST_ADDED 32 /* bytes that a canonical text may be longer than what was sent */

/* What a declared type and a context ask besides: whole numbers between two bounds, digits before and after a point. */
#define CHECK_FIELDS(FIELD) \
    FIELD(int32_t, form) \
    FIELD(uint32_t, kinds) /* of values that it accepts, a bit each; the others count as null */ \
    FIELD(int32_t, most_whole) \
    FIELD(int32_t, most_fraction) \
    FIELD(int32_t, scale) /* digits after the point of a number whose digits have none; or NOT_KNOWN */ \
    FIELD(int32_t, least_fraction) \
    FIELD(int32_t, texts_open) /* a number may not be written as text */ \
    FIELD(int32_t, members) /* how many a type lists */ \
    FIELD(const uint8_t *, member_texts) /* one after the other, each with a zero byte behind it */ \
    FIELD(int32_t, zeros_open) /* a fraction that ends in zero is left open */ \
    FIELD(int32_t, bounded) /* by the two that follow, which may be those of 64 bits */ \
    FIELD(int64_t, least) \
    FIELD(int64_t, most) \
    FIELD(int32_t, earliest) /* years */ \
    FIELD(int32_t, latest) \
    FIELD(int32_t, is_instant) /* a moment of a clock with an offset, in seconds ahead of UTC */ \
    FIELD(int32_t, offset) \
    FIELD(const uint8_t *, literals) /* left open wherever they stand; each with a zero byte behind it */ \
    FIELD(int64_t, literals_size) \
    FIELD(const uint8_t *, substitutes) /* written in place of other values as well; each with a zero byte behind it */ \
    FIELD(int64_t, substitutes_size)

typedef struct {
    CHECK_FIELDS(MEMBER)
} Check;

static inline int sextet(uint8_t byte) {
    if (byte >= 'A' && byte <= 'Z') return byte - 'A';
    if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
    if (is_digit(byte)) return byte - '0' + 52;
    return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* The number of two digits, or -1. */
static inline int two(const uint8_t *p) { return is_digit(p[0]) && is_digit(p[1]) ? (p[0] - '0') * 10 + (p[1] - '0') : -1; }

#define MOST_OFFSET 64800 /* seconds */

/* How many bytes of a text are its Z, or its offset from UTC, at its end; 0 where it has neither. `offset` is how far it is
 * ahead, in seconds.
 */
static inline int64_t offset_size(const uint8_t *p, int64_t length, int64_t *offset) {
    *offset = 0;
    if (length > 0 && p[length - 1] == 'Z') return 1;
    for (int64_t size = 6; size <= 9 && size <= length; size += 3) { /* +HH:mm, or +HH:mm:ss */
        const uint8_t *at = p + length - size;
        if (*at != '+' && *at != '-') continue;
        int hours = two(at + 1), minutes = two(at + 4), seconds = size == 9 ? two(at + 7) : 0;
        if (at[3] != ':' || (size == 9 && at[6] != ':')) return 0;
        if (hours < 0 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return 0;
        *offset = hours * 3600 + minutes * 60 + seconds;
        if (*offset > MOST_OFFSET) return 0;
        if (*at == '-') *offset = -*offset;
        return size;
    }
    return 0;
}

/* The number of bytes, or -1. */
static inline int64_t base64_size(const uint8_t *p, int64_t length, const int8_t *table) {
    if (length % 4) return -1;
    if (length == 0) return 0;
    int padding = p[length - 1] != '=' ? 0 : p[length - 2] != '=' ? 1 : 2;
    int bad = 0;
    for (int64_t i = 0; i < length - padding; i++) bad |= table[p[i]];
    if (bad < 0) return -1;
    int last = table[p[length - padding - 1]];
    if ((padding == 1 && (last & 3)) || (padding == 2 && (last & 15))) return -1;
    return length / 4 * 3 - padding;
}

/* By the byte: of the alphabet that a form is written in. */
static inline void make_sextets(int8_t *table, int32_t form) {
    for (int byte = 0; byte < 256; byte++) table[byte] = (int8_t)sextet((uint8_t)byte);
    if (form == BASE64_URL) table['-'] = 62, table['_'] = 63, table['+'] = table['/'] = -1;
}

/* The unsigned integer of up to eight bytes in Base64. */
static inline uint64_t base64_number(const uint8_t *p, int64_t length, int64_t size, const int8_t *table) {
    uint64_t number = 0;
    int64_t letters = (size * 8 + 5) / 6;
    for (int64_t i = 0; i < letters && i < length; i++) {
        int spare = i == letters - 1 ? (int)(letters * 6 - size * 8) : 0;
        number = number << (6 - spare) | (uint64_t)(table[p[i]] >> spare);
    }
    return number;
}

#define WORD 8               /* bytes of a bit field, and of half a wide number */
#define MOST_SCALE 30        /* of a number with its sign, zeros and point in MOST_ADDED bytes and those it was sent in */
#define MOST_WIDE_DIGITS 39  /* of sixteen bytes */

static inline unsigned base64_byte(const uint8_t *p, int64_t at, const int8_t *table) {
    int64_t turn = at % 3;
    p += at / 3 * 4 + turn;
    return (unsigned)(table[p[0]] << (2 + 2 * turn) | table[p[1]] >> (4 - 2 * turn)) & 0xFF;
}

/* The unsigned integer of up to eight bytes in Base64, the least first. */
static inline uint64_t base64_number_le(const uint8_t *p, int64_t size, const int8_t *table) {
    uint64_t number = 0;
    while (size-- > 0) number = number << 8 | base64_byte(p, size, table);
    return number;
}

/* A number of up to sixteen bytes: its sign, and its size in two halves. */
typedef struct {
    uint64_t high, low;
    int negative;
} WideNumber;

static inline WideNumber base64_wide(const uint8_t *p, int64_t size, const int8_t *table) {
    uint64_t sign = base64_byte(p, 0, table) & 0x80 ? ~(uint64_t)0 : 0;
    WideNumber number = {sign, sign, sign != 0};
    for (int64_t i = 0; i < size; i++)
        number.high = number.high << 8 | number.low >> 56, number.low = number.low << 8 | base64_byte(p, i, table);
    if (number.negative) number.low = ~number.low + 1, number.high = ~number.high + (number.low == 0);
    return number;
}

/* A number without its point, in Base64, and how many of its digits are behind the point. */
typedef struct {
    const uint8_t *text;
    int64_t length, scale;
} ScaledText;

/* Reads {"scale":N,"value":"BASE64"}, N of up to two digits; returns 0 where an object is not written so. */
static inline int read_scaled(const uint8_t *p, int64_t length, ScaledText *found) {
    static const char head[] = "{\"scale\":", between[] = ",\"value\":\"", tail[] = "\"}";
    const uint8_t *end = p + length;
    int64_t digits = 0;
    if (end - p < (int64_t)sizeof head + 2 || memcmp(p, head, sizeof head - 1) != 0) return 0;
    p += sizeof head - 1, found->scale = 0;
    for (; digits < 2 && is_digit(p[digits]); digits++) found->scale = found->scale * 10 + (p[digits] - '0');
    if (digits == 0 || (digits == 2 && *p == '0')) return 0;
    p += digits;
    if (end - p < (int64_t)(sizeof between + sizeof tail) - 2 || memcmp(p, between, sizeof between - 1) != 0) return 0;
    p += sizeof between - 1, end -= sizeof tail - 1;
    found->text = p, found->length = end - p;
    return memcmp(end, tail, sizeof tail - 1) == 0;
}

/* What an object of one member stands for: {"$oid":"…"} and others of Extended JSON, with a blank behind the colon or without.
 */
enum stated { OBJECT_ID = 1, WHOLE_NUMBER, DECIMAL_NUMBER, MILLISECONDS };

/* Reads the text of such an object, or the digits of a number; returns 0 where an object is not written so. */
static inline enum stated read_stated(const uint8_t *p, int64_t length, const uint8_t **text, int64_t *size) {
    static const struct { const char *head; int32_t size; enum stated what; } known[] = {
        {"{\"$oid\":", 8, OBJECT_ID}, {"{\"$numberLong\":", 15, WHOLE_NUMBER}, {"{\"$numberInt\":", 14, WHOLE_NUMBER},
        {"{\"$numberDecimal\":", 18, DECIMAL_NUMBER}, {"{\"$date\":", 9, MILLISECONDS},
    };
    const uint8_t *end = p + length - 1;
    for (int i = 0; i < (int)(sizeof known / sizeof *known); i++) {
        int32_t head = known[i].size;
        if (length < head + 2 || !same_bytes(p, (const uint8_t *)known[i].head, head)) continue;
        p += head, p += *p == ' ';
        if (known[i].what != MILLISECONDS && (end - p < 2 || *p++ != '"' || *--end != '"')) return 0;
        *text = p, *size = end - p;
        return known[i].what;
    }
    return 0;
}

/* Whether an array or object is its own canonical text: without blanks, escapes, and a name twice in one object. One that
 * is deeper, or has more names, is not sure, and neither are other bytes.
 */
int is_written_alike(const uint8_t *p, int64_t length);

/* The digits of a wide number, the last one first; returns how many, none of zero. */
static inline int wide_digits(WideNumber number, uint8_t *digits) {
    int count = 0;
    while (number.high) { /* nine at a time */
        uint64_t rest = 0, parts[4] = {number.high >> 32, number.high & 0xFFFFFFFFu, number.low >> 32, number.low & 0xFFFFFFFFu};
        for (int i = 0; i < 4; i++) {
            rest = rest << 32 | parts[i];
            parts[i] = rest / 1000000000u, rest %= 1000000000u;
        }
        number.high = parts[0] << 32 | parts[1], number.low = parts[2] << 32 | parts[3];
        for (int i = 0; i < 9; i++, rest /= 10) digits[count++] = (uint8_t)('0' + rest % 10);
    }
    for (; number.low; number.low /= 10) digits[count++] = (uint8_t)('0' + number.low % 10);
    return count;
}

/* Of a digit or a letter of either case. */
static inline int hex_digit(uint8_t byte) {
    uint8_t low = byte | 0x20;
    return is_digit(byte) ? byte - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* The unsigned integer of up to sixteen hex digits. */
static inline uint64_t hex_number(const uint8_t *p, int64_t length) {
    uint64_t number = 0;
    for (int64_t i = 0; i < length; i++) number = number << 4 | (uint64_t)hex_digit(p[i]);
    return number;
}

#endif
