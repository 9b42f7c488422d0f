"""Range lookup: the range of a versions file that contains each record of a batch, found for many records at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.version_ranges import OFFSETS, Declaration, VersionRange, VersionRanges
from cdc_contracts.registry.core.records.record_batches import NO_TIMESTAMP, Batch

NOWHERE: Final = -1
"""The number of a record that no range covers."""
_FIRST, _LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class RangeFinder:
    """The ranges of a versions file as sorted boundaries for a binary search by offset or timestamp."""

    def __init__(self, ranges: VersionRanges) -> None:
        self._ranges = ranges

    def split(self, batch: Batch) -> Iterator[tuple[Declaration | None, Batch]]:
        """Yield the records of each declaration; None for records that no range covers."""
        result = np.full(len(batch), NOWHERE, np.int64)
        known: list[Declaration] = []
        for place, (topic, partition) in enumerate(batch.sources):
            ranges = self._ranges.ranges_of(topic, partition)
            mine = np.flatnonzero(batch.source_of == place) if len(batch.sources) > 1 else slice(None)
            numbers = _number(ranges, batch, mine)
            known += [one for one in dict.fromkeys(one.declaration for one in ranges) if one not in known]
            codes = np.array([*(known.index(one.declaration) for one in ranges), NOWHERE], np.int64)
            result[mine] = codes[numbers]
        for code in np.unique(result).tolist():
            declaration = None if code == NOWHERE else known[code]
            yield declaration, _take(batch, np.flatnonzero(result == code))

    def numbers(self, batch: Batch, topic: str, partition: int, records: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each record the index of the range of its partition that contains it."""
        return _number(self._ranges.ranges_of(topic, partition), batch, records)


def _number(ranges: tuple[VersionRange, ...], batch: Batch, records: NDArray[np.int64] | slice) -> NDArray[np.int64]:
    offsets = batch.offsets[records]
    if not ranges:
        return np.full(len(offsets), NOWHERE, np.int64)
    timed = any(one.unit != OFFSETS for one in ranges)
    at = batch.timestamps[records] if timed else offsets
    starts = np.array([_FIRST if one.start is None else one.start for one in ranges])
    ends = np.array([_LAST if one.end is None else one.end for one in ranges])
    numbers = np.searchsorted(starts, at, side="right") - 1
    outside = (numbers < 0) | (at >= ends[numbers])
    if timed:
        outside |= at == NO_TIMESTAMP
    return np.where(outside, NOWHERE, numbers)


def _take(batch: Batch, numbers: NDArray[np.int64]) -> Batch:
    """Return some records of a batch; adjacent ones are not copied."""
    first, count = int(numbers[0]), len(numbers)
    if count == len(batch):
        return batch
    if int(numbers[-1]) - first + 1 == count:
        return Batch(batch.records.slice(first, count))
    return Batch(batch.records.take(pa.array(numbers)))
