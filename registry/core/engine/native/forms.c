/* Forms: whether values are surely of a value form, or surely not, straight from the bytes of their message.
 *
 * What is not sure is left open, and another implementation decides it. So a check may be as simple as the usual value
 * allows.
 */
#include "interface.h"
#include "forms.h"
#include "latin1.h"

static const uint8_t month_days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

static int is_date(const uint8_t *p, const Check *check) {
    int century = two(p), rest = two(p + 2), month = two(p + 5), day = two(p + 8);
    if (century < 0 || rest < 0 || p[4] != '-' || p[7] != '-' || month < 1 || month > 12 || day < 1) return 0;
    int year = century * 100 + rest;
    int leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= month_days[month] + leap && year >= check->earliest && year <= check->latest;
}

static int is_clock(const uint8_t *p, int most_hours) {
    int hours = two(p), minutes = two(p + 3), seconds = two(p + 6);
    return p[2] == ':' && p[5] == ':' && hours >= 0 && hours <= most_hours && minutes >= 0 && minutes < 60 &&
           seconds >= 0 && seconds < 60;
}

static int is_fraction(const uint8_t *p, int64_t length, const Check *check) {
    if (length == 0) return 1;
    if (length < 2 || length > 10 || p[0] != '.' || length - 1 > check->most_fraction) return 0;
    for (int64_t i = 1; i < length; i++)
        if (!is_digit(p[i])) return 0;
    return !(check->zeros_open && p[length - 1] == '0');
}

static int is_within(int64_t value, const Check *check) { return value >= check->least && value <= check->most; }

static int is_plain_number(const uint8_t *p, int64_t length, const Check *check, int with_point) {
    const uint8_t *end = p + length, *digits;
    int negative = length > 0 && *p == '-';
    int64_t value = 0;
    p += negative, digits = p;
    for (; p < end && is_digit(*p); p++)
        if (p - digits < MOST_DIGITS) value = value * 10 + (*p - '0');
    int64_t whole = p - digits;
    if (whole == 0 || (*digits == '0' && (whole > 1 || negative))) return 0; /* -0.5 is left open, as -0 is */
    if (*digits != '0' && whole > check->most_whole) return 0;
    if (check->bounded) {
        if (whole > MOST_DIGITS + 1) return 0;
        if (whole == MOST_DIGITS + 1) {
            if (memcmp(digits, "9223372036854775807", MOST_DIGITS + 1) > 0) return 0;
            value = value * 10 + (digits[MOST_DIGITS] - '0');
        }
        if (negative) value = -value;
        if (!is_within(value, check)) return 0;
    }
    if (p == end) return check->least_fraction <= 0;
    if (!with_point || *p != '.') return 0;
    digits = ++p;
    while (p < end && is_digit(*p)) p++;
    return p == end && p > digits && p - digits <= check->most_fraction && p - digits >= check->least_fraction;
}

static int is_bit(uint64_t number, const Check *check) {
    return number <= INT64_MAX && is_within((int64_t)number, check);
}

enum letters { UPPER = 1, LOWER = 2 };

static int is_hex(const uint8_t *p, int64_t length, int letters) {
    if (length % 2) return 0;
    for (int64_t i = 0; i < length; i++)
        if (hex_digit(p[i]) < 0 || !(is_digit(p[i]) || (letters & (p[i] & 0x20 ? LOWER : UPPER)))) return 0;
    return 1;
}

static int is_bit_hex(const uint8_t *p, int64_t length, const Check *check) {
    return length <= 16 && is_hex(p, length, UPPER) && is_bit(hex_number(p, length), check);
}

static int is_bit_base64(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    int64_t size = length > 12 ? -1 : base64_size(p, length, table);
    if (size < 0 || size > 8) return 0;
    return is_bit(base64_number(p, length, size, table), check);
}

static int is_bit_base64_le(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    int64_t size = length > 12 ? -1 : base64_size(p, length, table);
    if (size < 0 || size > WORD) return 0;
    return is_bit(base64_number_le(p, size, table), check);
}

