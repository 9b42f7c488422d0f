"""Record texts: the Avro records of an array as JSON, by a program, and one by one where the program leaves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.avro_plans import AvroProgram
from cdc_contracts.registry.core.engine.native.value_index import ValueIndex

_FULL: Final = 3
_SPARE: Final = 4096
MOST_TEXT: Final = 2**31 - 1
"""Bytes that Arrow's binary arrays hold."""


class TriedSchemas(NamedTuple):
    """Any schema of a program may have written a value; a frame of five bytes may be before it if it is `framed`."""

    framed: int
    order: NDArray[np.int32]
    """The schemas as they are tried, the one that fitted last first."""
    roots: None = None
    frames: None = None


class NamedSchemas(NamedTuple):
    """It is known of each value by which schema of a program it was written."""

    framed: Literal[0]
    order: None
    roots: NDArray[np.int32]
    """The schema of each value; -1 if the program leaves it."""
    frames: NDArray[np.uint8]
    """The bytes in front of each."""


class AvroRecordReader:
    """Reads the records of arrays by programs."""

    def __init__(self, library: Any, most_bytes: int, most_text: int = MOST_TEXT) -> None:
        self._library = library
        self._most_bytes, self._most_text = most_bytes, most_text
        self._ratio = 3.0
        """Bytes of JSON for one of Avro."""

    def read(
        self,
        program: AvroProgram,
        values: pa.BinaryArray,
        schemas: TriedSchemas | NamedSchemas,
        text_of: Callable[[int], bytes],
        index: ValueIndex | None = None,
    ) -> pa.BinaryArray:
        """Return the JSON text of each value, null for null.

        `text_of` reads the value at a place that the program leaves. Raises OverflowError if there is more JSON than
        the reader may write.
        """
        total = len(values)
        texts = _Texts(total, int(self._ratio * size_of(values)) + _SPARE, self._most_text)
        place, why = 0, np.zeros(1, np.int32)
        _, offsets, data = values.buffers()
        starts = np.frombuffer(offsets, np.int32, total + 1, 4 * values.offset) if total else np.zeros(1, np.int32)
        valid = values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8) if values.null_count else None
        while place < total:
            place = self._library.cdc_read_avro(
                program.address, data, starts, valid, place, self._most_bytes, *schemas, texts.data, texts.offsets,
                None if index is None else index.address, why,
            )  # fmt: skip
            if why[0] == _FULL:
                texts.grow(place)
            elif place < total:
                texts.put(place, text_of(place))
                if index is not None:
                    index.leave_out(place)
                place += 1
        self._ratio = max(1.0, 1.1 * texts.offsets[total] / max(1, size_of(values)))
        validity = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.BinaryArray.from_buffers(
            pa.binary(), total, [validity, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
        )


class _Texts:
    """Texts one after the other, and where each begins."""

    def __init__(self, total: int, capacity: int, most: int) -> None:
        self.offsets: NDArray[np.int32] = np.zeros(total + 1, np.int32)
        self.data: NDArray[np.uint8] = np.empty(min(capacity, most), np.uint8)
        self._most = most

    def grow(self, number: int, needed: int = 0) -> None:
        """Make room for more texts behind those before `number`. Raises OverflowError beyond the most there may be."""
        used = int(self.offsets[number])
        if max(len(self.data) + 1, used + needed) > self._most:
            raise OverflowError("more JSON than an array holds")
        fresh = np.empty(min(max(2 * len(self.data), used + needed), self._most), np.uint8)
        fresh[:used] = self.data[:used]
        self.data = fresh

    def put(self, number: int, text: bytes) -> None:
        """Add the text of a value."""
        start = int(self.offsets[number])
        end = start + len(text)
        if end > len(self.data):
            self.grow(number, len(text))
        self.data[start:end] = np.frombuffer(text, np.uint8)
        self.offsets[number + 1] = end


def size_of(values: pa.BinaryArray) -> int:
    """Return the bytes of all values."""
    if not len(values):
        return 0
    ends = np.frombuffer(values.buffers()[1], np.int32, len(values) + 1, 4 * values.offset)
    return int(ends[-1]) - int(ends[0])
