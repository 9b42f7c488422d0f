"""Range evidence: the records whose reading depends on the declared version of a range, and evidence against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

RangeKey = tuple[str, int, int]
"""A topic, a partition, and the place of a range among those of the partition."""


class VersionProof(NamedTuple):
    """A record that fits another version and not the declared one, and the difference between the two."""

    offset: int
    path: str
    expected: str
    observed: str


@dataclass
class RangeEvidence:
    """The number of records of a range that another version would read differently, and the first proof of another.

    `undecided` records fit several versions, `proven` ones only the declared version.
    """

    differing: int = 0
    proof: VersionProof | None = None
    undecided: int = 0
    proven: int = 0

    def merge(self, other: RangeEvidence) -> None:
        """Merge the evidence of another part of the range; the order does not matter."""
        self.differing += other.differing
        self.undecided += other.undecided
        self.proven += other.proven
        self.proof = min((one for one in (self.proof, other.proof) if one is not None), default=None)


def merge_range_evidence(stakes: dict[RangeKey, RangeEvidence], more: Mapping[RangeKey, RangeEvidence]) -> None:
    """Add range evidence to other range evidence."""
    for key, range_evidence in more.items():
        stakes.setdefault(key, RangeEvidence()).merge(range_evidence)


def contradicted(stakes: Mapping[RangeKey, RangeEvidence]) -> Iterable[tuple[RangeKey, int, VersionProof]]:
    """Yield the ranges with a proof against their version and records that depend on it, in order."""
    for key, range_evidence in sorted(stakes.items()):
        if range_evidence.differing and range_evidence.proof is not None:
            yield key, range_evidence.differing, range_evidence.proof