/* Two's complement in Base64, of a number of so many digits with and behind its point. */
static int is_unscaled(const uint8_t *p, int64_t length, int64_t scale, int64_t most_digits, const Check *check,
                       const int8_t *table) {
    uint8_t digits[MOST_WIDE_DIGITS];
    int64_t size = length > 24 ? -1 : base64_size(p, length, table);
    if (size < 1 || size > 2 * WORD || scale < 0 || scale > MOST_SCALE) return 0;
    WideNumber number = base64_wide(p, size, table);
    if (check->bounded) {
        if (number.high || number.low > INT64_MAX) return 0;
        int64_t value = number.negative ? -(int64_t)number.low : (int64_t)number.low;
        if (!is_within(value, check)) return 0;
    }
    return most_digits >= MOST_WIDE_DIGITS || wide_digits(number, digits) <= most_digits;
}

static int is_decimal_object(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    ScaledText found;
    if (!read_scaled(p, length, &found) || found.scale > check->most_fraction) return 0;
    return is_unscaled(found.text, found.length, found.scale, check->most_whole + found.scale, check, table);
}

static int are_seconds(const uint8_t *p, int64_t length, const Check *check) {
    int64_t value = 0;
    if (length < 1 || length > 12) return 0;
    for (int64_t i = 0; i < length; i++) {
        if (!is_digit(p[i])) return 0;
        value = value * 10 + (p[i] - '0');
    }
    return value <= check->most;
}

/* A number that members are told by, as far as these are listed: up to a number. */
static int is_listed(const uint8_t *p, int64_t length, int64_t least, int64_t most) {
    int64_t number = 0;
    if (length < 1 || length > MOST_DIGITS || (*p == '0' && length > 1)) return 0;
    for (int64_t i = 0; i < length; i++) {
        if (!is_digit(p[i])) return 0;
        number = number * 10 + (p[i] - '0');
    }
    return number >= least && number <= most;
}

#define OBJECT_ID_DIGITS 24
#define MOST_STATED 36
#define LAST_MILLI 253402300799999

static int is_stated(const uint8_t *p, int64_t length, const Check *check) {
    const uint8_t *text;
    int64_t size;
    switch (read_stated(p, length, &text, &size)) {
    case OBJECT_ID: return size == OBJECT_ID_DIGITS && is_hex(text, size, UPPER | LOWER);
    case WHOLE_NUMBER: return size <= MOST_DIGITS + 1 && is_plain_number(text, size, check, 0);
    case DECIMAL_NUMBER: return size <= MOST_STATED && is_plain_number(text, size, check, 1);
    case MILLISECONDS: return is_listed(text, size, 0, LAST_MILLI);
    default: return 0;
    }
}

/* Whether an array or object of Extended JSON surely has a text: each object in it whose first name is one of Extended JSON,
 * or has an escape and may be one, is written as it most often is. In a text, no brace comes before a quote and a name.
 */
static int are_all_stated(const uint8_t *p, int64_t length, const Check *check) {
    const uint8_t *end = p + length;
    for (; p < end && (p = memchr(p, '{', (size_t)(end - p))) != NULL; p++) {
        const uint8_t *name = p + 1;
        while (name < end && *name <= ' ') name++;
        if (end - name < 2 || *name != '"' || (name[1] != '$' && name[1] != '\\')) continue;
        const uint8_t *close = memchr(name, '}', (size_t)(end - name));
        if (close == NULL || !is_stated(p, close + 1 - p, check)) return 0;
    }
    return 1;
}

/* A number of 64 bits, with no more digits of a second than its type has. */
static int are_nanos(const uint8_t *p, int64_t length, const Check *check) {
    int64_t negative = length > 0 && *p == '-', digits = length - negative, zeros = 0;
    p += negative;
    if (digits < 1 || digits > 19 || (*p == '0' && length > 1)) return 0;
    for (int64_t i = 0; i < digits; i++)
        if (!is_digit(p[i])) return 0;
    if (digits == 19 && memcmp(p, "9223372036854775807", 19) > 0) return 0;
    while (zeros < digits && p[digits - 1 - zeros] == '0') zeros++;
    return *p == '0' || 9 - zeros <= check->most_fraction;
}

