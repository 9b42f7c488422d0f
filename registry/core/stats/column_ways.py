"""Column ways: for each partition, table and column, the range of offsets whose values are alike in some way.

That is small and exact, and independent of batch limits and the order of merging.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeVar

from cdc_contracts.registry.core.stats.position_sequences import Stretch

MOST_TABLES: Final = 2_000
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


@dataclass
class ColumnWays(Generic[Way]):
    """The ways in which values of each column are alike, each with the stretch of its values.

    Bounded: if there are too many tables, the first by name are kept and `cut` is set.
    """

    seen: dict[WrittenTable, dict[str, dict[Way, Stretch]]] = field(default_factory=dict)
    cut: bool = False

    @staticmethod
    def count(column: dict[Way, Stretch], way: Way, stretch: Stretch) -> None:
        """Count values of a column; the stretch is not changed, since the other columns of its rows share it."""
        column[way] = column[way].joined(stretch) if way in column else stretch

    def add(self, rows: WrittenTable, name: str, way: Way, stretch: Stretch) -> None:
        """Count values of a column that are alike."""
        self.add_ways(rows, ((name, way),), stretch)

    def add_ways(self, rows: WrittenTable, ways: Iterable[tuple[str, Way | None]], stretch: Stretch) -> None:
        """Count the values of some columns, each with its way; None for a column without a value."""
        columns = self.seen.get(rows)
        if columns is None:
            columns = {}
            for name, way in ways:
                if way is not None:
                    self.count(columns.setdefault(name, {}), way, stretch)
            if columns:
                self.seen[rows] = columns
                self._bound()
            return
        for name, way in ways:
            if way is not None:
                self.count(columns.setdefault(name, {}), way, stretch)

    def merge(self, other: ColumnWays[Way]) -> None:
        """Merge the data of another part of the run; the order of merging does not matter."""
        self.cut |= other.cut
        for rows, columns in other.seen.items():
            mine = self.seen.get(rows)
            if mine is None:
                self.seen[rows] = {name: dict(column) for name, column in columns.items()}
                continue
            for name, column in columns.items():
                for way, stretch in column.items():
                    self.count(mine.setdefault(name, {}), way, stretch)
        self._bound()

    def tables(self) -> Iterator[WrittenTable]:
        """Yield the tables that are kept, in order of their names."""
        yield from heapq.nsmallest(MOST_TABLES, self.seen, key=_order)

    def _bound(self) -> None:
        if len(self.seen) > 2 * MOST_TABLES:
            self.seen = {rows: self.seen[rows] for rows in self.tables()}
            self.cut = True


def _order(rows: WrittenTable) -> tuple[Any, ...]:
    return (rows.table is not None, rows.table or "", *rows[3:], rows.topic, rows.partition)
