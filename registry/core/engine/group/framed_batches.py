"""Framed batches: the messages of records that are framed for a schema registry, and those that cannot be read."""

from __future__ import annotations

import pyarrow as pa

from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.group.opened_batches import part_unreadable
from cdc_contracts.registry.core.engine.native.framed_reading import FramedReader
from cdc_contracts.registry.core.message.framed_values import frame_reading, framed_values
from cdc_contracts.registry.core.records.record_batches import Batch
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

        A key that cannot be read is left as it is. Raises UnavailableError if the registry does not answer.
        """
        values, failures = self._values.read(batch.column("value", pa.binary()))
        keys = None if self._keys is None else self._keys.read(batch.column("key", pa.binary())).texts
        return part_unreadable(batch, batch.with_texts(values, keys), failures, EXPECTED_FRAMED)
