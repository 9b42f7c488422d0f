"""Change folding: the changes of a key as one, the newest, with all columns set since the last complete row.

A change is a deletion of a key or a row under a key; an update that changes the key is both. Changes are ordered by
position if positions are numbers, otherwise and between equal positions by their Kafka offsets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.tables.canonical.table_layouts import SHARD, TableLayout
from cdc_contracts.spark_checks.tables.lakehouse.emptied_rows import LOADED, ORDER, Emptied, with_order

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_FACTS: Final = ("_op", "_event_time", "_position", *ORDER)
_NEW: Final = ("insert", LOADED)
NOTHING_KNOWN: Final[Mapping[str, str]] = MappingProxyType({})
"""What is known of columns that rows lack where no contract says it."""


def fold_changes(
    rows: DataFrame, layout: TableLayout, key: tuple[str, ...], ordered: Collection[str],
    current: DataFrame, deleted: DataFrame, emptied: Emptied | None = None, lacking: Mapping[str, str] = NOTHING_KNOWN,
) -> DataFrame:  # fmt: skip
    """Return one row per key with new changes: its deletion, or the values that they set.

    Changes older than a statement that has emptied the table are ignored, new or known. `lacking` says by contract
    what a column is that the row after a change lacks. NULL or empty: what it is now is not known, and its former value
    no longer holds. NULL if the row before has it. Otherwise it stays as it was.

    Columns: the key `k0`, `k1`, ..., which begins with the names of the shard; `_keyed`, false in the one row for all
    changes that name no key; `_changes`, the number of folded changes; `_delete`; `_was_deleted`, whether the key is
    among the deleted ones so far; `_fresh`, whether previous values are obsolete; `c0`, `c1`, ...: value and text of
    each column, null if no change has it; `_absent`, the names of these; `_raw`, texts by name; `_last`, the facts of
    the newest change.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    keys = key_names(layout, key)
    known = {"_standing": current, "_deletion": deleted.withColumn("_was_deleted", F.lit(True))}  # noqa: FBT003
    events = _events(rows, layout, key, ordered, lacking)
    if emptied is not None:
        events = events.where(f"not ({emptied.is_older({name: f'_at.{name}' for name in ORDER})})")
        still = F.expr(f"not ({emptied.is_older({name: f'there.{name}' for name in ORDER})})")
        known = {name: frame.withColumn("there", F.when(still, F.col("there"))) for name, frame in known.items()}
    same = Window.partitionBy(*keys)
    events = events.withColumn("_newest", F.max("_at").over(same))
    for name, frame in known.items():
        events = events.join(frame.withColumnRenamed("there", name), keys, "left")
    # An interrupted merge has written the newest change to the current rows, and left the key among the deleted
    # ones: it is repeated.
    cut_off = F.col("_was_deleted") & F.col("_newest").eqNullSafe(F.col("_standing"))
    events = events.where((F.coalesce(cut_off, F.lit(False)) | _is_new("_standing")) & _is_new("_deletion"))  # noqa: FBT003
    reset = F.col("_delete") | F.col("_fresh") | (F.size("_absent") == 0)
    events = events.withColumn("_since", F.max(F.when(reset, F.col("_at"))).over(same))
    events = events.where(F.col("_since").isNull() | (F.col("_at") >= F.col("_since")))
    return _gather(events, layout, keys)


def _events(
    rows: DataFrame, layout: TableLayout, key: tuple[str, ...], ordered: Collection[str], lacking: Mapping[str, str]
) -> DataFrame:
    """Return the changes of each row of the history by key."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = key_names(layout, key)
    rows = with_order(rows, ordered)
    before, after = _key(key, "before", "after", layout), _key(key, "after", "before", layout)
    moved = _full(before, keys) & ~before.eqNullSafe(after)
    half = F.coalesce(F.col("_update_part") == "before", F.lit(False))  # noqa: FBT003
    deletes = (F.col("_op") == "delete") | half
    omits, nulls = (
        F.col("_contract").isin(*(name for name, what in lacking.items() if what == wanted))
        for wanted in ("null-or-empty", "null-if-in-before")
    )
    nulls &= F.col("before").isNotNull()
    absent = _absent("after")
    row = F.struct(
        F.lit(False).alias("_delete"),  # noqa: FBT003
        (F.col("_op").isin(*_NEW) | moved | omits).alias("_fresh"),
        after.alias("_key"),
        F.col("after").alias("_image"),
        F.when(nulls, F.array_intersect(absent, _absent("before"))).otherwise(absent).alias("_absent"),
        F.transform_keys(
            F.map_filter("_raw", lambda name, _: name.startswith("after.")), lambda name, _: F.substr(name, F.lit(7))
        ).alias("_raw"),
    )
    gone = F.struct(
        F.lit(True).alias("_delete"),  # noqa: FBT003
        F.lit(False).alias("_fresh"),  # noqa: FBT003
        before.alias("_key"),
        F.lit(None).cast(rows.schema["after"].dataType).alias("_image"),
        F.array().cast("array<string>").alias("_absent"),
        F.create_map().cast("map<string,string>").alias("_raw"),
    )
    done = F.when(deletes, F.array(gone)).when(moved, F.array(gone, row)).otherwise(F.array(row))
    facts = F.struct(*_FACTS, *shard_names(layout))
    at = F.struct(*ORDER)
    events = rows.select(facts.alias("_facts"), at.alias("_at"), F.explode(done).alias("_event"))
    named = [F.col(f"_event._key.{name}").alias(name) for name in keys]
    return events.select("_facts", "_at", *named, "_event.*").drop("_key")


def _absent(image: str) -> Column:
    """Return the names of the columns that one image of a row lacks."""
    from pyspark.sql import functions as F  # noqa: N812

    prefix = f"{image}."
    named = F.filter("_absent", lambda name: name.startswith(prefix))
    return F.transform(named, lambda name: F.substr(name, F.lit(len(prefix) + 1)))


def shard_names(layout: TableLayout) -> tuple[str, ...]:
    """Return the columns that name the shard of a row; none where the table is that of one source."""
    return () if layout.shards is None else ("_tenant", *SHARD.names)


def shard_part(name: str) -> str:
    """Return a column of the shard as a part of a key, in SQL: a shard without a database has an empty one."""
    return f"coalesce({name}, '')"


def key_names(layout: TableLayout, key: tuple[str, ...]) -> list[str]:
    """Return the names that the parts of a key have while changes are folded.

    Rows of different shards never have the same key: a family does not say that its keys are unique over shards.
    """
    return [f"k{place}" for place in range(len(shard_names(layout)) + len(key))]


def _key(key: tuple[str, ...], image: str, other: str, layout: TableLayout) -> Column:
    """Return the key in one image, or in the other if the first lacks it."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = [F.expr(shard_part(name)) for name in shard_names(layout)]
    for name in key:
        result = F.col(image).isNotNull() & ~F.array_contains("_absent", f"{image}.{name}")
        parts.append(F.when(result, F.col(image).getField(name)).otherwise(F.col(other).getField(name)))
    return F.struct(*(part.alias(name) for part, name in zip(parts, key_names(layout, key), strict=True)))


