"""Framed batches: the messages of records that are framed for a schema registry, and those that cannot be read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.native.framed_reading import FramedReader
from cdc_contracts.registry.core.message.framed_values import framed_values, reads_blocks
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import unreadable
from cdc_contracts.registry.core.writer_schemas.writer_schemas import EXPECTED_FRAMED, WriterSchemas


class FramedBatches:
    """Reads the values and keys of batches by the writer schemas that their frames name."""

    def __init__(self, schemas: WriterSchemas, validation: ValidationContext) -> None:
        options = validation.reading_options
        with_blocks = reads_blocks(validation.validators[0].meaning)
        self._values = FramedReader(framed_values(schemas, with_blocks=with_blocks), options.max_bytes)
        self._reads_keys = validation.reads_keys

    def open(self, batch: Batch) -> tuple[Batch, *tuple[tuple[Batch, BatchResult], ...]]:
        """Return the batch with the texts of its messages, without the records that have none, and those.

        A key that cannot be read is left as it is. Raises UnavailableError if the registry does not answer.
        """
        values, failures = self._values.read(batch.column("value", pa.binary()))
        texts = {"value": values}
        if self._reads_keys:
            texts["key"] = self._values.read(batch.column("key", pa.binary())).texts
        opened = batch.with_texts(**texts)
        if not failures:
            return (opened,)
        refused = np.array(sorted(failures), np.int64)
        alone = [
            (place, ValidatedMessage(unreadable(failures[number].cause, EXPECTED_FRAMED, failures[number].observed)))
            for place, number in enumerate(refused.tolist())
        ]
        rest = np.setdiff1d(np.arange(len(batch)), refused)
        return opened.select(rest), (batch.select(refused), BatchResult(pa.array([None], pa.string()), alone=alone))
