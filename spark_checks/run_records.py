"""The record of a run: what it read, by what, and what it wrote. Records of earlier releases lack the later keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from cdc_contracts.registry.canonical.layouts import (
    Layouts,
    TableLayout,
    TableName,
    read_layout,
    write_layout,
)
from cdc_contracts.registry.positions import PositionLine, PositionStretch, read_positions, write_positions
from cdc_contracts.registry.report import Span
from cdc_contracts.registry.tally import Source
from cdc_contracts.spark_checks.offsets import words_of
from cdc_contracts.spark_checks.sinks import Part
from cdc_contracts.spark_checks.typed_tables import TypedWrite, WriteKey


@dataclass(frozen=True)
class TableRecord:
    """What a run wrote to one typed table.

    `raw` counts by image and column the values that are kept as text; `commit` says where the format keeps versions
    of a table which one this is.
    """

    layout: TableLayout
    rows: int
    raw: Mapping[str, int]
    parts: tuple[Part, ...] = ()
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
    """Return what a write came to, table by table."""
    parts: dict[str, list[Part]] = {}
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

    `attempt` is like no other's, and `replaces` are the attempts whose records do not count any more. `topics` are what
    the broker knew the topics by, as far as one told. `stream` is whose batch it is, None for a run of its own.
    `redacted` says that its quarantine holds shapes only; `replay` tells out of the quarantine of which runs it has
    decoded records, None where it read them from their source.
    """

    run: str
    attempt: str
    replaces: tuple[str, ...]
    contract: str
    fingerprint: str
    table_contracts: str
    spans: Mapping[Source, Span]
    counts: Mapping[str, int]
    parts: tuple[Part, ...]
    table_format: str
    tables: tuple[TableRecord, ...]
    repeats: Mapping[str, Any]
    positions: Mapping[PositionLine, PositionStretch]
    topics: Mapping[str, str] = field(default_factory=dict)
    stream: WriteKey | None = None
    redacted: bool = False
    replay: Mapping[str, Any] | None = None

    @cached_property
    def files(self) -> tuple[Part, ...]:
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
            "table_format": self.table_format,
            "tables": [table.as_document() for table in sorted(self.tables, key=lambda one: one.layout.name.text)],
        }


@dataclass(frozen=True)
class PastRun:
    """What later runs have to know of a finished one."""

    run: str
    attempt: str
    replaces: tuple[str, ...]
    spans: Mapping[Source, Span]
    layouts: tuple[TableLayout, ...]
    positions: Mapping[PositionLine, PositionStretch] = field(default_factory=dict)
    replays: frozenset[str] = frozenset()
    """The runs whose quarantined records it has decoded."""
    topics: Mapping[str, str] = field(default_factory=dict)
    """What the broker knew its topics by."""
    query: str | None = None
    """The stream that it is a batch of."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> PastRun:
        spans = range_of(record)
        layouts = tuple(read_layout(one["layout"]) for one in record.get("tables", ()))
        return cls(
            run=record["run"],
            attempt=record.get("attempt", record["run"]),
            replaces=tuple(record.get("replaces", ())),
            spans=spans,
            layouts=layouts,
            positions=read_positions(record.get("positions", ())),
            replays=frozenset((record.get("replay") or {}).get("of", ())),
            topics=record.get("topics", {}),
            query=(record.get("stream") or {}).get("query"),
        )

    def overlaps(self, spans: Mapping[Source, Span]) -> bool:
        """Say whether the run has read some of the same records from where they come from."""
        if self.replays:
            return False
        return overlap(self.spans, spans)


def range_document(spans: Mapping[Source, Span]) -> list[dict[str, Any]]:
    """Return a range as run records keep it."""
    return [
        {"topic": source.topic, "partition": source.partition, "start": span.start, "end": span.end}
        for source, span in sorted(spans.items())
    ]


def range_of(document: Mapping[str, Any]) -> dict[Source, Span]:
    """Return the range that a record tells."""
    return {Source(one["topic"], one["partition"]): Span(one["start"], one["end"]) for one in document["range"]}


def overlap(mine: Mapping[Source, Span], theirs: Mapping[Source, Span]) -> bool:
    """Say whether two ranges have a record in common."""
    shared = [(span, theirs[source]) for source, span in mine.items() if source in theirs]
    return any(one.start < other.end and other.start < one.end for one, other in shared)


def stream_document(key: WriteKey | None) -> dict[str, Any] | None:
    """Return whose batch a run is, as run records keep it."""
    return None if key is None else {"query": key.writer, "batch": key.number}


def how_to_finish(note: Mapping[str, Any]) -> str:
    """Return what finishes a run that was cut off: the same run."""
    if note["stream"]:
        return "start the stream again with the checkpoint it had, or decode into another directory"
    told = []
    for topic in sorted({one["topic"] for one in note["range"]}):
        bounds = {one["partition"]: (one["start"], one["end"]) for one in note["range"] if one["topic"] == topic}
        start, end = words_of(bounds)
        told.append(f"{topic} --from '{start}' --until '{end}'")
    return f"decode {', '.join(told)} under {note['contract']} first, with the table contracts and options it had"


def grown_layouts(layouts: Iterable[TableLayout]) -> Layouts:
    """Return what the layouts of runs have come to, whatever the order they ended in.

    Layouts only grow, so the longest holds all others; where two runs side by side have grown one apart, the columns
    of the other stand behind, by name.
    """
    found: dict[TableName, TableLayout] = {}
    for layout in sorted(set(layouts), key=_longest_first):
        longest = found.setdefault(layout.name, layout)
        names = {column.name.casefold() for column in longest.columns}
        more = [column for column in layout.columns if column.name.casefold() not in names]
        columns = (*longest.columns, *sorted(more, key=lambda column: column.name))
        held = {column.name for column in columns}
        awaited = dict.fromkeys(name for name in (*longest.awaited, *layout.awaited) if name not in held)
        found[layout.name] = replace(longest, columns=columns, awaited=tuple(awaited))
    return found


def _longest_first(layout: TableLayout) -> tuple[int, str]:
    return -len(layout.columns), repr(layout)


def _files(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [asdict(part) for part in sorted(parts, key=lambda part: part.path)]
