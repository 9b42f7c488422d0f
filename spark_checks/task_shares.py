"""Task shares of work that no DataFrame holds, such as files: Spark distributes their numbers, one task each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ShareWork = Callable[[Iterator[int]], Iterable[pa.RecordBatch]]
"""Does the shares of the numbers that it is given; one task may be given several, or none."""


def hand_out(session: SparkSession, shares: int, work: ShareWork, schema: StructType | str) -> DataFrame:
    """Return what the tasks yield that do so many shares; each is done whenever Spark is asked for rows."""

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from work(number for batch in batches for number in batch.column(0).to_pylist())

    return session.range(0, shares, 1, max(1, shares)).mapInArrow(take, schema)
