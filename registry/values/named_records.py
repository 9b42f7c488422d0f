"""Named records, the values of Avro images: the text of a record after its name (`Integer 42`), read as that text.

The text after the name has the layout of a JSON form, so that form reads it, one by one and in columns. A value held by
another record is broken, with a flag that says which.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal
from decimal import Context as DecimalContext
from math import isfinite
from typing import Final

from cdc_contracts.registry.values import (
    byte_strings,
    dates,
    datetimes,
    day_times,
    decimals,
    floats,
    integers,
    plain_texts,
    timestamps,
)
from cdc_contracts.registry.values.form_values import FIRST_RECORD, RECORDS, BrokenValue, Context, Flag, Number, Value
from cdc_contracts.registry.values.value_form import ValueForm

Judge = Callable[[str, Context], Value]
Encode = Callable[[str, Context], str | Number | bool]

_SINGLE: Final = struct.Struct(">f")
_SINGLE_ROUNDINGS: Final = tuple(
    DecimalContext(prec=digits, rounding=rounding)
    for digits in range(1, 10)  # nine digits are enough for every single-precision number
    for rounding in (ROUND_HALF_EVEN, ROUND_UP)  # the nearest digits of a power of two may not read back to it
)
_TEXT: Final = frozenset({"text"})
_NOTHING: Final = "0:."
"""What a clock consists of that says nothing."""
_NO_DATES: Final = ("", "0000-00-00", "1970-01-01")


def read_date_part(text: str, context: Context) -> Value:
    """Read the date of a DateTime; a clock that follows it is no part of a date."""
    date, _, clock = text.partition(" ")
    return _leave_out(dates.read_date(date, context), clock.strip(_NOTHING))


def read_clock_part(text: str, context: Context) -> Value:
    """Read the clock of a DateTime; a date before it, but for one that stands for none, is no part of a clock."""
    date, _, clock = text.rpartition(" ")
    return _leave_out(day_times.read_time(clock, context), date not in _NO_DATES)


def read_year_part(text: str, context: Context) -> Value:
    """Read the year of a DateTime; a day that is not its first, or a clock, is no part of a year."""
    date, _, clock = text.partition(" ")
    year, _, day = date.partition("-")
    return _leave_out(integers.read_year(year, context), clock.strip(_NOTHING) or day not in ("", "00-00", "01-01"))


def _leave_out(value: Value, rest: object) -> Value:
    """Return a value, marked if there is a rest that it does not hold."""
    return replace(value, flag=Flag.NOT_WHOLE) if rest and value.flag is Flag.OK else value


def read_single(text: str, context: Context) -> Value:
    """Read a double as the single-precision number that it holds: the fewest digits that read back to it."""
    flag = floats.read_float64(text, context).flag
    try:
        single = _SINGLE.pack(float(text))
    except OverflowError:
        raise BrokenValue from None
    (exact,) = _SINGLE.unpack(single)
    if not isfinite(exact):
        raise BrokenValue
    number = Decimal(exact)
    rounded = (float(rounding.plus(number)) for rounding in _SINGLE_ROUNDINGS)
    if exact == 0 and float(text) != 0:
        flag = Flag.NOT_WHOLE
    return Value(floats.shortest(next(one for one in rounded if _packs_to(one, exact))), flag)


def _packs_to(number: float, exact: float) -> bool:
    """Return whether a number is, in single precision, the same as another; there is one zero."""
    try:
        (packed,) = _SINGLE.unpack(_SINGLE.pack(number))
        return bool(packed == exact)
    except OverflowError:  # the largest numbers, rounded up
        return False


def read_instant(text: str, context: Context) -> Value:
    """Read seconds with a fraction, or the seconds that represent an invalid time."""
    if context.invalid_literal is not None and text == context.invalid_literal:
        return Value(text, Flag.INVALID)
    return timestamps.read_seconds_fraction(text, context)


def _form(name: str, kind: str, record: str, says: str, judge: Judge, encode: Encode) -> ValueForm:
    """Return the form of values that one record holds."""
    head = record + " "

    def read(text: str, context: Context) -> Value:
        return judge(_behind(text, (record,)), context)

    def write(text: str, context: Context) -> str:
        value = encode(text, context)
        return head + (value.token if isinstance(value, Number) else str(value))

    return ValueForm(name, kind, _TEXT, "text", _starts(head), says, read, write, (record,))


def _behind(text: str, records: tuple[str, ...]) -> str:
    """Return the text after the name of the record. Raises BrokenValue where it is another record's."""
    record, blank, rest = text.partition(" ")
    if not blank or record not in RECORDS:
        raise BrokenValue
    if record not in records:
        raise BrokenValue(FIRST_RECORD + RECORDS.index(record))
    return rest


