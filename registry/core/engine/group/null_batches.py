"""Batches with null values that are deletions: their messages, from the keys of the records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.core.message.null_values import NullValues
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.records.record_batches import Batch


def open_null_values(batch: Batch, null_values: NullValues) -> Batch:
    """Return the batch with the messages that its null values stand for."""
    values = batch.values.array
    is_null = pc.fill_null(pc.match_substring_regex(values, null_values.pattern), fill_value=True)
    numbers = np.flatnonzero(is_null.to_numpy(zero_copy_only=False))
    if not len(numbers):
        return batch
    places = pa.array(numbers)
    pairs = zip(values.take(places).to_pylist(), batch.keys.take(places).to_pylist(), strict=True)
    told = [null_values.text_of(value, key) if null_values.is_null(value) else value for value, key in pairs]
    return batch.with_texts(MessageValues(pc.replace_with_mask(values, is_null, pa.array(told, pa.binary()))))
