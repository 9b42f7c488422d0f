"""Repeats: rows of `changes/` that were there before, because a source sent a stretch of its changes again.

A row repeats another of the same partition if subject, table, position, op and both images are equal, and rows with
other positions came in between, or the contract promises each position once: within one transaction a row may rightly
change back and forth. Of several equal rows at one position the n-th repeats the n-th. Rows of a full load are left
alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from cdc_contracts.registry.records.output_schemas import CHANGES_SCHEMA, REPEATS_SCHEMA
from cdc_contracts.registry.report.report_model import RepeatedRows, TableRepeats
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.positions import SNAPSHOT, PositionLine
from cdc_contracts.registry.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.file_sinks import FilePart, SinkPlace, TableWriter
from cdc_contracts.spark_checks.spark_tasks import RESULT_SCHEMA, as_result, attempt_name, read_results
from cdc_contracts.spark_checks.tables.arrow_schemas import spark_schema
from cdc_contracts.spark_checks.tables.part_files import BATCH_ROWS, read_columns
from cdc_contracts.spark_checks.task_shares import hand_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REPEATS: Final = "repeats"
_TABLE: Final = ("database", "schema", "table")
_SAME: Final = (
    "topic", "partition", "subject", "tenant", *_TABLE, "position", "transaction", "op", "update_part", "row_index",
    "images",
)  # fmt: skip

_COMPARED: Final = pa.schema([
    CHANGES_SCHEMA.field(name)
    for name in (*_SAME, "contract", "offset", "before", "after")
    if name not in {"subject", "images"}
])  # fmt: skip
"""What is read of changes files; the subject and one value for both images are made of it."""

NO_REPEATS: Final = RepeatedRows()


class Repeated(NamedTuple):
    """Rows of a table that repeat others of their partition, and the first of them."""

    rows: int
    offset: int
    first_offset: int


@dataclass(frozen=True)
class Repeats:
    """The rows of a run that repeat others: their files, and how many of which partition and table.

    `earlier` are the runs whose rows they were compared with, besides each other.
    """

    parts: tuple[FilePart, ...] = ()
    found: Mapping[tuple[Source, TableName], Repeated] = field(default_factory=dict)
    earlier: tuple[str, ...] = ()

    def by_table(self) -> Counter[TableName]:
        counts: Counter[TableName] = Counter()
        for (_, table), result in self.found.items():
            counts[table] += result.rows
        return counts

    def by_source(self) -> Counter[Source]:
        counts: Counter[Source] = Counter()
        for (source, _), result in self.found.items():
            counts[source] += result.rows
        return counts

    def report(self, *, dropped: bool) -> RepeatedRows:
        """Return what records and reports say: how many, of which tables, and where the first is."""
        rows = sum(result.rows for result in self.found.values())
        return RepeatedRows(
            rows=rows,
            dropped=rows if dropped else 0,
            compared_with=self.earlier,
            tables=tuple(
                TableRepeats(table.text, *source, *result)
                for (source, table), result in sorted(self.found.items(), key=lambda one: (one[0][1].text, one[0][0]))
            ),
        )


def add_repeats(whole: RepeatedRows, more: RepeatedRows) -> RepeatedRows:
    """Return what reports say of two parts of a run as that of both; `more` is the later one."""
    tables: dict[tuple[str, str, int], TableRepeats] = {}
    for one in (*whole.tables, *more.tables):
        place = (one.table, one.topic, one.partition)
        known = tables.get(place)
        tables[place] = one if known is None else replace(known, rows=known.rows + one.rows)
    return RepeatedRows(
        rows=whole.rows + more.rows,
        dropped=whole.dropped + more.dropped,
        compared_with=tuple(sorted({*whole.compared_with, *more.compared_with})),
        tables=tuple(tables[place] for place in sorted(tables)),
    )


def find_repeats(
    session: SparkSession,
    place: SinkPlace,
    changes: Sequence[str],
    earlier: Sequence[str],
    lines: Collection[PositionLine],
    each_its_own: Collection[str],
    skipped: Collection[tuple[PositionLine, int]] = (),
) -> Repeats:
    """Write which rows of changes files repeat others, of the same files or of those of earlier runs.

    Only rows of `lines` are looked at; `each_its_own` are the subjects whose messages never share a position. At the
    offsets of `skipped` lines have rows of other positions, which are not read.
    """
    rows = _read(session, place, changes, own=True)
    if earlier:
        rows = rows.unionByName(_read(session, place, earlier, own=False))
    if skipped:
        rows = rows.unionByName(_stand_for(session, skipped), allowMissingColumns=True)
    wanted = session.createDataFrame(sorted(lines), "topic string, partition int, subject string")
    found = _repeated(rows.join(wanted, ["topic", "partition", "subject"], "left_semi"), each_its_own)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield as_result(_write(place, batches))

    result = read_results(found.select(*REPEATS_SCHEMA.names).mapInArrow(work, RESULT_SCHEMA).collect())
    together: dict[tuple[Source, TableName], Repeated] = {}
    for _, counts in result:
        for key, one in counts.items():
            together[key] = _join(together.get(key), one)
    return Repeats(tuple(part for parts, _ in result for part in parts), together)


def _read(session: SparkSession, place: SinkPlace, paths: Sequence[str], *, own: bool) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls them

    def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
        filesystem, root = place.open()
        for number in numbers:
            for rows in read_columns(filesystem, f"{root}/{paths[number]}", _COMPARED.names, most=BATCH_ROWS):
                yield pa.RecordBatch.from_arrays(rows.columns, schema=_COMPARED)

    # Read by what wrote them: Spark takes a [ in a path for a pattern, and may not reach where they are.
    rows = hand_out(session, len(paths), work, spark_schema(_COMPARED))
    entries = [F.array_sort(F.map_entries(side)).alias(side) for side in ("before", "after")]
    return rows.where((F.col("op") != SNAPSHOT) & F.col("position").isNotNull()).select(
        "topic", "partition", "offset", "row_index", "tenant", *_TABLE, "position", "transaction", "op", "update_part",
        F.substring_index("contract", "@", 1).alias("subject"),
        F.sha2(F.to_json(F.struct(*entries)), 256).alias("images"),
        F.lit(own).alias("own"),
    )  # fmt: skip


def _stand_for(session: SparkSession, skipped: Collection[tuple[PositionLine, int]]) -> DataFrame:
    """Return a row without position for each place where rows are not read: what is after it came later."""
    places = sorted((*line, offset, 0, False) for line, offset in skipped)
    return session.createDataFrame(
        places, "topic string, partition int, subject string, offset long, row_index int, own boolean"
    )


def _repeated(rows: DataFrame, each_its_own: Collection[str]) -> DataFrame:
    """Return the own rows that are equal to earlier ones at a position that came again."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    line = Window.partitionBy("topic", "partition", "subject").orderBy("offset", "row_index")
    moved = ~F.col("position").eqNullSafe(F.lag("position").over(line))
    alone = F.col("subject").isin(*each_its_own) & (F.col("row_index") == 0)
    rows = rows.withColumn("visit", F.sum((moved | alone).cast("long")).over(line))
    rows = rows.withColumn("nth", F.row_number().over(Window.partitionBy(*_SAME, "visit").orderBy("offset")))
    same = Window.partitionBy(*_SAME, "nth")
    rows = rows.withColumn("first_offset", F.min("offset").over(same))
    return rows.where(F.col("own") & (F.col("offset") > F.col("first_offset")))


