/* Tokens of JSON: each function reads between p and end, and returns where the token ends, or NULL where something is not
 * as it should be.
 */
#ifndef CDC_TOKENS_H
#define CDC_TOKENS_H

#include "text_bytes.h"

#define MOST_DEPTH 64 /* of arrays and objects that are not taken apart */

static inline const uint8_t *skip_blank(const uint8_t *p, const uint8_t *end) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

static int read_hex(const uint8_t *p) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t byte = p[i], low = byte | 0x20;
        if (is_digit(byte)) unit = unit * 16 + (byte - '0');
        else if (low >= 'a' && low <= 'f') unit = unit * 16 + (low - 'a' + 10);
        else return -1;
    }
    return unit;
}

/* From a backslash to behind the escape; half a character is refused. */
static const uint8_t *skip_escape(const uint8_t *p, const uint8_t *end) {
    if (end - p < 2) return NULL;
    switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return p + 2;
    case 'u': break;
    default: return NULL;
    }
    if (end - p < 6) return NULL;
    int unit = read_hex(p + 2);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return NULL;
    if (unit < 0xD800 || unit > 0xDBFF) return p + 6;
    if (end - p < 12 || p[6] != '\\' || p[7] != 'u') return NULL;
    int low = read_hex(p + 8);
    return low >= 0xDC00 && low <= 0xDFFF ? p + 12 : NULL;
}


/* From behind the opening quote to the closing one. */
static const uint8_t *skip_text(const uint8_t *p, const uint8_t *end, unsigned *kind) {
    *kind = TEXT;
    for (;;) {
        p = skip_plain(p, end);
        if (p >= end) return NULL;
        if (*p == '"') return p;
        if (*p == '\\') {
            *kind = ESCAPED;
            p = skip_escape(p, end);
        } else if (*p >= 0x80) {
            p = skip_utf8(p, end);
        } else {
            return NULL;
        }
        if (p == NULL) return NULL;
    }
}

static const uint8_t *skip_number(const uint8_t *p, const uint8_t *end, unsigned *kind) {
    const uint8_t *start = p, *digits;
    if (p < end && *p == '-') p++;
    digits = p;
    while (p < end && is_digit(*p)) p++;
    if (p == digits || (*digits == '0' && p - digits > 1)) return NULL;
    *kind = p - digits > MOST_DIGITS + (*digits < '9') || (digits > start && *digits == '0') ? NUMBER : INTEGER;
    if (p < end && *p == '.') {
        const uint8_t *point = p++;
        while (p < end && is_digit(*p)) p++;
        if (p - point < 2) return NULL;
        *kind = p - start > MOST_DECIMAL ? NUMBER : DECIMAL;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const uint8_t *power = p;
        while (p < end && is_digit(*p)) p++;
        if (p == power) return NULL;
        *kind = NUMBER;
    }
    return p;
}

static const uint8_t *skip_word(const uint8_t *p, const uint8_t *end, const char *word, int length) {
    return end - p >= length && memcmp(p, word, (size_t)length) == 0 ? p + length : NULL;
}

static const uint8_t *skip_scalar(const uint8_t *p, const uint8_t *end, unsigned *kind) {
    switch (*p) {
    case '"': {
        const uint8_t *close = skip_text(p + 1, end, kind);
        return close == NULL ? NULL : close + 1;
    }
    case 'n': *kind = NUL; return skip_word(p, end, "null", 4);
    case 't': *kind = TRUTH; return skip_word(p, end, "true", 4);
    case 'f': *kind = FALSEHOOD; return skip_word(p, end, "false", 5);
    default: return skip_number(p, end, kind);
    }
}

/* An array or object with all it holds. */
static inline const uint8_t *skip_nested(const uint8_t *p, const uint8_t *end) {
    uint64_t is_object = 0; /* a bit for each level, the innermost lowest */
    int depth = 0;
    unsigned kind;
    for (;;) {
        p = skip_blank(p, end);
        if (p >= end) return NULL;
        if (*p == '{' || *p == '[') {
            if (depth == MOST_DEPTH) return NULL;
            depth++, is_object = is_object << 1 | (*p == '{');
            p = skip_blank(p + 1, end);
            if (p >= end) return NULL;
            if (*p != (is_object & 1 ? '}' : ']')) {
                if (!(is_object & 1)) continue;
                goto member;
            }
        } else {
            p = skip_scalar(p, end, &kind);
            if (p == NULL) return NULL;
            goto after;
        }
    close:
        p++, depth--, is_object >>= 1;
        if (depth == 0) return p;
    after:
        p = skip_blank(p, end);
        if (p >= end) return NULL;
        if (*p == (is_object & 1 ? '}' : ']')) goto close;
        if (*p != ',') return NULL;
        p = skip_blank(p + 1, end);
        if (p >= end) return NULL;
        if (!(is_object & 1)) continue;
    member:
        if (*p != '"' || (p = skip_text(p + 1, end, &kind)) == NULL) return NULL;
        p = skip_blank(p + 1, end);
        if (p >= end || *p != ':') return NULL;
        p++;
    }
}

#endif
