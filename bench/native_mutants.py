"""Mutants of the native part: the default tests of the engine have to notice each.

    python bench/native_mutants.py [--only PART ...] [--drawn N [--seed S]] [--list]

A mutant is one change in a C source. It is compiled, and the tests run with it until one fails: then it is killed. A
crash kills it too, and so does a run without an end. Fails if one of the list survives; those that have no effect say
why, and are not tried. With `--drawn`, mutants are drawn by chance from all comparisons, bounds and conditions instead;
some of those change nothing that can be seen.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

import avro_records  # noqa: E402, F401
import both_paths  # noqa: E402, F401
import output_rows  # noqa: E402, F401
import written_reports  # noqa: E402, F401

from cdc_contracts.registry.core.engine.native.source_digest import digest_sources  # noqa: E402

FOLDER: Final = ROOT / "registry/core/engine/native"
TESTS: Final = tuple(
    f"tests/registry/engine/{name}.py"
    for name in (
        "test_native_limits", "test_native_utf8", "test_native_calendar", "test_native_columns", "test_native_library",
        "test_native_bytes", "test_native_numbers", "test_native_typed_columns", "test_placed_images",
        "test_native_row_digests", "test_structures_of_columns", "test_native_avro", "test_value_index",
        "test_framed_rows", "test_text_image_values", "test_extended_json_columns", "test_native_agreement",
        "test_byte_mutations", "test_native_sanitized",
    )
)  # fmt: skip
_FIRST: Final = {
    "forms": "calendar", "canonical": "calendar", "columns": "columns", "row_digests": "row_digests",
    "escapes": "columns", "lists": "columns", "images": "placed_images",
    "typed_columns": "typed_columns", "placing": "value_index", "avro": "avro", "avro_reader": "avro",
    "avro_values": "avro", "avro_texts": "avro", "buffers": "library", "latin1": "bytes", "text_bytes": "utf8",
    "text_images": "image_values", "json_texts": "image_values",
}  # fmt: skip
"""The test that is the first to notice a change of a source; of the others it is that of the limits."""
SECONDS: Final = 400
"""Of processor time that the tests of a mutant have; some never end."""
ARGUMENTS: Final = (
    "-n0", "-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning",
    f"--rootdir={ROOT}", f"--config-file={ROOT / 'pyproject.toml'}",
)  # fmt: skip
OPTIONS: Final = ("-std=c11", "-O1", "-fPIC", "-fvisibility=hidden")


class Mutant(NamedTuple):
    """One change of a source: `after` in the place of `before`, which begins at `at`."""

    file: str
    at: int
    before: str
    after: str
    no_effect: str = ""
    """Why no input can distinguish it, if none can."""

    def __str__(self) -> str:
        line = (FOLDER / self.file).read_text(encoding="utf-8").count("\n", 0, self.at) + 1
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        reason = f"  (no effect: {self.no_effect})" if self.no_effect else ""
        return f"{self.file}:{line}: {before}  ->  {after or 'nothing'}{reason}"


CHANGES: Final[dict[str, tuple[tuple[str, str] | tuple[str, str, str], ...]]] = {
    "buffers.h": (
        ("count <= buffer.size / width", "count <= buffer.size / width + 1"),
        (" && place < texts->count", " && place <= texts->count"),
        ("texts->offsets[place + 1] <= texts->size &&", "1 &&"),
        ("texts->offsets[place] <= texts->offsets[place + 1]", "1"),
    ),
    "text_bytes.h": (
        (" || (lead == 0xED && p[1] > 0x9F)", ""),
        ("(lead == 0xE0 && p[1] < 0xA0) || ", ""),
        ("(lead == 0xF0 && p[1] < 0x90) || ", ""),
        (" || (lead == 0xF4 && p[1] > 0x8F)", ""),
        ("lead >= 0xC2", "lead >= 0xC0"),
        ("lead <= 0xF4", "lead <= 0xF7"),
        ("end - p <= more", "end - p < more"),
        ("i <= more", "i < more"),
        ("return found ? end - 8 + first_of(found) : end;", "return end;"),
        ("if (!odd_bytes(first | (uint64_t)last << 32)) return end;", "return end;"),
        ("((word - ONES * 0x20) & ~word) | ", ""),
        (" | ((slash - ONES) & ~slash)", ""),
        ("end - p >= 8", "end - p >= 7"),
    ),
    "scan.h": (
        ("scan->rows[image] >= scan->row_capacity", "scan->rows[image] > scan->row_capacity"),
        ("cells[column * scan->row_capacity] = ABSENT;", "(void)cells;"),
    ),
    "scanner.c": (
        ("memset(plan->latest, 0, (size_t)plan->nodes * sizeof(uint64_t));", ""),
        ("memset(plan->seen, 0, (size_t)plan->members * sizeof(uint64_t));", ""),
        ("plan->seen[node->a + place] == object) return 0;", "0) return 0;"),
        ("    return required == node->c;\n", "    return 1;\n"),
        ("fits && scan->p == end", "fits"),
        ("end - start <= most_bytes", "end - start < most_bytes"),
        ("patience + MOST_OTHERS * scan.record", "patience + 3 * scan.record"),
        ("image++) rows[image] = before[image];\n            left", "image++) {}\n            left"),
        ("start > end || end > source.size", "start > end"),
        ("numbers[i] >= most", "numbers[i] > most"),
        ("after - p > MOST_LENGTH || !(node->b >> kind & 1)", "after - p > MOST_LENGTH"),
        (" || !same_bytes(scan->p, scan->plan->names + node->b, node->c)", ""),
        ("if (node->f && place <= before) return 0;", ""),
        ("!HOLDS(scan->row_cells[image], uint64_t, cells)", "0"),
        (" && scan->p == scan->end;", ";"),
        (" || *row != '{') return 0;", ") return 0;"),
        ("node->c || *scan->p != '\"' || ", "*scan->p != '\"' || "),
        ("(scan.text == NULL || has_rows(&scan))", "1"),
        ("IS_GIVEN(texts) && !HOLDS(texts, uint8_t, bytes_of(offset_buffer, number_buffer))", "0"),
        ("total += offsets[numbers[i] + 1] - offsets[numbers[i]];", "total = offsets[numbers[i] + 1];"),
    ),
    "text_images.c": (
        ("place->holder != holder || ", ""),
        ("memcmp(opening->names + place->name, name, (size_t)length) == 0", "1"),
        (", opening->members[holder] = number + 1;", ", *opening->members += number >= *opening->members;"),
        ("number == MOST_MEMBERS || ", "number > MOST_MEMBERS || "),
        ("kind != TEXT || ", ""),
        (" || close[1] != ':'", ""),
        ("seen[i].length == own.length && same_bytes(seen[i].name, p, own.length)", "0"),
        ("opening->is_held |= place != NO_PLACE && *p != 'n';", ""),
        (", opening->is_held = 1;", ";"),
        (" && skip_nested(text, opening->to) == opening->to", ""),
        ("*text == '{' && ", ""),
        ("opening.p == end && ", ""),
        ("end - start <= most_bytes", "end - start < most_bytes"),
        ("(opening.is_held || !IS_GIVEN(keyed) || !keyed.at[i])", "1"),
        ("opening.to = out.at + ends[i], ", ""),
        ("!IS_GIVEN(valid) || valid.at[i]) {", "1) {"),
        ("if (!HOLDS(out, uint8_t, bytes_of(offsets, valid, count))) return TOO_SHORT;", ""),
        ("place->name > names.size - place->length", "place->name > names.size"),
        ("place->holder < 0 || place->holds >= MOST_HOLDERS", "place->holder < 0"),
        ("place->holds <= place->holder :", "place->holds < place->holder :"),
        ("if (offsets[i] > offsets[i + 1]) return 0;", ""),
        ("offsets[0] < 0 || ", ""),
    ),
    "json_texts.h": (
        ("(p[1] == '\"' || p[1] == '\\\\')", "1"),
        ("p == end) return NULL;", "0) return NULL;"),
        ("to += unescape(p, after - p, to), p = after;", "p = after;"),
        ("p += first_of(found), to += first_of(found);", "p += first_of(found), to += 8;"),
        ("if (*p >= 0x80) {", "if (0) {"),
    ),
    "tokens.h": (
        ("depth == MOST_DEPTH", "depth > MOST_DEPTH"),
        (" || (*digits == '0' && p - digits > 1)", ""),
        ("if (p - point < 2) return NULL;", ""),
        ("if (p == power) return NULL;", ""),
        ("p - start > MOST_DECIMAL", "p - start >= MOST_DECIMAL"),
        ("p - digits > MOST_DIGITS", "p - digits > MOST_DIGITS + 1"),
        (" || (unit >= 0xDC00 && unit <= 0xDFFF)", ""),
        ("low >= 0xDC00 && low <= 0xDFFF ?", "low >= 0 ?"),
        ("if (end - p < 6) return NULL;", ""),
        ("end - p < 12 || ", ""),
    ),
    "forms.c": (
        ('if (memcmp(digits, "9223372036854775807", MOST_DIGITS + 1) > 0) return 0;', ""),
        ("if (whole > MOST_DIGITS + 1) return 0;", ""),
        ("    if (check->bounded) {\n        if (number.high", "    if (0) {\n        if (number.high"),
        ("size == OBJECT_ID_DIGITS && ", ""),
        ("is_hex(text, size, UPPER | LOWER)", "1"),
        ("(name[1] != '$' && name[1] != '\\\\')", "name[1] != '$'"),
        ("        while (name < end && *name <= ' ') name++;\n", ""),
        ("        if (close == NULL || !is_stated(p, close + 1 - p, check)) return 0;\n", ""),
        ("#define LAST_MILLI 253402300799999", "#define LAST_MILLI 253402300800000"),
        (" && (year % 100 != 0 || year % 400 == 0)", ""),
        (" || year % 400 == 0", ""),
        ("day <= month_days[month] + leap", "day <= month_days[month] + 1"),
        ("month < 1 || ", ""),
        ("month > 12", "month > 13"),
        ("day < 1) return 0", "day < 0) return 0"),
        ("year >= check->earliest", "1"),
        (" && year <= check->latest", ""),
        ("hours <= most_hours", "hours < most_hours"),
        ("seconds >= 0 && seconds < 60", "seconds >= 0 && seconds <= 60"),
        ("length > 10 || p[0]", "length > 11 || p[0]"),
        ("length - 1 > check->most_fraction", "length - 2 > check->most_fraction"),
        ("!(check->zeros_open && p[length - 1] == '0')", "1"),
        ("value >= check->least && ", ""),
        ("(whole > 1 || negative)", "whole > 1"),
        ("whole > check->most_whole", "whole > check->most_whole + 1"),
        (" && p - digits <= check->most_fraction", ""),
        ("if (length % 2) return 0;", ""),
        ("letters & (p[i] & 0x20 ? LOWER : UPPER)", "1"),
        ("length >= 2 && p[0] == '0'", "length >= 2"),
        ("p[1] == 'x' && ", ""),
        ("if (check->literals != NULL || check->substitutes", "if (check->substitutes"),
        ("base64_size(p, length, table) < 1) return BROKEN", "base64_size(p, length, table) < 0) return BROKEN"),
        ("check->scale == NOT_KNOWN ? NO_SCALE", "check->scale < 0 ? NO_SCALE"),
        ("length < 1 || p[length - 1] != 'Z' ? BROKEN", "length < 1 ? BROKEN"),
        ("length == negative || (p[negative]", "(p[negative]"),
        (" || (p[negative] == '0' && length > 1)", ""),
        ("are_digits(p + negative, length - negative) ? BROKEN", "1 ? BROKEN"),
        ("are_digits(p + negative, length - negative) ? BROKEN", "are_digits(p, length) ? BROKEN"),
        ("length <= most_digits || !are_digits", "length < most_digits || !are_digits"),
        ("length <= most_digits || !are_digits(p, length)", "length <= most_digits"),
        ("MOST_MILLI_DIGITS + 3)", "MOST_MILLI_DIGITS)"),
        ("p[i] != '+' && ", ""),
        ("length >= least && length <= most) marks", "length > least && length <= most) marks"),
        ("if (*p == '\\\\') return texts < end;", ""),
        ("if (size == length && memcmp", "if (memcmp"),
        ("        texts += size + 1;", "        return 0;"),
        ("size < 0 || size > 8", "size < 0"),
        ("return value <= check->most;", "return 1;"),
        ("length < 1 || length > 12", "length < 1 || length > 13"),
        ("if (p[10] == ' ') return BROKEN;", ""),
        ("size < 0 || size > WORD", "size < 0"),
        ("size < 1 || size > 2 * WORD || ", ""),
        ("scale < 0 || ", ""),
        (" || scale > MOST_SCALE", ""),
        ("number.high || number.low > INT64_MAX", "number.high"),
        ("most_digits >= MOST_WIDE_DIGITS || ", "", "another way to the same answer"),
        ("wide_digits(number, digits) <= most_digits", "1"),
        (" || found.scale > check->most_fraction", ""),
        ("check->most_whole + found.scale", "check->most_whole"),
        ("if (memchr(p, '\\\\', (size_t)length) != NULL) return 0;", ""),
        ("        if (*p <= ' ') return 0;\n", ""),
        ("owners[i] == owner && sizes", "sizes"),
        ("if (count == MOST_NAMES) return 0;", "if (count == MOST_NAMES) count = 0;"),
        ("if (depth == MOST_LEVELS) return 0;", "if (depth == MOST_LEVELS) depth--;"),
        ("if (memchr(p, '\\\\', (size_t)length) != NULL) return 1;", ""),
        ("close == NULL || contains(p, length, string, close + 1 - string)", "0"),
        ("p <= last && (p = memchr", "p < last && (p = memchr", "the last byte of an array or object is no quote"),
        (" : has_blanks(p, length)", " : 0"),
        ("if (*p != *texts) continue;", "", "more is opened than has to be"),
        ("digits < 1 || digits > 19", "digits > 19"),
        ("digits > 19 || (*p == '0' && length > 1)", "digits > 19"),
        ("MOST_DIGITS || (*p == '0' && length > 1)", "MOST_DIGITS"),
        ("digits == 19 && memcmp", "digits == 18 && memcmp"),
        ("*p == '0' || 9 - zeros <= check->most_fraction", "1"),
        ("length == 11 && p[10] == 'Z'", "length == 11"),
        ("return check->least_fraction <= 0;", "return 1;"),
        (" && p - digits >= check->least_fraction", ""),
        ("number >= least && number <= most", "number <= most"),
        ("number >= least && number <= most", "number >= least && number <= most + 1"),
        ("is_listed(p, length, 1, check->members)", "is_listed(p, length, 0, check->members)"),
        ("check->members > 0 && is_listed", "is_listed"),
        ("(kind == TEXT && check->texts_open)", "0"),
        ("length >= 9 && p[length - 1] == 'Z'", "length >= 9"),
        ("(kind == NUMBER && !takes_long_numbers(check->form)) || ", ""),
    ),
    "forms.h": (
        ("if ((padding == 1 && (last & 3)) || (padding == 2 && (last & 15))) return -1;", "(void)last;"),
        ("if (length % 4) return -1;", "if (length % 2) return -1;"),
        (", table['+'] = table['/'] = -1", ""),
        ("(number.low == 0);", "0;"),
        ("while (number.high) {", "while (number.high > 1) {"),
        ("i < 9; i++, rest /= 10", "i < 8; i++, rest /= 10"),
        ("digits == 0 || (digits == 2 && *p == '0')", "digits == 0"),
        ("return memcmp(end, tail, sizeof tail - 1) == 0;", "return 1;"),
        ("p += *p == ' ';", ""),
        (' || *--end != \'"\'', " || !--end", "a quote is no digit"),
        ("memcmp(p, between, sizeof between - 1) != 0", "0"),
        ("& 0x80 ? ~(uint64_t)0 : 0", "& 0 ? ~(uint64_t)0 : 0"),
        ("while (size-- > 0)", "while (size-- > 1)"),
    ),
    "latin1.h": (
        ("unit < 256 ?", "unit < 257 ?"),
        ("i < 16", "i < 14"),
        ("*p < 0x80", "*p < 0xC2", "no character begins with these bytes"),
        ("*p == 0xC2 || *p == 0xC3", "*p >= 0xC2"),
        ("if (found < 0) return 0;", ""),
    ),
    "canonical.c": (
        ("++held < 3", "++held < 2"),
        ("if (comma++) *to++ = ',';", ""),
        ("member += length + 1;", "member += length;"),
        ("(check->form == LATIN1) * (length / 3) + ", ""),
        ("group = 0, held = 0;\n    }", "held = 0;\n    }", "bits above the lower 24 are not written"),
        ("p[i] == '-' ? '+' : ", ""),
        ("while (length > 0 && p[length - 1] == '0') length--;", ""),
        ("365 * of_era + of_era / 4 - of_era / 100", "365 * of_era + of_era / 4"),
        ("(month <= 2)", "(month < 2)"),
        ("digits > 15", "digits > 17"),
        (" - (number % divisor < 0)", ""),
        ("if (hours > 99)", "if (hours > 9)"),
        ("digits);\n    if (check->is_instant) *to++", "digits);\n    *to++"),
        ("seconds - offset);", "seconds);"),
        ("year -= month <= 2;", ""),
        ("if (count < 0)", "if (count < -1)"),
        ("rest < 0 ? rest + part : rest", "rest"),
        ("        if (check->is_instant) *to++", "        *to++"),
        ("letter > held", "letter >= held"),
        ("if (count && number.negative)", "if (number.negative)", "a zero is not negative"),
        ("while (count <= scale)", "while (count < scale)"),
        ("if (count == scale) *to++ = '.';", ""),
        ("text[i] : text[i] | 0x20", "text[i] : text[i]"),
        ("MILLI, 3, check), *to++ = 'Z';", "MILLI, 3, check);"),
        ("else if (check->form == EXTENDED_JSON && kind == ESCAPED)", "else if (0)", "the form writes the same text"),
        ("check->form == EXTENDED_JSON && kind == ESCAPED", "check->form == EXTENDED_JSON"),
        ("    if (memchr(p, '$', (size_t)length) != NULL) return NULL;\n", ""),
        ("is_written_alike(start, to - start) ? to : NULL;", "is_written_alike(start, to - start) ? to : to;"),
    ),
    "columns.c": (
        ("total == MOST_CODES", "total > MOST_CODES"),
        (" && memcmp(data + start_of(other), token, length) == 0", ""),
        ("unit >= 0xD800 && unit < 0xDC00 ? 12 : 6", "6"),
        ("!HOLDS(code_buffer, uint8_t, count) || ", ""),
        ("held |= 1 << kind_of(cells[i])", "held = 1 << kind_of(cells[i])"),
        ("absent += kind_of(cells[i]) == ABSENT", "absent = kind_of(cells[i]) == ABSENT"),
        ("found[2 * column] = held,", "found[column] = held,"),
    ),
    "escapes.h": (
        ("0x10000 + ((point", "((point"),
        ("if (point < 0x800)", "if (point <= 0x800)"),
    ),
    "row_digests.c": (
        ("sum += (last_word(p + at * 8 + 8, 8) + 1) * power;", "sum += last_word(p + at * 8 + 8, 8) * power;"),
        ("power = at % PERIOD ? power * BASE : BASE;\n        sum", "power = power * BASE;\n        sum"),
        ("(length - 1) / 8", "length / 8"),
        ("length ? (length - 1) / 8 : 0", "length / 9"),
        ("if (length) sum +=", "sum +="),
        ("if (length > *longest) *longest = length;", "*longest = length;"),
        ("length > room.size - BEFORE", "length > room.size"),
        ("if (length > room.size - BEFORE) return 0;", ""),
        (" || (length < BEFORE && start_of(cell) < BEFORE)", ""),
        ("return column->null;", "return 0;"),
        ("least || ITEMS(rows, int64_t)[i] >= most", "least || ITEMS(rows, int64_t)[i] > most"),
        ("[i] < least || ", "[i] < least - 1 || "),
        ("(!digest || digest == column->null)", "!digest"),
        ("(!digest || digest == column->null)", "digest == column->null"),
        ("digest * (uint64_t)column->keys", "digest"),
        ("keyed |= columns[i].keys > 0", "keyed = 1"),
        ("if (below >= 0) {", "if (below > 0) {"),
        ("digest ? digest : under", "digest"),
        ("digest ? digest : under", "under ? under : digest"),
        (" && !HOLDS(below_out, uint64_t, 3 * total)", " && 0"),
    ),
    "lists.c": (
        (" || (*start == '0' && p - start > 1)", ""),
        ("length < own || ", ""),
        (" && end - p == 1", ""),
    ),
    "images.c": (
        ("if (is_there(&texts, place))", "if (1)"),
        ("!own && below >= 0 && ", "!own && "),
        ("partial.at[row] |= (uint8_t)other;", ""),
    ),
    "typed_columns.c": (
        (" && (year % 100 != 0 || year % 400 == 0)", ""),
        ("year < 1 || ", "year < 0 || "),
        ("hours > 23", "hours > 24"),
        ("whole > precision - scale", "whole > precision"),
        ("length - at > scale", "length - at > scale + 1"),
        ("number > MOST_EXACT || ", ""),
        ("length > 26", "length > 27"),
        ("bytes[2] || (held == 2 && bytes[1])", "0"),
        (" && (number.low || length == 1)", ""),
        ("if (from + size > out_buffer.size) return TOO_SHORT;", ""),
    ),
    "plans.c": (
        ("member->length == length && ", ""),
    ),
    "placing.c": (
        ("if (!same_bytes(scan->data + start, scan->plan->names + node->b, node->c)) return 0;", ""),
        (" || (node->f && column->place <= before)", "", "only Avro records are placed, and types are said in each"),
        ("bound->columns[image] != name_of_record", "bound->columns[image] > -2"),
        ("leaf->b & ~(1 << OBJECT)", "leaf->b", "entries are left in the end, and the message is scanned"),
        ("        if (at >= stop) return 0;\n", "", "the reader notes as many entries as a record has members"),
        (" || scan->at != scan->stop", "", "each node passes over all that the reader noted below it"),
    ),
    "avro.h": (
        ("*length < 0 || ", ""),
        ("*length > read->end - read->p", "*length > read->end - read->p + 1"),
        ("if (shift == 63 && byte > 1) return UNSURE;", ""),
    ),
    "avro_reader.c": (
        ("outcome == READ && read->p == end", "outcome == READ"),
        ("if (same_name(read, column, table[at])) return 0;", ""),
        (" || skip_nested(start, read->end) != read->end", ""),
        ("root < 0 || root >= read->program->roots || ", "root < 0 || "),
        ("if (value < 0 || value >= node->b) return", "if (value < 0 || value > node->b) return"),
        ("if (*read->p > 1) return UNSURE;", "", "the transport also takes any byte but 0 for true"),
        ("offsets[i] < 0 || offsets[i] > offsets[i + 1]", "0"),
        ("latest->member == member + 1 && ", ""),
        (" && type != AVRO_COLUMNS", ""),
        ("(kind == TEXT || kind == ESCAPED) && type", "kind != ABSENT && type"),
        ("type == AVRO_WORD ? kind != ABSENT : ", "", "a word is read again, and is the same"),
        ("value < WIDEST && value > -WIDEST ? INTEGER : NUMBER", "INTEGER"),
        ("read->to = value + 4, read->kind = NUL;", "read->to = value + 4;"),
    ),
    "avro_values.c": (
        ("while (part % 10 == 0) part /= 10, digits--;", ""),
        ("if (negative && first > 0) return put_no_time(read);", ""),
        ("part[PART] >= most || ", ""),
        ("    read->kind = TEXT;\n    return put_byte", "    return put_byte"),
        ("read->to = before, read->kind = kind;", "read->to = before;"),
    ),
    "avro_texts.c": (
        ("if (scaled >= 1e15) return 0;", "if (scaled >= 1e17) return 0;"),
        ("(bits & 0xFFFFFFFFFFFFFull) == 0 || ", ""),
        ("rest >= 10000) rest /= 10000, count += 4;", "rest >= 100000) rest /= 10000, count += 4;"),
        ("if (!has_room(read, length)) return FULL;", ""),
        ("    while (at > first) *--at = '0';\n", ""),
        ("has_room(read, length + 2) && ", ""),
        (" && skip_plain(p, p + length) == p + length", ""),
    ),
}  # fmt: skip
"""By source: a text that stands there once, what stands in its place, and why this has no effect if it has none."""


AS_IT_IS: Final = Mutant("interface.c", 0, "", "")


def listed_mutants() -> list[Mutant]:
    """Return the mutants of the list; each of its texts stands once in its source."""
    found = []
    for name, changes in CHANGES.items():
        source = (FOLDER / name).read_text(encoding="utf-8")
        for before, after, *reason in changes:
            if source.count(before) != 1:
                raise ValueError(f"{name} has {before!r} {source.count(before)} times: change the list of mutants")
            found.append(Mutant(name, source.index(before), before, after, *reason))
    return found


_SWAPS: Final = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", " + 1": "", " - 1": "",
}  # fmt: skip
_OPERATOR: Final = re.compile(r" (<=|>=|==|!=|<|>|&&|\|\|) | [+-] 1\b")
_NUMBER: Final = re.compile(r"(?<![\w.x'])(\d+)(?![\w.'x])")
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)


def possible_mutants() -> Iterator[Mutant]:
    """Yield a mutant for each comparison, bound and condition of the sources."""
    for path in sorted(FOLDER.glob("*.[ch]")):
        source = _COMMENT.sub(lambda found: re.sub(r"\S", " ", found[0]), path.read_text(encoding="utf-8"))
        for found in _OPERATOR.finditer(source):
            before = found[0]
            after = _SWAPS.get(before) if before in _SWAPS else f" {_SWAPS[found[1]]} "
            yield Mutant(path.name, found.start(), before, after or "")
        for found in _NUMBER.finditer(source):
            if not source[source.rfind("\n", 0, found.start()) + 1 :].startswith("#include"):
                yield Mutant(path.name, found.start(), found[0], str(int(found[0]) + 1))


class Compiled:
    """A copy of the sources, compiled; of a mutant only what it changes is compiled again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.sources = folder, folder / "sources"
        self._names = [path.name for path in sorted(FOLDER.glob("*.c"))]
        shutil.copytree(FOLDER, self.sources, ignore=shutil.ignore_patterns("*.py", "*.so", "__pycache__"))
        self._compile(self._names)

    @contextmanager
    def mutated(self, mutant: Mutant, to: Path) -> Iterator[bool]:
        """Put a mutant into the sources, and compile a library with it; False if it does not compile."""
        path = self.sources / mutant.file
        source = path.read_text(encoding="utf-8")
        changed = self._names if mutant.file.endswith(".h") else [mutant.file]
        behind = source[mutant.at + len(mutant.before) :]
        path.write_text(source[: mutant.at] + mutant.after + behind, encoding="utf-8")
        try:
            yield self._link(changed, to)
        finally:
            path.write_text(source, encoding="utf-8")
            self._compile(changed)

    def _link(self, changed: Sequence[str], to: Path) -> bool:
        try:
            self._compile(changed)
            self._run("-shared", "-o", str(to), *(f"{Path(name).stem}.o" for name in self._names))
        except subprocess.CalledProcessError:
            return False
        return True

    def _compile(self, names: Sequence[str]) -> None:
        named = f'-DCDC_SOURCES="{digest_sources(FOLDER)}"'  # a library of other sources is refused
        self._run(*OPTIONS, named, "-c", *(str(self.sources / name) for name in names))

    def _run(self, *arguments: str) -> None:
        subprocess.run(["cc", *arguments], cwd=self._folder, check=True, capture_output=True)


