"""Expected changes: the row changes that a producer has to send, by table, from the rows that the database held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any

from producers.captures import Line, read_expected

INDEXED = {"tickets": ("series", "number")}
"""The key of a table without a primary key, where producers take a unique index for one."""
Image = dict[str, str | None]
"""The texts of a row by its columns, as the database shows them."""


@dataclass(frozen=True, slots=True)
class TableState:
    """The columns of a table at one time, its number among those that the table has had, and what its rows are."""

    schema: str
    table: str
    number: int
    columns: tuple[tuple[str, str, bool], ...]
    """Name and type of each column, as the database names them, and whether it can be NULL."""
    primary_key: tuple[str, ...]
    replica_identity: str | None
    """What PostgreSQL writes to its log of a row that was: `default` is the primary key. None for MariaDB: all."""

    @property
    def name(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the key that producers know rows by."""
        return self.primary_key or INDEXED.get(self.table, ())

    @property
    def types(self) -> dict[str, str]:
        return {name: type_ for name, type_, _ in self.columns}


@dataclass(frozen=True, slots=True)
class RowChange:
    """A change of a row by one statement, in the words of the canonical model."""

    statement: int
    state: TableState
    op: str
    before: Image | None
    after: Image | None

    @property
    def key(self) -> tuple[str | None, ...]:
        return key_of(self.state, self.before, self.after)


def key_of(state: TableState, before: Any, after: Any) -> tuple[str | None, ...]:
    """Return the key of a change: the order of the rows of a statement is that of the producer."""
    image = before if after is None else after
    return tuple(image.get(name) for name in state.key)


@cache
def expected_changes(database: str) -> dict[str, tuple[RowChange, ...]]:
    """Return what Debezium has to send of each table, by `schema.table`: a snapshot, and then changes by their keys.

    An update of the key is a delete and an insert.
    """
    lines = read_expected(database)
    changes = defaultdict(list)
    for change in (*_snapshot(lines), *(part for logged in _stream(lines) for part in _by_key(logged))):
        changes[change.state.name].append(change)
    return {name: tuple(_sort_statements(found)) for name, found in changes.items()}


@cache
def logged_changes(database: str) -> dict[str, tuple[RowChange, ...]]:
    """Return what Canal has to send of each table: what the log has, without a snapshot, each update as one change."""
    changes = defaultdict(list)
    for change in _stream(read_expected(database)):
        changes[change.state.name].append(change)
    return {name: tuple(_sort_statements(found)) for name, found in changes.items()}


def _sort_statements(changes: list[RowChange]) -> Iterator[RowChange]:
    for _, of_statement in groupby(changes, lambda change: (change.statement, change.op)):
        yield from sorted(of_statement, key=lambda change: str(change.key))


def _snapshot(lines: tuple[Line, ...]) -> Iterator[RowChange]:
    """Yield the rows that are there when a producer starts."""
    last = {
        (table["schema"], table["table"]): table
        for line in lines
        if line["phase"] == "snapshot"
        for table in line["tables"]
    }
    for table in last.values():
        state = _state(table, 0)
        for row in table["rows"]:
            yield RowChange(0, state, "snapshot", None, dict(zip(state.types, row, strict=True)))


def _stream(lines: tuple[Line, ...]) -> Iterator[RowChange]:
    states: dict[str, TableState] = {}
    for line in lines:
        for table in line["tables"]:
            state = _state(table, 0)
            if (known := states.get(state.name)) is not None:
                changed = known.columns != state.columns and line["phase"] == "stream"
                state = replace(state, number=known.number + changed)
            states[state.name] = state
            if line["phase"] == "stream" and line["committed"]:
                for change in table["changes"]:
                    yield RowChange(line["statement"], state, **change)


def _by_key(change: RowChange) -> Iterator[RowChange]:
    state, before, after = change.state, change.before, change.after
    if before is not None and after is not None and any(before[name] != after[name] for name in state.key):
        yield replace(change, op="delete", before=_logged(state, before), after=None)
        yield replace(change, op="insert", before=None)
    elif change.op == "update" and state.replica_identity in ("default", "index"):
        yield replace(change, before=None)  # PostgreSQL logs the key only if it changes
    else:
        yield replace(change, before=_logged(state, before))


def _logged(state: TableState, before: Image | None) -> Image | None:
    """Return what the log of a database has of a row that was."""
    if before is None or state.replica_identity not in ("default", "index"):
        return before
    return {name: before[name] for name in state.key}


def _state(table: Line, number: int) -> TableState:
    columns = tuple((one["name"], one["type"], one["nullable"]) for one in table["columns"])
    return TableState(
        table["schema"], table["table"], number, columns, tuple(table["primary_key"]), table["replica_identity"]
    )
