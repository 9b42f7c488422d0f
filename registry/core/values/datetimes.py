# ruff: noqa: PLR2004 - the numbers are those of the clock
"""DATETIME: SQL text, with or without a zone, and the `T` text of earlier versions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from cdc_contracts.registry.core.values.civil_time import DAY, FIRST_DAY, find_offset, find_offset_at, has_date
from cdc_contracts.registry.core.values.dates import DATE, format_date, parse_date
from cdc_contracts.registry.core.values.day_times import trim_fraction
from cdc_contracts.registry.core.values.form_schemas import OFFSET
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value

CLOCK: Final = "([0-9]{2}):([0-9]{2}):([0-9]{2})"
PART: Final = r"(\.[0-9]{1,9})?"
ZONE: Final = "[A-Za-z][A-Za-z0-9_+:-]{0,31}(?:/[A-Za-z0-9_+-]{1,31}){0,2}|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?"
"""What may be a zone id (`Asia/Shanghai`, `UTC`, `GMT+8`, `+08:00`); it is not looked up."""
SQL: Final = re.compile(f"{DATE} {CLOCK}{PART}")
SQL_ZONE: Final = re.compile(f"{DATE} {CLOCK}{PART}(?: ({ZONE}))?")
ISO_MINUTES: Final = re.compile(f"{DATE}([T ])([0-9]{{2}}):([0-9]{{2}})(?::([0-9]{{2}}){PART})?")
ISO_INSTANT: Final = re.compile(f"{DATE}T{CLOCK}{PART}Z")
_OFFSET_BEHIND: Final = re.compile(rf"(?:{OFFSET})\Z")
_NO_FOURTH: Final = "(?:[02468][1235679]|[13579][01345789])"
"""Two digits of a number that four does not divide."""
_NO_LEAP: Final = f"(?:[0-9]{{2}}{_NO_FOURTH}|{_NO_FOURTH}00)"
_NO_DATE: Final = (
    "[0-9]{4}-(?:(?:00|1[3-9]|[2-9][0-9])-[0-9]{2}|[0-9]{2}-(?:00|3[2-9]|[4-9][0-9])|02-3[01]|(?:0[469]|11)-31)"
    f"|{_NO_LEAP}-02-29"
)
_NO_CLOCK: Final = "(?:2[4-9]|[3-9][0-9]):[0-9]{2}:[0-9]{2}|[0-9]{2}:[6-9][0-9]:[0-9]{2}|[0-9]{2}:[0-9]{2}:[6-9][0-9]"
NO_TIME: Final = (
    f"(?:(?:{_NO_DATE}) [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} (?:{_NO_CLOCK}))"
    r"(?:\.[0-9]{1,9})?"
)
"""SQL text of the layout of a time that no calendar or clock has."""
SQL_LAYOUT: Final = "9999-99-99 99:99:99"
SECONDS: Final = len(SQL_LAYOUT)
MINUTES: Final = len("9999-99-99T99:99")


def has_time(*parts: str) -> bool:
    """Return whether year, month, day, hour, minute and second, as digits, are a time that exists."""
    year, month, day, hour, minute, second = map(int, parts)
    return has_date(year, month, day) and hour < 24 and minute < 60 and second < 60


def _read(layout: re.Pattern[str], text: str, context: Context, zone: str = "") -> Value:
    """Read a date and a time of day in a layout whose groups are their parts and the fraction."""
    parts = layout.fullmatch(text)
    if parts is None:
        raise BrokenValue
    if not has_time(*parts.groups()[:6]):
        return context.keep(text)
    return Value(f"{text[:10]}T{text[11:SECONDS]}{trim_fraction(parts[7])}{zone}")


def read_sql(text: str, context: Context) -> Value:
    """Read `YYYY-MM-DD HH:mm:ss[.n]`."""
    return _read(SQL, text, context)


def read_sql_zone(text: str, context: Context) -> Value:
    """Read the same, and a zone id after a space."""
    zone = text[SECONDS:].partition(" ")[2]
    return _read(SQL_ZONE, text, context, f"[{zone}]" if zone else "")


def read_iso_minutes(text: str, context: Context) -> Value:
    """Read `T` text whose seconds may be missing; a fraction is noted.

    With a space in place of the `T` it is of this form only if no such time exists: versions before 3.3.0
    show the original text of such a time.
    """
    parts = ISO_MINUTES.fullmatch(text)
    if parts is None or (parts[4] == " " and parts[7] is None):
        raise BrokenValue
    exists = has_time(parts[1], parts[2], parts[3], parts[5], parts[6], parts[7] or "00")
    if not exists:
        return context.keep(text)
    if parts[4] == " ":
        raise BrokenValue
    flag = Flag.OK if parts[8] is None else Flag.NOTED
    return Value(f"{text[:MINUTES]}:{parts[7] or '00'}{trim_fraction(parts[8])}", flag)


def read_iso_instant(text: str, context: Context) -> Value:
    """Read `YYYY-MM-DDTHH:mm:ss[.n]Z`."""
    return _read(ISO_INSTANT, text, context, "Z")


def read_iso_offset(text: str, context: Context) -> Value:
    """Read the same text with an offset from UTC in place of the `Z`, or with the `Z`, as an instant."""
    behind = _OFFSET_BEHIND.search(text)
    if behind is None:
        return read_iso_instant(text, context)
    local = read_iso_instant(f"{text[: behind.start()]}Z", context)
    if local.flag is not Flag.OK:
        return context.keep(text)
    days, seconds = _split(local.text)
    return _instant(days * DAY + seconds - _seconds_of(behind[0]), local.text[SECONDS:], text, context)


def _seconds_of(offset: str) -> int:
    hours, minutes, *seconds = map(int, offset[1:].split(":"))
    total = hours * 3600 + minutes * 60 + sum(seconds)
    return -total if offset.startswith("-") else total


def read_iso_wallclock_z(text: str, context: Context) -> Value:
    """Read the same text of a clock without zone: its `Z` says nothing."""
    value = read_iso_instant(text, context)
    return replace(value, text=value.text.removesuffix("Z")) if value.flag is Flag.OK else value


def read_sql_instant(text: str, context: Context) -> Value:
    """Read SQL text in the zone of the context as an instant; without a zone it stays a datetime.

    A local time that clocks skip or show twice is no single instant: its text is kept as sent. An instant before the
    year 0000 counts as a time that does not exist.
    """
    value = read_sql(text, context)
    if context.zone is None or value.flag is not Flag.OK:
        return value
    days, seconds = _split(value.text)
    offset = find_offset(context.zone, days, seconds)
    if offset is None:
        return Value(text, Flag.NO_INSTANT)
    return _instant(days * DAY + seconds - offset, value.text[SECONDS:] + "Z", text, context)


def _instant(moment: int, tail: str, text: str, context: Context) -> Value:
    """Return seconds since 1970-01-01T00:00:00Z and what follows them as an instant of the year 0000 or later."""
    return context.keep(text) if moment < FIRST_DAY * DAY else Value(format_moment(moment, tail))


def read_sql_utc(text: str, context: Context) -> Value:
    """Read the same text of a clock in UTC as an instant."""
    value = read_sql(text, context)
    return replace(value, text=f"{value.text}Z") if value.flag is Flag.OK else value


def read_sql_z(text: str, context: Context) -> Value:
    """Read SQL text with a `Z` behind it as an instant."""
    if not text.endswith("Z"):
        raise BrokenValue
    value = read_sql(text.removesuffix("Z"), context)
    return replace(value, text=f"{value.text}Z")


def format_moment(moment: int, tail: str) -> str:
    """Write seconds since 1970-01-01T00:00:00 as a date and a time of day, and what follows."""
    days, seconds = divmod(moment, DAY)
    return f"{format_date(days)}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{tail}"


def parse_moment(text: str) -> tuple[int, str]:
    """Read canonical text into seconds since 1970-01-01T00:00:00 and the digits of the fraction."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    days, seconds = _split(whole)
    return days * DAY + seconds, fraction


def _split(text: str) -> tuple[int, int]:
    date, _, clock = text.partition("T")
    hours, minutes, seconds = clock[:8].split(":")
    return parse_date(date), (int(hours) * 60 + int(minutes)) * 60 + int(seconds)


def write_sql(text: str, _context: Context) -> str:
    """Write a canonical datetime with a space for its `T`."""
    return text.replace("T", " ", 1) if text[10:11] == "T" else text


def write_sql_utc(text: str, context: Context) -> str:
    """Write an instant as SQL text in UTC."""
    return write_sql(text.removesuffix("Z"), context)


def write_sql_zone(text: str, context: Context) -> str:
    """Write the same, and the zone id after a space."""
    return write_sql(text.removesuffix("]").replace("[", " ", 1), context)


def write_sql_instant(text: str, context: Context) -> str:
    """Write an instant as local time of the zone of the context."""
    if context.zone is None or not text.endswith("Z"):
        return write_sql(text, context)
    moment, fraction = parse_moment(text)
    tail = f".{fraction}" if fraction else ""
    return write_sql(format_moment(moment + find_offset_at(context.zone, moment), tail), context)
