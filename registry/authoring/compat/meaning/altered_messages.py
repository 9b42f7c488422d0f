"""Altered messages: altered in one place, so that one of them shows what a rule, a place or a form is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.validate.message_edits import Path, walk

DROPPED: Final = object()
_TEXTS: Final = (
    "", "0", "7", "-1", "null", "x", "x.y", "12.50", "true", "[1, 2]", "AQI=", "0A", "2020-12-30", "01:02:03", "01:02",
    "2020-12-30 16:11:11", "2020-12-30 16:11:11.5", "2020-12-30T16:11:11", "2020-12-30T16:11:11Z", "1609344671",
    "1609344671.5", "2020-02-30", "0000-00-00 00:00:00", "2020-02-30 25:00:00", "25:61:00", "INTERVAL '3' DAY", "a?",
    "9007199254740993", "1e39", "2020-12-30 16:11:11 Asia/Shanghai",
)  # fmt: skip
_NUMBERS: Final = (7, 0, 1, -1, 91, 12.5, 2020, 1609344671, 1609344671123, 9007199254740993, 1e39)


def alter(message: Any, targets: Sequence[str]) -> Iterator[Any]:
    """Yield a message with each of some members dropped, emptied, moved, doubled or of another value."""
    places = [split_pointer(pointer) for pointer in targets]
    for place in places:
        value = look(message, place)
        for other in places:
            if other != place and value is not DROPPED:
                yield put(put(message, place, None), other, value)
                yield put(put(message, place, look(message, other)), other, value)
        found = walk(value, place) if value is not DROPPED else iter([(place, None)])
        for path, below in found:
            yield from (put(message, path, one) for one in _others(below))


def _others(value: Any) -> Iterator[Any]:
    """Yield values to put in place of a value."""
    yield from (DROPPED, None)
    if isinstance(value, list) and value:
        yield from (value * 2, value[0], [])
    elif isinstance(value, dict):
        yield [value]
    else:
        yield from raw_values()
    if isinstance(value, str):
        yield value + "?"


def raw_values() -> Iterator[Any]:
    """Yield values of every JSON kind and of every layout that a value form may have."""
    yield from (*_NUMBERS, *_TEXTS, True, False)


def look(value: Any, path: Path) -> Any:
    """Return the value at the end of a path, or DROPPED if it ends early."""
    for part in path:
        is_there = part in value if isinstance(value, dict) else isinstance(value, list) and part in range(len(value))
        if not is_there:
            return DROPPED
        value = value[part]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """Return a copy with another value in one place, or without it; objects on the way are made."""
    if not path:
        return new
    first, *rest = path
    if isinstance(value, list) and isinstance(first, int):
        below = put(value[first], tuple(rest), new)
        return [*value[:first], *([] if below is DROPPED else [below]), *value[first + 1 :]]
    members = dict(value) if isinstance(value, dict) else {}
    below = put(members.get(str(first)), tuple(rest), new)
    if below is DROPPED:
        members.pop(str(first), None)
    else:
        members[str(first)] = below
    return members
