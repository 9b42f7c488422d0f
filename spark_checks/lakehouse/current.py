"""The current rows of tables: what a history of changes comes to, kept in a table of its own.

A row of it is the source's row as the newest change left it; `deleted` holds the keys whose newest change deleted them,
so that a change that comes late does not bring a row back. Merging the same changes again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from cdc_contracts.registry.canonical.layouts import TableLayout
from cdc_contracts.spark_checks.lakehouse.addresses import CURRENT, DELETED, Addresses, quote
from cdc_contracts.spark_checks.lakehouse.folding import ORDER, fold_changes
from cdc_contracts.spark_checks.lakehouse.schemas import ensure_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_INSTANT: Final = pa.timestamp("us", tz="UTC")
_FACTS: Final = pa.schema([
    pa.field("_op", pa.string()),
    pa.field("_event_time", _INSTANT),
    pa.field("_position", pa.string()),
    pa.field("_order", pa.decimal128(38, 0)),
    pa.field("_topic", pa.string()),
    pa.field("_partition", pa.int32()),
    pa.field("_offset", pa.int64()),
    pa.field("_row_index", pa.int32()),
])  # fmt: skip
"""Of the newest change. `_order` is its position as a number, where its contract says that positions are numbers."""
_KEPT: Final = pa.schema([
    pa.field("_absent", pa.list_(pa.string())),
    pa.field("_raw", pa.map_(pa.string(), pa.string())),
])  # fmt: skip
"""Columns whose value no change has told, and the text of values that their column cannot hold."""


@dataclass(frozen=True)
class Merged:
    """What a merge came to: keys that changed, keys that are gone, and changes that name no key."""

    changed: int = 0
    deleted: int = 0
    keyless: int = 0


@dataclass(frozen=True)
class CurrentTables:
    """The current rows of tables. `ordered` names the contracts whose positions are numbers."""

    addresses: Addresses
    ordered: Collection[str]

    def merge(self, session: SparkSession, layout: TableLayout, key: tuple[str, ...], rows: DataFrame) -> Merged:
        """Bring the current rows up to date with rows of the history.

        Raises UnavailableError where the table that is there has another key, or columns named as metadata is.
        """
        names = metadata_names(layout)
        current = self._ensure(session, CURRENT, layout, key, _current_schema(layout, names))
        deleted = self._ensure(session, DELETED, layout, key, _deleted_schema(layout, key, names))
        known = [
            _known(session, identifier, key, names) for identifier in (current, deleted)
        ]  # what is newer than both is new
        folded = fold_changes(rows, layout, key, self.ordered, known).persist()
        try:
            merged = _count(folded)
            view = f"cdc_folded_{abs(hash(current)):x}"
            folded.where("_keyed").createOrReplaceTempView(view)
            try:
                if merged.changed or merged.deleted:
                    session.sql(_merge_current(current, view, layout, key, names))
                if merged.deleted:
                    session.sql(_merge_deleted(deleted, view, key, names))
            finally:
                session.catalog.dropTempView(view)
        finally:
            folded.unpersist()
        return merged

    def _ensure(
        self, session: SparkSession, kind: str, layout: TableLayout, key: tuple[str, ...], schema: pa.Schema
    ) -> str:
        identifier = self.addresses.find(kind, layout.name)
        facts = {
            "table": layout.name.text,
            "holds": kind,
            "primary-key": json.dumps(key),
            "metadata": json.dumps(list(metadata_names(layout).values())),
        }
        ensure_table(session, identifier, self.addresses.format, schema, facts)
        return identifier


def metadata_names(layout: TableLayout) -> dict[str, str]:
    """Return how each metadata column is called: a source column of its name puts one more `_` before it."""
    taken = {column.name.casefold() for column in layout.columns}
    names = {}
    for name in (*_FACTS.names, *_KEPT.names):
        free = name
        while free in taken:
            free = f"_{free}"
        taken.add(free)
        names[name] = free
    return names


def _current_schema(layout: TableLayout, names: Mapping[str, str]) -> pa.Schema:
    columns = [pa.field(column.name, column.type) for column in layout.columns]
    return pa.schema([*columns, *(field.with_name(names[field.name]) for field in (*_FACTS, *_KEPT))])


def _deleted_schema(layout: TableLayout, key: tuple[str, ...], names: Mapping[str, str]) -> pa.Schema:
    types = {column.name: column.type for column in layout.columns}
    columns = [pa.field(name, types[name]) for name in key]
    return pa.schema([*columns, *(field.with_name(names[field.name]) for field in _FACTS)])


def _known(session: SparkSession, identifier: str, key: tuple[str, ...], names: Mapping[str, str]) -> DataFrame:
    """The keys of a table (`k0`, `k1`, ...) and by which change each is there (`there`)."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls them

    keys = [F.col(quote(name)).alias(f"k{place}") for place, name in enumerate(key)]
    there = F.struct(*(F.col(quote(names[name])).alias(name) for name in ORDER))
    return session.table(identifier).select(*keys, there.alias("there"))


