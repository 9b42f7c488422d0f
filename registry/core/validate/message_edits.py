"""Message edits: a parsed message with some members replaced, for deliberately drifting messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.message.reading import Reading, Row

Path = tuple[str | int, ...]


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield a message and everything in it, each with its path, outermost first."""
    yield path, value
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in below:
        yield from walk(one, (*path, key))


def put(value: Any, path: Path, new: Any) -> Any:
    """Return a copy with another value at one path, or without the member if the value is ABSENT.

    ABSENT is returned if the path does not exist.
    """
    if not path:
        return new
    first, *rest = path
    if isinstance(value, list) and isinstance(first, int):
        below = put(value[first], tuple(rest), new)
        return ABSENT if below is ABSENT else [*value[:first], below, *value[first + 1 :]]
    if not isinstance(value, dict) or (rest and first not in value):
        return ABSENT
    if not rest and new is ABSENT:
        return {name: one for name, one in value.items() if name != first}
    below = put(value.get(first), tuple(rest), new)
    return ABSENT if below is ABSENT else {**value, first: below}


def first_rows(reading: Reading) -> Iterator[tuple[Path, Row]]:
    """Yield the first row of each image that has rows, with its path."""
    for pointer in reading.meaning.images.pointers():
        rows = reading.rows(pointer)
        if rows:
            yield path_of_row(reading, pointer), rows[0]


def path_of_row(reading: Reading, pointer: str) -> Path:
    """Return the path of the first row of an image."""
    path = split_pointer(pointer)
    return (*path, 0) if isinstance(reading.at(pointer), list) else path
