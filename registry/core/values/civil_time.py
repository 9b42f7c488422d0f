# ruff: noqa: PLR2004 - the numbers are those of the calendar
"""Civil time: the proleptic Gregorian calendar, on plain integers and on arrays of them.

Days count from 1970-01-01. The algorithms are those of Howard Hinnant, "chrono-Compatible Low-Level Date
Algorithms"; a year runs from March to February in them, so that the leap day comes last.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

DAY: Final = 86_400
"""Seconds of a day."""
MONTH_DAYS: Final = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ERA: Final = 146_097  # days of 400 years
_LAST_LISTED: Final = 2100  # no zone lists single changes beyond it: afterwards one rule holds for every year


def count_days(year: Any, month: Any, day: Any) -> Any:
    """Give the days from 1970-01-01 to a date, as an integer or as an array."""
    year = year - (month <= 2)
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _ERA + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def find_date(days: Any) -> tuple[Any, Any, Any]:
    """Give year, month and day, as integers or as arrays."""
    days = days + 719_468
    era = days // _ERA
    day = days - era * _ERA
    of_era = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day = day - (365 * of_era + of_era // 4 - of_era // 100)
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    month = (month + 2) % 12 + 1
    return of_era + era * 400 + (month <= 2), month, day


def has_date(year: int, month: int, day: int) -> bool:
    """Return whether the date exists; the year 0000 does, as a leap year."""
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= MONTH_DAYS[month] + leap


FIRST_DAY: Final = int(count_days(0, 1, 1))
LAST_DAY: Final = int(count_days(9999, 12, 31))
EARLIEST_DAY: Final = int(count_days(-4713, 11, 24))
"""Day 0 of the Julian count, in the year 4714 BC, before which databases hold no date."""
LATEST_DAY: Final = int(count_days(5_874_897, 12, 31))
"""The last day that a date of PostgreSQL can be."""


def find_offset(zone: ZoneInfo | timezone, days: int, seconds: int) -> int | None:
    """Give the seconds that a local time is ahead of UTC; None if clocks skip it or show it twice."""
    local = _to_datetime(days).replace(tzinfo=zone) + timedelta(seconds=seconds)
    offset, other = zone.utcoffset(local), zone.utcoffset(local.replace(fold=1))
    return None if offset != other or offset is None else offset // timedelta(seconds=1)


def find_offset_at(zone: ZoneInfo | timezone, moment: int) -> int:
    """Give the seconds that local time is ahead of UTC at a moment."""
    days, seconds = divmod(moment, DAY)
    local = (_to_datetime(days).replace(tzinfo=UTC) + timedelta(seconds=seconds)).astimezone(zone)
    return (local.utcoffset() or timedelta()) // timedelta(seconds=1)


def _to_datetime(days: int) -> datetime:
    """Give a day as a `datetime`; years that it may lack are those 400 years, or a multiple, away."""
    year, month, day = find_date(days)
    if not 2 <= year <= 9998:
        year = year % 400 + (400 if year < 2 else 9200)
    return datetime(year, month, day)  # noqa: DTZ001 - the caller knows the zone


@lru_cache(maxsize=256)
def first_steady_year(zone: ZoneInfo | timezone) -> int | None:
    """Give the first year from which on no clock is changed any more; None if clocks are changed every year."""
    if isinstance(zone, timezone):
        return 0
    first, last = datetime(1970, 1, 1), datetime(_LAST_LISTED, 1, 1)  # noqa: DTZ001 - local times
    offset, step = zone.utcoffset(last), timedelta(days=2)
    day = last - step
    while day > first and zone.utcoffset(day) == offset:
        day -= step
    year = (day + step).year + 1
    return None if year >= _LAST_LISTED else year