static int sure_if(int holds) { return holds ? OK : OPEN; }

/* Of a value that no mapping keeps where it is not of its form. */
static int ok_or_broken(int holds) { return holds ? OK : BROKEN; }

/* A number, or another value that has bytes that no number has. */
static int judge_number(const uint8_t *p, int64_t length, int holds) {
    if (holds) return OK;
    for (int64_t i = 0; i < length; i++)
        if (!is_digit(p[i]) && p[i] != '-' && p[i] != '.' && p[i] != '+' && (p[i] | 0x20) != 'e') return BROKEN;
    return OPEN;
}

static int are_digits(const uint8_t *p, int64_t length) {
    for (int64_t i = 0; i < length; i++)
        if (!is_digit(p[i])) return 0;
    return 1;
}

/* A whole number between two, which have so few digits that a longer one is surely outside. */
static int judge_count(const uint8_t *p, int64_t length, const Check *check) {
    if (is_plain_number(p, length, check, 0)) return OK;
    int64_t negative = length > 0 && *p == '-';
    if (length == negative || (p[negative] == '0' && length > 1)) return OPEN;
    return are_digits(p + negative, length - negative) ? BROKEN : OPEN;
}

/* A count of parts of a second since 1970, which has too many digits after the year 9999; one before 0000 may be kept. */
static int judge_parts(const uint8_t *p, int64_t length, const Check *check, int64_t most_digits) {
    if (length <= MOST_DIGITS + 1 && is_plain_number(p, length, check, 0)) return OK;
    return length <= most_digits || !are_digits(p, length) ? OPEN : BROKEN;
}

static int judge_decimal_base64(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    if (base64_size(p, length, table) < 1) return BROKEN;
    return check->scale == NOT_KNOWN ? NO_SCALE : sure_if(is_unscaled(p, length, check->scale, check->most_whole, check, table));
}

/* A text that ends in Z whatever it says. */
static int judge_z(const uint8_t *p, int64_t length, int holds) {
    return holds ? OK : length < 1 || p[length - 1] != 'Z' ? BROKEN : OPEN;
}

static int judge_seconds(const uint8_t *p, int64_t length, const Check *check) {
    return are_digits(p, length) ? sure_if(are_seconds(p, length, check)) : BROKEN;
}

/* A time with Z or an offset behind it, of a year that it cannot leave in UTC. */
static int is_moment_of_offset(const uint8_t *p, int64_t length, const Check *check) {
    int64_t offset, size = offset_size(p, length, &offset);
    if (!size || length < 19 + size || p[10] != 'T' || !is_date(p, check) || !is_clock(p + 11, 23)) return 0;
    int year = two(p) * 100 + two(p + 2);
    return is_fraction(p + 19, length - 19 - size, check) && (!offset || (year > 0 && year < 9999));
}

static int judge_iso_minutes(const uint8_t *p, int64_t length, const Check *check) {
    if (length == 16) {
        int hours = two(p + 11), minutes = two(p + 14);
        return sure_if(p[10] == 'T' && p[13] == ':' && is_date(p, check) && hours >= 0 && hours < 24 && minutes >= 0 &&
                       minutes < 60);
    }
    if (length < 19 || !is_date(p, check) || !is_clock(p + 11, 23) || !is_fraction(p + 19, length - 19, check)) return OPEN;
    if (p[10] == ' ') return BROKEN; /* only a time that does not exist may stand so */
    return p[10] != 'T' ? OPEN : length == 19 ? OK : NOTED;
}

static int judge_time_minutes(const uint8_t *p, int64_t length, const Check *check) {
    if (length == 5) {
        int hours = two(p), minutes = two(p + 3);
        return sure_if(p[2] == ':' && hours >= 0 && minutes >= 0 && minutes < 60);
    }
    if (length < 8 || !is_clock(p, 99) || !is_fraction(p + 8, length - 8, check)) return OPEN;
    return length == 8 ? OK : NOTED;
}

