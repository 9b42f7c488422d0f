"""Observed columns: the columns of the rows of each table, with their source types and kinds of values.

Layouts are resolved from them. The observed columns of parts of a run may be merged in any order; not even the order
of columns depends on it.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from cdc_contracts.registry.core.contract.table_contracts import table_name

MOST_TABLES: Final = 20_000
LONGEST_PART: Final = 1_000
MOST_SHAPES: Final = 64
MOST_OTHERS: Final = 500
"""If there are more tables, shapes of one table, or other columns of one, the first by name are kept; columns that are
not become text in `_raw`. Rows that may lack columns soon have more shapes."""


class TableName(NamedTuple):
    """A source table by its parts, as a message names them."""

    database: str | None
    schema: str | None
    table: str

    @classmethod
    def of(cls, database: str | None, schema: str | None, table: str | None) -> TableName:
        """Return the table of a row. A part longer than any database allows is cut and ends in its digest."""
        return cls(database and shorten_name(database), schema and shorten_name(schema), shorten_name(table or ""))

    @property
    def text(self) -> str:
        """The name as findings and table contracts write it; a part that contains a dot is in backquotes.

        So no two tables of a directory have the same name.
        """
        return table_name(*(part and _quote(part) for part in self)) or self.table

    @property
    def order(self) -> tuple[str, ...]:
        """The sort key of names: a missing part comes first."""
        return tuple("" if part is None else f" {part}" for part in self)


def shorten_name(part: str) -> str:
    """Return a name; one that is longer than any database allows is cut and ends in its digest."""
    if len(part) <= LONGEST_PART:
        return part
    digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{part[:LONGEST_PART]}…{digest}"


def _quote(part: str) -> str:
    return f"`{part.replace('`', '``')}`" if "." in part or "`" in part else part


class ObservedColumn(NamedTuple):
    """A column of a row: its source type, from the message or its table contract, and its canonical kind."""

    name: str
    source_type: str | None
    kind: str | None


ObservedRow = tuple[ObservedColumn, ...]
"""The columns of a row in their order."""


@dataclass
class ObservedColumns:
    """The shapes that the rows of each table had, and the columns of those that are not kept (`others`)."""

    shapes: dict[TableName, set[ObservedRow]] = field(default_factory=dict)
    others: dict[TableName, set[ObservedColumn]] = field(default_factory=dict)

    def add(self, table: TableName, shape: ObservedRow) -> None:
        """Add rows of a table."""
        known = self.shapes.setdefault(table, set())
        known.add(shape)
        if len(known) > 2 * MOST_SHAPES:
            self.shapes[table] = _first_shapes(known)
            self._add_others(table, (column for left in known - self.shapes[table] for column in left))
        if len(self.shapes) > 2 * MOST_TABLES:
            self._bound()

    def merge(self, other: ObservedColumns) -> None:
        """Merge the data of another part of the run; the order of merging does not matter."""
        for table, shapes in other.shapes.items():
            for shape in shapes:
                self.add(table, shape)
        for table, columns in other.others.items():
            if table in self.shapes:
                self._add_others(table, columns)

    def of(self, table: TableName) -> ObservedColumns:
        """Return what was observed of one table."""
        shapes, others = self.shapes.get(table), self.others.get(table)
        return ObservedColumns({table: shapes} if shapes else {}, {table: others} if others else {})

    def renamed(self, target_of: Callable[[TableName], TableName]) -> ObservedColumns:
        """Return the same with other names of tables, of which several may be one."""
        found = ObservedColumns()
        for table, shapes in self.shapes.items():
            target = target_of(table)
            found.merge(ObservedColumns({target: shapes}, {target: self.others.get(table, set())}))
        return found

    def tables(self) -> list[TableName]:
        """Return the tables in order of their names."""
        return sorted(heapq.nsmallest(MOST_TABLES, self.shapes, key=attrgetter("order")), key=attrgetter("order"))

    def columns(self, table: TableName) -> dict[str, set[tuple[str | None, str | None]]]:
        """Return the source types and kinds that were observed for each column of a table.

        Columns are in the order of the widest shape; columns that it lacks follow.
        """
        found: dict[str, set[tuple[str | None, str | None]]] = {}
        shapes = self.shapes.get(table, set())
        first = _first_shapes(shapes)
        left = {*self.others.get(table, ()), *(column for shape in shapes - first for column in shape)}
        for columns in (*sorted(first, key=_rank), _first_columns(left)):
            for name, source_type, kind in columns:
                found.setdefault(name, set()).add((source_type, kind))
        return found

    def _add_others(self, table: TableName, columns: Iterable[ObservedColumn]) -> None:
        known = self.others.setdefault(table, set())
        known.update(columns)
        if len(known) > 2 * MOST_OTHERS:
            self.others[table] = {*_first_columns(known)}

    def _bound(self) -> None:
        self.shapes = {table: self.shapes[table] for table in self.tables()}
        self.others = {table: columns for table, columns in self.others.items() if table in self.shapes}


def _first_shapes(shapes: Iterable[ObservedRow]) -> set[ObservedRow]:
    return set(heapq.nsmallest(MOST_SHAPES, shapes, key=_rank))


def _first_columns(columns: Iterable[ObservedColumn]) -> list[ObservedColumn]:
    return heapq.nsmallest(MOST_OTHERS, columns, key=_order)


def _rank(shape: ObservedRow) -> tuple[int, tuple[tuple[str, ...], ...]]:
    return -len(shape), tuple(map(_order, shape))


def _order(column: ObservedColumn) -> tuple[str, ...]:
    return tuple("" if part is None else f" {part}" for part in column)
