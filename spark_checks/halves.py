"""Updates that came as two messages, joined: a step over the stored changes of all finished runs.

It looks at what is stored and at nothing else, so the result is the same wherever batches, tasks or runs ended. A half
whose other half is not stored stays in `changes/` as it is, and is told with its offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.reference import HALVES
from cdc_contracts.registry.rulebook import find_rule
from cdc_contracts.spark_checks.folders import escape_pattern
from cdc_contracts.spark_checks.runs.directory import RunDirectory
from cdc_contracts.spark_checks.runs.records import files_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOINED: Final = "joined"
_PAIR: Final = ("topic", "partition", "pair_id", "database", "schema", "table")
_TOLD: Final = ("topic", "partition", "offset", "row_index", "contract", "database", "schema", "table", "update_part",
                "pair_id")  # fmt: skip


@dataclass(frozen=True)
class Joined:
    """What joining came to: how many updates are whole now, where they are, and the halves that are alone."""

    rows: int
    directory: str
    lone: Sequence[dict[str, Any]]

    def as_document(self) -> dict[str, Any]:
        rule = find_rule("halves-paired")
        return {
            "rule": rule.id,
            "verdict": "drift" if self.lone else "pass",
            "joined": self.rows,
            "directory": self.directory,
            "unpaired": list(self.lone),
        }


def join_halves(session: SparkSession, directory: str) -> Joined:
    """Write the updates whose halves are both stored to `DIR/joined`, with the columns of `changes/`.

    Halves belong together by topic, partition, pair id and table; of several with one pair id the first before goes
    with the first after, by offset. A joined row has the place of its after half.
    Raises UnavailableError where the directory holds no finished run.
    """
    runs = RunDirectory(directory)
    root = runs.root.rstrip("/")
    target = f"{root}/{JOINED}"
    paths = [f"{root}/{part['path']}" for record in runs.records() for part in files_of(record, "changes")]
    if not paths:
        return Joined(0, target, [])
    whole, lone = _pair(session.read.parquet(*map(escape_pattern, paths)))
    whole.write.mode("overwrite").parquet(target)
    rows = session.read.parquet(escape_pattern(target)).count()
    return Joined(rows, target, [row.asDict() for row in lone.orderBy(*_TOLD[:4]).collect()])


def _pair(changes: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the joined updates, and the halves without another."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    place = Window.partitionBy(*_PAIR, "update_part").orderBy("offset", "row_index")
    halves = changes.where(sf.col("update_part").isin(*HALVES)).withColumn("nth", sf.row_number().over(place))
    first = halves.where(sf.col("update_part") == "before").alias("first")
    second = halves.where(sf.col("update_part") == "after").alias("second")
    together = sf.col("first.nth") == sf.col("second.nth")
    for name in _PAIR:
        together &= sf.col(f"first.{name}").eqNullSafe(sf.col(f"second.{name}"))
    together &= sf.col("first.pair_id").isNotNull()
    pairs = first.join(second, together)
    told = {
        "before": sf.col("first.before"),
        "before_complete": sf.col("first.before_complete"),
        "invalid": sf.array_sort(sf.array_union("first.invalid", "second.invalid")),
        "update_part": sf.lit("joined"),
    }
    whole = pairs.select(*(told.get(name, sf.col(f"second.{name}")).alias(name) for name in changes.columns))
    lone = first.join(second, together, "left_anti").unionByName(second.join(first, together, "left_anti"))
    return whole, lone.select(*_TOLD)
