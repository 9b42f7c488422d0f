"""Timestamps: instants and wall-clock times as counts of seconds, or of smaller parts of them, since 1970."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.civil_time import DAY, EARLIEST_DAY, FIRST_DAY, LAST_DAY
from cdc_contracts.registry.core.values.datetimes import format_moment, parse_moment
from cdc_contracts.registry.core.values.day_times import trim_fraction
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
_MILLIS: Final = 3
_MICROS: Final = 6
_NANOS: Final = 9
"""How many digits a part of a second has."""


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


def read_millis_wallclock(token: str, context: Context) -> Value:
    """Read milliseconds within the years 0000 to 9999 of a clock without zone."""
    return _read_parts(token, _MILLIS, "", context)


def read_micros_wallclock(token: str, context: Context) -> Value:
    """Read microseconds within the years 0000 to 9999 of a clock without zone."""
    return _read_parts(token, _MICROS, "", context)


def read_nanos_wallclock(token: str, _context: Context) -> Value:
    """Read nanoseconds of a clock without zone, as many as 64 bits count."""
    return Value(_format_parts(read_count(token, FIRST_NANO, LAST_NANO), _NANOS))


def read_millis_instant(token: str, context: Context) -> Value:
    """Read milliseconds within the years 0000 to 9999 in UTC."""
    return _read_parts(token, _MILLIS, "Z", context)


def read_micros_instant(token: str, context: Context) -> Value:
    """Read microseconds within the years 0000 to 9999 in UTC."""
    return _read_parts(token, _MICROS, "Z", context)


def read_nanos_instant(token: str, _context: Context) -> Value:
    """Read nanoseconds in UTC, as many as 64 bits count."""
    return Value(_format_parts(read_count(token, FIRST_NANO, LAST_NANO), _NANOS) + "Z")


def read_millis_fraction(token: str, _context: Context) -> Value:
    """Read the whole milliseconds. What the digits after the point count is not documented: always noted."""
    parts = MILLIS_FRACTION.fullmatch(token)
    if parts is None:
        raise BrokenValue
    return Value(_format_parts(int(parts[1]), _MILLIS) + "Z", Flag.NOTED)


def _read_parts(token: str, digits: int, zone: str, context: Context) -> Value:
    """Read a count of parts of a second; a time before the year 0000 may be kept as sent, a later one never."""
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


def write_millis(text: str, _context: Context) -> Number:
    """Write a time as whole milliseconds."""
    return _write_parts(text, _MILLIS)


def write_micros(text: str, _context: Context) -> Number:
    """Write a time as whole microseconds."""
    return _write_parts(text, _MICROS)


def write_nanos(text: str, _context: Context) -> Number:
    """Write a time as nanoseconds."""
    return _write_parts(text, _NANOS)


def _write_parts(text: str, digits: int) -> Number:
    if INTEGER.fullmatch(text):
        return Number(text)  # kept as sent
    seconds, fraction = parse_moment(text)
    return Number(str(seconds * 10**digits + int(fraction.ljust(digits, "0"))))
