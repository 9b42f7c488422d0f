"""Finished runs: a snapshot of what later runs of a directory need to know about them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.positions import PositionLine, PositionStretch, read_positions
from cdc_contracts.registry.core.tables.canonical.canonical_names import canonical_name, shards_of
from cdc_contracts.registry.core.tables.canonical.table_layouts import (
    Layouts,
    RecordedLayout,
    TableLayout,
    TableName,
    read_layout,
)
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.runs.run_records import RunRecord, overlap
from cdc_contracts.spark_checks.tables.table_formats import WriteMode

RUNS: Final = "_runs"
"""Where their records are; what one process may do at a time is done with this folder locked."""


@dataclass(frozen=True)
class PastRun:
    """A summary of a finished run.

    `replays` are the runs whose quarantined records it has decoded, `topics` the broker's ids of its topics, and
    `query` the stream if it is a batch of one, and `batch` its number; `fingerprint` is the one of its contracts, and
    `options` those of the producer that it was read by.
    """

    run: str
    attempt: str
    replaces: tuple[str, ...]
    spans: Mapping[Source, Span]
    layouts: tuple[TableLayout, ...]
    positions: Mapping[PositionLine, PositionStretch] = field(default_factory=dict)
    replays: frozenset[str] = frozenset()
    topics: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    batch: int | None = None
    resets: tuple[TableReset, ...] = ()
    write_mode: WriteMode = field(default_factory=WriteMode)
    fingerprint: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, record: RunRecord) -> PastRun:
        return cls(
            run=record.run,
            attempt=record.attempt or record.run,
            replaces=record.replaces,
            spans=record.spans,
            layouts=tuple(_layout(one.layout, record.shape) for one in record.tables),
            positions=read_positions(record.positions),
            replays=frozenset(record.replay.of if record.replay else ()),
            topics=record.topics,
            query=record.stream.query if record.stream else None,
            batch=record.stream.batch if record.stream else None,
            resets=record.upheavals,
            fingerprint=record.contract_fingerprint,
            options=record.options or {},
            write_mode=WriteMode(
                record.table_format, record.table_schema or None, record.current, record.keeps_changes, record.shape
            ),
        )

    def overlaps(self, spans: Mapping[Source, Span]) -> bool:
        """Return whether the run has read some of the same records from their source."""
        return not self.replays and overlap(self.spans, spans)


class PastRuns(tuple[PastRun, ...]):
    """A snapshot of the finished runs that have not been replaced, in order of their names."""

    __slots__ = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(past.run for past in self)

    def overlapping(self, run: str, spans: Mapping[Source, Span]) -> list[PastRun]:
        """Return the other runs that read some of the same records, and the replays of these and of the run itself."""
        others = [past for past in self if past.run != run]
        found = [past for past in others if past.overlaps(spans)]
        read_again = {run, *(past.run for past in found)}
        return [*found, *(past for past in others if past.replays & read_again)]

    def before(self, spans: Mapping[Source, Span]) -> list[PastRun]:
        """Return the runs over earlier records of the same topics, the latest last; all of them lie before."""
        topics = {source.topic for source in spans}
        found = []
        for past in self:
            shared = [(span, past.spans[source]) for source, span in spans.items() if source in past.spans]
            same = topics <= {source.topic for source in past.spans}
            if not past.replays and same and shared and all(other.end <= span.start for span, other in shared):
                found.append((max(other.end for _, other in shared), past.run, past))
        return [past for *_, past in sorted(found, key=lambda one: one[:2])]

    def check_unread(
        self, run: str, spans: Mapping[Source, Span], directory: str, *, without: Collection[str] = ()
    ) -> None:
        """Raise UnavailableError if another run has read some of these records; some runs are excepted."""
        read = {one.run for one in self.overlapping(run, spans)} - set(without)
        if read:
            raise UnavailableError(
                f"run {min(read)} has decoded some of these records in the meantime",
                where=directory,
                hint="Decode a range into a directory with one command at a time.",
            )

    def check_families(self, families: TableFamilies, directory: str) -> None:
        """Raise UnavailableError if a run has written rows of a table to another typed table than `families` say."""
        each = {id(one): (one, past.run) for past in self for one in past.layouts}  # as in `layouts`
        for layout, run in each.values():
            wanted, name = shards_of(layout.name, families), layout.name.text
            if layout.shards == wanted and (wanted or canonical_name(layout.name, families) == layout.name):
                continue
            if layout.shards is not None:
                said = f"has a table {name} for all that `{layout.shards}` matches"
                kept = f"with `families: {{{name}: {json.dumps(layout.shards)}}}`"
            elif wanted is None:
                said, kept = f"has tables of their own for shards, such as {name}", "without this family"
            else:
                said, kept = f"has a table {name} that holds no shards", "with another name of the family"
            raise UnavailableError(
                f"run {run} {said}, and the settings say otherwise now: rows of one table would be in two places",
                where=directory,
                hint=f"Choose another directory, or continue {kept} in cdc-contracts.yaml.",
            )

    def layouts(self, *, without: Collection[str] = ()) -> Layouts:
        """Return the layouts of tables that the runs have fixed; some runs are excepted."""
        # Thousands of runs share few layout objects; comparing all by value would be slow.
        each = {id(one): one for past in self if past.run not in without for one in past.layouts}
        return grown_layouts(each.values())


def grown_layouts(layouts: Iterable[TableLayout]) -> Layouts:
    """Return the merged layouts of runs, independent of the order in which they ended.

    Layouts only grow, so the longest contains all others; if two concurrent runs have extended one differently, the
    columns of the other follow, by name.
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


@lru_cache(maxsize=4_096)
def _layout(recorded: RecordedLayout, shape: str) -> TableLayout:
    """Return the layout in a record, always the same object for equal layouts."""
    return read_layout(recorded, shape)


def _longest_first(layout: TableLayout) -> tuple[int, str]:
    return -len(layout.columns), repr(layout)
