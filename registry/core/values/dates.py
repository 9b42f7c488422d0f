"""Dates: `YYYY-MM-DD` and days since 1970-01-01."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.civil_time import (
    EARLIEST_DAY,
    FIRST_DAY,
    LAST_DAY,
    LATEST_DAY,
    count_days,
    find_date,
    has_date,
)
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Value
from cdc_contracts.registry.core.values.integers import INTEGER, read_count

DATE: Final = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
SQL_DATE: Final = re.compile(DATE)
DATE_Z: Final = re.compile(f"{DATE}Z")


def read_date(text: str, context: Context) -> Value:
    """Read `YYYY-MM-DD`."""
    parts = SQL_DATE.fullmatch(text)
    if parts is None:
        raise BrokenValue
    return Value(text) if has_date(*map(int, parts.groups())) else context.keep(text)


def read_date_z(text: str, context: Context) -> Value:
    """Read `YYYY-MM-DDZ`; the `Z` says nothing, for a day has no zone."""
    parts = DATE_Z.fullmatch(text)
    if parts is None:
        raise BrokenValue
    return Value(text[:-1]) if has_date(*map(int, parts.groups())) else context.keep(text)


def read_days(token: str, context: Context) -> Value:
    """Read days since 1970-01-01 within the years 0000 to 9999; others may be kept as sent."""
    days = read_count(token, EARLIEST_DAY, LATEST_DAY)
    return Value(format_date(days)) if FIRST_DAY <= days <= LAST_DAY else context.keep(token)


def format_date(days: int) -> str:
    """Write a date; a year over 9999 takes as many digits as it needs."""
    year, month, day = find_date(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def parse_date(text: str) -> int:
    """Give the days from 1970-01-01 to a canonical date.

    Raises ValueError: the text has other parts.
    """
    year, month, day = map(int, text.split("-"))
    days: int = count_days(year, month, day)
    return days


def write_z(text: str, _context: Context) -> str:
    """Write canonical text with a `Z` behind it; kept text has one."""
    return text if text.endswith("Z") else text + "Z"


def write_days(text: str, _context: Context) -> Number:
    """Write a date as days since 1970-01-01; kept days are a number already."""
    return Number(text) if INTEGER.fullmatch(text) else Number(str(parse_date(text)))
