"""Typed tables: where the rows of `changes/` go once their layouts are resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import UNSET, Struct

from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES, TableFamilies
from cdc_contracts.registry.core.report.audit_report import Spans
from cdc_contracts.registry.core.tables.canonical.table_layouts import Layouts, TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace


@dataclass(frozen=True)
class WriteKey:
    """What identifies a write when it is repeated: the writer, and the number of its run.

    `writer` is the id of a stream's query, or the run id of a batch run (whose `number` is 0).
    """

    writer: str
    number: int


@dataclass(frozen=True)
class Emptyings:
    """The statements that have emptied a table: those of this run, over `spans`, and those of earlier runs."""

    new: tuple[TableReset, ...]
    spans: Spans
    past: tuple[tuple[TableReset, Spans], ...] = ()

    def all(self) -> Iterator[tuple[TableReset, Spans]]:
        """Yield each with the range of its run."""
        yield from self.past
        yield from ((one, self.spans) for one in self.new)


@dataclass(frozen=True)
class WriteOrder:
    """The input of a write: rows of changes files, for the table of each layout; `emptied` are the emptied tables.

    A history keeps the rows of an emptied table; only its current rows are removed. `provisional` are rows that tasks
    have typed already. Shards of one of the `families` have one table.
    """

    place: SinkPlace
    key: WriteKey
    changes: Sequence[FilePart]
    layouts: Layouts
    emptied: Mapping[TableName, Emptyings]
    provisional: Sequence[ProvisionalWrite] = ()
    families: TableFamilies = NO_FAMILIES


class Merged(Struct, frozen=True):
    """The result of a merge: counts of keys written, keys deleted, and changes that name no key.

    `emptied` rows were removed as their table was emptied; of `untold` ones, which stay, it is unknown whether they
    should have been. `reloaded` rows are of a full load since then: they have no position, so a repeated one is back.
    Only new changes are counted.
    """

    changed: int = 0
    deleted: int = 0
    keyless: int = 0
    emptied: int = 0
    untold: int = 0
    reloaded: int = 0


class TableCommit(Struct, frozen=True):
    """The table version that a write made: `version` of Delta, `snapshot` of Iceberg; neither if it is unknown.

    `current` is the merge result of its current rows, None if no primary key is known; missing if there are none.
    """

    version: Sometimes[int] = UNSET
    snapshot: Sometimes[int] = UNSET
    current: Sometimes[Merged | None] = UNSET


@dataclass(frozen=True)
class TypedWrite:
    """The result of a write: its files, rows by table, and values kept as text by table and column.

    A file's `table` is the name of its table as `TableName.text` writes it, and so are the keys. `commits` has the
    table versions that this write made, if the format has versions.
    """

    parts: tuple[FilePart, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    raw: dict[str, dict[str, int]] = field(default_factory=dict)
    commits: dict[str, TableCommit] = field(default_factory=dict)

    def without(self, tables: Iterable[str]) -> TypedWrite:
        """Return the write without what it wrote to some tables."""
        gone = set(tables)
        return TypedWrite(
            tuple(part for part in self.parts if part.table not in gone),
            {name: rows for name, rows in self.rows.items() if name not in gone},
            {name: counts for name, counts in self.raw.items() if name not in gone},
            {name: commit for name, commit in self.commits.items() if name not in gone},
        )


@dataclass(frozen=True)
class ProvisionalWrite:
    """What a task has typed while it validated, by the layouts it could know; `left` are tables that it could not.

    `changes` are the files that hold the same rows untyped.
    """

    changes: tuple[FilePart, ...]
    write: TypedWrite
    layouts: Mapping[TableName, TableLayout]
    left: AbstractSet[TableName] = frozenset()

    def outdated(self, settled: Layouts) -> frozenset[TableName]:
        """Return the tables whose rows have to be typed again, as their layouts have become others."""
        others = {name for name, layout in self.layouts.items() if layout.arrow != settled[name].arrow}
        return frozenset(others | self.left)


class TypedTables(Protocol):
    """A table format with idempotent writes. `name` is the value of `--table-format`."""

    @property
    def name(self) -> str: ...

    @property
    def replaceable(self) -> bool:
        """Whether a run can replace another."""

    @property
    def schema(self) -> str | None:
        """The catalog schema of the tables, None if they are in the directory."""

    @property
    def typed_above(self) -> str | None:
        """The folder in whose folders tasks may type rows while they validate, None if they may not."""

    @property
    def keeps_current(self) -> bool:
        """Whether current rows are maintained in addition to all changes."""

    def prepare(self, engine: Engine) -> None:
        """Prepare the engine for writes. Raises UnavailableError if that fails, UsageError if it can never write."""

    def write(self, engine: Engine, order: WriteOrder) -> TypedWrite:
        """Write the rows of an order. Raises UnavailableError if a table does not match its layout."""
