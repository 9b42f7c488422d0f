"""TIME: a signed duration of up to 838 hours, in SQL text or as a count, and times of day in ISO text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value
from cdc_contracts.registry.core.values.integers import read_count

HOURS: Final = "(-?)([0-9]{2}|[1-9][0-9]{2})"
SQL_TIME: Final = re.compile(rf"{HOURS}:([0-9]{{2}}):([0-9]{{2}})(\.[0-9]{{1,9}})?")
MINUTES: Final = re.compile(rf"{HOURS}:([0-9]{{2}})(?::([0-9]{{2}})(\.[0-9]{{1,9}})?)?")
ISO_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,9})?Z")
MOST_HOURS: Final = 838
_MILLIS: Final = 3
_MICROS: Final = 6
_NANOS: Final = 9
"""How many digits a part of a second has."""
MOST_SECONDS: Final = (MOST_HOURS + 1) * 3600
"""What a duration is below."""
MOST_MILLIS: Final = MOST_SECONDS * 10**_MILLIS - 1
MOST_MICROS: Final = MOST_SECONDS * 10**_MICROS - 1
MOST_NANOS: Final = MOST_SECONDS * 10**_NANOS - 1


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


def read_time_z(text: str, context: Context) -> Value:
    """Read a time of day with a `Z` behind it, which says nothing: no zone is known."""
    value = read_time_zoned(text, context)
    return replace(value, text=value.text.removesuffix("Z")) if value.flag is Flag.OK else value


def read_time_zoned(text: str, context: Context) -> Value:
    """Read a time of day in UTC, `HH:mm:ss[.n]Z`."""
    parts = ISO_TIME.fullmatch(text)
    if parts is None:
        raise BrokenValue
    hours, minutes, seconds, fraction = parts.groups()
    if hours > "23" or minutes > "59" or seconds > "59":
        return context.keep(text)
    return Value(f"{hours}:{minutes}:{seconds}{trim_fraction(fraction)}Z")


def read_millis(token: str, _context: Context) -> Value:
    """Read milliseconds; their size is below 839 hours."""
    return _read_parts(token, _MILLIS)


def read_micros(token: str, _context: Context) -> Value:
    """Read microseconds; their size is below 839 hours."""
    return _read_parts(token, _MICROS)


def read_nanos(token: str, _context: Context) -> Value:
    """Read nanoseconds; their size is below 839 hours."""
    return _read_parts(token, _NANOS)


def _read_parts(token: str, digits: int) -> Value:
    most = MOST_SECONDS * 10**digits - 1
    count = read_count(token, -most, most)
    seconds, fraction = divmod(abs(count), 10**digits)
    minutes, seconds = divmod(seconds, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}{trim_fraction(f'.{fraction:0{digits}d}')}"
    return Value(f"-{text}" if count < 0 else text)


def write_millis(text: str, _context: Context) -> Number:
    """Write a time as milliseconds."""
    return _write_parts(text, _MILLIS)


def write_micros(text: str, _context: Context) -> Number:
    """Write a time as microseconds."""
    return _write_parts(text, _MICROS)


def write_nanos(text: str, _context: Context) -> Number:
    """Write a time as nanoseconds."""
    return _write_parts(text, _NANOS)


def _write_parts(text: str, digits: int) -> Number:
    whole, _, fraction = text.partition(".")
    hours, minutes, seconds = map(int, whole.lstrip("-").split(":"))
    count = ((hours * 60 + minutes) * 60 + seconds) * 10**digits + int(fraction.ljust(digits, "0"))
    return Number(str(-count if text.startswith("-") else count))
