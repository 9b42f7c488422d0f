"""Framed batches: the messages of records that are framed for a schema registry, and those that cannot be read."""

from __future__ import annotations

import pyarrow as pa

from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.group.opened_batches import part_unreadable
from cdc_contracts.registry.core.engine.native.framed_reading import NO_ID, FramedReader
from cdc_contracts.registry.core.message.framed_values import framed_values, reads_blocks
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.writer_schemas.writer_schemas import EXPECTED_FRAMED, WriterSchemas


class FramedBatches:
    """Reads the values and keys of batches by the writer schemas that their frames name."""

    def __init__(self, schemas: WriterSchemas, validation: ValidationContext) -> None:
        options = validation.reading_options
        with_blocks = reads_blocks(validation.validators[0].meaning)
        framed = framed_values(schemas, with_blocks=with_blocks)
        self._values = FramedReader(framed, options.max_bytes)
        self._keys = FramedReader(framed, options.max_bytes) if validation.reads_keys else None

    def open(self, batch: Batch) -> tuple[Batch, *tuple[tuple[Batch, BatchResult], ...]]:
        """Return the batch with the texts of its messages, without the records that have none, and those.

        A key that cannot be read is left as it is. Raises UnavailableError if the registry does not answer.
        """
        values, failures, ids = self._values.read(batch.column("value", pa.binary()))
        if self._keys is None:
            opened = batch.with_texts(values).with_schema_ids(ids, None)
        else:
            keys, unread, key_ids = self._keys.read(batch.column("key", pa.binary()))
            key_ids[[*unread]] = NO_ID  # bytes that only look like a frame
            opened = batch.with_texts(values, keys).with_schema_ids(ids, key_ids)
        return part_unreadable(batch, opened, failures, EXPECTED_FRAMED)
