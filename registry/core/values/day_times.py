"""TIME: a signed duration of up to 838 hours, in SQL text or in microseconds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.dates import read_count
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value

HOURS: Final = "(-?)([0-9]{2}|[1-9][0-9]{2})"
SQL_TIME: Final = re.compile(rf"{HOURS}:([0-9]{{2}}):([0-9]{{2}})(\.[0-9]{{1,9}})?")
MINUTES: Final = re.compile(rf"{HOURS}:([0-9]{{2}})(?::([0-9]{{2}})(\.[0-9]{{1,9}})?)?")
MOST_HOURS: Final = 838
SECOND: Final = 1_000_000
"""Microseconds of a second."""
MOST_MICROS: Final = (MOST_HOURS + 1) * 3600 * SECOND - 1


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
