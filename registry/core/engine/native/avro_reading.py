"""Avro reading: the records of a batch as JSON, as their transport writes it, without an object for any value.

The native reader takes the records that it is sure of. One that it leaves is read by the transport, and the reader
goes on behind it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.native.avro_plans import AvroPlan, AvroProgram, NoAvroPlan
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.record_texts import MOST_TEXT, AvroRecordReader, TriedSchemas
from cdc_contracts.registry.core.engine.native.value_index import IndexedValues, ValueIndex, guess_entries
from cdc_contracts.registry.core.message.transport import AvroTransport
from cdc_contracts.registry.core.records.message_values import MessageValues


class AvroReader:
    """Reads the values of batches by the schemas of a transport."""

    def __init__(self, wire: AvroTransport, most_text: int = MOST_TEXT) -> None:
        self._wire, self._library = wire, native_library()
        self._records = AvroRecordReader(self._library, wire.most_bytes, most_text)
        self._per_record: float | None = None
        """Entries of a record in the value index."""

    def read(self, values: pa.BinaryArray) -> MessageValues:
        """Return the JSON text of each value: null for null, and an empty one where the value is no record.

        Raises OverflowError if there is more JSON than the reader may write.
        """
        if self._program is None:
            return MessageValues(pa.array([self._text_of(value) for value in values.to_pylist()], pa.binary()))
        index = ValueIndex(self._library, self._program, len(values), guess_entries(len(values), self._per_record))
        order = np.array(self._wire.order, np.int32)

        def text_of(place: int) -> bytes:
            self._wire.order = order.tolist()
            text = self._text_of(values[place].as_py())
            order[:] = self._wire.order
            return text or b""

        texts = self._records.read(self._program, values, TriedSchemas(int(self._wire.framed), order), text_of, index)
        self._wire.order = order.tolist()
        self._per_record = index.per_record or self._per_record
        return IndexedValues(texts, index)

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