/* Whether a text is one of some, each with a zero byte behind it. */
static int is_one_of(const uint8_t *p, int64_t length, const uint8_t *texts, int64_t texts_size) {
    const uint8_t *end = texts + texts_size;
    while (texts < end) {
        int64_t size = (int64_t)strlen((const char *)texts);
        if (size == length && memcmp(p, texts, (size_t)size) == 0) return 1;
        texts += size + 1;
    }
    return 0;
}

/* Whether a text without escapes holds U+FFFD. */
static int is_damaged(const uint8_t *p, int64_t length) {
    const uint8_t *end = p + length;
    while (end - p > 2 && (p = memchr(p, 0xEF, (size_t)(end - p - 2))) != NULL) {
        if (p[1] == 0xBF && p[2] == 0xBD) return 1;
        p++;
    }
    return 0;
}

/* Whether a text with escapes may hold U+FFFD. */
static int may_be_damaged(const uint8_t *p, int64_t length) {
    const uint8_t *end = p + length;
    if (is_damaged(p, length)) return 1;
    for (; end - p > 5 && (p = memchr(p, '\\', (size_t)(end - p - 5))) != NULL; p += 2)
        if (p[1] == 'u' && (p[2] | 0x20) == 'f' && (p[3] | 0x20) == 'f' && (p[4] | 0x20) == 'f' && (p[5] | 0x20) == 'd')
            return 1;
    return 0;
}

#define MOST_LEVELS 16
#define MOST_NAMES 64

int is_written_alike(const uint8_t *p, int64_t length) {
    const uint8_t *end = p + length, *names[MOST_NAMES];
    int64_t sizes[MOST_NAMES];
    int owners[MOST_NAMES], open[MOST_LEVELS], depth = 0, objects = 0, count = 0;
    if (memchr(p, '\\', (size_t)length) != NULL) return 0;
    for (; p < end; p++) {
        if (*p <= ' ') return 0;
        if (*p == '{' || *p == '[') {
            if (depth == MOST_LEVELS) return 0;
            open[depth++] = objects++;
        } else if (*p == '}' || *p == ']') {
            if (depth-- == 0) return 0;
        } else if (*p == '"') {
            const uint8_t *close = memchr(p + 1, '"', (size_t)(end - p - 1));
            if (close == NULL || close + 1 == end || depth == 0) return 0;
            if (close[1] == ':') {
                int owner = open[depth - 1];
                int64_t size = close - p;
                if (count == MOST_NAMES) return 0;
                for (int i = 0; i < count; i++)
                    if (owners[i] == owner && sizes[i] == size && memcmp(names[i], p, (size_t)size) == 0) return 0;
                names[count] = p, sizes[count] = size, owners[count++] = owner;
            }
            p = close;
        }
    }
    return 1;
}

static int takes_all(int32_t form) { return form == ANY_TEXT || form == ANY_VALUE; }

static int takes_long_numbers(int32_t form) {
    return form == NANOS || form == MICROS || form == MILLIS || form == ANY_VALUE;
}

