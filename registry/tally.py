"""Tallies: what a batch, a task and a whole run came to, in numbers that add up in any order.

A tally is small whatever it counted: findings are kept per class, rule, path and table, never per record, and each
list is bounded in a way that does not depend on how the records were cut into batches.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cdc_contracts.registry.findings import Finding

MOST_FINDINGS: Final = 5_000
MOST_SHAPES: Final = 200
MOST_RUNS: Final = 1_000
MOST_TABLES: Final = 20_000


class Source(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int


class Moment(NamedTuple):
    """A record by its coordinates; the timestamp is in microseconds, None where the source has none."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None


class FindingKey(NamedTuple):
    """What makes two findings one."""

    name: str
    rule: str
    path: str
    table: str | None

    @property
    def order(self) -> tuple[str, str, str, bool, str]:
        return (self.name, self.rule, self.path, self.table is not None, self.table or "")


@dataclass
class Extent:
    """How often, and from where to where in one partition."""

    count: int
    first: Moment
    last: Moment

    def add(self, other: Extent) -> None:
        self.count += other.count
        self.first = min(self.first, other.first, key=_offset)
        self.last = max(self.last, other.last, key=_offset)


@dataclass
class FindingTally:
    """One finding over many records."""

    severity: str
    expected: Counter[str] = field(default_factory=Counter)
    observed: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    contracts: Counter[str] = field(default_factory=Counter)
    extents: dict[Source, Extent] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(extent.count for extent in self.extents.values())

    def merge(self, other: FindingTally) -> None:
        self.expected.update(other.expected)
        self.observed.update(other.observed)
        self.ops.update(other.ops)
        self.contracts.update(other.contracts)
        for counter in (self.expected, self.observed, self.ops):
            _keep_least(counter, MOST_SHAPES)
        for source, extent in other.extents.items():
            if source in self.extents:
                self.extents[source].add(extent)
            else:
                self.extents[source] = extent


@dataclass
class PartitionTally:
    """What was read from one partition, by outcome; `changes` counts row changes, the rest messages."""

    read: int = 0
    conforming: int = 0
    control: int = 0
    tombstone: int = 0
    quarantined: int = 0
    excluded: int = 0
    changes: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    first_timestamp: int | None = None
    last_timestamp: int | None = None

    @property
    def valued(self) -> int:
        """How many messages with a value were judged."""
        return self.read - self.tombstone - self.excluded

    def merge(self, other: PartitionTally) -> None:
        for name in ("read", "conforming", "control", "tombstone", "quarantined", "excluded", "changes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first_offset = _least(self.first_offset, other.first_offset)
        self.last_offset = _most(self.last_offset, other.last_offset)
        self.first_timestamp = _least(self.first_timestamp, other.first_timestamp)
        self.last_timestamp = _most(self.last_timestamp, other.last_timestamp)


class Run(NamedTuple):
    """Consecutive proven records of one version in one partition: how many, from which offset and time to which."""

    version: str
    first: int
    last: int
    records: int
    first_timestamp: int | None = None
    last_timestamp: int | None = None


@dataclass
class Tally:
    """Everything that a report is made of."""

    partitions: dict[Source, PartitionTally] = field(default_factory=dict)
    findings: dict[FindingKey, FindingTally] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    readable: Counter[str | None] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    differing: int = 0
    runs: dict[Source, list[Run]] = field(default_factory=dict)
    told: int = 0
    dropped: bool = False

    def add_finding(self, finding: Finding, table: str | None, tally: FindingTally) -> None:
        """Count one finding over the records in `tally`."""
        self.told += tally.count
        key = FindingKey(finding.name, finding.rule, finding.path, table)
        if key in self.findings:
            self.findings[key].merge(tally)
        else:
            self.findings[key] = tally

    def merge(self, other: Tally) -> None:
        """Add another tally to this one; the order of merging does not matter."""
        for source, partition in other.partitions.items():
            self.partitions.setdefault(source, PartitionTally()).merge(partition)
        for key, finding in other.findings.items():
            if key in self.findings:
                self.findings[key].merge(finding)
            else:
                self.findings[key] = finding
        self.outcomes.update(other.outcomes)
        self.readable.update(other.readable)
        self.seen.update(other.seen)
        self.undecided += other.undecided
        self.differing += other.differing
        self.told += other.told
        self.dropped |= other.dropped
        for source, runs in other.runs.items():
            self.runs[source] = join_runs([*self.runs.get(source, []), *runs])
        if len(self.findings) > 2 * MOST_FINDINGS:
            self.bound()

    def bound(self) -> None:
        """Keep the first findings by class, rule, path and table; a run that met more says so.

        What is kept is counted in full, however the records were cut.
        """
        if len(self.findings) > MOST_FINDINGS:
            kept = heapq.nsmallest(MOST_FINDINGS, self.findings, key=lambda key: key.order)
            self.findings = {key: self.findings[key] for key in kept}
            self.dropped = True


def join_runs(runs: Iterable[Run]) -> list[Run]:
    """Return runs in order of their offsets, neighbours of one version joined; the first thousand."""
    joined: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.first, run.last)):
        if joined and joined[-1].version == run.version:
            joined[-1] = _join(joined[-1], run)
        else:
            joined.append(run)
    return joined[:MOST_RUNS]


def _join(left: Run, right: Run) -> Run:
    end = max(left, right, key=lambda run: run.last)
    return left._replace(last=end.last, records=left.records + right.records, last_timestamp=end.last_timestamp)


def _offset(moment: Moment) -> int:
    return moment.offset


def _least(left: int | None, right: int | None) -> int | None:
    told = [value for value in (left, right) if value is not None]
    return min(told) if told else None


def _most(left: int | None, right: int | None) -> int | None:
    told = [value for value in (left, right) if value is not None]
    return max(told) if told else None


def _keep_least(counter: Counter[str], most: int) -> None:
    """Bound a counter by text order: what is kept is counted in full, however the records were cut."""
    if len(counter) > most:
        for text in heapq.nlargest(len(counter) - most, counter):
            del counter[text]
