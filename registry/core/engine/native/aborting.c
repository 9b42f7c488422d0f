/* Aborting: what a process says, and its exit code, when a library ends it instead of reporting a lack of memory. */
#define _POSIX_C_SOURCE 200809L
#include "interface.h"

#ifndef _WIN32
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char said[512];
static size_t said_length;
static int exit_code;

static void end(int number) {
    (void)number;
    ssize_t written = write(STDERR_FILENO, said, said_length); /* nothing here allocates */
    (void)written;
    _exit(exit_code);
}

/* Let SIGABRT (an exception of C++ that nobody catches) and SIGSEGV (an allocation that nobody checked) print a text
   and end the process with a code. Returns 0; -1 if the text is too long. */
int64_t cdc_end_on_abort(Buffer text, int32_t code) {
    if ((size_t)text.size > sizeof said)
        return -1;
    memcpy(said, text.at, (size_t)text.size);
    said_length = (size_t)text.size;
    exit_code = code;
    signal(SIGABRT, end);
    signal(SIGSEGV, end);
    return 0;
}

#else

int64_t cdc_end_on_abort(Buffer text, int32_t code) {
    (void)text;
    (void)code;
    return -1;
}

#endif
