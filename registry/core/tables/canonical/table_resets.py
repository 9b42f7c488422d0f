"""Table resets: control messages that remove rows of tables, all of them or in ways that are not tracked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.tables.canonical.added_columns import is_meant
from cdc_contracts.registry.core.tables.ddl import read_resets

MOST_RESETS: Final = 10_000
"""How many of a run are kept, of each table and partition the newest: messages may name any number of tables."""
_COLUMNS: Final = (
    "kind", "database", "schema", "table", "ddl_text", "ddl_type", "contract", "topic", "partition", "offset",
    "position",
)  # fmt: skip
_NUMBER: Final = re.compile(r"-?[0-9]{1,38}", re.ASCII)


class TableReset(Struct, frozen=True):
    """A statement that takes rows from a table: all of them (`emptied`), or in a way that is not followed.

    `table` is its name as written, which may have others in front; empty if the message names none. Run records keep
    it as it is.
    """

    database: str | None
    schema: str | None
    table: tuple[str, ...]
    statement: str
    emptied: bool
    contract: str
    topic: str
    partition: int
    offset: int
    position: str | None

    @property
    def source(self) -> Source:
        return Source(self.topic, self.partition)

    def order(self, ordered: Collection[str]) -> int | None:
        """The position as a number, None if that of its contract is none. `ordered` names those where it is."""
        result = self.position is not None and self.contract in ordered and _NUMBER.fullmatch(self.position)
        return int(self.position or 0) if result else None

    @property
    def text(self) -> str:
        """What it was and where, for people."""
        name = ".".join(self.table) or "a table that it does not name"
        return f"{self.statement} of {name} ({self.topic}/{self.partition}@{self.offset})"


def read_control(control: pa.RecordBatch) -> Iterator[TableReset]:
    """Yield the resets among the rows of `control/`, in their order."""
    kinds = pc.is_in(control.column("kind"), pa.array(["ddl", "truncate"]))
    if not pc.any(kinds).as_py():
        return
    for row in control.filter(kinds).select(list(_COLUMNS)).to_pylist():
        result = [(one.table, one.statement, one.emptied) for one in read_resets(row["ddl_text"])]
        if not result and (row["kind"] == "truncate" or (row["ddl_type"] or "").upper().startswith("TRUNCATE")):
            result = [((row["table"],) if row["table"] else (), "TRUNCATE", bool(row["table"]))]
        for table, statement, emptied in result:
            yield TableReset(
                row["database"], row["schema"], table, statement, emptied,
                row["contract"], row["topic"], row["partition"], row["offset"], row["position"],
            )  # fmt: skip


@dataclass
class Resets:
    """The resets of a run: of each table, kind and partition the last, and the first with the highest position.

    A statement that is sent again has its old position, and empties only what it emptied then.
    """

    last: dict[tuple[Any, ...], TableReset] = field(default_factory=dict)
    highest: dict[tuple[Any, ...], TableReset] = field(default_factory=dict)

    def note(self, found: Iterable[TableReset]) -> None:
        for one in found:
            key = (one.database, one.schema, one.table, one.emptied, one.contract, one.source)
            if key not in self.last and len(self.last) >= MOST_RESETS:
                continue
            self.last[key] = max(self.last.get(key, one), one, key=lambda statement: statement.offset)
            self.highest[key] = max(self.highest.get(key, one), one, key=_height)

    def merge(self, other: Resets) -> None:
        self.note([*other.last.values(), *other.highest.values()])

    def all(self) -> tuple[TableReset, ...]:
        """Return them in an order that does not depend on how the run was cut into tasks."""
        return tuple(sorted({*self.last.values(), *self.highest.values()}, key=repr))


def meant_tables(reset: TableReset, names: Iterable[TableName], families: TableFamilies) -> list[TableName]:
    """Return the tables that a statement is about: those spelled like it, else those that differ in case alone."""
    if not reset.table:
        return []
    meant = [name for name in names if is_meant(name, (reset.database, reset.schema), reset.table, families)]
    return [name for name in meant if name.table == reset.table[-1]] or meant


def _height(reset: TableReset) -> tuple[int, int]:
    number = reset.position if reset.position and _NUMBER.fullmatch(reset.position) else None
    return (-1, reset.offset) if number is None else (int(number), -reset.offset)
