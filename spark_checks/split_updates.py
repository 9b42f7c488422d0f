"""Split updates: updates sent as two messages are joined, in the stored changes of all finished runs.

The result depends on the stored changes only, not on where batches, tasks or runs ended. A part whose other part is
not stored stays in `changes/` unchanged, and is reported with its offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.explain.rulebook import find_rule
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.validate.decoded_changes import HALVES
from cdc_contracts.spark_checks.files.folders import escape_pattern
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

JOINED: Final = "joined"
_PAIR: Final = ("topic", "partition", "pair_id", "database", "schema", "table")
_TOLD: Final = ("topic", "partition", "offset", "row_index", "contract", "database", "schema", "table", "update_part",
                "pair_id")  # fmt: skip
_PLACES: Final = ("topic", "partition", "offset", "kafka_timestamp", "process_time")
_DERIVED: Final = "invalid_values"  # a part has one image: `invalid` says as much, in files of every release
"""What two copies of one half may differ in: where and when they were written to the topic."""
_MAPS: Final = ("before", "after", "column_types")


@dataclass(frozen=True)
class Joined:
    """The result of joining: the number of joined updates, their folder, and the parts without a counterpart.

    `repeated` counts the parts that equal a joined part: the topic has them twice.
    """

    rows: int
    directory: str
    lone: Sequence[dict[str, Any]]
    repeated: int = 0

    def as_document(self) -> dict[str, Any]:
        rule = find_rule("split-updates-complete")
        return {
            "rule": rule.id,
            "verdict": "drift" if self.lone else "pass",
            "joined": self.rows,
            "directory": self.directory,
            "unpaired": list(self.lone),
            "repeated": self.repeated,
        }


def join_split_updates(session: SparkSession, directory: str) -> Joined:
    """Write the updates whose two parts are both stored to `DIR/joined`, with the columns of `changes/`.

    Parts belong together by topic, partition, pair id and table; if several have one pair id, the first before image
    is joined with the first after image, by offset. A joined row has the coordinates of its after part. A remaining
    part that equals a joined one except for its coordinates was sent again: it is counted as repeated, not reported.
    Raises UnavailableError if the directory has no finished run, UsageError if one keeps no changes.
    """
    runs = RunDirectory(directory)
    without = next((record.run for record in runs.records() if not record.keeps_changes), None)
    if without is not None:
        raise UsageError(
            f"run {without} was decoded with --outputs tables: there are no changes/ to join",
            where=directory,
            hint="Decode the range again, into another directory and with --outputs changes,tables.",
        )
    root = runs.root.rstrip("/")
    target = f"{root}/{JOINED}"
    paths = [f"{root}/{part.path}" for record in runs.records() for part in record.files_of("changes")]
    if not paths:
        return Joined(0, target, [])
    stored = session.read.option("mergeSchema", "true")  # files of earlier releases may lack a column
    whole, lone, repeated = _pair(stored.parquet(*map(escape_pattern, paths)))
    whole.write.mode("overwrite").parquet(target)
    rows = session.read.parquet(escape_pattern(target)).count()
    return Joined(rows, target, [row.asDict() for row in lone.orderBy(*_TOLD[:4]).collect()], repeated.count())


def _pair(changes: DataFrame) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return the joined updates, the parts without a counterpart, and those that repeat a joined part."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    place = Window.partitionBy(*_PAIR, "update_part").orderBy("offset", "row_index")
    said = sf.struct(*(_comparable(sf.col(name), name) for name in changes.columns if name not in (*_PLACES, _DERIVED)))
    halves = changes.where(sf.col("update_part").isin(*HALVES))
    halves = halves.withColumn("nth", sf.row_number().over(place)).withColumn("said", said)
    first = halves.where(sf.col("update_part") == "before").alias("first")
    second = halves.where(sf.col("update_part") == "after").alias("second")
    together = sf.col("first.nth") == sf.col("second.nth")
    for name in _PAIR:
        together &= sf.col(f"first.{name}").eqNullSafe(sf.col(f"second.{name}"))
    together &= sf.col("first.pair_id").isNotNull()
    pairs = first.join(second, together)
    result = {
        "before": sf.col("first.before"),
        "before_complete": sf.col("first.before_complete"),
        "invalid": sf.array_sort(sf.array_union("first.invalid", "second.invalid")),
        "invalid_values": sf.concat(_invalid_values("first", "before"), _invalid_values("second", "after")),
        "update_part": sf.lit("joined"),
    }
    whole = pairs.select(*(result.get(name, sf.col(f"second.{name}")).alias(name) for name in changes.columns))
    left = first.join(second, together, "left_anti").unionByName(second.join(first, together, "left_anti"))
    joined = first.join(second, together, "left_semi").unionByName(second.join(first, together, "left_semi"))
    left, joined = left.alias("left"), joined.alias("joined")
    again = sf.col("left.said").eqNullSafe(sf.col("joined.said"))
    for name in ("topic", "partition"):
        again &= sf.col(f"left.{name}") == sf.col(f"joined.{name}")
    repeated = left.join(joined, again, "left_semi")
    return whole, left.join(joined, again, "left_anti").select(*_TOLD), repeated


def _comparable(column: Column, name: str) -> Column:
    """Return a column in a form that Spark can compare: maps as sorted lists of their entries."""
    from pyspark.sql import functions as sf

    return sf.array_sort(sf.map_entries(column)).alias(name) if name in _MAPS else column


def _invalid_values(half: str, side: str) -> Column:
    """Return the values of a part's image that are kept as text; all of a column if its file does not say."""
    from pyspark.sql import functions as sf

    result = sf.filter(sf.col(f"{half}.invalid_values"), lambda name: sf.startswith(name, sf.lit(f"{side}.")))
    return sf.coalesce(result, sf.transform(f"{half}.invalid", lambda name: sf.concat(sf.lit(f"{side}."), name)))
