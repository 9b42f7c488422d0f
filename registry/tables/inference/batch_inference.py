"""Batch inference: what the rows of batches show of their tables, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from cdc_contracts.registry.engine.kernel import Kernel, paced
from cdc_contracts.registry.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.tables.inference.record_evidence import witness


def infer_batches(
    batches: Iterable[pa.RecordBatch], kernel: Kernel, is_ended: Callable[[], bool] = lambda: False
) -> InferenceEvidence:
    """Return what rows show of their tables, those of batches until the run is ended, which is asked before each."""
    total = InferenceEvidence()
    for records in paced(batches):
        if is_ended():
            break
        total.merge(witness(kernel, records))
    return total
