"""Tallies: the results of a batch, a task and a whole run in numbers, which can be added up in any order.

A tally is small however many records it counts: findings are kept per class, rule, path and table, never per record,
and each list is bounded in a way that does not depend on how the records were divided into batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.stats.chain_evidence import (
    ChainEvidence,
    ChainLine,
    ChainProof,
    ChainStretch,
    are_own,
)
from cdc_contracts.registry.core.stats.change_evidence import weigh_changes
from cdc_contracts.registry.core.stats.ddl_statements import Statement, keep_first
from cdc_contracts.registry.core.stats.finding_onsets import ANY_OP, Start, unbroken_series
from cdc_contracts.registry.core.stats.finding_overlaps import FindingOverlaps
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey, FindingTally, keep_first_findings, key_of
from cdc_contracts.registry.core.stats.folded_findings import FoldedFindings
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.range_evidence import (
    RangeEvidence,
    RangeKey,
    VersionExclusion,
    merge_exclusions,
    merge_range_evidence,
)
from cdc_contracts.registry.core.stats.read_offsets import Span, merge_spans
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.stream_statistics import StreamStatistics
from cdc_contracts.registry.core.stats.topic_profiles import TopicProfiles
from cdc_contracts.registry.core.stats.version_runs import MOST_RUNS, Run, gather_runs, join_runs, leave_out_open

MOST_FINDINGS: Final = 50_000
MOST_FAULTS: Final = 5_000
"""What findings are about, whatever their table: class, rule and path."""
MOST_SPANS: Final = 10_000
"""Of a partition; compaction and transactions leave gaps, and so do parts of a capture that overlap, until all are
read."""
MOST_STARTS: Final = 100_000
LEAST_STARTS: Final = 32
"""The starts of a finding in a partition, if a tally has many findings."""


@dataclass
class Tally:
    """Everything that a report needs.

    `spans` are the offsets read without a gap. `findings` has details; of those beyond a maximum, `folded` has what the
    verdict of a run needs. `overlaps` counts messages with several findings at once, `total_findings` the records of
    all findings, kept or not. `lasts` has by canonical op the last offset of a message of each table; a table None
    stands for all messages with a value. `excluded` has by version the first record that fits others of its subject and
    not this one. `cuts` are the offsets from which on runs are not kept. `evidence_by_message` are there where ranges
    declare versions, `profiles` where they are wanted and a message conforms.
    """

    partitions: dict[Source, PartitionTally] = field(default_factory=dict)
    spans: dict[Source, list[Span]] = field(default_factory=dict)
    findings: dict[FindingKey, FindingTally] = field(default_factory=dict)
    folded: FoldedFindings = field(default_factory=FoldedFindings)
    overlaps: FindingOverlaps = field(default_factory=FindingOverlaps)
    outcomes: Counter[str] = field(default_factory=Counter)
    readable: Counter[str | None] = field(default_factory=Counter)
    lasts: dict[Source, dict[str, dict[str | None, int]]] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    differing: int = 0
    excluded: dict[str, VersionExclusion] = field(default_factory=dict)
    runs: dict[Source, list[Run]] = field(default_factory=dict)
    cuts: dict[Source, int] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    total_findings: int = 0
    dropped: bool = False
    statistics: StreamStatistics = field(default_factory=StreamStatistics)
    chains: RowChanges = field(default_factory=RowChanges)
    evidence_by_message: dict[RangeKey, RangeEvidence] = field(default_factory=dict)
    profiles: TopicProfiles | None = None

    def add_finding(self, finding: Finding, table: str | None, tally: FindingTally) -> None:
        """Count one finding over the records in `tally`."""
        self.total_findings += tally.count
        key = key_of(finding, table)
        if key in self.findings:
            self.findings[key].merge(tally)
        else:
            self.findings[key] = tally

    def merge(self, other: Tally) -> None:
        """Add another tally to this one; the order of merging does not matter."""
        self._merge_findings(other)
        for source, partition in other.partitions.items():
            self.partitions.setdefault(source, PartitionTally()).merge(partition)
        for source, spans in other.spans.items():
            self.spans[source] = merge_spans(self.spans.get(source, ()), spans, MOST_SPANS)
        self._join_starts(other)
        self.outcomes.update(other.outcomes)
        self.readable.update(other.readable)
        for source, by_op in other.lasts.items():
            for op, lasts in by_op.items():
                self.note_lasts(source, op, lasts)
        self.seen.update(other.seen)
        self.undecided += other.undecided
        self.differing += other.differing
        self.total_findings += other.total_findings
        self.dropped |= other.dropped
        self.folded.merge(other.folded)
        self.overlaps.merge(other.overlaps)
        merge_exclusions(self.excluded, other.excluded)
        self.statistics.merge(other.statistics)
        if other.chains or other.chains.covered:  # what was read is no gap, whatever the messages are
            self.chains.merge(other.chains)
        merge_range_evidence(self.evidence_by_message, other.evidence_by_message)
        if other.profiles is not None:
            if self.profiles is None:
                self.profiles = TopicProfiles()
            self.profiles.merge(other.profiles)
        self._merge_runs(other)
        if other.statements:
            self.statements = keep_first([*self.statements, *other.statements])
        if len(self.findings) > MOST_FINDINGS + MOST_FAULTS:
            self.bound()

    def chain_evidence(self) -> list[ChainEvidence]:
        """Return the evidence of the key chains of each partition, with records that prove their version alone."""
        proofs = {
            line: [
                ChainProof(
                    reading, run.records, Point(run.first, run.first_timestamp), Point(run.last, run.last_timestamp)
                )
                for run in bounded_runs(self, Source(line.topic, line.partition))
                for reading, versions in enumerate(self.chains.readings[line.subject])
                if run.version in versions
            ]
            for line in self.chains.lines
            if are_own(line, self.chains.readings[line.subject])
        }
        return weigh_changes(self.chains, proofs)

    def contradicting_stretches(self, *references: str) -> list[tuple[ChainLine, ChainStretch]]:
        """Return the stretches of each partition in which key chains contradict a version, proven or not.

        Several versions can be given if they read an UPDATE alike.
        """
        return [
            (found.line, stretch)
            for found in self.chain_evidence()
            for stretch in found.against(*references)
            if stretch.links
        ]

    def bound(self) -> None:
        """Keep details of the first findings, up to a maximum, and fold the others.

        Those that are kept are counted in full, however the records were batched, and every other one is folded.
        """
        kept = keep_first_findings(self.findings, MOST_FINDINGS, MOST_FAULTS)
        if len(kept) < len(self.findings):
            for key in self.findings.keys() - kept:
                self.folded.add(key, self.findings.pop(key).severity)
            self.dropped = True

    def unbroken(self, key: FindingKey, source: Source) -> Start | None:
        """Return the record of a partition from which every message has a finding; None if the last does not."""
        series_by_op = self.findings[key].extents[source].series_by_op
        lasts = {op: self.last_offset(source, op, key.table) for op in series_by_op}
        return unbroken_series(series_by_op, lasts) if series_by_op else None

    def note_lasts(self, source: Source, op: str, lasts: Mapping[str | None, int]) -> None:
        """Record messages of an op by the last offset of each table."""
        by_op = self.lasts.setdefault(source, {})
        known = by_op.get(op)
        if known is None:
            by_op[op] = dict(lasts)
            return
        for table, offset in lasts.items():
            if offset >= known.get(table, -1):
                known[table] = offset

    def last_offset(self, source: Source, op: str, table: str | None) -> int:
        """Return the last offset of a message of a table by op, or by any; -1 if there is none."""
        by_op = self.lasts.get(source, {})
        if op == ANY_OP:
            return max((lasts.get(table, -1) for lasts in by_op.values()), default=-1)
        return by_op.get(op, {}).get(table, -1)

    def _merge_findings(self, other: Tally) -> None:
        """Add the findings, each with the last messages without it that the other side has seen."""
        late = [source for source in other.partitions if not self._is_before(other, source)]
        for key, finding in self.findings.items() if late else ():
            if key not in other.findings:
                self._see_clean(key, finding, other)
        for key, finding in other.findings.items():
            other._see_clean(key, finding, self)
            if key in self.findings:
                self._see_clean(key, self.findings[key], other)
                self.findings[key].merge(finding)
            else:
                self.findings[key] = finding

    def _see_clean(self, key: FindingKey, finding: FindingTally, other: Tally) -> None:
        """Give a finding the last messages without it that it has not seen: later ones here, and the other side's.

        Series that both sides have are merged by themselves. In partitions of one side nothing has changed: they wait
        until the other side has records of them too, or else merging would take as long as there are partitions.
        """
        for source in finding.extents.keys() & other.partitions.keys():
            extent = finding.extents[source]
            theirs = other.findings[key].extents.get(source) if key in other.findings else None
            for op, series in extent.series_by_op.items():
                series.see_clean(series.clean_up_to(self.last_offset(source, op, key.table)))
                if theirs is None or op not in theirs.series_by_op:
                    series.see_clean(other.last_offset(source, op, key.table))

    def _join_starts(self, other: Tally) -> None:
        """Shorten the lists of starts of findings to which the other side has added."""
        most = max(LEAST_STARTS, MOST_STARTS // max(1, len(self.findings)))
        for key, finding in other.findings.items():
            for source in finding.extents:
                for series in self.findings[key].extents[source].series_by_op.values():
                    if len(series.starts) > 1:
                        series.join_starts(self.spans.get(source, ()), most)

    def _is_before(self, other: Tally, source: Source) -> bool:
        """Return whether all offsets read from a partition here are before those read there."""
        mine, theirs = self.partitions.get(source), other.partitions[source]
        if mine is None or mine.last_offset is None or theirs.first_offset is None:
            return True
        return mine.last_offset < theirs.first_offset

    def _merge_runs(self, other: Tally) -> None:
        for source, cut in other.cuts.items():
            self.cuts[source] = min(cut, self.cuts.get(source, cut))
        for source, runs in other.runs.items():
            found = gather_runs(self.runs.get(source, ()), runs)
            if len(found) > 2 * MOST_RUNS:
                found = join_runs(found)
                if len(found) > MOST_RUNS:
                    cut = found[MOST_RUNS].first
                    self.cuts[source] = min(cut, self.cuts.get(source, cut))
            self.runs[source] = found
        for source, cut in self.cuts.items():
            if source in other.runs or source in other.cuts:
                self.runs[source] = [run for run in self.runs[source] if run.first < cut]


def bounded_runs(tally: Tally, source: Source) -> list[Run]:
    """Return the runs of a partition, up to a maximum that does not depend on batches."""
    return leave_out_open(tally.runs.get(source, ()))[:MOST_RUNS]


def proven_runs(tally: Tally) -> dict[Source, list[Run]]:
    """Return the runs of each partition, by records that prove their version and by key chains.

    If several subjects alternate, the stretches of one say nothing about records of others in between.
    """
    runs = {source: bounded_runs(tally, source) for source in tally.runs}
    for found in tally.chain_evidence():
        stretches = [as_run(stretch) for stretch in found.proven()]
        if stretches and any(found.links) and found.of_one_subject:
            source = Source(found.line.topic, found.line.partition)
            subjects = {run.version.partition("@")[0] for run in runs.get(source, ())}
            if subjects <= {found.line.subject}:
                runs[source] = stretches[:MOST_RUNS]
    return runs


def as_run(stretch: ChainStretch) -> Run:
    """Return a stretch of key chains as a run of its version."""
    first, last = stretch.first, stretch.last
    return Run(
        stretch.contract, first.offset, last.offset, stretch.records, first.timestamp, last.timestamp, stretch.inner
    )