def _full(key: Column, names: Sequence[str]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    full = F.lit(True)  # noqa: FBT003
    for name in names:
        full &= key.getField(name).isNotNull()
    return full


def _is_new(known: str) -> Column:
    """Whether a change is newer than the known change of its key, and the newest of the key is as well.

    Otherwise merging the same changes again would select other ones of them.
    """
    from pyspark.sql import functions as F  # noqa: N812

    return F.col(known).isNull() | (_newer("_newest", known) & _newer("_at", known))


def _newer(mine: str, theirs: str) -> Column:
    """Whether one change is newer than another: by position; between equal ones by offset, within a partition.

    Between partitions the order is unknown, so the change of this run counts as newer.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def at(name: str) -> tuple[Column, Column]:
        return F.col(f"{mine}.{name}"), F.col(f"{theirs}.{name}")

    (order, known), (topic, other), (partition, another) = at("_order"), at("_topic"), at("_partition")
    (offset, past), (row, earlier) = at("_offset"), at("_row_index")
    elsewhere = (topic != other) | (partition != another)
    by_kafka = elsewhere | (offset > past) | ((offset == past) & (row > earlier))
    by_position = F.coalesce(order > known, order.isNotNull())
    return F.when(order.eqNullSafe(known), by_kafka).otherwise(by_position)


def _gather(events: DataFrame, layout: TableLayout, keys: Sequence[str]) -> DataFrame:
    """One row per key: per column, the value of the newest change that has it."""
    from pyspark.sql import functions as F  # noqa: N812

    result = []
    for place, column in enumerate(layout.columns):
        given = F.struct(
            F.col("_image").getField(column.name).alias("value"), F.element_at("_raw", column.name).alias("text")
        )
        tells = ~F.col("_delete") & ~F.array_contains("_absent", column.name)
        result.append(F.max_by(F.when(tells, given), F.when(tells, F.col("_at"))).alias(f"c{place}"))
    folded = events.groupBy(*keys).agg(
        F.count(F.lit(1)).alias("_changes"),
        F.max_by("_delete", "_at").alias("_delete"),
        F.coalesce(F.max("_was_deleted"), F.lit(False)).alias("_was_deleted"),  # noqa: FBT003
        F.max(F.col("_delete") | F.col("_fresh")).alias("_fresh"),
        F.max_by("_facts", "_at").alias("_last"),
        F.max_by("_raw", "_at").alias("_texts"),
        *result,
    )
    names = [F.lit(column.name) for column in layout.columns]
    unknown = F.array(*(F.when(F.col(f"c{place}").isNull(), name) for place, name in enumerate(names)))
    texts = F.array(
        *(F.struct(name.alias("key"), F.col(f"c{place}.text").alias("value")) for place, name in enumerate(names))
    )
    own = F.map_from_entries(F.filter(texts, lambda entry: entry["value"].isNotNull()))
    others = F.map_filter("_texts", lambda name, _: ~F.array_contains(F.array(*names), name))
    keyed = F.lit(True)  # noqa: FBT003
    for name in keys:
        keyed &= F.col(name).isNotNull()
    return folded.select(
        *keys,
        keyed.alias("_keyed"),
        "_changes",
        "_delete",
        "_was_deleted",
        "_fresh",
        "_last",
        F.filter(unknown, lambda name: name.isNotNull()).alias("_absent"),
        F.map_concat(own, others).alias("_raw"),
        *(f"c{place}" for place in range(len(names))),
    )
