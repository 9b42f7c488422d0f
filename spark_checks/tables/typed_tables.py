"""Typed tables: where the rows of `changes/` go once their layouts are resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import UNSET, Struct

from cdc_contracts.registry.common.written_models import Sometimes
from cdc_contracts.registry.report.audit_report import Spans
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableName
from cdc_contracts.registry.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.engines import Engine
from cdc_contracts.spark_checks.file_sinks import FilePart, SinkPlace


@dataclass(frozen=True)
class WriteKey:
    """What identifies a write when it is repeated: the writer, and the number of its run.

    `writer` is the id of a stream's query, or the run id of a batch run (whose `number` is 0).
    """

    writer: str
    number: int


@dataclass(frozen=True)
class Emptyings:
    """The statements that have emptied a table: those of this run, over `spans`, and of earlier ones over theirs."""

    new: tuple[TableReset, ...]
    spans: Spans
    past: tuple[tuple[TableReset, Spans], ...] = ()

    def all(self) -> Iterator[tuple[TableReset, Spans]]:
        """Yield each with the range of its run."""
        yield from self.past
        yield from ((one, self.spans) for one in self.new)


@dataclass(frozen=True)
class WriteOrder:
    """What is to be written: rows of changes files, to the table of each layout; `emptied` says what has lost rows.

    A history keeps what a table has lost; only its current rows go.
    """

    place: SinkPlace
    key: WriteKey
    changes: Sequence[FilePart]
    layouts: Layouts
    emptied: Mapping[TableName, Emptyings]


class Merged(Struct, frozen=True):
    """The result of a merge: keys that are there now, keys that are gone, and changes that name no key.

    `emptied` rows went with their table; of `untold` ones, which stay, it is unknown whether they should have.
    `reloaded` rows of a full load came since: they have no position, so one that was sent again is back.
    Only what was new is counted.
    """

    changed: int = 0
    deleted: int = 0
    keyless: int = 0
    emptied: int = 0
    untold: int = 0
    reloaded: int = 0


class TableCommit(Struct, frozen=True):
    """Which version of a table a write made: `version` of Delta, `snapshot` of Iceberg; neither where it is not known.

    `current` is what its current rows came to, None where no primary key is known; missing where none are kept.
    """

    version: Sometimes[int] = UNSET
    snapshot: Sometimes[int] = UNSET
    current: Sometimes[Merged | None] = UNSET


@dataclass(frozen=True)
class TypedWrite:
    """The result of a write: its files, rows by table, and values kept as text by table and column.

    A file's `table` is the name of its table as `TableName.text` writes it, and so are the keys. `commits` has, where a
    format keeps versions of its tables, what says which version of a table this write made.
    """

    parts: tuple[FilePart, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    raw: dict[str, dict[str, int]] = field(default_factory=dict)
    commits: dict[str, TableCommit] = field(default_factory=dict)


class TypedTables(Protocol):
    """A format of tables: the same write again changes nothing. `name` is what `--table-format` calls it."""

    @property
    def name(self) -> str: ...

    @property
    def replaceable(self) -> bool:
        """Whether a run can replace another."""
        ...

    @property
    def schema(self) -> str | None:
        """The schema of a catalog that the tables are in, None if they are in the directory."""
        ...

    @property
    def keeps_current(self) -> bool:
        """Whether the rows that are there now are kept besides all changes."""
        ...

    def prepare(self, engine: Engine) -> None:
        """Make the engine ready for writes. Raises UnavailableError if it cannot be, UsageError if it never can."""
        ...

    def write(self, engine: Engine, order: WriteOrder) -> TypedWrite:
        """Write what is to be written. Raises UnavailableError if a table is not the one of its layout."""
        ...
