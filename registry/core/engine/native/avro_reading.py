"""Avro reading: the records of a batch as JSON, as their transport writes it, without an object for any value.

The native reader takes the records that it is sure of. One that it leaves is read by the transport, and the reader
goes on behind it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.native.avro_plans import AvroPlan, AvroProgram, NoAvroPlan
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.value_index import IndexedValues, ValueIndex, guess_entries
from cdc_contracts.registry.core.message.transport import AvroTransport
from cdc_contracts.registry.core.records.message_values import MessageValues

_FULL: Final = 3
_SPARE: Final = 4096
_MOST_TEXT: Final = 2**31 - 1
"""Bytes that Arrow's binary arrays hold."""


class AvroReader:
    """Reads the values of batches by the schemas of a transport."""

    def __init__(self, wire: AvroTransport) -> None:
        self._wire, self._library = wire, native_library()
        self._ratio = 3.0
        """Bytes of JSON for one of Avro."""
        self._per_record: float | None = None
        """Entries of a record in the value index."""

    def read(self, values: pa.BinaryArray) -> MessageValues:
        """Return the JSON text of each value: null for null, and an empty one where the value is no record."""
        if self._program is None:
            return MessageValues(pa.array([self._text_of(value) for value in values.to_pylist()], pa.binary()))
        index = ValueIndex(self._library, self._program, len(values), guess_entries(len(values), self._per_record))
        texts = self._texts_of(self._program, values, index)
        self._per_record = index.per_record or self._per_record
        return IndexedValues(texts, index)

    def _texts_of(self, program: AvroProgram, values: pa.BinaryArray, index: ValueIndex) -> pa.BinaryArray:
        texts = RecordTexts(len(values), int(self._ratio * size_of(values)) + _SPARE)
        number, why, total = 0, np.zeros(1, np.int32), len(values)
        _, offsets, data = values.buffers()
        starts = np.frombuffer(offsets, np.int32, total + 1, 4 * values.offset) if total else np.zeros(1, np.int32)
        valid = values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8) if values.null_count else None
        while number < total:
            order = np.array(self._wire.order, np.int32)
            number = self._library.cdc_read_avro(
                program.address, data, starts, valid, number, self._wire.most_bytes, int(self._wire.framed), order,
                texts.data, texts.offsets, index.address, why,
            )  # fmt: skip
            self._wire.order = order.tolist()
            if why[0] == _FULL:
                texts.grow(number)
            elif number < total:
                texts.put(number, self._text_of(values[number].as_py()) or b"")
                index.leave_out(number)
                number += 1
        self._ratio = max(1.0, 1.1 * texts.offsets[total] / max(1, size_of(values)))
        validity = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.BinaryArray.from_buffers(
            pa.binary(), total, [validity, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
        )

    def _text_of(self, value: bytes | None) -> bytes | None:
        try:
            return None if value is None else self._wire.text_of(value)
        except Unreadable:
            return b""

    @cached_property
    def _program(self) -> AvroProgram | None:
        """The program of the schemas, made for the first batch; None if the transport has to read all values."""
        if self._library is None:
            return None
        plan = AvroPlan()
        try:
            for schema in self._wire.schemas.values():
                plan.add_schema(schema, self._wire.fields, self._wire.images)
            return AvroProgram(self._library, plan, self._wire.digits)
        except NoAvroPlan:
            return None


class RecordTexts:
    """RecordTexts one after the other, and where each begins."""

    def __init__(self, total: int, capacity: int, most: int = _MOST_TEXT) -> None:
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
