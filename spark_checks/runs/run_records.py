"""Run records: what a run read, by which contract, and what it wrote. Earlier releases recorded fewer members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import RepeatedRows
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.positions import RecordedPositions
from cdc_contracts.registry.core.tables.canonical.layout_resolution import differing_types
from cdc_contracts.registry.core.tables.canonical.table_layouts import (
    NESTED,
    Layouts,
    RecordedLayout,
    TableLayout,
    write_layout,
)
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.files.file_sinks import FilePart
from cdc_contracts.spark_checks.tables.table_formats import PARQUET
from cdc_contracts.spark_checks.tables.typed_tables import TableCommit, TypedWrite, WriteKey


class RecordedRange(Struct, frozen=True):
    """The range read of a partition: from one offset up to, but not including, another."""

    topic: str
    partition: int
    start: int
    end: int


class RecordedBatch(Struct, frozen=True):
    """The stream batch that a run is: the id of the stream's query, and the number of the batch."""

    query: str
    batch: int


class RecordedReplay(Struct, frozen=True):
    """The runs whose quarantine was read, and how many of the records are decoded now."""

    of: tuple[str, ...]
    validated: int
    replayed: int


class RecordedTable(Struct, frozen=True):
    """What a run wrote to one typed table.

    `raw` counts by image and column the values that are kept as text; `commit` is the version of the table, if the
    format has versions. `differing` has the source types of each column whose shards do not all have the type of the
    table, and is missing where the table is that of one source.
    """

    table: str
    rows: int
    raw: dict[str, int]
    commit: TableCommit | None
    files: tuple[FilePart, ...]
    layout: RecordedLayout
    differing: Sometimes[dict[str, tuple[str, ...]]] = UNSET


class RunRecord(Struct, frozen=True, kw_only=True):
    """What a finished run read and wrote.

    `attempt` is unique, and `replaces` are the attempts whose records no longer count. `topics` are the broker's ids of
    the topics, if it provided them. `stream` is the stream batch that the run is, None if it is no batch.
    `table_schema` is the catalog schema of the typed tables, None for the directory; `current` means that there are
    tables of current rows, `drops_repeats` that repeated rows are left out of the tables; `upheavals` are the
    statements that emptied tables; `table_layout` is the shape of the rows of tables, missing where it is `nested`.
    `options` are those of the producer that it was read by. `redacted` means that its quarantine holds shapes only;
    `outputs` are those of `changes` and `tables` that it keeps, missing where it keeps both; `replay` names the runs
    from whose quarantine it has decoded records, None if it read them from their source.
    """

    run: str
    attempt: Sometimes[str] = UNSET
    replaces: tuple[str, ...] = ()
    contract: str
    contract_fingerprint: str
    options: Sometimes[dict[str, str]] = UNSET
    table_contracts_fingerprint: Sometimes[str] = UNSET
    stream: RecordedBatch | None = None
    redacted: bool = False
    outputs: Sometimes[tuple[str, ...]] = UNSET
    replay: RecordedReplay | None = None
    topics: dict[str, str] = {}
    ranges: tuple[RecordedRange, ...] = field(name="range")
    counts: dict[str, int]
    files: tuple[FilePart, ...]
    repeats: RepeatedRows = RepeatedRows()
    positions: tuple[RecordedPositions, ...] = ()
    upheavals: tuple[TableReset, ...] = ()
    table_format: str = PARQUET
    table_schema: Sometimes[str | None] = UNSET
    table_layout: Sometimes[str] = UNSET
    current: bool = False
    drops_repeats: Sometimes[bool] = UNSET
    tables: tuple[RecordedTable, ...] = ()

    @property
    def spans(self) -> dict[Source, Span]:
        """The range read of each partition."""
        return read_ranges(self.ranges)

    @property
    def shape(self) -> str:
        """The shape of the rows of its tables."""
        return self.table_layout or NESTED

    @property
    def keeps_changes(self) -> bool:
        """Whether it keeps the rows of its tables in `changes/` as well."""
        return self.outputs is UNSET or "changes" in self.outputs

    @property
    def all_files(self) -> tuple[FilePart, ...]:
        """All files of the run, those of typed tables included."""
        return (*self.files, *(part for table in self.tables for part in table.files))

    @property
    def paths(self) -> set[str]:
        """The paths of all files, below the directory."""
        return {part.path for part in self.all_files}

    @property
    def folders(self) -> set[str]:
        """The folders of all files, below the directory."""
        return {path.rpartition("/")[0] for path in self.paths}

    def files_of(self, output: str) -> list[FilePart]:
        """Return the files of an output, such as `changes`."""
        return [part for part in self.files if part.table == output]


