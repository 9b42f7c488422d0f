/* Interface: the functions that are called from outside, each declared once. A caller reads their names and parameters,
 * the structures, the constants and the names of the forms from `cdc_interface`; nothing of it is written a second time.
 */
#ifndef CDC_INTERFACE_H
#define CDC_INTERFACE_H

#include "avro.h"
#include "forms.h"
#include "images.h"
#include "plans.h"
#include "row_digests.h"
#include "value_index.h"

#define MOST_MARKS 32 /* names whose values go into a fingerprint */
#define MOST_HOLDERS 8 /* objects that lead to an image, the message among them */

#define FUNCTIONS(FUNCTION) \
    FUNCTION(cdc_read_avro, const AvroProgram *, Buffer, Buffer, Buffer, int64_t, int64_t, int32_t, Buffer, Buffer, \
             Buffer, Buffer, Buffer, ValueIndex *, Buffer) \
    FUNCTION(cdc_is_avro_program, const AvroProgram *) \
    FUNCTION(cdc_canonical, Buffer, Buffer, const Check *, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_text_size, Buffer, uint32_t) \
    FUNCTION(cdc_texts, Buffer, Buffer, uint32_t, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_count_characters, Buffer, Buffer, int32_t, Buffer, Buffer) \
    FUNCTION(cdc_integers, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_codes, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_find_kinds, Buffer, int64_t, Buffer) \
    FUNCTION(cdc_digest_rows, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_mark, Buffer, Buffer, uint32_t, const uint8_t *, int64_t, Buffer) \
    FUNCTION(cdc_check, Buffer, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_measure_images, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, int64_t, Buffer) \
    FUNCTION(cdc_write_images, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, int64_t, Buffer, \
             Buffer, Buffer, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_complete_images, const Source *, const Source *, int64_t, int64_t, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_end_on_abort, Buffer, int32_t) \
    FUNCTION(cdc_last_counts, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_strip_names, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_scan, Plan *, Buffer, Buffer, Buffer, int64_t, int64_t, Buffer, int64_t, Buffer, Buffer, Buffer, \
             Buffer, Buffer, Buffer, const AvroProgram *, ValueIndex *, Buffer, Buffer) \
    FUNCTION(cdc_open_texts, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, int64_t, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_fingerprint, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer) \
    FUNCTION(cdc_read_texts, Buffer, Buffer, Buffer, int64_t, Buffer, int32_t, int32_t, int32_t, Buffer, Buffer, \
             int64_t) \
    FUNCTION(cdc_place_keys, Buffer, Buffer, Buffer, Buffer, int64_t, int64_t, Buffer, Buffer, int32_t, Buffer, \
             Buffer) \
    FUNCTION(cdc_read_base64, Buffer, Buffer, Buffer, int64_t, Buffer, int64_t, Buffer, Buffer, Buffer, int64_t)

#define DECLARED(name, ...) EXPORT int64_t name(__VA_ARGS__);
FUNCTIONS(DECLARED)

EXPORT Plan *cdc_make_plan(Buffer nodes, Buffer members, Buffer names, int32_t images, int32_t slots);
EXPORT void cdc_free_plan(Plan *plan);

/* What this library was compiled from, and what it offers: a line each for its sources, forms, constants, structures,
 * functions.
 */
EXPORT const char *cdc_interface(void);

#endif

