"""Layout resolution: the columns of canonical tables and their types.

A layout never loses a column and never changes the type of one, whatever comes later: files that were written stay
readable beside those that are written next, and what no longer fits is text in `_raw`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts
from cdc_contracts.registry.core.schema.message_schemas.table_columns import table_mappings
from cdc_contracts.registry.core.schema.message_schemas.table_examples import table_in
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumn, ObservedColumns, TableName
from cdc_contracts.registry.core.tables.canonical.added_columns import DdlStatement, added_columns
from cdc_contracts.registry.core.tables.canonical.canonical_names import shards_of
from cdc_contracts.registry.core.tables.canonical.column_types import TEXT, column_type
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED, ColumnLayout, Layouts, TableLayout
from cdc_contracts.registry.core.values import FORMS

CONTRACT: Final = "contract"
MESSAGES: Final = "messages"
MOST_COLUMNS: Final = 4_096
"""No source table has more, so that made-up names of columns cannot make a table grow without end."""

Added = Mapping[TableName, Mapping[str, str]]
"""Columns that DDL messages added, by table: their names and source types."""

_Seen = Mapping[str, AbstractSet[tuple[str | None, str | None]]]


def resolve_layouts(
    known: Layouts, tables: TableContracts, observed: ObservedColumns, added: Added, shape: str = NESTED
) -> dict[TableName, TableLayout]:
    """Return the layouts of all tables that were ever seen: the known ones, and what this run adds to them.

    New ones are of a shape.

    A column is laid out once a row had it, for only then is it known how its values are written. A new table takes the
    columns of its contract, else all that were seen; a known one takes new columns that its contract lists or a DDL
    message added, and where no types are known all that were seen: its first rows may have been keys alone.
    """
    layouts = dict(known)
    for name in added:
        if name in layouts:
            layouts[name] = _await(layouts[name], added[name])
    for name in observed.tables():
        contract, seen = tables.of(*name) if name.table else None, observed.columns(name)
        before = layouts.get(name)
        if before is not None:
            allowed = [*(contract.columns if contract else _untyped(before, seen)), *before.awaited]
        elif contract is not None:
            allowed = [*contract.columns, *added.get(name, ())]
        else:
            allowed = list(seen)
        before = before or TableLayout(
            name, (), (), MESSAGES if contract is None else CONTRACT, tuple(added.get(name, ())), shape,
            shards_of(name, tables.families),
        )  # fmt: skip
        layouts[name] = _widen(before, allowed, seen, contract)
    return layouts


def resolve_run_layouts(
    known: Layouts,
    tables: TableContracts,
    observed: ObservedColumns,
    statements: Iterable[DdlStatement],
    names: AbstractSet[TableName],
    shape: str = NESTED,
) -> dict[TableName, TableLayout]:
    """Return the layouts of the tables `names`, which the run has rows of, and of those whose layout it changes.

    A table beyond the limit of observed columns has no columns: all values of its rows are text in `_raw`.
    """
    columns = {name: [column.name for column in layout.columns] for name, layout in known.items()}
    for name in observed.tables():
        columns[name] = [*columns.get(name, ()), *observed.columns(name)]
    settled = resolve_layouts(known, tables, observed, added_columns(statements, columns, tables.families), shape)
    changed = {name: layout for name, layout in settled.items() if layout != known.get(name)}
    bare = {
        name: TableLayout(name, (), (), MESSAGES, shape=shape, shards=shards_of(name, tables.families))
        for name in names if name not in settled
    }  # fmt: skip
    return {name: settled[name] for name in names if name in settled} | changed | bare


@dataclass(frozen=True)
class LayoutGuess:
    """The expected layouts of tables, if the rest of a run is like the part read so far.

    `observed` and `statements` may grow between two guesses; new layouts are of `shape`.
    """

    known: Layouts
    tables: TableContracts
    observed: ObservedColumns
    statements: AbstractSet[DdlStatement]
    shape: str = NESTED

    def of(self, name: TableName) -> TableLayout:
        """Return the layout of a table with rows."""
        known = {name: self.known[name]} if name in self.known else {}
        observed = self.observed.of(name)
        return resolve_run_layouts(known, self.tables, observed, self.statements, {name}, self.shape)[name]


def differing_types(layout: TableLayout, observed: ObservedColumns) -> dict[str, tuple[str, ...]]:
    """Return the source types of each column that rows of a run had in another type than the table has.

    Its values are text: those of all rows if they disagreed when the column was laid out, else those that do not fit.
    """
    seen = observed.columns(layout.name)
    return {
        column.name: tuple(sorted({source_type or kind or "" for source_type, kind in seen[column.name]}))
        for column in layout.columns
        if any(column_type(*one) != column.type for one in seen.get(column.name, ()))
    }


def _untyped(layout: TableLayout, seen: _Seen) -> list[str]:
    """Return the columns that rows had without a type, where the layout has none either."""
    if layout.origin == CONTRACT or any(column.source_type is not None for column in layout.columns):
        return []
    held = {column.name for column in layout.columns}
    untyped = [name for name, result in seen.items() if name not in held and not any(one for one, _ in result)]
    return untyped[: max(0, MOST_COLUMNS - len(layout.columns))]


def _await(layout: TableLayout, added: Iterable[str]) -> TableLayout:
    held = {column.name for column in layout.columns}
    return replace(
        layout, awaited=tuple(dict.fromkeys([*layout.awaited, *(name for name in added if name not in held)]))
    )


def _widen(layout: TableLayout, allowed: Iterable[str], seen: _Seen, contract: TableContract | None) -> TableLayout:
    """Append the columns that are allowed and were seen."""
    columns = [*layout.columns, *_new_columns(layout, allowed, seen, contract)]
    held = {column.name for column in columns}
    return replace(
        layout,
        columns=tuple(columns),
        primary_key=layout.primary_key or (contract.primary_key if contract is not None else ()),
        awaited=tuple(name for name in layout.awaited if name not in held),
    )


def _new_columns(
    layout: TableLayout, allowed: Iterable[str], seen: _Seen, contract: TableContract | None
) -> Iterator[ColumnLayout]:
    taken = {column.name.casefold() for column in layout.columns}
    for name in allowed:
        # Spark, Delta and Iceberg know no two names that differ in case alone: the first stays. No database has a name
        # with a NUL, which readers of Parquet take for its end.
        if name not in seen or name.casefold() in taken or "\0" in name:
            continue
        taken.add(name.casefold())
        declared = contract.types.get(name) if contract is not None else None
        yield _resolve_column(name, declared, seen[name])


def _resolve_column(name: str, declared: str | None, seen: AbstractSet[tuple[str | None, str | None]]) -> ColumnLayout:
    """Return a column by its declared type, else by what was seen: text, where that does not agree."""
    result = sorted({(declared or source_type or "", kind or "") for source_type, kind in seen})
    types = {column_type(source_type or None, kind or None) for source_type, kind in result}
    source_type, kind = result[0]
    return ColumnLayout(name, types.pop() if len(types) == 1 else TEXT, source_type or None, kind or None)


def canonical_table(
    version: Version, table: TableContract, reading_options: ReadingOptions, shape: str = NESTED
) -> TableLayout:
    """Return the layout of the rows of a table whose messages have every column that the table contract lists.

    A column that decode keeps as text beside the others (its name differs from another in case alone) is not in it.
    Raises UsageError if the version cannot carry a type of the table.
    """
    result = table_in(version, table)
    name, observed = TableName.of(result.database, result.schema, result.name), ObservedColumns()
    zone = reading_options.timestamp_zone(table)
    for one in table_mappings(version, table, reading_options):
        kinds = {column: FORMS[form].kind_in(zone) for column, form in one.forms.items()}
        observed.add(name, tuple(ObservedColumn(column, type_, kinds[column]) for column, type_ in table.types.items()))
    contracts = TableContracts([table], families=reading_options.families)
    return resolve_layouts({}, contracts, observed, {}, shape)[name]
