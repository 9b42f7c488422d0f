"""Task shares: what one task is given of a topic, and of work that no DataFrame holds, such as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

LEAST_RECORDS: Final = 10_000
MOST_RECORDS: Final = 1_000_000
"""Fewer records cost less than the task that reads them; more are lost at once, and take longer to read again."""
_ROUNDS: Final = 4

ShareWork = Callable[[Iterator[int]], Iterable[pa.RecordBatch]]
"""Does the shares of the numbers that it is given; one task may be given several, or none."""


def records_per_task(records: int, tasks: int) -> int:
    """Return how many of the records one task reads at most, where so many tasks run at once.

    Each core reads about four shares: whichever comes last, the others wait for a quarter of the time at most.
    """
    return min(MOST_RECORDS, max(LEAST_RECORDS, -(-records // (_ROUNDS * tasks))))


def hand_out(session: SparkSession, shares: int, work: ShareWork, schema: StructType | str) -> DataFrame:
    """Return a lazy DataFrame of what the tasks for so many shares yield, one task per share."""

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from work(number for batch in batches for number in batch.column(0).to_pylist())

    return session.range(0, shares, 1, max(1, shares)).mapInArrow(take, schema)
