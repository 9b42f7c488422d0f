"""Envelope times: when a change happened, in microseconds since 1970 UTC, read exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.common.time_zones import Zone
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.values import Number
from cdc_contracts.registry.core.values.civil_time import find_offset

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62_135_596_800_000_000
_LAST: Final = 253_402_300_799_999_999
_DIGITS = re.compile(r"-?\d{1,18}\Z", re.ASCII)
LEAST_DIGITS: Final = 9
MOST_DIGITS: Final = 19
_COUNT = re.compile(rf"\d{{{LEAST_DIGITS},{MOST_DIGITS}}}\Z", re.ASCII)
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z?)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class EventTime:
    """A moment as microseconds since 1970 UTC, and the wire text where that is not all of it."""

    micros: int | None
    text: str | None


NO_TIME: Final = EventTime(None, None)

LAST_OF_LIST: Final = "epoch-millis-list-last"
"""The form of times that are the last of a list."""
SECONDS_OR_MILLIS: Final = "epoch-seconds-or-millis"
"""The form of times that some messages count in seconds and others in milliseconds."""
LEAST_MILLIS: Final = 10**11
"""The least count that is one of milliseconds there: of seconds, it would be a moment after the year 5000."""
TIME_UNIT: Final = "time-unit"
"""The cause of the finding on a moment that is counted in another unit than its contract says."""
_FROM, _TO = 946_684_800, 4_102_444_800
SPANS: Final[Mapping[str, tuple[int, int]]] = {
    unit: (_FROM * scale, _TO * scale)
    for unit, scale in (("seconds", 1), ("milliseconds", 10**3), ("microseconds", 10**6), ("nanoseconds", 10**9))
}
"""What moments from 2000 up to 2100 count in each unit since 1970: no number is in two of them."""
BEYOND: Final = "a number beyond the years 1 to 9999"
"""What is observed where a number is no moment in any unit near today, nor any moment at all in its own."""
_INTEGER = re.compile(r"-?\d+\Z", re.ASCII)


def read_time(value: Any, place: Place, zone: Zone | None) -> EventTime:
    """Return the moment that a member of the envelope holds, by the form its contract names.

    What cannot be determined (no zone, a local time that its zone skips or repeats, out of range) has no moment and
    keeps its text.
    """
    if value is ABSENT or value is None:
        return NO_TIME
    if isinstance(value, Number) and place.absent_value is not None and value == place.absent_value:
        return NO_TIME
    if isinstance(value, str) and value == place.null_text:
        return NO_TIME
    return _READINGS[place.form or "epoch-millis"](value, zone)


def read_integer_times(values: Sequence[int], place: Place) -> list[int] | None:
    """Return many times at once, as `read_time` reads each; None if one of them has to be read separately."""
    scale = _SCALES.get(place.form or "epoch-millis")
    if place.form == SECONDS_OR_MILLIS and values and max(values) < LEAST_MILLIS:
        scale = 1_000_000
    if scale is None or (place.absent_value is not None and place.absent_value in values):
        return None
    return _to_micros(values, scale)


def read_listed_times(counts: Sequence[int]) -> list[int] | None:
    """Return many times at once, each the last of a list of milliseconds; None if one has to be read separately."""
    return _to_micros(counts, 1_000)


def _to_micros(counts: Sequence[int], scale: int) -> list[int] | None:
    if not counts or min(counts) * scale < _FIRST or max(counts) * scale > _LAST:
        return None
    return [count * scale for count in counts]


def is_local(place: Place) -> bool:
    """Return whether a place of the envelope holds dates and times that may be without a zone."""
    return _READINGS[place.form or "epoch-millis"] is _iso


def unit_of_form(place: Place) -> str | None:
    """Return the unit that a place of the envelope counts in; None if its form counts nothing."""
    return _UNITS.get(place.form or "epoch-millis")


def unit_observed(value: Any, place: Place) -> str | None:
    """Return the unit that a member of the envelope plainly counts in where its contract names another.

    `BEYOND` is a number that is no moment in any unit: read as documented it would be NULL, and lost.
    None if all is well, and for what may be no moment at all: 0, -1, or a number that no unit places near today.
    """
    wanted = unit_of_form(place)
    if wanted is None:
        return None
    count = count_in(value, place)
    if count is not None and SPANS[wanted][0] <= count < SPANS[wanted][1]:
        return None
    if is_beyond(value, place):
        return BEYOND
    result = next((unit for unit, (first, end) in SPANS.items() if count is not None and first <= count < end), None)
    return result if result != wanted else None


def count_in(value: Any, place: Place) -> int | None:
    """Return the number of units that a member of the envelope counts, None if it holds no whole number of them."""
    text = _counted(value, place)
    return int(text) if isinstance(text, str) and _COUNT.match(text) else None


def is_beyond(value: Any, place: Place) -> bool:
    """Return whether a member of the envelope is not a valid time in any unit."""
    text = _counted(value, place)
    if not isinstance(text, str) or not _INTEGER.match(text) or value == place.absent_value:
        return False
    if len(text.lstrip("-0")) > MOST_DIGITS:  # too long to be read as a number at all, some of them
        return True
    count = int(text)
    first, last = limits_of(place)
    return not first <= count <= last and not any(start <= count < end for start, end in SPANS.values())


def limits_of(place: Place) -> tuple[int, int]:
    """Return the first and the last count that is a moment, in the unit of a place that counts."""
    scale = _SCALES.get(place.form or "epoch-millis", 1_000 if unit_of_form(place) == "milliseconds" else 1_000_000)
    return -(-_FIRST // scale), _LAST // scale


def _counted(value: Any, place: Place) -> Any:
    """Return the text of what a member of the envelope counts, where it is one."""
    if isinstance(value, list) and place.form == LAST_OF_LIST:
        value = value[-1] if value else None
    return value.token if isinstance(value, Number) else value


def format_micros(micros: int) -> str:
    """Return `YYYY-MM-DDTHH:mm:ss.ffffffZ`."""
    return (_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def instant(micros: int | None) -> str | None:
    """Return the time of a record as ISO 8601 text with milliseconds; None if no calendar has it."""
    if micros is None or not _FIRST <= micros <= _LAST:
        return None
    return format_micros(micros)[:-4] + "Z"


def _epoch(scale: int) -> Callable[[Any, Zone | None], EventTime]:
    def read(value: Any, zone: Zone | None) -> EventTime:
        text = value.token if isinstance(value, Number) else value
        if not (is_integer(value) or isinstance(value, str)) or not _DIGITS.match(text):
            return EventTime(None, text if isinstance(text, str) else None)
        micros = int(text) * scale
        return EventTime(micros, None) if _FIRST <= micros <= _LAST else EventTime(None, text)

    return read


def _iso(value: Any, zone: Zone | None) -> EventTime:
    match = _ISO.match(value) if isinstance(value, str) else None
    if not match:
        return EventTime(None, value if isinstance(value, str) else None)
    day, clock, fraction, utc = match.groups()
    try:
        local = datetime.fromisoformat(f"{day}T{clock}")
    except ValueError:
        return EventTime(None, value)
    if not utc and zone is None:
        return EventTime(None, value)
    passed = local.replace(tzinfo=UTC) - _EPOCH
    offset = 0 if utc or zone is None else find_offset(zone, passed.days, passed.seconds)
    if offset is None:
        return EventTime(None, value)
    digits = (fraction or "").ljust(6, "0")
    micros = (passed // timedelta(seconds=1) - offset) * 1_000_000 + int(digits[:6])
    if not _FIRST <= micros <= _LAST:
        return EventTime(None, value)
    return EventTime(micros, value if digits[6:].strip("0") else None)


def _seconds_or_millis(value: Any, zone: Zone | None) -> EventTime:
    text = value.token if isinstance(value, Number) else value
    is_millis = isinstance(text, str) and _DIGITS.match(text) and int(text) >= LEAST_MILLIS
    return _epoch(1_000 if is_millis else 1_000_000)(value, zone)


def _last_of_list(value: Any, zone: Zone | None) -> EventTime:
    return _epoch(1000)(value[-1], zone) if isinstance(value, list) and value else NO_TIME


_UNITS: Final[Mapping[str, str]] = {
    "epoch-millis": "milliseconds",
    LAST_OF_LIST: "milliseconds",
    "epoch-micros": "microseconds",
    "epoch-seconds": "seconds",
    "epoch-seconds-text": "seconds",
}
_SCALES: Final[Mapping[str, int]] = {"epoch-micros": 1, "epoch-millis": 1000, "epoch-seconds": 1_000_000}
_READINGS: Final[Mapping[str, Callable[[Any, Zone | None], EventTime]]] = {
    "epoch-micros": _epoch(1),
    "epoch-millis": _epoch(1000),
    "epoch-seconds": _epoch(1_000_000),
    "epoch-seconds-text": _epoch(1_000_000),
    SECONDS_OR_MILLIS: _seconds_or_millis,
    LAST_OF_LIST: _last_of_list,
    "iso-local": _iso,
    "iso-local-or-utc": _iso,
}
