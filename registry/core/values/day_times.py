"""TIME: a signed duration of up to 838 hours, in SQL text or as a count, and times of day in ISO text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value
from cdc_contracts.registry.core.values.integers import read_count

HOURS: Final = "(-?)([0-9]{2}|[1-9][0-9]{2})"
SQL_TIME: Final = re.compile(rf"{HOURS}:([0-9]{{2}}):([0-9]{{2}})(\.[0-9]{{1,9}})?")
MINUTES: Final = re.compile(rf"{HOURS}:([0-9]{{2}})(?::([0-9]{{2}})(\.[0-9]{{1,9}})?)?")
ISO_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,9})?Z")
MOST_HOURS: Final = 838
MILLIS: Final = 3
MICROS: Final = 6
NANOS: Final = 9
"""How many digits a part of a second has."""
MOST_SECONDS: Final = (MOST_HOURS + 1) * 3600
"""What a duration is below."""
MOST_MILLIS: Final = MOST_SECONDS * 10**MILLIS - 1
MOST_MICROS: Final = MOST_SECONDS * 10**MICROS - 1
MOST_NANOS: Final = MOST_SECONDS * 10**NANOS - 1


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


def _read_parts(token: str, _context: Context, *, digits: int) -> Value:
    """Read parts of a second; their size is below 839 hours."""
    most = MOST_SECONDS * 10**digits - 1
    count = read_count(token, -most, most)
    seconds, fraction = divmod(abs(count), 10**digits)
    minutes, seconds = divmod(seconds, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}{trim_fraction(f'.{fraction:0{digits}d}')}"
    return Value(f"-{text}" if count < 0 else text)


def _write_parts(text: str, _context: Context, *, digits: int) -> Number:
    """Write a time as parts of a second."""
    whole, _, fraction = text.partition(".")
    hours, minutes, seconds = map(int, whole.lstrip("-").split(":"))
    count = ((hours * 60 + minutes) * 60 + seconds) * 10**digits + int(fraction.ljust(digits, "0"))
    return Number(str(-count if text.startswith("-") else count))


read_millis: Final = partial(_read_parts, digits=MILLIS)
read_micros: Final = partial(_read_parts, digits=MICROS)
read_nanos: Final = partial(_read_parts, digits=NANOS)
write_millis: Final = partial(_write_parts, digits=MILLIS)
write_micros: Final = partial(_write_parts, digits=MICROS)
write_nanos: Final = partial(_write_parts, digits=NANOS)
