"""Stakes: what hangs on the version that a range of a versions file declares, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

RangeKey = tuple[str, int, int]
"""A topic, a partition, and the place of a range among those of the partition."""


class Proof(NamedTuple):
    """A record that fits another version and not the declared one, and what tells the two apart."""

    offset: int
    path: str
    expected: str
    observed: str


@dataclass
class Stake:
    """How many records of a range another version would read otherwise, and the first that proves another version.

    `undecided` fit several versions, `proven` the declared one alone.
    """

    differing: int = 0
    proof: Proof | None = None
    undecided: int = 0
    proven: int = 0

    def merge(self, other: Stake) -> None:
        """Take what another part of the range holds; the order does not matter."""
        self.differing += other.differing
        self.undecided += other.undecided
        self.proven += other.proven
        self.proof = min((one for one in (self.proof, other.proof) if one is not None), default=None)


def merge_stakes(stakes: dict[RangeKey, Stake], more: Mapping[RangeKey, Stake]) -> None:
    """Add stakes to others."""
    for key, stake in more.items():
        stakes.setdefault(key, Stake()).merge(stake)


def contradicted(stakes: Mapping[RangeKey, Stake]) -> Iterable[tuple[RangeKey, int, Proof]]:
    """Yield the ranges that hold a proof against their version and records that hang on it, in order."""
    for key, stake in sorted(stakes.items()):
        if stake.differing and stake.proof is not None:
            yield key, stake.differing, stake.proof
