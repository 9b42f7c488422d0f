"""Repeats found by Spark: rows of changes files sorted and numbered by window functions, whatever their number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from cdc_contracts.registry.core.records.output_schemas import REPEATS_SCHEMA
from cdc_contracts.registry.core.stats.positions import SNAPSHOT, PositionLine
from cdc_contracts.spark_checks.engines.repeat_search import (
    COMPARED,
    SAME,
    TABLE,
    FoundRepeats,
    RepeatSearch,
    write_repeats,
)
from cdc_contracts.spark_checks.files.file_sinks import SinkPlace
from cdc_contracts.spark_checks.files.part_files import BATCH_ROWS, read_columns
from cdc_contracts.spark_checks.spark.arrow_schemas import spark_schema
from cdc_contracts.spark_checks.tasks.spark_tasks import RESULT_SCHEMA, as_result, read_results
from cdc_contracts.spark_checks.tasks.task_shares import hand_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def search_with_spark(session: SparkSession, search: RepeatSearch) -> list[FoundRepeats]:
    """Write the repeats that a search finds; return the result of each task."""
    place = search.place
    rows = _read(session, place, search.changes, own=True)
    if search.earlier:
        rows = rows.unionByName(_read(session, place, search.earlier, own=False))
    if search.skipped:
        rows = rows.unionByName(_placeholders(session, search.skipped), allowMissingColumns=True)
    wanted = session.createDataFrame(sorted(search.lines), "topic string, partition int, subject string")
    found = _repeated(rows.join(wanted, ["topic", "partition", "subject"], "left_semi"), search.each_its_own)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield as_result(write_repeats(place, batches))

    return list(read_results(found.select(*REPEATS_SCHEMA.names).mapInArrow(work, RESULT_SCHEMA).collect()))


def _read(session: SparkSession, place: SinkPlace, paths: Sequence[str], *, own: bool) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls them

    def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
        filesystem, root = place.open()
        for number in numbers:
            for rows in read_columns(filesystem, f"{root}/{paths[number]}", COMPARED.names, most=BATCH_ROWS):
                yield pa.RecordBatch.from_arrays(rows.columns, schema=COMPARED)

    # Read with pyarrow, which wrote them: Spark reads a [ in a path as a pattern, and may not support the filesystem.
    rows = hand_out(session, len(paths), work, spark_schema(COMPARED))
    entries = [F.array_sort(F.map_entries(side)).alias(side) for side in ("before", "after")]
    return rows.where((F.col("op") != SNAPSHOT) & F.col("position").isNotNull()).select(
        "topic", "partition", "offset", "row_index", "tenant", *TABLE, "position", "transaction", "op", "update_part",
        F.substring_index("contract", "@", 1).alias("subject"),
        F.sha2(F.to_json(F.struct(*entries)), 256).alias("images"),
        F.lit(own).alias("own"),
    )  # fmt: skip


def _placeholders(session: SparkSession, skipped: Collection[tuple[PositionLine, int]]) -> DataFrame:
    """Return a row without a position in place of rows that are not read: it separates earlier rows from later ones."""
    places = sorted((*line, offset, 0, False) for line, offset in skipped)
    return session.createDataFrame(
        places, "topic string, partition int, subject string, offset long, row_index int, own boolean"
    )


def _repeated(rows: DataFrame, each_its_own: Collection[str]) -> DataFrame:
    """Return the run's own rows that equal earlier ones at a repeated position."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    line = Window.partitionBy("topic", "partition", "subject").orderBy("offset", "row_index")
    moved = ~F.col("position").eqNullSafe(F.lag("position").over(line))
    alone = F.col("subject").isin(*each_its_own) & (F.col("row_index") == 0)
    rows = rows.withColumn("visit", F.sum((moved | alone).cast("long")).over(line))
    rows = rows.withColumn("nth", F.row_number().over(Window.partitionBy(*SAME, "visit").orderBy("offset")))
    same = Window.partitionBy(*SAME, "nth")
    rows = rows.withColumn("first_offset", F.min("offset").over(same))
    return rows.where(F.col("own") & (F.col("offset") > F.col("first_offset")))
