/* JSON texts: texts of a message that hold JSON themselves, which is written elsewhere to be read. */
#ifndef CDC_JSON_TEXTS_H
#define CDC_JSON_TEXTS_H

#include "escapes.h"
#include "tokens.h"

/* Writes what a text stands for, from behind its opening quote on, and returns where it is closed; NULL where it is no
 * JSON text. Bytes beyond ASCII are not validated: whoever reads what was written does so. No more is written than read,
 * or up to where it is read.
 */
static const uint8_t *put_content(uint8_t **out, const uint8_t *p, const uint8_t *end) {
    uint8_t *to = *out;
    for (;;) {
#ifdef HAS_WORDS
        for (uint64_t word, found; end - p >= 8; p += 8, to += 8) {
            memcpy(&word, p, 8), memcpy(to, &word, 8), found = odd_bytes(word);
            if (found) {
                p += first_of(found), to += first_of(found);
                break;
            }
        }
#endif
        while (p < end && is_plain(*p)) *to++ = *p++;
        if (p == end) return NULL;
        if (*p == '"') break;
        if (*p >= 0x80) {
            *to++ = *p++;
        } else if (*p == '\\' && end - p > 1 && (p[1] == '"' || p[1] == '\\')) { /* mostly */
            *to++ = p[1], p += 2;
        } else {
            const uint8_t *after = *p == '\\' ? skip_escape(p, end) : NULL;
            if (after == NULL) return NULL;
            to += unescape(p, after - p, to), p = after;
        }
    }
    *out = to;
    return p;
}

#endif
