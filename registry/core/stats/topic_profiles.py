"""Topic profiles: what the columns of conforming rows hold, counted without keeping a value, mergeable in any order.

Kept are whole numbers only, so that counts of parts of a run add up exactly; shares are computed where they are shown.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from cdc_contracts.registry.core.stats.observed_columns import LONGEST_PART, shorten_name

MOST_TABLES: Final = 1_000
MOST_COLUMNS: Final = 500
"""If there are more tables, or columns of one table, the first by name are kept and the others are counted together."""
MOST_BUCKET: Final = 40
"""The bucket of all lags of 2^39 ms (17 years) and more."""
REPLACEMENT: Final = "\ufffd"
"""What software writes in place of characters that it could not read."""

PROCESS_TIME: Final = "process-time"
KAFKA_TIMESTAMP: Final = "kafka-timestamp"


class ProfiledTable(NamedTuple):
    """A table in a topic, as one version of its contract writes it."""

    topic: str
    table: str | None
    contract: str

    @property
    def order(self) -> tuple[str, bool, str, str]:
        return self.topic, self.table is not None, self.table or "", self.contract


class LagLine(NamedTuple):
    """A topic, and up to which moment the lag of its messages is counted."""

    topic: str
    until: str


@dataclass(slots=True)
class ColumnProfile:
    """What one column holds: `present` rows have it; lengths are in characters, of values sent as text."""

    present: int = 0
    nulls: int = 0
    texts: int = 0
    empty: int = 0
    replaced: int = 0
    characters: int = 0
    shortest: int | None = None
    longest: int | None = None

    def add_value(self, value: object, text: str | None) -> None:
        """Count one value; `text` is what it says if it was sent as text."""
        self.present += 1
        self.nulls += value is None
        if text is not None:
            length = len(text)
            replaced = REPLACEMENT in text
            self.merge(ColumnProfile(0, 0, 1, not length, replaced, length, length, length))

    def merge(self, other: ColumnProfile) -> None:
        self.present += other.present
        self.nulls += other.nulls
        if other.shortest is None or other.longest is None:
            return
        self.texts += other.texts
        self.empty += other.empty
        self.replaced += other.replaced
        self.characters += other.characters
        self.shortest = other.shortest if self.shortest is None else min(self.shortest, other.shortest)
        self.longest = other.longest if self.longest is None else max(self.longest, other.longest)


@dataclass(slots=True)
class TableProfile:
    """The rows of a table: how many, by op, and their columns; `values` counts the values of all columns."""

    rows: int = 0
    values: int = 0
    ops: dict[str, int] = field(default_factory=dict)
    columns: dict[str, ColumnProfile] = field(default_factory=dict)

    def add_ops(self, op: str, rows: int) -> None:
        """Count rows of an op."""
        self.rows += rows
        self.ops[op] = self.ops.get(op, 0) + rows

    def add_columns(self, columns: dict[str, ColumnProfile]) -> None:
        """Count the values of columns by name (`column_name`); they belong to this profile from then on."""
        self.values += sum([column.present for column in columns.values()])
        self._merge_columns(columns)

    def merge(self, other: TableProfile) -> None:
        self.rows += other.rows
        self.values += other.values
        for op, rows in other.ops.items():
            self.ops[op] = self.ops.get(op, 0) + rows
        self._merge_columns(other.columns)

    def kept(self) -> dict[str, ColumnProfile]:
        """Return the columns in order of their names."""
        return {name: self.columns[name] for name in heapq.nsmallest(MOST_COLUMNS, self.columns)}

    def _merge_columns(self, columns: dict[str, ColumnProfile]) -> None:
        mine = self.columns
        if not mine:
            self.columns = mine = columns
        else:
            for name, column in columns.items():
                if name in mine:
                    mine[name].merge(column)
                else:
                    mine[name] = column
        if len(mine) > 2 * MOST_COLUMNS:
            self.columns = self.kept()


def column_name(name: str) -> str:
    """Return the name of a column; a long one is cut and ends in its digest."""
    return shorten_name(name) if len(name) > LONGEST_PART else name


@dataclass(slots=True)
class LagProfile:
    """How long after the change messages were made or stored: microseconds, and how many messages in each bucket.

    `unknown` counts the messages of which one of both times is not known.
    """

    messages: int = 0
    unknown: int = 0
    least: int | None = None
    most: int | None = None
    buckets: dict[int, int] = field(default_factory=dict)

    def merge(self, other: LagProfile) -> None:
        self.messages += other.messages
        self.unknown += other.unknown
        if other.least is None or other.most is None:
            return
        self.least = other.least if self.least is None else min(self.least, other.least)
        self.most = other.most if self.most is None else max(self.most, other.most)
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count


def bucket_of(micros: int) -> int:
    """Return the bucket of a lag: -1 below zero, 0 below 1 ms, and n from 2^(n-1) up to 2^n ms."""
    return -1 if micros < 0 else min((micros // 1000).bit_length(), MOST_BUCKET)


@dataclass(slots=True)
class TopicProfiles:
    """The profiles of the tables of some topics, how many rows each topic has, and the lag of its messages."""

    rows: dict[str, int] = field(default_factory=dict)
    tables: dict[ProfiledTable, TableProfile] = field(default_factory=dict)
    lags: dict[LagLine, LagProfile] = field(default_factory=dict)

    def add(self, key: ProfiledTable, table: TableProfile) -> None:
        """Add rows of a table; the profile given belongs to this object from then on."""
        self.rows[key.topic] = self.rows.get(key.topic, 0) + table.rows
        self._add(key, table)

    def add_lag(self, line: LagLine, lag: LagProfile) -> None:
        """Add the lag of some messages of a topic."""
        if line in self.lags:
            self.lags[line].merge(lag)
        else:
            self.lags[line] = lag

    def merge(self, other: TopicProfiles) -> None:
        """Add other profiles to these, which take over their parts; the order of merging does not matter."""
        for topic, rows in other.rows.items():
            self.rows[topic] = self.rows.get(topic, 0) + rows
        for key, table in other.tables.items():
            self._add(key, table)
        for line, lag in other.lags.items():
            self.add_lag(line, lag)

    def kept(self) -> Mapping[ProfiledTable, TableProfile]:
        """Return the tables in order of topic, table and version."""
        return {key: self.tables[key] for key in heapq.nsmallest(MOST_TABLES, self.tables, key=attrgetter("order"))}

    def _add(self, key: ProfiledTable, table: TableProfile) -> None:
        mine = self.tables.get(key)
        if mine is not None:
            mine.merge(table)
            return
        self.tables[key] = table
        if len(self.tables) > 2 * MOST_TABLES:
            self.tables = dict(self.kept())
