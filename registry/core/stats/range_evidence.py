"""Range evidence: the records whose reading depends on a declared version, and those that speak against one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.verdicts import OTHER_VERSION, Verdict

RangeKey = tuple[str, int, int]
"""A topic, a partition, and the place of a range among those of the partition."""


class VersionProof(NamedTuple):
    """A record that fits another version and not the declared one, and the difference between the two."""

    offset: int
    path: str
    expected: str
    observed: str


class VersionExclusion(NamedTuple):
    """A record that fits other versions of a subject and not this one, and the highest of those.

    Where the version was declared, there is the difference between the two: path, expected and observed form.
    """

    topic: str
    partition: int
    offset: int
    fits: str
    difference: tuple[str, str, str] | None = None


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


def merge_range_evidence(
    evidence_by_message: dict[RangeKey, RangeEvidence], more: Mapping[RangeKey, RangeEvidence]
) -> None:
    """Add range evidence to other range evidence."""
    for key, range_evidence in more.items():
        evidence_by_message.setdefault(key, RangeEvidence()).merge(range_evidence)


def merge_exclusions(excluded: dict[str, VersionExclusion], more: Mapping[str, VersionExclusion]) -> None:
    """Keep the first exclusion of each version; the order of merging does not matter."""
    for reference, exclusion in more.items():
        known = excluded.get(reference)
        if known is None or exclusion[:3] < known[:3]:
            excluded[reference] = exclusion


def exclusions(verdict: Verdict, source: Source, offset: int) -> dict[str, VersionExclusion]:
    """Return the versions of its subject that a record does not fit, if it fits another."""
    fits = verdict.fits
    if not fits:
        return {}
    one = verdict.findings[0] if verdict.outcome == OTHER_VERSION else None
    difference = (one.path, one.expected, one.observed) if one is not None else None
    exclusion = VersionExclusion(*source, offset, fits[-1].reference, difference)
    others = fits[0].catalogue.versions(fits[0].subject)
    return {version.reference: exclusion for version in others if version not in fits}


def contradicted(evidence_by_message: Mapping[RangeKey, RangeEvidence]) -> Iterable[tuple[RangeKey, int, VersionProof]]:
    """Yield the ranges with a proof against their version and records that depend on it, in order."""
    for key, range_evidence in sorted(evidence_by_message.items()):
        if range_evidence.differing and range_evidence.proof is not None:
            yield key, range_evidence.differing, range_evidence.proof
