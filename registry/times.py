"""Envelope times: when a change happened, in microseconds since 1970 UTC, read exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cdc_contracts.registry.forms import Number
from cdc_contracts.registry.model import Place
from cdc_contracts.registry.pointers import ABSENT
from cdc_contracts.registry.schemas import is_integer
from cdc_contracts.registry.zones import Zone

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62_135_596_800_000_000
_LAST: Final = 253_402_300_799_999_999
_DIGITS = re.compile(r"-?\d{1,18}\Z", re.ASCII)
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z?)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class EventTime:
    """A moment as microseconds since 1970 UTC, and the wire text where that is not all of it."""

    micros: int | None
    text: str | None


NO_TIME: Final = EventTime(None, None)


def read_time(value: Any, place: Place, zone: Zone | None) -> EventTime:
    """Return the moment that a member of the envelope says, by the form its contract names.

    What cannot be told (no zone, out of range) has no moment and keeps its text.
    """
    if value is ABSENT or value is None:
        return NO_TIME
    if isinstance(value, Number) and place.absent_value is not None and value == place.absent_value:
        return NO_TIME
    if isinstance(value, str) and value == place.null_text:
        return NO_TIME
    return _READINGS[place.form or "epoch-millis"](value, zone)


def read_integer_times(values: Sequence[int], place: Place) -> list[int] | None:
    """Return many moments at once, as `read_time` reads each; None where one of them has to be looked at."""
    scale = _SCALES.get(place.form or "epoch-millis")
    if scale is None or not values or (place.absent_value is not None and place.absent_value in values):
        return None
    if min(values) * scale < _FIRST or max(values) * scale > _LAST:
        return None
    return [value * scale for value in values]


def format_micros(micros: int) -> str:
    """Return `YYYY-MM-DDTHH:mm:ss.ffffffZ`."""
    return (_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def instant(micros: int | None) -> str | None:
    """Return the time of a record as ISO 8601 text with milliseconds; None where no calendar has it."""
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
    moment = local.replace(tzinfo=UTC if utc else zone)
    digits = (fraction or "").ljust(6, "0")
    micros = (moment - _EPOCH) // timedelta(microseconds=1) + int(digits[:6])
    return EventTime(micros, value if digits[6:].strip("0") else None)


def _last_of_list(value: Any, zone: Zone | None) -> EventTime:
    return _epoch(1000)(value[-1], zone) if isinstance(value, list) and value else NO_TIME


_SCALES: Final[Mapping[str, int]] = {"epoch-millis": 1000, "epoch-seconds": 1_000_000}
_READINGS: Final[Mapping[str, Callable[[Any, Zone | None], EventTime]]] = {
    "epoch-millis": _epoch(1000),
    "epoch-seconds": _epoch(1_000_000),
    "epoch-seconds-text": _epoch(1_000_000),
    "epoch-millis-list-last": _last_of_list,
    "iso-local": _iso,
    "iso-local-or-utc": _iso,
}
