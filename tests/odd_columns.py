"""Messages whose columns hold arrays and objects, in place of values that some form reads."""

from __future__ import annotations

from itertools import cycle

from both_paths import VERSIONS
from mutations import get, replaced, to_bytes
from topics import PLAIN, rendered

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.message.transport import open_transport

JSON_VERSIONS = [version for version in VERSIONS if open_transport(version, PLAIN).transport == "json"]
ODD = ({"a": "x"}, [1], {"a": {"b": [None]}}, [], {}, [[2, "y"]], None)
"""What stands in place of a value: kinds that no form reads, with different contents, and a null among them."""


def with_odd_columns(version, count):
    """Return messages of a version, for each of their rows one in which a column of it holds something odd."""
    wire, kinds = open_transport(version, PLAIN), cycle(ODD)
    values = []
    for number, value in enumerate(rendered(version.reference, count, seed=8, snapshot=3)):
        message = wire.open(value)
        values += [to_bytes(with_odd(message, place, kinds, number)) for place in rows_in(version, message)]
    return values


def rows_in(version, message):
    """Return where a message has rows."""
    places = []
    for at in version.meaning.images.pointers():
        place = split_pointer(at)
        held = get(message, place) if place else message
        rows = held if isinstance(held, list) else [held]
        places += [(*place, number) if isinstance(held, list) else place for number, row in enumerate(rows)
                   if isinstance(row, dict)]  # fmt: skip
    return places


def with_odd(message, place, kinds, number):
    """Return a message in which a column of a row, another one each time, holds an array or an object."""
    row = get(message, place) if place else message
    names = list(row)
    return replaced(message, (*place, names[number % len(names)]), next(kinds))
