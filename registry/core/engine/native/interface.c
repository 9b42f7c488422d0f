/* Interface: the description that a caller reads before it calls anything else. */
#include "interface.h"

#ifndef CDC_SOURCES
#define CDC_SOURCES "unknown"
#endif

#define NAMED(name, known) #name "/" #known " "
#define FIELD(type, name) #type " " #name "; "
#define FUNCTION(name, ...) #name "(" #__VA_ARGS__ ")\n"
#define TEXT_OF(number) #number
#define NUMBER_OF(number) TEXT_OF(number)
#define CONSTANT(name) #name "=" NUMBER_OF(name) " "

static const char interface[] =
    "sources " CDC_SOURCES "\n"
    "forms " FORMS(NAMED) "\n"
    "constants " CONSTANT(TOO_SHORT) CONSTANT(OPEN) CONSTANT(NOT_KNOWN) CONSTANT(MOST_ADDED) CONSTANT(MOST_OTHERS) CONSTANT(MOST_MARKS) CONSTANT(MOST_HOLDERS) "\n"
    "struct Check { " CHECK_FIELDS(FIELD) "}\n"
    "struct Block { " BLOCK_FIELDS(FIELD) "}\n"
    "struct Source { " SOURCE_FIELDS(FIELD) "}\n"
    "struct DigestedColumn { " DIGESTED_FIELDS(FIELD) "}\n"
    "struct AvroProgram { " PROGRAM_FIELDS(FIELD) "}\n"
    "struct ValueIndex { " INDEX_FIELDS(FIELD) "}\n"
    FUNCTIONS(FUNCTION);

const char *cdc_interface(void) { return interface; }