def _starts(*heads: str) -> dict[str, object]:
    return {"type": ["string", "null"], "pattern": f"^(?:{'|'.join(heads)})"}


_BINARY: Final = ("BinaryObject", "BinaryGeometry")


def _either(name: str, kind: str, records: tuple[str, ...], says: str) -> ValueForm:
    """Return the form of columns whose type does not say whether they hold text or bytes; each value says it."""

    def read(text: str, context: Context) -> Value:
        behind = _behind(text, records)
        return byte_strings.read_base64(behind, context) if text.partition(" ")[0] in _BINARY else Value(behind)

    def write(text: str, _context: Context) -> str:
        return f"{records[0]} {text}"

    return ValueForm(name, kind, _TEXT, "text", _starts(*(record + " " for record in records)), says, read, write,
                records)  # fmt: skip


AVRO_FORMS: Final = (
    _form("avro-integer", "integer", "Integer", "Digits of a whole number.",
          integers.read_integer, integers.write_text),
    _form("avro-decimal", "decimal", "Decimal", "An exact decimal; trailing zeros count.",
          decimals.read_decimal, integers.write_text),
    _form("avro-float32", "float", "Float", "A number of single precision, held as a double.",
          read_single, integers.write_text),
    _form("avro-float64", "float", "Float", "A number of double precision.",
          floats.read_float64, integers.write_text),
    _form("avro-character", "text", "Character", "Text, decoded from its charset.",
          plain_texts.read_text, integers.write_text),
    _form("avro-bytes", "bytes", "BinaryObject", "Bytes.",
          byte_strings.read_base64, integers.write_text),
    _form("avro-text-object", "text", "TextObject", "Text.",
          plain_texts.read_text, integers.write_text),
    _either("avro-text-or-bytes", "text", ("Character", "TextObject", "BinaryObject"),
            "Text, or bytes shown in Base64, as each value says: the type of the column does not."),
    _either("avro-geometry", "opaque", ("TextGeometry", "BinaryGeometry"),
            "A geometry as text, or as bytes shown in Base64."),
    _form("avro-timestamp", "timestamp", "Timestamp", "An instant in seconds since 1970-01-01T00:00:00Z and a part.",
          read_instant, timestamps.write_seconds_fraction),
    _form("avro-zoned", "datetime", "TimestampWithTimeZone", "A wall-clock time with its zone.",
          datetimes.read_sql_zone, datetimes.write_sql_zone),
    _form("avro-date", "date", "DateTime", "The date of a DateTime.",
          read_date_part, integers.write_text),
    _form("avro-time", "time", "DateTime", "The clock of a DateTime, a signed duration to 838 hours.",
          read_clock_part, integers.write_text),
    _form("avro-datetime", "datetime", "DateTime", "Date and clock of a DateTime.",
          datetimes.read_sql, datetimes.write_sql),
    _form("avro-year", "year", "DateTime", "The year of a DateTime: 0, or 1901 to 2155.",
          read_year_part, integers.write_text),
)  # fmt: skip