def killer_of(mutant: Mutant, library: Path, sources: Path) -> str | None:
    """Return what notices a mutant, or None if nothing does."""
    first = _FIRST.get(Path(mutant.file).stem, "limits")
    tests = sorted(TESTS, key=lambda test: f"_{first}.py" not in test)
    environment = {"CDC_CONTRACTS_NATIVE_LIBRARY": str(library), "CDC_CONTRACTS_NATIVE_SOURCES": str(sources)}
    for chosen in (tests[:1], tests[1:]):
        with tempfile.TemporaryFile("w+") as output:
            code = run_tests(chosen, environment, output.fileno())
            output.seek(0)
            failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output.read(), re.MULTILINE)
        if code:
            return failed[1] if failed else "the clock" if code == -signal.SIGXCPU else f"exit {code}"
    return None


def run_tests(tests: Sequence[str], environment: Mapping[str, str], output: int) -> int:
    """Run tests up to the first that fails, in a process that has everything but the library; return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
            for stream in (1, 2):
                os.dup2(output, stream)
            os.environ.update(environment)
            code = pytest.main([*ARGUMENTS, *(str(ROOT / test) for test in tests)])
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)  # nothing of the parent may be cleaned up
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Print what kills each mutant, and return those that survive."""
    survivors = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        compiled = Compiled(folder)
        with compiled.mutated(AS_IT_IS, library := folder / "as it is.so"):
            if killer := killer_of(AS_IT_IS, library, compiled.sources):
                sys.exit(f"the native part as it is does not pass {killer}")
        for number, mutant in enumerate(mutants, 1):
            started, library = time.monotonic(), folder / f"mutant_{number}.so"
            with compiled.mutated(mutant, library) as compiles:
                killer = killer_of(mutant, library, compiled.sources) if compiles else "the compiler"
            library.unlink(missing_ok=True)
            if killer is None:
                survivors.append(mutant)
            seconds = time.monotonic() - started
            print(f"{number}/{len(mutants)} {seconds:.0f} s {killer or 'SURVIVED'}: {mutant}", flush=True)
    return survivors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="mutants whose place and change hold one of these")
    parser.add_argument("--drawn", type=int, default=0, help="draw this many of all mutants, instead of the list")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--list", action="store_true", help="print the mutants of the list, and try none")
    given = parser.parse_args()
    mutants = listed_mutants()
    if given.list:
        print(*mutants, sep="\n")
        return
    if given.drawn:
        every = list(possible_mutants())
        mutants = random.Random(given.seed).sample(every, min(given.drawn, len(every)))  # noqa: S311  not for secrets
    if given.only:
        mutants = [one for one in mutants if any(part in str(one) for part in given.only)]
    mutants = [one for one in mutants if not one.no_effect]
    survivors = run(mutants)
    print(f"{len(mutants)} mutants, {len(survivors)} survived")
    for mutant in survivors:
        print(f"survived: {mutant}")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