def write_record(record: RunRecord) -> dict[str, Any]:
    """Return a record as a JSON document."""
    document: dict[str, Any] = msgspec.to_builtins(record)
    return document


def read_record(document: Any, where: str) -> RunRecord:
    """Return the record that a JSON document describes; members of later releases are ignored.

    Raises UnavailableError, with the path of the error, if it is not a run record.
    """
    try:
        return msgspec.convert(document, RunRecord)
    except (msgspec.ValidationError, UnicodeError) as error:
        what, _, path = str(error).partition(" - at `$")
        raise UnavailableError(
            f"this is not a run record: {what[:200]}",
            where=f"{where}{path.removesuffix('`')}",
            hint="Use the release that wrote it, or another directory.",
        ) from error


def write_tables(layouts: Layouts, write: TypedWrite, observed: ObservedColumns) -> tuple[RecordedTable, ...]:
    """Return the result of a write, table by table; `observed` are the columns that the rows of the run had."""
    parts: dict[str, list[FilePart]] = {}
    for part in write.parts:
        parts.setdefault(part.table, []).append(part)
    recorded = (
        write_table_record(
            layout,
            rows=write.rows.get(layout.name.text, 0),
            raw=write.raw.get(layout.name.text, {}),
            parts=parts.get(layout.name.text, ()),
            commit=write.commits.get(layout.name.text),
            differing=UNSET if layout.shards is None else differing_types(layout, observed) or UNSET,
        )
        for layout in layouts.values()
    )
    return tuple(sorted(recorded, key=lambda one: one.table))


def write_table_record(
    layout: TableLayout,
    *,
    rows: int = 0,
    raw: Mapping[str, int] | None = None,
    parts: Iterable[FilePart] = (),
    commit: TableCommit | None = None,
    differing: Sometimes[dict[str, tuple[str, ...]]] = UNSET,
) -> RecordedTable:
    """Return what a run wrote to one typed table, for its record."""
    return RecordedTable(
        table=layout.name.text,
        rows=rows,
        raw=dict(sorted((raw or {}).items())),
        commit=commit,
        files=write_files(parts),
        layout=write_layout(layout),
        differing=differing,
    )


def write_ranges(spans: Mapping[Source, Span]) -> tuple[RecordedRange, ...]:
    """Return a range in the form of run records."""
    return tuple(RecordedRange(*source, span.start, span.end) for source, span in sorted(spans.items()))


def read_ranges(recorded: Iterable[RecordedRange]) -> dict[Source, Span]:
    """Return the range in a run record."""
    return {Source(one.topic, one.partition): Span(one.start, one.end) for one in recorded}


def write_stream(key: WriteKey | None) -> RecordedBatch | None:
    """Return the stream batch that a run is, for its record."""
    return None if key is None else RecordedBatch(key.writer, key.number)


def write_files(parts: Iterable[FilePart]) -> tuple[FilePart, ...]:
    """Return files for a run record, in order of their paths."""
    return tuple(sorted(parts, key=lambda part: part.path))


def overlap(mine: Mapping[Source, Span], theirs: Mapping[Source, Span]) -> bool:
    """Return whether two ranges have a record in common; an empty one has none."""
    shared = [(span, theirs[source]) for source, span in mine.items() if source in theirs]
    return any(max(one.start, other.start) < min(one.end, other.end) for one, other in shared)


def enclosing_spans(mine: Mapping[Source, Span], theirs: Mapping[Source, Span]) -> dict[Source, Span]:
    """Return the smallest range of each partition that holds what it has in either."""
    both = {source: [spans[source] for spans in (mine, theirs) if source in spans] for source in {*mine, *theirs}}
    return {
        source: Span(min(span.start for span in found), max(span.end for span in found))
        for source, found in sorted(both.items())
    }
