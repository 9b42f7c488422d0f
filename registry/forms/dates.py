"""Dates: `YYYY-MM-DD` and days since 1970-01-01."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.forms import layouts
from cdc_contracts.registry.forms.arrays import np
from cdc_contracts.registry.forms.civil import FIRST_DAY, LAST_DAY, count_days, find_date, has_date, have_dates
from cdc_contracts.registry.forms.columns import Settled, Texts, break_unless, to_integers
from cdc_contracts.registry.forms.integers import INTEGER
from cdc_contracts.registry.forms.values import BrokenValue, Context, Number, Value

if TYPE_CHECKING:
    import pyarrow as pa

    from cdc_contracts.registry.forms.columns import Bytes, Mask

DATE: Final = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
SQL_DATE: Final = re.compile(DATE)
INT64_CHARACTERS: Final = 20


def read_date(text: str, context: Context) -> Value:
    """Read `YYYY-MM-DD`."""
    parts = SQL_DATE.fullmatch(text)
    if parts is None:
        raise BrokenValue
    return Value(text) if has_date(*map(int, parts.groups())) else context.keep(text)


def read_days(token: str, _context: Context) -> Value:
    """Read days since 1970-01-01 within the years 0000 to 9999."""
    return Value(format_date(read_count(token, FIRST_DAY, LAST_DAY)))


def read_count(token: str, first: int, last: int) -> int:
    """Read an integer token within a range.

    Raises BrokenValue: it is no integer, or lies outside.
    """
    if len(token) > INT64_CHARACTERS or not INTEGER.fullmatch(token) or not first <= int(token) <= last:
        raise BrokenValue
    return int(token)


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


def write_days(text: str, _context: Context) -> Number:
    """Write a date as days since 1970-01-01."""
    return Number(str(parse_date(text)))


def settle_dates(values: pa.Array, _context: Context) -> Settled:
    """Settle dates that exist; others of the layout stay open."""
    texts = Texts(values)
    columns = texts.window(len(layouts.DATE))
    shaped = (texts.lengths == len(layouts.DATE)) & layouts.match(columns, layouts.DATE)
    missing = shaped & ~match_dates(columns)
    return Settled(lambda: values, missing, break_unless(shaped))


def match_dates(columns: Bytes) -> Mask:
    """Mark the rows whose first ten bytes, digits and separators being right, are a date that exists."""
    return have_dates(layouts.read_four(columns, 0), layouts.read_two(columns, 5), layouts.read_two(columns, 8))


def settle_days(values: pa.Array, _context: Context) -> Settled:
    """Settle days within the years 0000 to 9999; all others are broken."""
    days, unfit = to_integers(values)
    fits = (days >= FIRST_DAY) & (days <= LAST_DAY)
    return Settled(lambda: layouts.write_dates(np.where(fits, days, 0)), unfit, break_unless(fits))
