"""Sizes of batches: how many messages are validated at once, and short batches joined up to that many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.records.file_plans import BATCH_ROWS

MOST_BYTES: Final = 24 * 1024 * 1024
"""Messages of Debezium with both images, 2 KB each, are one part."""
ROWS_OF_SHAPE: Final = 2_048
"""Messages of a shape that make the cost of the shape in a batch small beside their own."""
_MOST_TIMES: Final = 3
_MOST_BYTES_OF_MANY: Final = 40 * 1024 * 1024


@dataclass(frozen=True)
class BatchSize:
    """The most messages, and bytes of their values, that are validated at once."""

    rows: int = BATCH_ROWS
    bytes: int = MOST_BYTES

    @classmethod
    def of_shapes(cls, shapes: int) -> BatchSize:
        """Return the size for messages of so many shapes, such as those of many tables.

        Each shape in a batch costs some milliseconds however few messages have it, so more of them share that.
        """
        times = min(_MOST_TIMES, shapes * ROWS_OF_SHAPE / BATCH_ROWS)
        if times <= 1:
            return SIZE_OF_FEW
        return cls(int(BATCH_ROWS * times), min(int(MOST_BYTES * times), _MOST_BYTES_OF_MANY))

    def holds(self, batches: Sequence[pa.RecordBatch]) -> bool:
        """Return whether batches together are of this size at most."""
        rows: int = sum(batch.num_rows for batch in batches)
        held: int = sum(batch.column("value").nbytes for batch in batches)
        return rows <= self.rows and held <= self.bytes


SIZE_OF_FEW: Final = BatchSize()
NOT_JOINED: Final = BatchSize(rows=0)
"""The size to which no batch is joined."""


def gather(batches: Iterable[pa.RecordBatch], size: Callable[[], BatchSize]) -> Iterator[pa.RecordBatch]:
    """Yield record batches in their order, joined as long as they fit into the `size` of the time.

    Only batches with the same columns are joined: of several files some may have headers. None waits for a batch that
    would not fit if it were like the last. An empty batch says that the source has nothing to deliver now: those that
    wait are yielded before it.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        most = size()
        alike = not waiting or waiting[0].schema == batch.schema
        if not alike or not batch.num_rows or not most.holds([*waiting, batch]):
            yield from _join(waiting)
            waiting = []
        waiting.append(batch)
        if not batch.num_rows or not most.holds([*waiting, batch]):
            yield from _join(waiting)
            waiting = []
    yield from _join(waiting)


def _join(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return batches as at most one."""
    if len(batches) < 2:  # noqa: PLR2004  one that stands alone is not copied
        return batches
    joined: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined
