"""Local times around every change of a zone: an instant where there is exactly one, otherwise kept as sent.

Which instants a local time is, is counted here from UTC: those whose local time it is, without `fold`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag
from cdc_contracts.registry.core.values.civil_time import first_steady_year

INSTANT = FORMS["sql-datetime-instant"]
ODD = (
    "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Europe/Dublin", "Africa/Casablanca",
    "Australia/Lord_Howe",  # by half an hour
    "Antarctica/Troll",  # by two hours
    "America/Sao_Paulo", "America/Havana", "Asia/Tehran", "Atlantic/Azores",  # at midnight, or across it
    "Pacific/Apia", "Pacific/Kwajalein", "Asia/Manila",  # a whole day skipped, or repeated
    "Africa/Monrovia", "Europe/Amsterdam",  # offsets with seconds
    "Etc/GMT+5", "UTC",  # none
)  # fmt: skip
ALL = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
ZONES = sorted(available_timezones() - {"localtime", "Factory"}) if ALL else ODD
FIRST, LAST = datetime(1899, 1, 1, tzinfo=UTC), datetime(2095, 1, 1, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


def offset_at(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


@cache
def changes_of(name: str) -> tuple[tuple[datetime, timedelta, timedelta], ...]:
    """Return the moments from which a zone has another offset, with the offsets before and since."""
    zone, found, moment = ZoneInfo(name), [], FIRST
    before = offset_at(zone, moment)
    while moment < LAST:
        after = offset_at(zone, moment + DAY)
        if before != after:
            low, high = 0, 86_400
            while high - low > 1:
                middle = (low + high) // 2
                same = offset_at(zone, moment + middle * SECOND) == before
                low, high = (middle, high) if same else (low, middle)
            change = moment + high * SECOND
            found.append((change, before, offset_at(zone, change)))
        moment, before = moment + DAY, after
    return tuple(found)


def local_times_of(name: str) -> Iterator[datetime]:
    """Yield local times on both sides of every change, at its edges, and where days begin and end."""
    for change, before, since in changes_of(name):
        edges = sorted(change.replace(tzinfo=None) + offset for offset in (before, since))
        for edge in edges:
            yield from (edge + step * SECOND for step in (-3600, -1, 0, 1, 3600))
        yield edges[0] + (edges[1] - edges[0]) / 2
        midnight = datetime.combine(edges[0].date(), datetime.min.time())
        yield from (midnight + step for step in (timedelta(), DAY - SECOND, DAY, 2 * DAY - SECOND))


def instants_of(name: str, local: datetime) -> list[datetime]:
    """Return the instants at which clocks of the zone show a local time."""
    zone, near = ZoneInfo(name), local.replace(tzinfo=UTC)
    offsets = {offset_at(zone, near + hours * timedelta(hours=1)) for hours in (-50, -30, -15, 0, 15, 30, 50)}
    offsets |= {offset for change, *both in changes_of(name) if abs(change - near) < 3 * DAY for offset in both}
    return sorted(near - offset for offset in offsets if offset_at(zone, near - offset) == offset)


@pytest.mark.parametrize("name", ZONES)
def test_a_local_time_is_an_instant_only_where_there_is_exactly_one(read_each, name, part):
    context = Context(zone=ZoneInfo(name))
    texts, expected = [], []
    for local in part(dict.fromkeys(local.replace(microsecond=0) for local in local_times_of(name)), 3):
        text = local.isoformat(" ")
        instants = instants_of(name, local)
        texts.append(text)
        expected.append(
            (instants[0].strftime("%Y-%m-%dT%H:%M:%SZ"), Flag.OK) if len(instants) == 1 else (text, Flag.NO_INSTANT)
        )
    assert [(read.text, read.flag) for read in (INSTANT.read(text, context) for text in texts)] == expected
    if texts:
        assert read_each(INSTANT, texts, context) == expected
    kept = [text for text, flag in expected if flag == Flag.NO_INSTANT]
    assert bool(kept) == bool(changes_of(name))
    assert [INSTANT.write(text, context) for text in kept] == kept


@pytest.mark.parametrize("name", ZONES)
def test_a_repeated_instant_is_not_written_as_the_local_time_that_two_instants_share(name):
    context = Context(zone=ZoneInfo(name))
    for change, before, since in changes_of(name):
        if since < before:
            for moment in (change - SECOND, change):
                with pytest.raises(BrokenValue):
                    INSTANT.write(moment.strftime("%Y-%m-%dT%H:%M:%SZ"), context)


@pytest.mark.parametrize("name", ZONES)
def test_from_its_first_steady_year_on_a_zone_changes_no_clock(name):
    year = first_steady_year(ZoneInfo(name))
    changes = changes_of(name)
    if changes and changes[-1][0].year >= LAST.year - 1:
        assert year is None
    else:
        assert year is not None
        assert all(change.year < year for change, *_ in changes)
        assert year <= max([1972, *(change.year + 2 for change, *_ in changes)])


def test_a_fixed_offset_never_changes():
    zone = timezone(timedelta(hours=5, minutes=30))
    assert first_steady_year(zone) == 0
    assert INSTANT.read("2021-03-28 02:30:00", Context(zone=zone)).text == "2021-03-27T21:00:00Z"
