"""Column evidence: counts of the values observed in columns of tables, which can be merged in any order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns, TableName

MOST_TABLES: Final = 2_000
MOST_COLUMNS: Final = 2_000
MOST_OF_A_COLUMN: Final = 64
"""If there are more tables, columns of a table, or types of a column, the first by name are kept, counted in full."""

_K = TypeVar("_K")


class ValuePlace(NamedTuple):
    """The coordinates of a record."""

    topic: str
    partition: int
    offset: int


@dataclass
class Seen:
    """How often something was seen, first and last by topic, partition and offset."""

    count: int
    first: ValuePlace
    last: ValuePlace

    def merge(self, other: Seen) -> None:
        """Take what another part of the run saw."""
        self.count += other.count
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)


@dataclass
class ColumnEvidence:
    """The values of one column in all images: how many, how many of them NULL, and how large.

    `numbers` of them are plain digits, with up to `whole` of these before the point and `scale` behind, `digits` from
    the first that is not 0 to the last, and whole parts from `least` to `most`; `beyond_floats` of them are too large
    or too small for a float. `second_digits` is the most digits of a second, `longest` the most characters.

    `types` are the source types in messages; without any, `kinds` are those of the JSON values: text, number,
    boolean.
    """

    values: int = 0
    nulls: int = 0
    numbers: int = 0
    whole: int = 0
    scale: int = 0
    digits: int = 0
    least: int = 0
    most: int = 0
    beyond_floats: int = 0
    second_digits: int = 0
    longest: int = 0
    types: dict[str, Seen] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)

    def merge(self, other: ColumnEvidence) -> None:
        """Take what another part of the run saw."""
        self.values += other.values
        self.nulls += other.nulls
        self.numbers += other.numbers
        self.whole = max(self.whole, other.whole)
        self.scale = max(self.scale, other.scale)
        self.digits = max(self.digits, other.digits)
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.beyond_floats += other.beyond_floats
        self.second_digits = max(self.second_digits, other.second_digits)
        self.longest = max(self.longest, other.longest)
        merge_seen(self.types, other.types)
        self.kinds |= other.kinds


@dataclass
class TableEvidence:
    """The rows of one table: how many and where, in how many images, of which columns, under which keys and contracts.

    A key is the names of its columns. `mappings` are the value mappings that the rows were read by.
    """

    rows: Seen
    images: int = 0
    columns: dict[str, ColumnEvidence] = field(default_factory=dict)
    keys: dict[tuple[str, ...], Seen] = field(default_factory=dict)
    contracts: dict[str, Seen] = field(default_factory=dict)
    mappings: set[str] = field(default_factory=set)

    def column(self, name: str) -> ColumnEvidence:
        """Return the evidence of a column."""
        return self.columns.setdefault(name, ColumnEvidence())

    def merge(self, other: TableEvidence) -> None:
        """Take what another part of the run saw."""
        self.rows.merge(other.rows)
        self.images += other.images
        for name, column in other.columns.items():
            self.column(name).merge(column)
        merge_seen(self.keys, other.keys)
        merge_seen(self.contracts, other.contracts)
        self.mappings |= other.mappings


@dataclass
class InferenceEvidence:
    """The evidence of every table, from `read` messages.

    `nameless` rows name no table, `cut` is whether there was too much to keep. `left_out` are the messages that do not
    conform: nothing is known of their rows. The observed columns (`observed`) know the order of the columns.
    """

    tables: dict[TableName, TableEvidence] = field(default_factory=dict)
    observed: ObservedColumns = field(default_factory=ObservedColumns)
    read: int = 0
    left_out: int = 0
    nameless: int = 0
    cut: bool = False

    def merge(self, other: InferenceEvidence) -> None:
        """Merge the data of another part of the run; the order of merging does not matter."""
        for name, table in other.tables.items():
            if name in self.tables:
                self.tables[name].merge(table)
            else:
                self.tables[name] = table
        self.observed.merge(other.observed)
        self.read += other.read
        self.left_out += other.left_out
        self.nameless += other.nameless
        self.cut |= other.cut
        self._bound()

    def _bound(self) -> None:
        if len(self.tables) > MOST_TABLES:
            self.tables = {name: self.tables[name] for name in first_names(self.tables, MOST_TABLES)}
            self.cut = True
        for table in self.tables.values():
            if len(table.columns) > MOST_COLUMNS:
                table.columns = {name: table.columns[name] for name in heapq.nsmallest(MOST_COLUMNS, table.columns)}
                self.cut = True
            self.cut |= _shorten(table.keys)
            for column in table.columns.values():
                self.cut |= _shorten(column.types)


def first_names(names: Iterable[TableName], most: int) -> list[TableName]:
    """Return the first tables by name."""
    return heapq.nsmallest(most, names, key=lambda name: name.order)


def merge_seen(mine: dict[_K, Seen], theirs: Mapping[_K, Seen]) -> None:
    """Add the evidence of another part of the run, key by key."""
    for key, seen in theirs.items():
        if key in mine:
            mine[key].merge(seen)
        else:
            mine[key] = seen


def _shorten(seen: dict[Any, Seen]) -> bool:
    """Keep the first keys of a mapping that has too many, and say whether it had."""
    if len(seen) <= MOST_OF_A_COLUMN:
        return False
    kept = set(heapq.nsmallest(MOST_OF_A_COLUMN, seen))
    for key in [key for key in seen if key not in kept]:
        del seen[key]
    return True
