"""TIME: a signed duration of up to 838 hours, in SQL text or in microseconds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values import byte_layouts
from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, are_digits, break_unless, to_integers
from cdc_contracts.registry.values.byte_layouts import CLOCK, FRACTION
from cdc_contracts.registry.values.dates import read_count
from cdc_contracts.registry.values.form_values import BrokenValue, Context, Flag, Number, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Ints, Mask

HOURS: Final = "(-?)([0-9]{2}|[1-9][0-9]{2})"
SQL_TIME: Final = re.compile(rf"{HOURS}:([0-9]{{2}}):([0-9]{{2}})(\.[0-9]{{1,9}})?")
MINUTES: Final = re.compile(rf"{HOURS}:([0-9]{{2}})(?::([0-9]{{2}})(\.[0-9]{{1,9}})?)?")
MOST_HOURS: Final = 838
SECOND: Final = 1_000_000
"""Microseconds of a second."""
MOST_MICROS: Final = (MOST_HOURS + 1) * 3600 * SECOND - 1
HEADS: Final = [sign + hundreds for sign in ("", "-") for hundreds in ("", *"12345678")]
"""What may stand before two digits of hours."""


def read_time(text: str, context: Context) -> Value:
    """Read `[-]HH:mm:ss[.n]`."""
    return _read(SQL_TIME, text, context)


def read_time_minutes(text: str, context: Context) -> Value:
    """Read a time whose seconds may be missing; a fraction is noted."""
    value = _read(MINUTES, text, context)
    return replace(value, flag=Flag.NOTED) if value.flag is Flag.OK and "." in text else value


def _read(layout: re.Pattern[str], text: str, context: Context) -> Value:
    parts = layout.fullmatch(text)
    if parts is None:
        raise BrokenValue
    sign, hours, minutes, seconds, fraction = parts.groups()
    seconds = seconds or "00"
    if int(hours) > MOST_HOURS or minutes > "59" or seconds > "59":
        return context.keep(text)
    return Value(sign_unless_zero(sign, f"{hours}:{minutes}:{seconds}{trim_fraction(fraction)}"))


def trim_fraction(fraction: str | None) -> str:
    """Remove the zeros at the end of a fraction (with its point), and a bare point."""
    return (fraction or "").rstrip("0").rstrip(".")


def sign_unless_zero(sign: str, text: str) -> str:
    """Put a sign before a time; a time of nothing but zeros has none."""
    return sign + text if text.strip("0:.") else text


def read_micros(token: str, _context: Context) -> Value:
    """Read microseconds; their size is below 839 hours."""
    micros = read_count(token, -MOST_MICROS, MOST_MICROS)
    seconds, fraction = divmod(abs(micros), SECOND)
    minutes, seconds = divmod(seconds, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}{trim_fraction(f'.{fraction:06d}')}"
    return Value(f"-{text}" if micros < 0 else text)


def write_micros(text: str, _context: Context) -> Number:
    """Write a time as microseconds."""
    whole, _, fraction = text.partition(".")
    hours, minutes, seconds = whole.lstrip("-").split(":")
    micros = ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * SECOND + int(fraction.ljust(6, "0"))
    return Number(str(-micros if text.startswith("-") else micros))


def validate_times(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate times that exist; others of the layout, and negative zeros, stay open."""
    texts = Texts(values)
    shaped, _, exists, room = _match(texts)
    return ColumnResult(
        lambda: byte_layouts.trim_fractions(values, texts, shaped & (room > 0)), shaped & ~exists, break_unless(shaped)
    )


def validate_times_minutes(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate the same, and `HH:mm`; the rows with a fraction are noted."""
    texts = Texts(values)
    full, short, exists, room = _match(texts)
    shaped = full | short
    noted = full & (room > 0)

    def write() -> pa.Array:
        text = values
        if short.any():
            text = pc.if_else(pa.array(short), pc.binary_join_element_wise(values, ":00", ""), values)
        return byte_layouts.trim_fractions(text, texts, noted)

    return ColumnResult(write, shaped & ~exists, break_unless(shaped, noted))


def _match(texts: Texts) -> tuple[Mask, Mask, Mask, Ints]:
    """Mark the rows of the layout with and without seconds and those that surely exist; count the bytes after `ss`."""
    first = texts.bytes_at(texts.starts)
    negative = (first == ord("-")) & (texts.lengths > 0)
    places = texts.starts + negative
    three = are_digits(texts.bytes_at(places + 2))
    columns = texts.window(len(CLOCK) + FRACTION, places + three)
    room = texts.ends - places - three - len(CLOCK)
    full = (room >= 0) & byte_layouts.match(columns, CLOCK) & byte_layouts.match_fraction(columns[len(CLOCK) :], room)
    short = (room == -len(":ss")) & byte_layouts.match(columns, CLOCK[:5])
    tens = byte_layouts.ZERO + 6
    exists: Mask = (columns[3] < tens) & (short | (columns[6] < tens))
    if three.any():
        head = texts.bytes_at(places)
        led = ~three | (are_digits(head) & (head != byte_layouts.ZERO))
        full, short = full & led, short & led
        hours = (head - byte_layouts.ZERO) * np.int16(100) + byte_layouts.read_two(columns, 0)
        exists &= ~three | (hours <= MOST_HOURS)
    if negative.any():
        nothing = (byte_layouts.read_two(columns, 0) == 0) & (byte_layouts.read_two(columns, 3) == 0)
        exists &= ~(negative & ~three & nothing)
    return full, short, exists, room


def validate_micros(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate microseconds; those of 839 hours and more are broken."""
    micros, unfit = to_integers(values)
    fits = (micros >= -MOST_MICROS) & (micros <= MOST_MICROS)
    return ColumnResult(lambda: _write_micros(np.where(fits, micros, 0)), unfit, break_unless(fits))


def _write_micros(micros: Ints) -> pa.Array:
    size = np.abs(micros)
    seconds = size // SECOND
    hundreds = seconds // 360_000
    columns = np.empty((len(CLOCK) + FRACTION, len(micros)), np.uint8)
    byte_layouts.put_clock(columns, 0, seconds - hundreds * 360_000)
    text = byte_layouts.finish(columns, len(CLOCK), byte_layouts.split_digits(size - seconds * SECOND, 6), "")
    heads = hundreds + np.where(micros < 0, len(HEADS) // 2, 0)
    if not heads.any():
        return text
    return pc.binary_join_element_wise(pa.array(HEADS).take(pa.array(heads)), text, "")
