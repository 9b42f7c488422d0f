"""Named records, the values of Avro images: the text of a record after its name (`Integer 42`), read as that text.

The text after the name has the layout of a JSON form, so that form reads it. A value held by another record is broken,
with a flag that says which.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal
from decimal import Context as DecimalContext
from math import isfinite
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values import (
    byte_strings,
    dates,
    day_times,
    floats,
    integers,
    timestamps,
)
from cdc_contracts.registry.core.values.form_schemas import TEXT
from cdc_contracts.registry.core.values.form_values import FIRST_RECORD, RECORDS, BrokenValue, Context, Flag, Value
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

Reader = Callable[[str, Context], Value]
Writer = Callable[[str, Context], str | Number | bool]

_SINGLE: Final = struct.Struct(">f")
_SINGLE_ROUNDINGS: Final = tuple(
    DecimalContext(prec=digits, rounding=rounding)
    for digits in range(1, 10)  # nine digits are enough for every single-precision number
    for rounding in (ROUND_HALF_EVEN, ROUND_UP)  # the nearest digits of a power of two may not read back to it
)
_BINARY: Final = ("BinaryObject", "BinaryGeometry")
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
    if text in context.invalid_literals:
        return Value(text, Flag.INVALID)
    return timestamps.read_seconds_fraction(text, context)


def record_form(
    name: str, kind: str, record: str, *, reader: Reader, examples: Examples,
    writer: Writer = integers.write_text, native: tuple[NativeCheck, ...] = (),
) -> ValueForm:  # fmt: skip
    """Return the form of values that one record holds."""
    head = record + " "

    def read(text: str, context: Context) -> Value:
        return reader(_behind(text, (record,)), context)

    def write(text: str, context: Context) -> str:
        value = writer(text, context)
        return head + (value.token if isinstance(value, Number) else str(value))

    return ValueForm(
        name, kind, TEXT, schema=_starts(head), reader=read, writer=write, examples=examples, native=native,
        records=(record,),
    )  # fmt: skip


def either_form(
    name: str, kind: str, records: tuple[str, ...], *, examples: Examples,
    native: tuple[NativeCheck, ...],
) -> ValueForm:  # fmt: skip
    """Return the form of columns whose type does not say whether they hold text or bytes; each value says it."""

    def read(text: str, context: Context) -> Value:
        behind = _behind(text, records)
        return byte_strings.read_base64(behind, context) if text.partition(" ")[0] in _BINARY else Value(behind)

    def write(text: str, _context: Context) -> str:
        return f"{records[0]} {text}"

    return ValueForm(
        name, kind, TEXT, schema=_starts(*(record + " " for record in records)), reader=read, writer=write,
        examples=examples, native=native, records=records,
    )  # fmt: skip


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
