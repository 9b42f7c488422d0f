"""Current rows: the result of a history of changes, in a separate table.

A row is the source's row after its newest change; `deleted` holds the keys whose newest change deleted them, so that a
late change does not restore a row. Merging is idempotent.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from msgspec import structs

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.tables.canonical.reserved_names import names_in
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.spark_checks.tables.lakehouse.change_folding import fold_changes, shard_names, shard_part
from cdc_contracts.spark_checks.tables.lakehouse.emptied_rows import (
    COORDINATES,
    LOADED,
    ORDER,
    Emptied,
    empty_by,
    find_repeats,
)
from cdc_contracts.spark_checks.tables.lakehouse.spark_schemas import OWN, ensure_table, escape, read_facts
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import (
    CURRENT,
    DELETED,
    TableIdentifiers,
    holding,
    quote,
)
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings, Merged

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
"""Facts of the newest change. `_order` is its position as a number, if the contract says that positions are numbers."""
_KEPT: Final = pa.schema([
    pa.field("_absent", pa.list_(pa.string())),
    pa.field("_raw", pa.map_(pa.string(), pa.string())),
])  # fmt: skip
"""Columns whose value no change has set, and the text of values that their column cannot hold."""

_WHOLE: Final = "whole"
"""Set once a table was built from the whole history: if that is interrupted, it starts again."""
_VIEW: Final = "cdc_contracts_folded"


@dataclass(frozen=True)
class CurrentRowNames:
    """The column names in tables of current rows: those of the source, and metadata.

    `shard` are facts that are parts of the key before its columns; none where the rows are those of one source table.
    """

    columns: Mapping[str, str]
    facts: Mapping[str, str]
    shard: tuple[str, ...] = ()

    def in_key(self, key: tuple[str, ...], table: str = "") -> list[str]:
        """Return the parts of a key in a table, in SQL, in the order of `k0`, `k1`, ... of folded changes."""
        shard = [shard_part(f"{table}{quote(self.facts[name])}") for name in self.shard]
        return [*shard, *(f"{table}{column}" for column in self.in_columns(key))]

    def in_columns(self, key: tuple[str, ...]) -> dict[str, str]:
        """Return the columns of a key, quoted, each with its name while changes are folded."""
        start = len(self.shard)
        return {quote(self.columns[name]): f"k{start + place}" for place, name in enumerate(key)}


@dataclass(frozen=True)
class CurrentTables:
    """The current rows of tables.

    `ordered` names the contracts whose positions are numbers; `lacking` says by contract what a column is that the row
    after a change lacks, where something is known of it.
    """

    addresses: TableIdentifiers
    ordered: Collection[str]
    lacking: Mapping[str, str] = field(default_factory=dict)

    def merge(
        self, session: SparkSession, layout: TableLayout, key: tuple[str, ...], rows: DataFrame, history: DataFrame,
        emptyings: Emptyings | None = None,
    ) -> Merged | None:  # fmt: skip
        """Update the current rows with new rows of the history; None if no primary key is known.

        The first time, they are built from the whole history.
        Raises UnavailableError if the existing table has another key, or columns with names of metadata.
        """
        key = key or self._known_key(session, layout)
        if not key:
            return None
        names = current_names(layout, self.addresses.format)
        current = self._ensure(session, CURRENT, layout, key, names)
        deleted = self._ensure(session, DELETED, layout, key, names)
        whole = all((read_facts(session, table) or {}).get(_WHOLE) for table in (current, deleted))
        changes, gone, emptied = rows if whole else history, 0, None
        if emptyings is not None:
            emptied = empty_by(emptyings, self.ordered)
            repeats = find_repeats(history if emptyings.new else changes, history, self.ordered, emptied)
            # Rows known to earlier runs were removed then, and are left out of this merge.
            if emptyings.new:
                gone = _remove_older(session, current, names, emptied)
                if repeats is not None:
                    gone += _remove_repeats(session, current, names, repeats)
                    changes = history  # what they had replaced is back
            if repeats is not None:
                changes = changes.join(repeats, list(COORDINATES), "left_anti")
        known = _known(session, current, key, names), _known(session, deleted, key, names)
        folded = fold_changes(changes, layout, key, self.ordered, *known, emptied, self.lacking).persist()
        try:
            merged, loaded, returned = _count(folded)
            folded.where("_keyed").createOrReplaceTempView(_VIEW)
            # The current rows first: the deletions show that a merge is repeated.
            if merged.changed or merged.deleted:
                session.sql(_merge_current(current, layout, key, names))
            if merged.deleted or returned:
                session.sql(_merge_deleted(deleted, key, names))
        finally:
            session.catalog.dropTempView(_VIEW)
            folded.unpersist()
        if not whole:
            for table in (current, deleted):
                session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{OWN}{_WHOLE}' = 'true')")
        untold = _count_undecided(session, current, names, emptied) if emptied is not None else 0
        return structs.replace(merged, emptied=gone, untold=untold, reloaded=0 if emptied is None else loaded)

    def _known_key(self, session: SparkSession, layout: TableLayout) -> tuple[str, ...]:
        facts = read_facts(session, self.addresses.find(CURRENT, layout.name)) or {}
        return tuple(json.loads(facts.get("primary-key", "[]")))

    def _ensure(
        self, session: SparkSession, kind: str, layout: TableLayout, key: tuple[str, ...], names: CurrentRowNames
    ) -> str:
        identifier = self.addresses.find(kind, layout.name)
        columns = {column.name: column.type for column in layout.columns}
        shard = [pa.field(name, pa.string()) for name in names.shard]
        if kind == CURRENT:
            result, facts = list(columns), [*shard, *_FACTS, *_KEPT]
        else:
            result, facts = list(key), [*shard, *_FACTS]
        schema = pa.schema([
            *((names.columns[name], columns[name]) for name in result),
            *(field.with_name(names.facts[field.name]) for field in facts),
        ])  # fmt: skip
        properties = {
            "table": layout.name.text,
            "holds": holding(kind, layout),
            "primary-key": json.dumps(key),
            "metadata": json.dumps(list(names.facts.values())),
        }
        ensure_table(session, identifier, self.addresses.format, schema, properties)
        return identifier


def ordered_contracts(catalogue: Catalogue) -> frozenset[str]:
    """Return the references of the contracts whose positions are increasing numbers."""
    positions = {str(version): version.meaning.envelope.position for version in catalogue.all_versions()}
    return frozenset(
        name for name, position in positions.items() if position is not None and position.order == "integer"
    )


def lacking_columns(catalogue: Catalogue, options: ReadingOptions) -> dict[str, str]:
    """Return by contract what a column is that the row after a change lacks.

    Rows may lack columns by the contract, whatever is said now: those of earlier runs may; or because the user says it.
    """
    columns = {str(version): version.meaning.columns for version in catalogue.all_versions()}
    return {
        name: one.lacking
        for name, one in columns.items()
        if one.lacking and (one.optional or options.may_lack_columns(one))
    }


def current_names(layout: TableLayout, table_format: str) -> CurrentRowNames:
    """Return the column names of current rows: on a conflict the source keeps its name, not the metadata."""
    columns = names_in(table_format, (column.name for column in layout.columns))
    shard = shard_names(layout)
    facts = names_in(table_format, (*_FACTS.names, *_KEPT.names, *shard), columns.values())
    return CurrentRowNames(columns, facts, shard)


def _remove_older(session: SparkSession, identifier: str, names: CurrentRowNames, emptied: Emptied) -> int:
    """Remove the rows older than the statements that have emptied the table; return their number."""
    older = emptied.is_older(_facts(names))
    count = session.table(identifier).where(older).count()
    if count:
        session.sql(f"DELETE FROM {identifier} WHERE {older}")  # noqa: S608  quoted names, escaped texts
    return count


def _remove_repeats(session: SparkSession, identifier: str, names: CurrentRowNames, repeats: DataFrame) -> int:
    """Remove the rows that are there by changes of these coordinates; return their number."""
    facts = _facts(names)
    there = session.table(identifier).selectExpr(*(f"{facts[name]} AS {name}" for name in COORDINATES))
    found = there.join(repeats, list(COORDINATES), "left_semi").persist()
    try:
        count = found.count()
        if count:
            found.createOrReplaceTempView(_VIEW)
            same = " AND ".join(f"t.{facts[name]} = s.{name}" for name in COORDINATES)
            session.sql(f"MERGE INTO {identifier} AS t USING {_VIEW} AS s ON {same} WHEN MATCHED THEN DELETE")
            session.catalog.dropTempView(_VIEW)
    finally:
        found.unpersist()
    return count


def _count_undecided(session: SparkSession, identifier: str, names: CurrentRowNames, emptied: Emptied) -> int:
    return session.table(identifier).where(emptied.may_be_older(_facts(names))).count() if emptied.own else 0


def _facts(names: CurrentRowNames) -> dict[str, str]:
    return {name: quote(spelled) for name, spelled in names.facts.items()}


def _known(session: SparkSession, identifier: str, key: tuple[str, ...], names: CurrentRowNames) -> DataFrame:
    """Return the keys of a table (`k0`, `k1`, ...) with the change that wrote each (`there`)."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls them

    keys = [F.expr(part).alias(f"k{place}") for place, part in enumerate(names.in_key(key))]
    there = F.struct(*(F.col(quote(names.facts[name])).alias(name) for name in ORDER))
    return session.table(identifier).select(*keys, there.alias("there"))


