"""Record coordinates: topic, partition and offset, to leave out the rows of known records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.records.output_schemas import REPLAYED_SCHEMA
from cdc_contracts.registry.core.records.record_batches import Batch

COORDINATES: Final = tuple(REPLAYED_SCHEMA.names)

Known = Mapping[tuple[str, int], NDArray[np.int64]]
"""Offsets in order, by topic and partition."""


def gather_coordinates(batches: Iterable[pa.RecordBatch]) -> Known:
    """Return the coordinates of all rows of some batches, eight bytes each."""
    found: dict[tuple[str, int], list[NDArray[np.int64]]] = {}
    for rows in batches:
        batch = Batch(rows)
        for number, source in enumerate(batch.sources):
            found.setdefault(source, []).append(batch.offsets[batch.source_of == number])
    return {source: np.sort(np.concatenate(parts)) for source, parts in found.items()}


def leave_out(rows: pa.RecordBatch, known: Known) -> pa.RecordBatch:
    """Return the rows whose coordinates are not known."""
    batch = Batch(rows)
    kept = np.ones(len(batch), np.bool_)
    for number, source in enumerate(batch.sources):
        offsets = known.get(source)
        if offsets is not None and len(offsets):
            places = np.minimum(np.searchsorted(offsets, batch.offsets), len(offsets) - 1)
            kept &= (batch.source_of != number) | (offsets[places] != batch.offsets)
    return rows if kept.all() else rows.filter(pa.array(kept))
