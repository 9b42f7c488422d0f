"""Wrapped batches: their messages, and the records that could not be unwrapped, with their verdicts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.common.json_messages import Unreadable
from cdc_contracts.registry.engine.batch_results import BatchResult
from cdc_contracts.registry.message.unwrapping import WRAPPINGS, unwrap
from cdc_contracts.registry.records.record_batches import Batch
from cdc_contracts.registry.validate.validation_context import JudgedMessage
from cdc_contracts.registry.validate.verdicts import unreadable


def open_wrapped(batch: Batch, wrapping: str) -> tuple[Batch, Batch, BatchResult]:
    """Return the messages of a batch, and the records that are not wrapped like this, with their findings."""
    values: list[bytes | None] = []
    failures: list[JudgedMessage] = []
    closed = np.zeros(len(batch), np.bool_)
    for number, value in enumerate(batch.values):
        try:
            values.append(unwrap(value, wrapping))
        except Unreadable as error:
            closed[number] = True
            failures.append(JudgedMessage(unreadable(error.cause, WRAPPINGS[wrapping], error.observed)))
    opened = batch.records.filter(pa.array(~closed))
    place = opened.schema.get_field_index("value")
    opened = opened.set_column(place, "value", pa.array(values, pa.binary()))
    rest = Batch(batch.records.filter(pa.array(closed)))
    return Batch(opened), rest, BatchResult(pa.array([None], pa.string()), alone=list(enumerate(failures)))
