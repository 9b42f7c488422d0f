"""Finding tallies: one finding over many records: how often, where, since when, and the first record with it."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.findings import Finding, most_severe
from cdc_contracts.registry.core.stats.finding_onsets import FindingSeries
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source

MOST_SHAPES: Final = 200


class FindingExample(NamedTuple):
    """The value of one record, or its first bytes with the hash of the whole; the contract it was validated under."""

    topic: str
    partition: int
    offset: int
    value: bytes
    size: int
    sha256: str | None
    contract: str | None


class FindingKey(NamedTuple):
    """The identity of a finding: findings with the same key are counted together."""

    name: str
    rule: str
    path: str
    table: str | None

    @property
    def order(self) -> tuple[str, str, str, bool, str]:
        return (self.name, self.rule, self.path, self.table is not None, self.table or "")

    @property
    def fingerprint(self) -> str:
        """The name of the finding that stays the same from run to run."""
        parts = (self.name, self.rule, self.path, self.table or "")
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def key_of(finding: Finding, table: str | None) -> FindingKey:
    """Return the key of a finding on a table."""
    return FindingKey(finding.name, finding.rule, finding.path, table)


@dataclass
class Extent:
    """The count and range in one partition; the series are by canonical op, and one over all ops."""

    count: int
    first: Moment
    last: Moment
    series_by_op: dict[str, FindingSeries] = field(default_factory=dict)

    def add(self, other: Extent) -> None:
        self.count += other.count
        self.first = min(self.first, other.first, key=attrgetter("offset"))
        self.last = max(self.last, other.last, key=attrgetter("offset"))
        for op, series in other.series_by_op.items():
            if op in self.series_by_op:
                self.series_by_op[op].add(series)
            else:
                self.series_by_op[op] = series


@dataclass
class FindingTally:
    """One finding over many records, with the highest of their severities.

    `shapes` are those of the values, if the finding observes their kind. `counted_alone` says that nothing is known of
    which of its records have other findings too, `of_run` that no record shows it by itself.
    """

    severity: str
    expected: Counter[str] = field(default_factory=Counter)
    observed: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    contracts: Counter[str] = field(default_factory=Counter)
    extents: dict[Source, Extent] = field(default_factory=dict)
    shapes: Counter[str] = field(default_factory=Counter)
    example: FindingExample | None = None
    counted_alone: bool = False
    of_run: bool = False

    @property
    def count(self) -> int:
        return sum(extent.count for extent in self.extents.values())

    def merge(self, other: FindingTally) -> None:
        self.severity = most_severe(self.severity, other.severity)
        self.counted_alone |= other.counted_alone
        self.of_run |= other.of_run
        self.expected.update(other.expected)
        self.observed.update(other.observed)
        self.ops.update(other.ops)
        self.contracts.update(other.contracts)
        if other.shapes:
            self.shapes.update(other.shapes)
        for counter in (self.expected, self.observed, self.ops, self.shapes):
            _keep_least(counter, MOST_SHAPES)
        for source, extent in other.extents.items():
            if source in self.extents:
                self.extents[source].add(extent)
            else:
                self.extents[source] = extent
        result = [one for one in (self.example, other.example) if one is not None]
        self.example = min(result, key=lambda one: one[:3], default=None)


def keep_first_findings(keys: Collection[FindingKey], most: int, most_faults: int) -> set[FindingKey]:
    """Return the findings that are kept: of the first faults the first tables, as many of each as there is room for.

    A finding is kept of a whole only if it is kept of every part that has it, so that parts can be cut before they are
    added up.
    """
    if len(keys) <= min(most, most_faults):
        return {*keys}
    by_fault: dict[tuple[str, str, str], list[FindingKey]] = {}
    for key in keys:
        by_fault.setdefault(key[:3], []).append(key)
    faults = heapq.nsmallest(most_faults, by_fault)
    total = sum(len(by_fault[fault]) for fault in faults)
    if total <= most:
        return {key for fault in faults for key in by_fault[fault]}
    ranked = (
        (rank, key.order, key)
        for fault in faults
        for rank, key in enumerate(sorted(by_fault[fault], key=attrgetter("order")))
    )
    return {key for *_, key in heapq.nsmallest(most, ranked, key=itemgetter(0, 1))}


def combine_tallies(tallies: Sequence[FindingTally]) -> FindingTally:
    """Return findings on different tables as one; where each began is left out."""
    if len(tallies) == 1:
        return tallies[0]
    result = FindingTally(tallies[0].severity)
    for one in tallies:
        extents = {source: Extent(extent.count, extent.first, extent.last) for source, extent in one.extents.items()}
        result.merge(replace(one, extents=extents))
    return result


def _keep_least(counter: Counter[str], most: int) -> None:
    """Bound a counter by text order: entries that are kept are counted in full, however records were batched."""
    if len(counter) > most:
        for text in heapq.nlargest(len(counter) - most, counter):
            del counter[text]