def _count(folded: DataFrame) -> Merged:
    counts = folded.selectExpr(
        "count_if(_keyed and not _delete)", "count_if(_keyed and _delete)", "sum(if(_keyed, 0, _changes))"
    ).collect()[0]
    return Merged(*(int(count or 0) for count in counts))


def _merge_current(
    identifier: str, view: str, layout: TableLayout, key: tuple[str, ...], names: Mapping[str, str]
) -> str:
    """One MERGE: what the newest changes say of a column wins, and what they do not say stays as it was."""
    absent, raw = quote(names["_absent"]), quote(names["_raw"])
    columns = ", ".join(f"'{_escape(column.name)}'" for column in layout.columns)
    # Of what was there as text, that stays whose column no change has told; and of columns that the layout lacks
    # everything, until a whole image comes.
    kept = (
        f"map_filter(t.{raw}, (name, text) -> not map_contains_key(s._raw, name) "
        f"and (array_contains(s._absent, name) or not array_contains(array({columns}), name)))"
    )
    updated: dict[str, str] = {}
    inserted: dict[str, str] = {}
    for place, column in enumerate(layout.columns):
        name, given = quote(column.name), f"s.c{place}"
        updated[name] = f"case when {given} is not null then {given}.value when not s._fresh then t.{name} end"
        inserted[name] = f"{given}.value"
    for name in key:
        updated.pop(quote(name))
        inserted[quote(name)] = f"s.k{key.index(name)}"
    for name in _FACTS.names:
        updated[quote(names[name])] = inserted[quote(names[name])] = f"s._last.{name}"
    updated[absent] = f"if(s._fresh, s._absent, array_intersect(s._absent, t.{absent}))"
    updated[raw] = f"if(s._fresh or size(s._absent) = 0, s._raw, map_concat({kept}, s._raw))"
    inserted |= {absent: "s._absent", raw: "s._raw"}
    return (
        f"MERGE INTO {identifier} AS t USING {view} AS s ON {_same_key(key)} "
        "WHEN MATCHED AND s._delete THEN DELETE "
        f"WHEN MATCHED THEN UPDATE SET {', '.join(f't.{name} = {value}' for name, value in updated.items())} "
        f"WHEN NOT MATCHED AND NOT s._delete THEN INSERT {_values(inserted)}"
    )


def _merge_deleted(identifier: str, view: str, key: tuple[str, ...], names: Mapping[str, str]) -> str:
    facts = {quote(names[name]): f"s._last.{name}" for name in _FACTS.names}
    inserted = {quote(name): f"s.k{place}" for place, name in enumerate(key)} | facts
    return (
        f"MERGE INTO {identifier} AS t USING (SELECT * FROM {view} WHERE _delete) AS s "  # noqa: S608  quoted names
        f"ON {_same_key(key)} "
        f"WHEN MATCHED THEN UPDATE SET {', '.join(f't.{name} = {value}' for name, value in facts.items())} "
        f"WHEN NOT MATCHED THEN INSERT {_values(inserted)}"
    )


def _same_key(key: tuple[str, ...]) -> str:
    return " AND ".join(f"t.{quote(name)} = s.k{place}" for place, name in enumerate(key))


def _values(inserted: Mapping[str, str]) -> str:
    return f"({', '.join(inserted)}) VALUES ({', '.join(inserted.values())})"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
