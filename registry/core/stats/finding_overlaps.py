"""Finding overlaps: how many messages have several findings at once.

What one change does to many columns is one finding, and a message counts once for it however many columns it breaks.
The messages of a finding are not kept, only their number; so for each combination of findings on columns that occurs in
a message, the messages with it are counted as well. The union of findings follows from both numbers.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.findings import find_cause
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.drift_rule import drift_rules

MOST_OVERLAPS: Final = 100_000


class Fault(NamedTuple):
    """What a finding is about, whatever its table."""

    name: str
    rule: str
    path: str


class OverlapPlace(NamedTuple):
    """The messages of one table in one partition with one op code, as far as it may be shown."""

    table: str | None
    source: Source
    code: str | None

    @property
    def order(self) -> tuple[bool, str, Source, bool, str]:
        return self.table is not None, self.table or "", self.source, self.code is not None, self.code or ""


class Overlap(NamedTuple):
    """How many messages of a place have some faults at once."""

    faults: tuple[Fault, ...]
    place: OverlapPlace
    messages: int


class MessageUnion(NamedTuple):
    """How many messages have at least one of several findings, by partition and by op code.

    Where `at_least`, some combinations were not kept, or not counted: there may be more.
    """

    by_source: Counter[Source]
    ops: dict[str, int]
    at_least: bool

    @property
    def messages(self) -> int:
        return self.by_source.total()


@dataclass
class FindingOverlaps:
    """Messages by the combination of faults that they have, two or more. Adding them up is commutative and associative.

    Bounded: of too many combinations the first by table are kept, counted in full whatever the batch limits; `left_out`
    is then the order of the first that is not kept.
    """

    held: dict[tuple[Fault, ...], dict[OverlapPlace, int]] = field(default_factory=dict)
    left_out: tuple[bool, str] | None = None
    size: int = 0

    def __bool__(self) -> bool:
        return bool(self.held)

    def add(self, faults: tuple[Fault, ...], place: OverlapPlace, count: int) -> None:
        """Count messages that have the same faults, which are in order and several."""
        places = self.held.setdefault(faults, {})
        if place not in places:
            self.size += 1
        places[place] = places.get(place, 0) + count

    def merge(self, other: FindingOverlaps) -> None:
        """Add the messages of another part of the run; the order of merging does not matter."""
        for faults, places in other.held.items():
            for place, count in places.items():
                self.add(faults, place, count)
        self._leave_out(other.left_out)
        if self.size > 2 * MOST_OVERLAPS:
            self.bound()

    def bound(self) -> None:
        """Keep the first combinations by table."""
        if self.size > MOST_OVERLAPS:
            ordered = heapq.nsmallest(
                MOST_OVERLAPS + 1, ((*place.order, faults) for faults, places in self.held.items() for place in places)
            )
            first = ordered.pop()
            self._leave_out(first[:2])
            self.held = {
                faults: kept
                for faults, places in self.held.items()
                if (kept := {place: count for place, count in places.items() if (*place.order, faults) < first})
            }
            self.size = len(ordered)

    def by_table(self) -> Mapping[str | None, Sequence[Overlap]]:
        """Return the combinations of each table, with their messages."""
        result: dict[str | None, list[Overlap]] = defaultdict(list)
        for faults, places in self.held.items():
            for place, count in places.items():
                result[place.table].append(Overlap(faults, place, count))
        return result

    def misses(self, table: str | None) -> bool:
        """Return whether some combination of a table may not be kept."""
        return self.left_out is not None and self.left_out <= (table is not None, table or "")

    def _leave_out(self, order: tuple[bool, str] | None) -> None:
        if order is not None:
            self.left_out = order if self.left_out is None else min(order, self.left_out)


@lru_cache(maxsize=1024)
def is_per_column(rule: str) -> bool:
    """Return whether the findings of a rule are one for each column."""
    cause = find_cause(rule)
    if cause is not None:
        return cause.per_column
    across = drift_rules().get(rule.partition(".")[2])
    return across is not None and across.id == rule and across.per_column


def faults_on_columns(keys: Iterable[FindingKey]) -> tuple[Fault, ...]:
    """Return the faults on columns among the findings of a message, in order; nothing if there are less than two."""
    found = {Fault(key.name, key.rule, key.path) for key in keys if is_per_column(key.rule)}
    return tuple(sorted(found)) if len(found) > 1 else ()


def unite(findings: Mapping[Fault, FindingTally], overlaps: Iterable[Overlap]) -> MessageUnion:
    """Return how many messages have one of the findings on a table, given all combinations of it."""
    by_source, ops = Counter[Source](), Counter[str]()
    for finding in findings.values():
        for source, extent in finding.extents.items():
            by_source[source] += extent.count
        ops.update(finding.ops)
    for source, code, more in _repeated(findings, overlaps):
        by_source[source] -= more
        if code is not None:
            ops[code] -= more
    return MessageUnion(by_source, {code: ops[code] for code in sorted(ops) if ops[code] > 0}, at_least=False)


def unite_unknown(findings: Iterable[FindingTally]) -> MessageUnion:
    """Return how many messages have one of the findings at least, if nothing is known of their combinations.

    Messages with different op codes are different; of findings that share some, the most frequent counts.
    """
    by_source, ops, at_least = Counter[Source](), Counter[str](), False
    for alike in _by_shared_ops(findings):
        most = Counter[Source]()
        for finding in alike:
            most |= Counter({source: extent.count for source, extent in finding.extents.items()})
            ops |= finding.ops
        by_source.update(most)
        at_least |= sum(finding.count for finding in alike) > most.total()
    return MessageUnion(by_source, dict(sorted(ops.items())), at_least)


def _by_shared_ops(findings: Iterable[FindingTally]) -> list[list[FindingTally]]:
    """Return findings together that have an op code in common, also by others; all of them if some code is unknown."""
    groups: list[tuple[set[str], list[FindingTally]]] = []
    for finding in findings:
        known = finding.ops.total() == finding.count
        beside = [one for one in groups if not known or not one[0] or one[0] & finding.ops.keys()]
        groups = [one for one in groups if one not in beside]
        unknown = not known or any(not codes for codes, _ in beside)
        codes = set[str]() if unknown else {*finding.ops}.union(*(codes for codes, _ in beside))
        groups.append((codes, [*(one for some in beside for one in some[1]), finding]))
    return [alike for _, alike in groups]


def _repeated(
    findings: Mapping[Fault, FindingTally], overlaps: Iterable[Overlap]
) -> Iterator[tuple[Source, str | None, int]]:
    """Yield how often messages were counted more than once, by partition and op code."""
    for faults, place, count in overlaps:
        held = sum(fault in findings for fault in faults)
        if held > 1:
            yield place.source, place.code, count * (held - 1)
