"""The table of value forms: one row per form, by kind.

A row says what a form is called, what it holds, what JSON it takes and by which decoder the fast path reads it; then
how one value may look, in words and as JSON Schema; then its reference, its encoder and its fast path. The forms of
Avro images, whose values are records, are made in `named_records.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.values import (
    bit_strings,
    byte_strings,
    dates,
    datetimes,
    day_times,
    decimals,
    floats,
    integers,
    intervals,
    plain_texts,
    timestamps,
)
from cdc_contracts.registry.values.civil_time import FIRST_DAY
from cdc_contracts.registry.values.named_records import AVRO_FORMS
from cdc_contracts.registry.values.value_form import ValueForm

TEXT: Final = frozenset({"text"})
NUMBER: Final = frozenset({"number"})
BOOLEAN: Final = frozenset({"boolean"})
EITHER: Final = TEXT | NUMBER

INTEGER: Final = "-?(?:0|[1-9][0-9]*)"
JSON_NUMBER: Final = rf"{INTEGER}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
PART: Final = r"(?:\.[0-9]{1,9})?"
CLOCK: Final = "[0-9]{2}:[0-9]{2}:[0-9]{2}" + PART
CLOCK_MINUTES: Final = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}" + PART + ")?"
SIGN: Final = "-?[1-9]?"
"""What may stand before two digits of hours."""


def any_of(kind: str) -> Mapping[str, Any]:
    """Take any value of a JSON kind."""
    return {"type": [kind, "null"]}


def at_least(minimum: int, kind: str = "integer") -> Mapping[str, Any]:
    """Take a number from a minimum on."""
    return {"type": [kind, "null"], "minimum": minimum}


def text_like(pattern: str) -> Mapping[str, Any]:
    """Take text of a pattern, from its beginning to its end."""
    return {"type": ["string", "null"], "pattern": f"^(?:{pattern})$"}


def text_or(kind: str, pattern: str, **more: int) -> Mapping[str, Any]:
    """Take a number, or text of a pattern."""
    return {"type": [kind, "string", "null"], "pattern": f"^(?:{pattern})$", **more}


_ROWS: Final = (
    # integers
    ValueForm(
        "integer-number", "integer", NUMBER, "int", any_of("integer"),
        "A whole number of any size, without fraction or exponent.",
        integers.read_integer, integers.write_number,
    ),
    ValueForm(
        "integer-text", "integer", TEXT, "text", text_like(INTEGER),
        "The digits of a whole number of any size as text, without leading zeros or a plus sign.",
        integers.read_integer, integers.write_text,
    ),
    ValueForm(
        "integer-or-text", "integer", EITHER, "text-or-int", text_or("integer", INTEGER),
        "A whole number of any size, or its digits as text.",
        integers.read_integer, integers.write_number,
    ),
    ValueForm(
        "year-number", "year", NUMBER, "int", at_least(0),
        "A year as a number: 0, or 1901 to 2155.",
        integers.read_year, integers.write_year_number,
    ),
    ValueForm(
        "year-text", "year", TEXT, "text", text_like(integers.YEAR.pattern),
        "A year as text: 0 or 0000, or 1901 to 2155.",
        integers.read_year, integers.write_text,
    ),
    # decimals and numbers, exact
    ValueForm(
        "decimal-number", "decimal", NUMBER, "raw", any_of("number"),
        "An exact decimal as a number, with or without an exponent; trailing zeros count.",
        decimals.read_decimal, integers.write_number,
    ),
    ValueForm(
        "decimal-text", "decimal", TEXT, "text", text_like(JSON_NUMBER),
        "An exact decimal as the text of a JSON number; trailing zeros count.",
        decimals.read_decimal, integers.write_text,
    ),
    ValueForm(
        "json-number", "number", NUMBER, "raw", any_of("number"),
        "Any number, kept exactly, of a column whose type is not known.",
        decimals.read_decimal, integers.write_number,
    ),
    ValueForm(
        "json-number-or-text", "number", EITHER, "raw", text_or("number", JSON_NUMBER),
        "Any number, or the text of one, kept exactly.",
        decimals.read_decimal, integers.write_number,
    ),
    # floats
    ValueForm(
        "float32-number", "float", NUMBER, "raw", any_of("number"),
        "A floating point number in the range of 32 bits.",
        floats.read_float32, integers.write_number,
    ),
    ValueForm(
        "float64-number", "float", NUMBER, "raw", any_of("number"),
        "A floating point number in the range of 64 bits.",
        floats.read_float64, integers.write_number,
    ),
    ValueForm(
        "float32-text", "float", TEXT, "text", text_like(JSON_NUMBER),
        "A floating point number in the range of 32 bits, as the text of a JSON number.",
        floats.read_float32, integers.write_text,
    ),
    ValueForm(
        "float64-text", "float", TEXT, "text", text_like(JSON_NUMBER),
        "A floating point number in the range of 64 bits, as the text of a JSON number.",
        floats.read_float64, integers.write_text,
    ),
    # booleans
    ValueForm(
        "bool-0-1", "boolean", NUMBER, "int", {"enum": [0, 1, None]},
        "False and true as the numbers 0 and 1.",
        plain_texts.read_boolean_digit, plain_texts.write_boolean_digit,
    ),
    ValueForm(
        "bool-json", "boolean", BOOLEAN, "bool", any_of("boolean"),
        "The JSON values true and false.",
        plain_texts.read_text, plain_texts.write_boolean,
    ),
    # texts
    ValueForm(
        "text", "text", TEXT, "text", any_of("string"),
        "Any text, as it is; the empty text is not null.",
        plain_texts.read_text, integers.write_text,
    ),
    ValueForm(
        "json-text", "json", TEXT, "text", any_of("string"),
        "A JSON document as text, as it is.",
        plain_texts.read_text, integers.write_text,
    ),
    ValueForm(
        "opaque-text", "opaque", TEXT, "text", any_of("string"),
        "Text whose meaning no document gives, as it is.",
        plain_texts.read_text, integers.write_text,
    ),
    ValueForm(
        "undocumented-text", "opaque", TEXT, "text", any_of("string"),
        "Text of a type that no document shows, as it is; always noted.",
        plain_texts.read_undocumented, integers.write_text,
    ),
    # bytes and bits
    ValueForm(
        "base64", "bytes", TEXT, "text", text_like(byte_strings.BASE64.pattern),
        "Bytes in Base64 (RFC 4648, section 4), padded.",
        byte_strings.read_base64, integers.write_text,
    ),
    ValueForm(
        "hex-upper", "bytes", TEXT, "text", text_like(byte_strings.HEX.pattern),
        "Bytes as pairs of upper-case hex digits.",
        byte_strings.read_hex, byte_strings.write_hex,
    ),
    ValueForm(
        "byte-list", "bytes", TEXT, "text", text_like(byte_strings.BYTE_LIST.pattern),
        "Bytes as a list such as `[106, -1]`: -128 to 255, a comma and one space between them.",
        byte_strings.read_byte_list, byte_strings.write_byte_list,
    ),
    ValueForm(
        "bit-number", "bit", NUMBER, "int", at_least(0),
        "A bit field as an unsigned number of up to 64 bits.",
        bit_strings.read_bit_number, integers.write_number,
    ),
    ValueForm(
        "bit-base64", "bit", TEXT, "text", text_like(bit_strings.BASE64),
        "A bit field as Base64 of up to 8 bytes, the most significant first; leading zero bytes may be missing.",
        bit_strings.read_bit_base64, bit_strings.write_bit_base64,
    ),
    ValueForm(
        "bit-hex", "bit", TEXT, "text", text_like(bit_strings.HEX),
        "A bit field as upper-case hex of up to 8 bytes, the most significant first; leading zeros may be missing.",
        bit_strings.read_bit_hex, bit_strings.write_bit_hex,
    ),
    # dates and times
    ValueForm(
        "sql-date", "date", TEXT, "text", text_like(DATE),
        "A date, `YYYY-MM-DD`.",
        dates.read_date, integers.write_text,
    ),
    ValueForm(
        "days-since-epoch", "date", NUMBER, "int", at_least(FIRST_DAY),
        "A date as days since 1970-01-01.",
        dates.read_days, dates.write_days,
    ),
    ValueForm(
        "sql-time", "time", TEXT, "text", text_like(SIGN + CLOCK),
        "A signed duration, `HH:mm:ss` with up to nine digits of a second, to 838 hours.",
        day_times.read_time, integers.write_text,
    ),
    ValueForm(
        "iso-time-minutes", "time", TEXT, "text", text_like(SIGN + CLOCK_MINUTES),
        "A signed duration, `HH:mm` or `HH:mm:ss`, to 838 hours; a fraction of a second is noted.",
        day_times.read_time_minutes, integers.write_text,
    ),
    ValueForm(
        "micros-of-day", "time", NUMBER, "int", at_least(-day_times.MOST_MICROS),
        "A signed duration in microseconds, to 838 hours.",
        day_times.read_micros, day_times.write_micros,
    ),
    ValueForm(
        "sql-datetime", "datetime", TEXT, "text", text_like(f"{DATE} {CLOCK}"),
        "A wall-clock time, `YYYY-MM-DD HH:mm:ss` with up to nine digits of a second.",
        datetimes.read_sql, datetimes.write_sql,
    ),
    ValueForm(
        "sql-datetime-zone", "datetime", TEXT, "text", text_like(f"{DATE} {CLOCK}(?: (?:{datetimes.ZONE}))?"),
        "A wall-clock time, `YYYY-MM-DD HH:mm:ss` with up to nine digits of a second, and perhaps a zone id.",
        datetimes.read_sql_zone, datetimes.write_sql_zone,
    ),
    ValueForm(
        "iso-datetime-minutes", "datetime", TEXT, "text", text_like(f"{DATE}T{CLOCK_MINUTES}|{datetimes.NO_TIME}"),
        "A wall-clock time, `YYYY-MM-DDTHH:mm` or `…:ss`; a fraction of a second is noted.",
        datetimes.read_iso_minutes, integers.write_text,
    ),
    ValueForm(
        "millis-wallclock", "datetime", NUMBER, "int", at_least(timestamps.FIRST_MILLI),
        "A wall-clock time as milliseconds since 1970-01-01T00:00:00 of the same clock.",
        timestamps.read_millis_wallclock, timestamps.write_millis,
    ),
    # instants
    ValueForm(
        "epoch-seconds-integer", "timestamp", EITHER, "text-or-int", text_or("integer", "[0-9]{1,12}", minimum=0),
        "An instant as whole seconds since 1970-01-01T00:00:00Z: a number, or up to twelve digits as text.",
        timestamps.read_seconds, timestamps.write_seconds,
    ),
    ValueForm(
        "epoch-seconds.fraction", "timestamp", TEXT, "text", text_like("[0-9]{1,12}" + PART),
        "An instant as text: seconds since 1970-01-01T00:00:00Z with up to nine digits of a second.",
        timestamps.read_seconds_fraction, timestamps.write_seconds_fraction,
    ),
    ValueForm(
        "sql-datetime-instant", "timestamp", TEXT, "text", text_like(f"{DATE} {CLOCK}"),
        "`YYYY-MM-DD HH:mm:ss` in the zone given by `timestamp_zone`: an instant, or a wall-clock time without it; "
        "a time that clocks of the zone skip or repeat is kept as sent.",
        datetimes.read_sql_instant, datetimes.write_sql_instant,
    ),
    ValueForm(
        "iso-instant", "timestamp", TEXT, "text", text_like(f"{DATE}T{CLOCK}Z"),
        "An instant, `YYYY-MM-DDTHH:mm:ssZ` with up to nine digits of a second.",
        datetimes.read_iso_instant, integers.write_text,
    ),
    ValueForm(
        "epoch-millis-instant", "timestamp", NUMBER, "int", at_least(timestamps.FIRST_MILLI),
        "An instant as milliseconds since 1970-01-01T00:00:00Z.",
        timestamps.read_millis_instant, timestamps.write_millis,
    ),
    ValueForm(
        "epoch-millis.fraction-number", "timestamp", NUMBER, "raw", at_least(10**12, "number"),
        "An instant as thirteen digits of milliseconds and a fraction that is not read; always noted.",
        timestamps.read_millis_fraction, timestamps.write_millis,
    ),
    # intervals
    ValueForm(
        "interval-literal", "interval", TEXT, "text", text_like(intervals.LITERAL),
        "An Oracle literal: `INTERVAL '3' DAY`, `… DAY TO SECOND`, `… YEAR` or `… YEAR TO MONTH`.",
        intervals.read_interval, intervals.write_interval,
    ),
    ValueForm(
        "interval-signed", "interval", TEXT, "text", text_like(intervals.SIGNED),
        "The text of an interval column: `+04-02` is years and months, `+03 04:05:06.7` days and a time.",
        intervals.read_signed_interval, intervals.write_signed_interval,
    ),
)  # fmt: skip

FORMS: Final[Mapping[str, ValueForm]] = MappingProxyType({form.name: form for form in (*_ROWS, *AVRO_FORMS)})
"""Every value form by its name."""
