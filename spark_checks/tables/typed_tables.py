"""Typed tables: where the rows of `changes/` go once their layouts are resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cdc_contracts.registry.report.audit_report import Spans
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableName
from cdc_contracts.registry.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.file_sinks import FilePart, SinkPlace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


@dataclass(frozen=True)
class TypedWrite:
    """The result of a write: its files, rows by table, and values kept as text by table and column.

    A file's `table` is the name of its table as `TableName.text` writes it, and so are the keys. `commits` has, where a
    format keeps versions of its tables, what says which version of a table this write made.
    """

    parts: tuple[FilePart, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    raw: dict[str, dict[str, int]] = field(default_factory=dict)
    commits: dict[str, dict[str, Any]] = field(default_factory=dict)


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

    def prepare(self, session: SparkSession) -> None:
        """Make the session ready for writes. Raises UnavailableError if it cannot be."""
        ...

    def write(self, session: SparkSession, order: WriteOrder) -> TypedWrite:
        """Write what is to be written. Raises UnavailableError if a table is not the one of its layout."""
        ...