static int judge(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    if (check->literals != NULL && is_one_of(p, length, check->literals, check->literals_size)) return OPEN;
    switch (check->form) {
    case ANY_TEXT: case ANY_VALUE: return OK;
    case TEXT_NOTING_DAMAGE: return is_damaged(p, length) ? NOTED : OK;
    case BOOLEAN_DIGITS: case YEARS: case DAYS: case MILLIS_OF_DAY: case MICROS_OF_DAY: case NANOS_OF_DAY:
        return sure_if(length <= MOST_DIGITS + 1 && is_plain_number(p, length, check, 0));
    case INTEGERS: return judge_number(p, length, length <= MOST_DIGITS + 1 && is_plain_number(p, length, check, 0));
    case COUNTS: return judge_count(p, length, check);
    case MILLIS: return judge_parts(p, length, check, MOST_MILLI_DIGITS);
    case MICROS: return judge_parts(p, length, check, MOST_MILLI_DIGITS + 3);
    case DECIMALS: return judge_number(p, length, length <= 4000 && is_plain_number(p, length, check, 1));
    case FLOATS: return sure_if(length <= 30 && is_plain_number(p, length, check, 1));
    case BASE64: case BASE64_URL: return ok_or_broken(base64_size(p, length, table) >= 0);
    case HEX: return ok_or_broken(is_hex(p, length, UPPER));
    case HEX_LOWER: return ok_or_broken(is_hex(p, length, LOWER));
    case HEX_0X: return ok_or_broken(length >= 2 && p[0] == '0' && p[1] == 'x' && is_hex(p + 2, length - 2, UPPER | LOWER));
    case LATIN1: return sure_if(is_latin1(p, length, 0));
    case BIT_BASE64: return sure_if(is_bit_base64(p, length, check, table));
    case BIT_BASE64_LE: return sure_if(is_bit_base64_le(p, length, check, table));
    case DECIMAL_BASE64: return judge_decimal_base64(p, length, check, table);
    case BIT_HEX: return sure_if(is_bit_hex(p, length, check));
    case ENUM_INDEX: return sure_if(is_listed(p, length, 1, check->members));
    case SET_MASK: return sure_if(check->members > 0 && is_listed(p, length, 0, ((int64_t)1 << check->members) - 1));
    case NANOS: return sure_if(are_nanos(p, length, check));
    case DATE: return sure_if(length == 10 && is_date(p, check));
    case DATE_Z: return judge_z(p, length, length == 11 && p[10] == 'Z' && is_date(p, check));
    case TIME_Z: case TIME_ZONED:
        return judge_z(p, length, length >= 9 && p[length - 1] == 'Z' && is_clock(p, 23) &&
                                  is_fraction(p + 8, length - 9, check));
    case TIME: return sure_if(length >= 8 && is_clock(p, 99) && is_fraction(p + 8, length - 8, check));
    case TIME_MINUTES: return judge_time_minutes(p, length, check);
    case SQL_DATETIME:
        return sure_if(length >= 19 && p[10] == ' ' && is_date(p, check) && is_clock(p + 11, 23) &&
                       is_fraction(p + 19, length - 19, check));
    case ISO_MINUTES: return judge_iso_minutes(p, length, check);
    case ISO_INSTANT: case SQL_DATETIME_Z:
        return judge_z(p, length, length >= 20 && p[10] == (check->form == ISO_INSTANT ? 'T' : ' ') &&
                                  p[length - 1] == 'Z' && is_date(p, check) && is_clock(p + 11, 23) &&
                                  is_fraction(p + 19, length - 20, check));
    case ISO_OFFSET: return sure_if(is_moment_of_offset(p, length, check));
    case SECONDS: return judge_seconds(p, length, check);
    case SECONDS_FRACTION: {
        int64_t whole = 0;
        while (whole < length && is_digit(p[whole])) whole++;
        return sure_if(are_seconds(p, whole, check) && is_fraction(p + whole, length - whole, check));
    }
    default: return OPEN;
    }
}

static int judge_whole(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    int flag = judge(p, length, check, table);
    if (flag != OK || check->substitutes == NULL) return flag;
    return is_one_of(p, length, check->substitutes, check->substitutes_size) ? SUBSTITUTE : OK;
}

/* A text whose escapes are known to be valid. */
static int judge_escaped(const uint8_t *p, int64_t length, const Check *check) {
    if (check->literals != NULL || check->substitutes != NULL) return OPEN;
    if (takes_all(check->form)) return OK;
    switch (check->form) {
    case EXTENDED_JSON: return OK;
    case TEXT_NOTING_DAMAGE: return sure_if(!may_be_damaged(p, length));
    case LATIN1: return sure_if(is_latin1(p, length, 1));
    default: return OPEN;
    }
}

static int judge_structure(const uint8_t *p, int64_t length, const Check *check, const int8_t *table) {
    if (check->substitutes != NULL || check->literals != NULL) return OPEN;
    switch (check->form) {
    case ANY_VALUE: return sure_if(is_written_alike(p, length));
    case DECIMAL_OBJECT: return sure_if(is_decimal_object(p, length, check, table));
    case EXTENDED_JSON: return sure_if(are_all_stated(p, length, check));
    default: return OPEN;
    }
}

