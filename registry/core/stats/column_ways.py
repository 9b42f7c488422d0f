"""Column ways: for each partition, table and column, the range of offsets whose values are alike in some way.

That is small and exact, and independent of batch limits and the order of merging.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeVar

from cdc_contracts.registry.core.stats.position_sequences import Stretch

MOST_TABLES: Final = 2_000
_MOST_WHOLE: Final = 16
"""Ways in which rows of a table may differ before its columns are counted one by one."""
Way = TypeVar("Way")


class WrittenTable(NamedTuple):
    """Rows of one table in a partition, loaded or changed; `at` is the pointer to the row of an insert.

    `typed` if a table contract gives the types.
    """

    topic: str
    partition: int
    table: str | None
    subject: str
    loaded: bool
    at: str
    typed: bool


class JoinedStretches:
    """Unions of stretches, each made once: the columns of the same rows mostly have the same stretches."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Stretch, Stretch, Stretch]] = {}

    def join(self, one: Stretch, other: Stretch) -> Stretch:
        """Return the union of two stretches, of which neither is changed, the same object for the same two."""
        key = id(one), id(other)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = one, other, one.joined(other)  # kept alive, so that no id is used again
        return found[2]


@dataclass(frozen=True, eq=False)
class RowWays(Generic[Way]):
    """The way of each column of some rows, None for a column without a value; its hash is made once."""

    columns: tuple[tuple[str, Way | None], ...]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, RowWays) and self.columns == other.columns)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return RowWays, (self.columns,)  # a hash is not the same in another process

    @cached_property
    def _hash(self) -> int:
        return hash(self.columns)

    @cached_property
    def hold_values(self) -> bool:
        """Whether some column has a value."""
        return any(way is not None for _, way in self.columns)


@dataclass(eq=False)
class ColumnWays(Generic[Way]):  # noqa: PLW1641  it changes
    """The ways in which values of each column are alike, each with the stretch of its values.

    Bounded: if there are too many tables, the first by name are kept and `cut` is set. Few rows of a table are kept
    whole, by the ways of all their columns, until the columns are asked for; a table is in one of both.
    """

    columns: dict[WrittenTable, dict[str, dict[Way, Stretch]]] = field(default_factory=dict)
    whole: dict[WrittenTable, dict[RowWays[Way], Stretch]] = field(default_factory=dict)
    cut: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnWays) and (self.seen, self.cut) == (other.seen, other.cut)

    @property
    def seen(self) -> dict[WrittenTable, dict[str, dict[Way, Stretch]]]:
        """The ways of each column, by table."""
        for rows in [*self.whole]:
            self._open(rows)
        return self.columns

    @staticmethod
    def count(column: dict[Way, Stretch], way: Way, stretch: Stretch, joined: JoinedStretches) -> None:
        """Count values of a column; no stretch is changed, since the other columns of its rows share it."""
        known = column.get(way)
        column[way] = stretch if known is None else joined.join(known, stretch)

    def add(self, rows: WrittenTable, name: str, way: Way, stretch: Stretch, joined: JoinedStretches) -> None:
        """Count values of a column that are alike."""
        self.add_ways(rows, ((name, way),), stretch, joined)

    def add_ways(
        self, rows: WrittenTable, ways: Iterable[tuple[str, Way | None]], stretch: Stretch,
        joined: JoinedStretches | None = None,
    ) -> None:  # fmt: skip
        """Count the values of some columns, each with its way; None for a column without a value."""
        if rows in self.whole:
            self._open(rows)
        known = self.columns.get(rows)
        columns = {} if known is None else known
        self._count_ways(columns, ways, stretch, joined or JoinedStretches())
        if known is None and columns:
            self.columns[rows] = columns
            self._bound()

    def add_rows(self, rows: WrittenTable, ways: RowWays[Way], stretch: Stretch, joined: JoinedStretches) -> None:
        """Count the values of rows that are alike in all columns."""
        if rows in self.columns:
            self.add_ways(rows, ways.columns, stretch, joined)
            return
        whole = self.whole.get(rows)
        if whole is None:
            if ways.hold_values:
                self.whole[rows] = {ways: stretch}
                self._bound()
            return
        known = whole.get(ways)
        whole[ways] = stretch if known is None else known.joined(stretch)
        if len(whole) > _MOST_WHOLE:
            self._open(rows)

    def merge(self, other: ColumnWays[Way]) -> None:
        """Merge the data of another part of the run; the order of merging does not matter."""
        self.cut |= other.cut
        joined = JoinedStretches()
        for rows, columns in other.columns.items():
            if rows in self.whole:
                self._open(rows)
            mine = self.columns.get(rows)
            if mine is None:
                self.columns[rows] = {name: dict(column) for name, column in columns.items()}
                continue
            for name, column in columns.items():
                for way, stretch in column.items():
                    self.count(mine.setdefault(name, {}), way, stretch, joined)
        for rows, whole in other.whole.items():
            for ways, stretch in whole.items():
                self.add_rows(rows, ways, stretch, joined)
        self._bound()

    def tables(self) -> Iterator[WrittenTable]:
        """Yield the tables that are kept, in order of their names."""
        yield from heapq.nsmallest(MOST_TABLES, [*self.columns, *self.whole], key=_order)

    def _count_ways(
        self, columns: dict[str, dict[Way, Stretch]], ways: Iterable[tuple[str, Way | None]], stretch: Stretch,
        joined: JoinedStretches,
    ) -> None:  # fmt: skip
        for name, way in ways:
            if way is not None:
                column = columns.get(name)
                if column is None:
                    columns[name] = {way: stretch}
                else:
                    self.count(column, way, stretch, joined)

    def _open(self, rows: WrittenTable) -> None:
        """Count the rows of a table column by column."""
        columns: dict[str, dict[Way, Stretch]] = {}
        joined = JoinedStretches()
        for ways, stretch in self.whole.pop(rows).items():
            self._count_ways(columns, ways.columns, stretch, joined)
        if columns:
            self.columns[rows] = columns

    def _bound(self) -> None:
        if len(self.columns) + len(self.whole) > 2 * MOST_TABLES:
            kept = set(self.tables())
            self.columns = {rows: columns for rows, columns in self.columns.items() if rows in kept}
            self.whole = {rows: whole for rows, whole in self.whole.items() if rows in kept}
            self.cut = True


def _order(rows: WrittenTable) -> tuple[Any, ...]:
    return (rows.table is not None, rows.table or "", *rows[3:], rows.topic, rows.partition)