def _count(folded: DataFrame) -> tuple[Merged, int, int]:
    """Return the counts of the merge, the number of keys from a full load, and of restored deleted keys."""
    *counts, loaded, returned = folded.selectExpr(
        "count_if(_keyed and not _delete)",
        "count_if(_keyed and _delete)",
        "sum(if(_keyed, 0, _changes))",
        f"count_if(_keyed and not _delete and _last._op = '{LOADED}')",
        "count_if(_was_deleted and not _delete)",
    ).collect()[0]
    return Merged(*(int(count or 0) for count in counts)), int(loaded), int(returned)


def _merge_current(identifier: str, layout: TableLayout, key: tuple[str, ...], names: CurrentRowNames) -> str:
    """Return one MERGE: columns that the newest changes set are overwritten, all others stay."""
    updated: dict[str, str] = {}
    inserted: dict[str, str] = {}
    keys = names.in_columns(key)
    for place, column in enumerate(layout.columns):
        name, given = quote(names.columns[column.name]), f"s.c{place}"
        if column.name in key:
            inserted[name] = f"s.{keys[name]}"
        else:
            inserted[name] = f"{given}.value"
            updated[name] = f"case when {given} is not null then {given}.value when not s._fresh then t.{name} end"
    for name in (*names.shard, *_FACTS.names):
        updated[quote(names.facts[name])] = inserted[quote(names.facts[name])] = f"s._last.{name}"
    absent, raw = (quote(names.facts[name]) for name in _KEPT.names)
    inserted |= {absent: "s._absent", raw: "s._raw"}
    updated[absent] = f"if(s._fresh, s._absent, array_intersect(s._absent, t.{absent}))"
    # Stored texts stay if no change has set their column; those of columns that the layout lacks stay until the next
    # complete image.
    columns = ", ".join(f"'{escape(column.name)}'" for column in layout.columns)
    kept = (
        f"map_filter(t.{raw}, (name, text) -> not map_contains_key(s._raw, name) "
        f"and (array_contains(s._absent, name) or not array_contains(array({columns}), name)))"
    )
    updated[raw] = f"if(s._fresh or size(s._absent) = 0, s._raw, map_concat({kept}, s._raw))"
    return (
        f"MERGE INTO {identifier} AS t USING {_VIEW} AS s ON {_same_key(key, names)} "
        "WHEN MATCHED AND s._delete THEN DELETE "
        f"WHEN MATCHED THEN UPDATE SET {_assignments(updated)} "
        f"WHEN NOT MATCHED AND NOT s._delete THEN INSERT {_values(inserted)}"
    )