/* A text or a number of Extended JSON; a text is its own text whatever it says. */
static int judge_either(const uint8_t *p, int64_t length, unsigned kind, const Check *check) {
    if (kind == NUMBER || check->literals != NULL || check->substitutes != NULL) return OPEN;
    return sure_if(kind == TEXT || is_plain_number(p, length, check, 1));
}

/* The flag of a value: OK for one that counts as null. */
static inline int flag_of(const uint8_t *data, uint64_t cell, const Check *check, const int8_t *table) {
    unsigned kind = kind_of(cell);
    if (!(check->kinds >> kind & 1)) return OK;
    switch (kind) {
    case TEXT: case INTEGER: case DECIMAL: case NUMBER:
        if (check->form == EXTENDED_JSON) return judge_either(data + start_of(cell), length_of(cell), kind, check);
        if ((kind == NUMBER && !takes_long_numbers(check->form)) || (kind == TEXT && check->texts_open)) return OPEN;
        return judge_whole(data + start_of(cell), length_of(cell), check, table);
    case ESCAPED: return judge_escaped(data + start_of(cell), length_of(cell), check);
    case TRUTH: case FALSEHOOD:
        return sure_if(check->substitutes == NULL &&
                       (check->form == BOOLEANS || check->form == ANY_VALUE || check->form == EXTENDED_JSON));
    case ARRAY: case OBJECT: return judge_structure(data + start_of(cell), length_of(cell), check, table);
    default: return OPEN;
    }
}

#define AT_ONCE 128 /* values of a column that are checked before those of the next, which lie in the same messages */

/* Writes the flags of some of the values of a column, OPEN for those that are not sure. Adds to `totals` how many are open,
 * and how many are not OK.
 */
static void check_some(const uint8_t *data, const uint64_t *cells, int64_t from, int64_t end, int64_t count,
                       const Check *check, const int8_t *table, uint8_t *flags, int64_t *totals) {
    int64_t open = 0, marked = 0;
    for (int64_t i = from; i < end; i++) {
        FETCH_AHEAD(data, cells, i, count);
        int flag = flag_of(data, cells[i], check, table);
        flags[i] = (uint8_t)flag;
        open += flag == OPEN, marked += flag != OK;
    }
    totals[0] += open, totals[1] += marked;
}

/* Writes the flags of the values of columns, each by its check; `source_buffer`, `column_buffer` and `flag_buffer` have a
 * buffer for each of them, `total_buffer` two totals: how many values are open, and how many are not OK.
 */
int64_t cdc_check(Buffer source_buffer, Buffer column_buffer, Buffer check_buffer, Buffer flag_buffer, Buffer total_buffer) {
    const Buffer *sources = ITEMS(source_buffer, Buffer), *columns = ITEMS(column_buffer, Buffer);
    const Buffer *flags = ITEMS(flag_buffer, Buffer);
    const Check *checks = ITEMS(check_buffer, Check);
    int8_t plain[256], of_urls[256];
    int64_t total = COUNT_OF(check_buffer, Check), *totals = ITEMS(total_buffer, int64_t), most = 0;
    if (!HOLDS(source_buffer, Buffer, total) || !HOLDS(column_buffer, Buffer, total)) return TOO_SHORT;
    if (!HOLDS(flag_buffer, Buffer, total) || !HOLDS(total_buffer, int64_t, 2 * total)) return TOO_SHORT;
    for (int64_t place = 0; place < total; place++) {
        int64_t count = COUNT_OF(columns[place], uint64_t);
        if (!HOLDS(flags[place], uint8_t, count)) return TOO_SHORT;
        if (count > most) most = count;
        totals[2 * place] = totals[2 * place + 1] = 0;
    }
    make_sextets(plain, BASE64), make_sextets(of_urls, BASE64_URL);
    for (int64_t from = 0; from < most; from += AT_ONCE)
        for (int64_t place = 0; place < total; place++) {
            int64_t count = COUNT_OF(columns[place], uint64_t), end = count - from > AT_ONCE ? from + AT_ONCE : count;
            check_some(sources[place].at, ITEMS(columns[place], uint64_t), from, end, count, checks + place,
                       checks[place].form == BASE64_URL ? of_urls : plain, flags[place].at, totals + 2 * place);
        }
    return total;
}

