"""Value index: where the values of Avro records stand in their JSON, and of which kind they are.

The native reader writes it with the JSON; the scanner then need not scan the records that have entries in it.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.records.message_values import MessageValues

NAMED: Final = (
    "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime", "TimestampWithTimeZone", "TextGeometry",
    "TextObject", "BinaryGeometry", "BinaryObject",
)  # fmt: skip
"""Records of images whose text begins with their name; the number of each, from one on, is that in the index."""
_MOST: Final = 2**24
"""Entries of a batch, 128 MiB; records beyond have none."""
_FIRST_GUESS: Final = 64
_SPARE: Final = 1024


class ValueIndex:
    """The entries of some records, as `value_index.h` describes them; `program` is the program they were read by."""

    def __init__(self, library: Any, program: Any, records: int, entries: int) -> None:
        capacity = min(entries, _MOST)
        self.program = program
        self._cells, self._columns = np.empty(capacity, np.uint64), np.empty(capacity, np.uint64)
        self._names, self._starts = np.empty(capacity, np.uint8), np.zeros(records + 1, np.int32)
        self._index = library.structures["ValueIndex"](
            self._cells.ctypes.data, self._names.ctypes.data, self._starts.ctypes.data, self._columns.ctypes.data,
            capacity, 0, capacity, 0, records, 0,
        )  # fmt: skip

    @property
    def address(self) -> int:
        """Where the index is; it stays there as long as this object does."""
        return ctypes.addressof(self._index)

    @property
    def placed(self) -> int:
        """How many messages were not scanned."""
        return int(self._index.placed)

    @property
    def per_record(self) -> float:
        """How many entries a record has that has any."""
        having = np.count_nonzero(np.diff(self._starts))
        return self._index.total / having if having else 0.0

    def leave_out(self, number: int) -> None:
        """Give a record no entries."""
        self._starts[number + 1] = self._index.total


class IndexedValues(MessageValues):
    """The JSON of records, with their value index."""

    def __init__(self, array: pa.BinaryArray, index: ValueIndex) -> None:
        super().__init__(array)
        self.entries = index


def guess_entries(records: int, per_record: float | None) -> int:
    """Return how many entries to make room for, from how many the records of the previous batch had."""
    return int(records * (per_record or _FIRST_GUESS) * 1.25) + _SPARE


def places_of_names(names: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return by the number of each name its place among some names, each followed by a blank; 255 if it is none."""
    places = np.full(256, 255, np.uint8)
    for number, name in enumerate(NAMED, 1):
        if f"{name} " in names:
            places[number] = names.index(f"{name} ")
    return places
