"""Timestamps: instants and wall-clock times as counts of seconds, or of smaller parts of them, since 1970."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.civil_time import DAY, EARLIEST_DAY, FIRST_DAY, LAST_DAY
from cdc_contracts.registry.core.values.datetimes import format_moment, parse_moment
from cdc_contracts.registry.core.values.day_times import MICROS, MILLIS, NANOS, trim_fraction
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value
from cdc_contracts.registry.core.values.integers import INTEGER, read_count

SECONDS: Final = re.compile("[0-9]{1,12}")
SECONDS_FRACTION: Final = re.compile(r"([0-9]{1,12})(\.[0-9]{1,9})?")
MILLIS_FRACTION: Final = re.compile(r"([1-9][0-9]{12})(\.[0-9]{1,9})?")
MOST_DIGITS: Final = 12
LAST_SECOND: Final = (LAST_DAY + 1) * DAY - 1
FIRST_MILLI: Final = FIRST_DAY * DAY * 1000
LAST_MILLI: Final = (LAST_DAY + 1) * DAY * 1000 - 1
FIRST_MICRO: Final = FIRST_DAY * DAY * 1_000_000
LAST_MICRO: Final = (LAST_DAY + 1) * DAY * 1_000_000 - 1
KEPT_MILLIS: Final = (EARLIEST_DAY * DAY * 1000, FIRST_MILLI - 1)
KEPT_MICROS: Final = (EARLIEST_DAY * DAY * 1_000_000, FIRST_MICRO - 1)
"""Times before the year 0000, which a mapping may keep as sent."""
FIRST_NANO: Final = -(2**63)
LAST_NANO: Final = 2**63 - 1
"""Nanoseconds are counted in 64 bits, which end in the years 1677 and 2262."""


def read_seconds(token: str, _context: Context) -> Value:
    """Read up to twelve digits of seconds, to the year 9999."""
    if not SECONDS.fullmatch(token) or int(token) > LAST_SECOND:
        raise BrokenValue
    return Value(format_moment(int(token), "Z"))


def read_seconds_fraction(text: str, _context: Context) -> Value:
    """Read up to twelve digits of seconds, to the year 9999, and up to nine of a fraction."""
    parts = SECONDS_FRACTION.fullmatch(text)
    if parts is None or int(parts[1]) > LAST_SECOND:
        raise BrokenValue
    return Value(format_moment(int(parts[1]), trim_fraction(parts[2]) + "Z"))


def read_millis_fraction(token: str, _context: Context) -> Value:
    """Read the whole milliseconds. What the digits after the point count is not documented: always noted."""
    parts = MILLIS_FRACTION.fullmatch(token)
    if parts is None:
        raise BrokenValue
    return Value(_format_parts(int(parts[1]), MILLIS) + "Z", Flag.NOTED)


def _read_nanos(token: str, _context: Context, *, zone: str) -> Value:
    """Read nanoseconds, as many as 64 bits count."""
    return Value(_format_parts(read_count(token, FIRST_NANO, LAST_NANO), NANOS) + zone)


def _read_parts(token: str, context: Context, *, digits: int, zone: str) -> Value:
    """Read a count of parts of a second within the years 0000 to 9999.

    A time before the year 0000 may be kept as sent, a later one never.
    """
    part = DAY * 10**digits
    count = read_count(token, EARLIEST_DAY * part, (LAST_DAY + 1) * part - 1)
    return Value(_format_parts(count, digits) + zone) if count >= FIRST_DAY * part else context.keep(token)


def _format_parts(count: int, digits: int) -> str:
    """Write a count of parts of a second as a date and a time of day."""
    seconds, rest = divmod(count, 10**digits)
    return format_moment(seconds, trim_fraction(f".{rest:0{digits}d}"))


def write_seconds(text: str, _context: Context) -> Number:
    """Write a time as whole seconds."""
    return Number(str(parse_moment(text)[0]))


def write_seconds_fraction(text: str, _context: Context) -> str:
    """Write a time as text of seconds with its fraction."""
    seconds, fraction = parse_moment(text)
    return f"{seconds}.{fraction}" if fraction else str(seconds)


def _write_parts(text: str, _context: Context, *, digits: int) -> Number:
    """Write a time as a whole number of parts of a second."""
    if INTEGER.fullmatch(text):
        return Number(text)  # kept as sent
    seconds, fraction = parse_moment(text)
    return Number(str(seconds * 10**digits + int(fraction.ljust(digits, "0"))))


read_millis_wallclock: Final = partial(_read_parts, digits=MILLIS, zone="")
read_micros_wallclock: Final = partial(_read_parts, digits=MICROS, zone="")
read_nanos_wallclock: Final = partial(_read_nanos, zone="")
"""Of a clock without zone."""
read_millis_instant: Final = partial(_read_parts, digits=MILLIS, zone="Z")
read_micros_instant: Final = partial(_read_parts, digits=MICROS, zone="Z")
read_nanos_instant: Final = partial(_read_nanos, zone="Z")
"""In UTC."""
write_millis: Final = partial(_write_parts, digits=MILLIS)
write_micros: Final = partial(_write_parts, digits=MICROS)
write_nanos: Final = partial(_write_parts, digits=NANOS)
