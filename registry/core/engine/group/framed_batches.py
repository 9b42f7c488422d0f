"""Framed batches: the messages of records that are framed for a schema registry, and those that cannot be read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.group.opened_batches import part_unreadable
from cdc_contracts.registry.core.engine.native.framed_reading import FramedReader
from cdc_contracts.registry.core.message.framed_values import frame_reading, framed_values
from cdc_contracts.registry.core.records.framed_columns import framed_column
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.records.record_batches import NO_ID, Batch, SchemaIds
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.writer_schemas.writer_schemas import EXPECTED_FRAMED, WriterSchemas


class FramedBatches:
    """Reads the values and keys of batches by the writer schemas that their frames name."""

    def __init__(self, schemas: WriterSchemas, validation: ValidationContext) -> None:
        options = validation.reading_options
        framed = framed_values(schemas, frame_reading(validation.validators[0].meaning))
        self._values = FramedReader(framed, options.max_bytes)
        self._keys = FramedReader(framed, options.max_bytes) if validation.reads_keys else None

    def open(self, batch: Batch) -> tuple[Batch, *tuple[tuple[Batch, BatchResult], ...]]:
        """Return the batch with the texts of its messages, without the records that have none, and those.

        Raises UnavailableError if the registry does not answer.
        """
        framed, refused = framed_column(batch.records, "value")
        values, failures, frames = self._values.read(framed)
        if self._keys is None:
            opened = batch.with_texts(values).with_schema_ids(frames.named, None)
        else:
            keys, key_ids = _read_keys(self._keys, batch)
            opened = batch.with_texts(values, keys).with_schema_ids(frames.named, key_ids)
        return part_unreadable(batch, opened, {**failures, **refused}, EXPECTED_FRAMED)


def _read_keys(reader: FramedReader, batch: Batch) -> tuple[MessageValues, SchemaIds]:
    """Return the texts of keys and the ids that they name; one that cannot be read is empty, and names none."""
    framed, refused = framed_column(batch.records, "key")
    keys, failures, frames = reader.read(framed)
    places = frames.places.copy()
    places[[*failures]] = NO_ID  # bytes that only look like a frame
    if refused:
        held = np.zeros(len(batch), np.bool_)
        held[list(refused)] = True
        keys = MessageValues(pc.if_else(pa.array(held), b"", keys.array))
    return keys, SchemaIds(frames.ids, places)
