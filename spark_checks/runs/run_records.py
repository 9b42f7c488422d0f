"""Run records: what a run read, by which contract, and what it wrote. Those of earlier releases lack later keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from cdc_contracts.registry.report.audit_report import Span
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.positions import PositionLine, PositionStretch, write_positions
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableLayout, write_layout
from cdc_contracts.registry.tables.canonical.table_resets import TableReset, write_reset
from cdc_contracts.spark_checks.file_sinks import FilePart
from cdc_contracts.spark_checks.tables.typed_tables import TypedWrite, WriteKey


@dataclass(frozen=True)
class TableRecord:
    """What a run wrote to one typed table.

    `raw` counts by image and column the values that are kept as text; `commit` says where the format keeps versions
    of a table which one this is.
    """

    layout: TableLayout
    rows: int
    raw: Mapping[str, int]
    parts: tuple[FilePart, ...] = ()
    commit: Mapping[str, Any] | None = None

    def as_document(self) -> dict[str, Any]:
        return {
            "table": self.layout.name.text,
            "rows": self.rows,
            "raw": dict(sorted(self.raw.items())),
            "commit": self.commit and dict(self.commit),
            "files": _files(self.parts),
            "layout": write_layout(self.layout),
        }


def table_records(layouts: Layouts, write: TypedWrite) -> tuple[TableRecord, ...]:
    """Return the result of a write, table by table."""
    parts: dict[str, list[FilePart]] = {}
    for part in write.parts:
        parts.setdefault(part.table, []).append(part)
    return tuple(
        TableRecord(
            layout=layout,
            rows=write.rows.get(layout.name.text, 0),
            raw=write.raw.get(layout.name.text, {}),
            parts=tuple(parts.get(layout.name.text, ())),
            commit=write.commits.get(layout.name.text),
        )
        for layout in layouts.values()
    )


@dataclass(frozen=True)
class RunRecord:
    """What a finished run read and wrote.

    `attempt` is like no other's, and `replaces` are the attempts whose records do not count any more. `topics` are the
    broker's ids of the topics, as far as it gave them. `stream` is whose batch it is, None for a run of its own.
    `table_schema` is that of the catalog that typed tables are in, None for the directory; `current` says that current
    rows are kept of them, `drops_repeats` that rows which repeat others stay out of them. `redacted` says that its
    quarantine holds shapes only; `replay` names the runs from whose quarantine it has decoded records, None where it
    read them from their source.
    """

    run: str
    attempt: str
    replaces: tuple[str, ...]
    contract: str
    fingerprint: str
    table_contracts: str
    spans: Mapping[Source, Span]
    counts: Mapping[str, int]
    parts: tuple[FilePart, ...]
    table_format: str
    table_schema: str | None
    tables: tuple[TableRecord, ...]
    repeats: Mapping[str, Any]
    positions: Mapping[PositionLine, PositionStretch]
    topics: Mapping[str, str] = field(default_factory=dict)
    stream: WriteKey | None = None
    current: bool = False
    resets: tuple[TableReset, ...] = ()
    drops_repeats: bool = False
    redacted: bool = False
    replay: Mapping[str, Any] | None = None

    @cached_property
    def files(self) -> tuple[FilePart, ...]:
        """All files of the run."""
        return (*self.parts, *(part for table in self.tables for part in table.parts))

    @property
    def folders(self) -> set[str]:
        """The folders that hold them, below the directory."""
        return {part.path.rpartition("/")[0] for part in self.files}

    def as_document(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "attempt": self.attempt,
            "replaces": list(self.replaces),
            "contract": self.contract,
            "contract_fingerprint": self.fingerprint,
            "table_contracts_fingerprint": self.table_contracts,
            "stream": stream_document(self.stream),
            "redacted": self.redacted,
            "replay": self.replay and dict(self.replay),
            "topics": dict(sorted(self.topics.items())),
            "range": range_document(self.spans),
            "counts": dict(self.counts),
            "files": _files(self.parts),
            "repeats": dict(self.repeats),
            "positions": write_positions(self.positions),
            "upheavals": [write_reset(one) for one in self.resets],
            "table_format": self.table_format,
            "table_schema": self.table_schema,
            "current": self.current,
            "drops_repeats": self.drops_repeats,
            "tables": [table.as_document() for table in sorted(self.tables, key=lambda one: one.layout.name.text)],
        }


def range_document(spans: Mapping[Source, Span]) -> list[dict[str, Any]]:
    """Return a range as run records keep it."""
    return [
        {"topic": source.topic, "partition": source.partition, "start": span.start, "end": span.end}
        for source, span in sorted(spans.items())
    ]


def range_of(document: Mapping[str, Any]) -> dict[Source, Span]:
    """Return the range in a record."""
    return {Source(one["topic"], one["partition"]): Span(one["start"], one["end"]) for one in document["range"]}


def overlap(mine: Mapping[Source, Span], theirs: Mapping[Source, Span]) -> bool:
    """Say whether two ranges have a record in common; an empty one has none."""
    shared = [(span, theirs[source]) for source, span in mine.items() if source in theirs]
    return any(max(one.start, other.start) < min(one.end, other.end) for one, other in shared)


def files_of(record: Mapping[str, Any], output: str) -> list[Mapping[str, Any]]:
    """Return the files of an output, such as `changes`, that a record names."""
    return [part for part in record["files"] if part["table"] == output]


def stream_document(key: WriteKey | None) -> dict[str, Any] | None:
    """Return whose batch a run is, as run records keep it."""
    return None if key is None else {"query": key.writer, "batch": key.number}


def _files(parts: Iterable[FilePart]) -> list[dict[str, Any]]:
    return [asdict(part) for part in sorted(parts, key=lambda part: part.path)]
