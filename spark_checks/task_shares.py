"""Task shares: what one task is given of a topic, and of work that no DataFrame holds, such as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from cdc_contracts.spark_checks.spark_tasks import RESULT_SCHEMA, as_result, read_results

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

LEAST_RECORDS: Final = 200_000
MOST_RECORDS: Final = 1_000_000
"""A task that reads fewer costs more, by its consumer and what that fetches in vain, than another core gains; more are
lost at once, and take longer to read again."""
_ROUNDS: Final = 4
MOST_RESULTS: Final = 64
"""So many results of tasks are merged by the driver; more are merged in tasks before. One may have several MB."""
_MERGED_RESULTS: Final = 32

ShareWork = Callable[[Iterator[int]], Iterable[pa.RecordBatch]]
"""Does the shares of the numbers that it is given; one task may be given several, or none."""


def records_per_task(records: int, tasks: int) -> int:
    """Return how many of the records one task reads at most, where so many tasks run at once.

    Each core reads about four shares if they are large enough: whichever comes last, the others wait for a quarter of
    the time at most.
    """
    return min(MOST_RECORDS, max(LEAST_RECORDS, -(-records // (_ROUNDS * tasks))))


def hand_out(session: SparkSession, shares: int, work: ShareWork, schema: StructType | str) -> DataFrame:
    """Return a lazy DataFrame of what the tasks for so many shares yield, one task per share."""

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from work(number for batch in batches for number in batch.column(0).to_pylist())

    return session.range(0, shares, 1, max(1, shares)).mapInArrow(take, schema)


def collect_results(frame: DataFrame, tasks: int, *, mergeable: bool) -> list[Row]:
    """Return the results of so many tasks, as `as_result` makes them; if they are many, merged in tasks first.

    Merged are those that are `mergeable`, values with a method `merge`. The result of a task goes where the number of
    the task says, so one that is computed again, because the machine that held it is lost, counts once.
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
