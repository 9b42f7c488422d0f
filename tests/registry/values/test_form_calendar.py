"""Calendar and zones, held against Python's own where that reaches."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number
from cdc_contracts.registry.core.values.civil_time import count_days, find_date

INSTANT = FORMS["sql-datetime-instant"]
EPOCH = date(1970, 1, 1)


def test_every_day_of_four_hundred_years_is_counted_as_python_counts_it() -> None:
    days = np.arange((date(1850, 1, 1) - EPOCH).days, (date(2250, 1, 1) - EPOCH).days)
    expected = [EPOCH + timedelta(days=int(day)) for day in days]
    year, month, day = find_date(days)
    assert list(zip(year, month, day, strict=True)) == [(each.year, each.month, each.day) for each in expected]
    assert (count_days(year, month, day) == days).all()


@given(st.integers(-(10**9), 10**9))
def test_a_date_counts_back_to_its_day(day: int) -> None:
    assert count_days(*find_date(day)) == day


@pytest.mark.parametrize("year", [0, 1, 4, 1900, 2000, 2023, 2024, 9999])
def test_exactly_the_days_of_the_calendar_exist(read_each: Any, year: int) -> None:
    texts = [f"{year:04d}-{month:02d}-{day:02d}" for month in range(14) for day in range(33)]
    expected = []
    for text in texts:
        try:
            date.fromisoformat(f"{year % 400 + 2000:04d}{text[4:]}")  # the calendar repeats after 400 years
        except ValueError:
            expected.append((text, Flag.INVALID))
        else:
            expected.append((text, Flag.OK))
    assert read_each(FORMS["sql-date"], texts, Context(keep_invalid=True)) == expected


@pytest.mark.parametrize(
    ("zone", "local", "instant"),
    [
        (ZoneInfo("Asia/Shanghai"), "2020-11-25 00:01:02.50", "2020-11-24T16:01:02.5Z"),
        (ZoneInfo("UTC"), "2020-11-25 00:01:02", "2020-11-25T00:01:02Z"),
        (timezone(timedelta(hours=-3, minutes=-30)), "2020-12-31 23:59:59", "2021-01-01T03:29:59Z"),
        # at the end of what is skipped, and of what occurs twice (`test_zone_changes.py` has the rest)
        (ZoneInfo("America/New_York"), "2021-03-14 03:00:00", "2021-03-14T07:00:00Z"),
        (ZoneInfo("America/New_York"), "2021-11-07 02:00:00", "2021-11-07T07:00:00Z"),
        # local mean time, to the second
        (ZoneInfo("Asia/Shanghai"), "1900-01-01 00:00:00", "1899-12-31T15:54:17Z"),
        (ZoneInfo("Asia/Shanghai"), "0000-01-02 00:00:00", "0000-01-01T15:54:17Z"),
        # beyond what datetime holds
        (timezone(timedelta(hours=-5)), "9999-12-31 23:00:00", "10000-01-01T04:00:00Z"),
        (ZoneInfo("America/New_York"), "9999-12-31 23:00:00.25", "10000-01-01T04:00:00.25Z"),
    ],
)
def test_a_local_time_becomes_an_instant(read_each: Any, zone: Any, local: str, instant: str) -> None:
    context = Context(zone=zone)
    assert INSTANT.read(local, context).text == instant
    assert read_each(INSTANT, [local, None, local], context) == [
        (instant, Flag.OK),
        (None, Flag.OK),
        (instant, Flag.OK),
    ]
    assert INSTANT.read(INSTANT.write(instant, context), context).text == instant


@pytest.mark.parametrize(
    ("form", "zone", "text"),
    [
        (INSTANT, ZoneInfo("Asia/Shanghai"), "0000-01-01 00:00:00"),
        (FORMS["iso-instant-offset"], None, "0000-01-01T00:00:00+00:01"),
        (FORMS["iso-instant-offset"], None, "2023-02-29T00:00:00+00:01"),
    ],
)
def test_an_instant_before_the_year_0000_or_of_no_day_does_not_exist(
    read_each: Any, form: Any, zone: Any, text: str
) -> None:
    assert read_each(form, [text], Context(zone, keep_invalid=True)) == [(text, Flag.INVALID)]
    assert read_each(form, [text], Context(zone)) == [(None, Flag.BROKEN)]


def test_an_offset_may_lead_beyond_the_year_9999(read_each: Any) -> None:
    read = read_each(FORMS["iso-instant-offset"], ["9999-12-31T23:00:00.25-05:00", "9999-12-31T23:00:00Z"], Context())
    assert read == [("10000-01-01T04:00:00.25Z", Flag.OK), ("9999-12-31T23:00:00Z", Flag.OK)]


def test_the_later_of_two_instants_with_one_local_time_cannot_be_written() -> None:
    with pytest.raises(BrokenValue):
        INSTANT.write("2021-11-07T06:30:00Z", Context(ZoneInfo("America/New_York")))


@given(
    st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 - local times
    st.sampled_from(
        (
            "America/New_York",
            "Asia/Shanghai",
            "Australia/Lord_Howe",
            "Africa/Monrovia",
            "Europe/Dublin",
            "Asia/Kathmandu",
        )
    ),
)
def test_instants_are_those_of_python(local: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    expected = local.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    column = INSTANT.read(str(local), Context(zone)).text
    assert datetime.fromisoformat(column.removesuffix("Z")) == expected


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))  # noqa: DTZ001 - wall-clock times
def test_milliseconds_are_those_of_python(moment: datetime) -> None:
    millis = (moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1)  # noqa: DTZ001 - the same clock
    text = FORMS["millis-wallclock"].read(Number(str(millis)), Context()).text
    assert datetime.fromisoformat(text) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def test_a_datetime_with_a_blank_is_of_the_form_of_before_3_3_0_exactly_where_no_such_time_exists() -> None:
    form, context = FORMS["iso-datetime-minutes"], Context(keep_invalid=True)
    pattern = re.compile(form.schema["pattern"])

    def is_read(text: str) -> bool:
        try:
            form.read(text, context)
        except BrokenValue:
            return False
        return True

    leaps = [f"{year:04d}-02-29 00:00:00" for year in range(10_000)]
    days = [f"2023-{month:02d}-{day:02d} 10:00:59.5" for month in range(100) for day in range(100)]
    clocks = [
        f"2024-01-01{blank}{one:02d}:{other:02d}:00" for blank in " T" for one in range(100) for other in (0, 59, 60)
    ]
    seconds = [f"2024-01-01 00:00:{second:02d}" for second in range(100)]
    texts = [*leaps, *days, *clocks, *seconds, "0000-00-00 00:00:00", "2024-01-01T10:00", "2024-01-01 10:00"]
    assert [text for text in texts if bool(pattern.search(text)) != is_read(text)] == []