/* Whether a text whose first character is no escape may be one of some. */
static int may_be_one_of(const uint8_t *p, const uint8_t *texts, int64_t texts_size) {
    const uint8_t *end = texts + texts_size;
    if (*p == '\\') return texts < end;
    for (; texts < end; texts += strlen((const char *)texts) + 1)
        if (*p == *texts) return 1;
    return 0;
}

/* Whether some bytes stand among others. */
static int contains(const uint8_t *p, int64_t length, const uint8_t *part, int64_t size) {
    if (length < size) return 0;
    const uint8_t *last = p + length - size;
    for (; p <= last && (p = memchr(p, part[0], (size_t)(last - p + 1))) != NULL; p++)
        if (memcmp(p, part, (size_t)size) == 0) return 1;
    return 0;
}

static int has_blanks(const uint8_t *p, int64_t length) {
    for (const uint8_t *end = p + length; p < end; p++)
        if (*p <= ' ') return 1;
    return 0;
}

/* Whether an array or object may be one of some texts, which have no blanks: it has an escape, or the first string of
 * one. Without any string it has the bytes of one, but for blanks.
 */
static int may_be_structure_of(const uint8_t *p, int64_t length, const uint8_t *texts, int64_t texts_size) {
    const uint8_t *end = texts + texts_size;
    for (; texts < end; texts += strlen((const char *)texts) + 1) {
        if (*p != *texts) continue;
        if (memchr(p, '\\', (size_t)length) != NULL) return 1;
        const uint8_t *string = (const uint8_t *)strchr((const char *)texts, '"');
        if (string != NULL) {
            const uint8_t *close = (const uint8_t *)strchr((const char *)string + 1, '"');
            if (close == NULL || contains(p, length, string, close + 1 - string)) return 1;
        } else if (memchr(p, '"', (size_t)length) == NULL) {
            int64_t size = (int64_t)strlen((const char *)texts);
            if (length == size ? memcmp(p, texts, (size_t)size) == 0 : has_blanks(p, length)) return 1;
        }
    }
    return 0;
}

/* Marks the values that are of some kinds, a bit each, and the texts that are one of some, each with a zero byte behind
 * it; a text with an escape that may be one is OPEN, and an array or object that may be. Returns how many are open.
 */
int64_t cdc_mark(Buffer source, Buffer cell_buffer, uint32_t kinds, const uint8_t *texts, int64_t texts_size,
                 Buffer mark_buffer) {
    const uint8_t *data = source.at;
    const uint64_t *cells = ITEMS(cell_buffer, uint64_t);
    uint8_t *marks = mark_buffer.at;
    int64_t count = COUNT_OF(cell_buffer, uint64_t), open = 0, least = INT64_MAX, most = -1;
    if (!HOLDS(mark_buffer, uint8_t, count)) return TOO_SHORT;
    for (const uint8_t *text = texts; text < texts + texts_size; text += strlen((const char *)text) + 1) {
        int64_t size = (int64_t)strlen((const char *)text);
        least = size < least ? size : least, most = size > most ? size : most;
    }
    for (int64_t i = 0; i < count; i++) {
        unsigned kind = kind_of(cells[i]);
        int64_t length = length_of(cells[i]);
        const uint8_t *p = data + start_of(cells[i]);
        marks[i] = kinds >> kind & 1;
        if (kind == TEXT && length >= least && length <= most) marks[i] |= (uint8_t)is_one_of(p, length, texts, texts_size);
        else if (kind == ESCAPED && may_be_one_of(p, texts, texts_size)) marks[i] = OPEN, open++;
        else if ((kind == ARRAY || kind == OBJECT) && may_be_structure_of(p, length, texts, texts_size))
            marks[i] = OPEN, open++;
    }
    return open;
}