def _merge_deleted(identifier: str, key: tuple[str, ...], names: CurrentRowNames) -> str:
    """Return one MERGE: deleted keys are inserted, restored keys are removed."""
    facts = {quote(names.facts[name]): f"s._last.{name}" for name in (*names.shard, *_FACTS.names)}
    keys = {column: f"s.{name}" for column, name in names.in_columns(key).items()}
    changed = f"SELECT * FROM {_VIEW} WHERE _delete OR _was_deleted"  # noqa: S608  a constant
    return (
        f"MERGE INTO {identifier} AS t USING ({changed}) AS s ON {_same_key(key, names)} "
        "WHEN MATCHED AND NOT s._delete THEN DELETE "
        f"WHEN MATCHED THEN UPDATE SET {_assignments(facts)} "
        f"WHEN NOT MATCHED AND s._delete THEN INSERT {_values(keys | facts)}"
    )


def _same_key(key: tuple[str, ...], names: CurrentRowNames) -> str:
    return " AND ".join(f"{part} = s.k{place}" for place, part in enumerate(names.in_key(key, "t.")))


def _assignments(updated: Mapping[str, str]) -> str:
    return ", ".join(f"t.{name} = {value}" for name, value in updated.items())


def _values(inserted: Mapping[str, str]) -> str:
    return f"({', '.join(inserted)}) VALUES ({', '.join(inserted.values())})"
