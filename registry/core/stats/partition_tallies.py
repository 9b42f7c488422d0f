"""Partition tallies: the records read from one partition, counted by outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Source(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int


class Moment(NamedTuple):
    """The coordinates of a record; the timestamp is in microseconds, None if the source has none."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None


class SliceCount(NamedTuple):
    """The messages with a value in one slice of a sample, and those of them that do not conform."""

    read: int
    quarantined: int


@dataclass(slots=True)
class PartitionTally:
    """The records of one partition by outcome; `changes` counts row changes, the rest messages.

    `slices` are counts by the number of a slice, if the partition is sampled.
    """

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
    slices: dict[int, SliceCount] | None = field(default=None, init=False)

    @property
    def valued(self) -> int:
        """The number of validated messages with a value."""
        return self.read - self.tombstone - self.excluded

    def merge(self, other: PartitionTally) -> None:
        self.read += other.read
        self.conforming += other.conforming
        self.control += other.control
        self.tombstone += other.tombstone
        self.quarantined += other.quarantined
        self.excluded += other.excluded
        self.changes += other.changes
        if other.slices:
            self.slices = dict(self.slices or {})
            for number, (read, quarantined) in other.slices.items():
                mine = self.slices.get(number, SliceCount(0, 0))
                self.slices[number] = SliceCount(mine.read + read, mine.quarantined + quarantined)
        self.widen(other.first_offset, other.last_offset, other.first_timestamp, other.last_timestamp)

    def widen(
        self, first_offset: int | None, last_offset: int | None, first_timestamp: int | None, last_timestamp: int | None
    ) -> None:
        """Note offsets and times that were read."""
        self.first_offset = _least(self.first_offset, first_offset)
        self.last_offset = _most(self.last_offset, last_offset)
        self.first_timestamp = _least(self.first_timestamp, first_timestamp)
        self.last_timestamp = _most(self.last_timestamp, last_timestamp)


def _least(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else min(left, right)


def _most(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else max(left, right)