def _write(
    place: SinkPlace, batches: Iterable[pa.RecordBatch]
) -> tuple[list[FilePart], dict[tuple[Source, TableName], Repeated]]:
    """Write rows of repeats and return the files, and how many of which partition and table they have."""
    writer = TableWriter(place, REPEATS, REPEATS_SCHEMA, attempt_name())
    counts: dict[tuple[Source, TableName], Repeated] = {}
    try:
        for batch in batches:
            rows = pa.RecordBatch.from_arrays(batch.columns, schema=REPEATS_SCHEMA)
            writer.write(rows)
            keys = ["topic", "partition", *_TABLE]
            grouped = pa.Table.from_batches([rows.select([*keys, "offset", "first_offset"])]).sort_by("offset")
            result = grouped.group_by(keys, use_threads=False).aggregate([
                ([], "count_all"), ("offset", "first"), ("first_offset", "first")
            ])  # fmt: skip
            for one in result.to_pylist():
                key = (
                    Source(one["topic"], one["partition"]),
                    TableName.of(one["database"], one["schema"], one["table"]),
                )
                found = Repeated(one["count_all"], one["offset_first"], one["first_offset_first"])
                counts[key] = _join(counts.get(key), found)
        return list(writer.close()), counts
    except BaseException:
        writer.discard()
        raise


def _join(one: Repeated | None, other: Repeated) -> Repeated:
    if one is None:
        return other
    first = min(one, other, key=lambda told: told.offset)
    return first._replace(rows=one.rows + other.rows)
