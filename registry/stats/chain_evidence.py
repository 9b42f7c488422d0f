"""Chain evidence: the stretches of a partition in which changes prove one reading, and their proofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cdc_contracts.registry.stats.position_sequences import Point


class ChainLine(NamedTuple):
    """The messages of one subject in one partition."""

    topic: str
    partition: int
    subject: str


Readings = tuple[tuple[str, ...], tuple[str, ...]]
"""Versions by the two ways in which they read an UPDATE: mostly those of one subject."""


class TableShare(NamedTuple):
    """The records of one table in a stretch."""

    table: str | None
    records: int
    first: Point
    last: Point


class ChainStretch(NamedTuple):
    """Records of one partition that support one reading, from the first to the last; `proven` if enough do."""

    contract: str
    reading: int
    links: int
    records: int
    first: Point
    last: Point
    proven: bool
    tables: tuple[TableShare, ...] = ()


class ChainProof(NamedTuple):
    """Records that prove their version by themselves, if that version has one of the two readings."""

    reading: int
    records: int
    first: Point
    last: Point


@dataclass(frozen=True)
class ChainEvidence:
    """The evidence of the chains of one line.

    `links` counts for each of the two readings, `torn` the adjacent changes that no reading joins. `doubtful` means
    that the chains contradict each other throughout, so that they prove nothing.
    """

    line: ChainLine
    readings: Readings
    links: tuple[int, int]
    torn: int
    stretches: tuple[ChainStretch, ...]
    doubtful: bool

    @property
    def of_one_subject(self) -> bool:
        """Whether both readings are of versions of the line's own subject, so that one of them is proven."""
        return are_own(self.line, self.readings)

    def proven(self) -> tuple[ChainStretch, ...]:
        """Return the stretches that prove their reading, in order of their offsets."""
        return tuple(stretch for stretch in self.stretches if stretch.proven)

    def against(self, *references: str) -> tuple[ChainStretch, ...]:
        """Return the stretches that contradict a version, or several versions that read an UPDATE alike.

        This includes unproven stretches with more links than torn pairs: if changes are missing or late, a few links
        arise by chance.
        """
        own = next((way for way, versions in enumerate(self.readings) if {*references} <= {*versions}), None)
        if self.doubtful or own is None:
            return ()
        others = (one for one in self.stretches if one.reading != own)
        return tuple(one for one in others if one.proven or one.links > self.torn)

    def proves(self, reference: str) -> bool:
        """Return whether some stretch proves the reading of a version, and of no other."""
        return any(self.readings[one.reading] == (reference,) for one in self.proven())


def is_strange(line: ChainLine, stretch: ChainStretch) -> bool:
    """Return whether a stretch is read as another subject than that of its line."""
    return stretch.contract.partition("@")[0] != line.subject


def are_own(line: ChainLine, readings: Readings) -> bool:
    """Return whether all versions of two readings are of the subject of a line."""
    return all(reference.partition("@")[0] == line.subject for way in readings for reference in way)
