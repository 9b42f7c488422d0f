"""Task shares: the part of a topic, or of other work such as files, that one task is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from cdc_contracts.spark_checks.tasks.spark_tasks import RESULT_SCHEMA, as_result, read_results

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

LEAST_RECORDS: Final = 200_000
MOST_RECORDS: Final = 1_000_000
"""A smaller task costs more than another core gains, because its consumer fetches records that it does not use; a
larger one loses more if it fails, and takes longer to repeat."""
_ROUNDS: Final = 4
MOST_RESULTS: Final = 64
"""The most results that the driver merges itself; more are first merged in tasks. A result may have several MB."""
_MERGED_RESULTS: Final = 32

ShareWork = Callable[[Iterator[int]], Iterable[pa.RecordBatch]]
"""Does the shares with the given numbers; one task may be given several, or none."""


def records_per_task(records: int, tasks: int) -> int:
    """Return how many of the records one task reads at most, if `tasks` of them run at once.

    Each core reads about four shares if they are large enough, so the others wait for the last one for at most a
    quarter of the time.
    """
    return min(MOST_RECORDS, max(LEAST_RECORDS, -(-records // (_ROUNDS * tasks))))


def hand_out(session: SparkSession, shares: int, work: ShareWork, schema: StructType | str) -> DataFrame:
    """Return a lazy DataFrame of what the tasks for these shares yield, one task per share."""

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from work(number for batch in batches for number in batch.column(0).to_pylist())

    return session.range(0, shares, 1, max(1, shares)).mapInArrow(take, schema)


def collect_results(frame: DataFrame, tasks: int, *, mergeable: bool) -> list[Row]:
    """Return the results of tasks, as `as_result` makes them; if they are many and `mergeable`, merged in tasks first.

    Mergeable results have a method `merge`. Results are assigned by the number of their task, so one that is computed
    again because its machine was lost counts once.
    """
    if mergeable and tasks > MOST_RESULTS:
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls them

        numbered = frame.withColumn("task", F.spark_partition_id())
        frame = numbered.repartition(_MERGED_RESULTS, "task").select("result").mapInArrow(_merge, RESULT_SCHEMA)
    return frame.collect()


def _merge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    total: Any = None
    for batch in batches:
        for found in read_results((value.as_buffer(),) for value in batch.column(0)):
            if total is None:
                total = found
            else:
                total.merge(found)
    if total is not None:
        yield as_result(total)
