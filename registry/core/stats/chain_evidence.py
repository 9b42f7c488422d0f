"""Chain evidence: what many row changes together prove of the reading of their images, by partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from cdc_contracts.registry.core.stats.position_sequences import Point

ENOUGH_VOTES: Final = 5
"""The votes that prove a reading, where few enough are against it."""
_MOST_AGAINST: Final = 10
"""A reading is proven, or supported, if at most one in this many votes is against it."""


class ChainLine(NamedTuple):
    """The messages of one subject in one partition."""

    topic: str
    partition: int
    subject: str


Readings = tuple[tuple[str, ...], tuple[str, ...]]
"""Versions by the two ways in which they read an UPDATE: mostly those of one subject."""


class TableShare(NamedTuple):
    """The records of one table in a stretch, by their offsets: ascending, each once."""

    table: str | None
    offsets: tuple[int, ...]
    first: Point
    last: Point

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.offsets)


class ChainStretch(NamedTuple):
    """Records of one partition that support one reading, from the first to the last; `proven` if enough do.

    `links` counts the links and the votes of states for it.
    """

    contract: str
    reading: int
    links: int
    records: int
    first: Point
    last: Point
    proven: bool
    tables: tuple[TableShare, ...] = ()
    inner: tuple[int, int] | None = None
    """The offsets between which more than two votes prove it, where the places of its votes are known."""


class ChainProof(NamedTuple):
    """Records that prove their version by themselves, if that version has one of the two readings."""

    reading: int
    records: int
    first: Point
    last: Point


class ChangePlace(NamedTuple):
    """Where a change is."""

    partition: int
    offset: int


class ChangePair(NamedTuple):
    """Two changes of one row that only one reading joins: neighbours, or those by which a state votes for it."""

    one: ChangePlace
    other: ChangePlace
    neighbours: bool


class VoteCount(NamedTuple):
    """Votes for each of the two readings: links between changes in order, and states that need no order."""

    one: int
    other: int

    def of(self, reading: int) -> int:
        """Return the votes for a reading."""
        return self.other if reading else self.one

    @property
    def proven(self) -> int | None:
        """The reading that they prove: by at least five votes, nine in ten of them."""
        most = int(self.other > self.one)
        return most if self.of(most) >= ENOUGH_VOTES and self.supports(most) else None

    def supports(self, reading: int) -> bool:
        """Return whether more votes are for a reading than against it, and at most one in ten is against it."""
        against = self.of(1 - reading)
        return against < self.of(reading) and against * _MOST_AGAINST <= self.one + self.other

    def contradict(self, reading: int) -> bool:
        """Return whether there are votes, and they do not support a reading."""
        return bool(self.one + self.other) and not self.supports(reading)


@dataclass(frozen=True)
class ChainEvidence:
    """What links and states prove in one line.

    `links` counts the links for each of the two readings, `torn` the adjacent changes that no reading joins, `states`
    the votes of states in all partitions of the topic. `doubtful` means that the links contradict each other
    throughout, so that they prove nothing. `disputed` are the votes of a part of the topic that speak against each
    other, and that no switch explains. `pairs` has for each of the two readings the first two changes that show it,
    None if there are none: neighbours if there are some, else of any state.
    """

    line: ChainLine
    readings: Readings
    links: tuple[int, int]
    torn: int
    stretches: tuple[ChainStretch, ...]
    doubtful: bool
    states: tuple[int, int] = (0, 0)
    disputed: tuple[ChainStretch, ...] = ()
    pairs: tuple[ChangePair | None, ChangePair | None] = (None, None)

    @property
    def of_one_subject(self) -> bool:
        """Whether both readings are of versions of the line's own subject, so that one of them is proven."""
        return are_own(self.line, self.readings)

    def proven(self) -> tuple[ChainStretch, ...]:
        """Return the stretches that prove their reading, in order of their offsets."""
        return tuple(stretch for stretch in self.stretches if stretch.proven)

    def against(self, *references: str) -> tuple[ChainStretch, ...]:
        """Return the stretches that contradict a version, or several versions that read an UPDATE alike.

        This includes unproven stretches with more links than torn pairs, and what is disputed: too little to prove
        another version, and too much for a version to be trusted.
        """
        own = next((way for way, versions in enumerate(self.readings) if {*references} <= {*versions}), None)
        if own is None:
            return ()
        others = [] if self.doubtful else [one for one in self.stretches if one.reading != own]
        found = [one for one in others if one.proven or one.links > self.torn]
        if not any(one.proven for one in found):
            found += [one for one in self.disputed if one.reading != own]
        return tuple(found)

    def proves(self, reference: str) -> bool:
        """Return whether some stretch proves the reading of a version, and of no other."""
        return any(self.readings[one.reading] == (reference,) for one in self.proven())


def is_strange(line: ChainLine, stretch: ChainStretch) -> bool:
    """Return whether a stretch is read as another subject than that of its line."""
    return stretch.contract.partition("@")[0] != line.subject


def are_own(line: ChainLine, readings: Readings) -> bool:
    """Return whether all versions of two readings are of the subject of a line."""
    return all(reference.partition("@")[0] == line.subject for way in readings for reference in way)
