"""Position sequences: breaches in the order of positions of a partition, counted exactly whatever the batch limits.

Only adjacent records are compared, and only once nothing can come between them any more. So of offsets that were read
without a gap the first and last position are enough, and two adjacent segments become one; the rest is compared at the
end. Only of a partition with very many gaps, records are compared across some of them before. A gap or a sample may
hide a breach but never invents one: a position that decreased between two records decreased, whatever is between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

MOST_SEGMENTS: Final = 10_000
STRICT: Final = "strict"
NON_STRICT: Final = "non-strict"
UNIQUE: Final = "unique"

GOES_BACK: Final = "goes-back"
REPEATS: Final = "repeats"
WHOLE, FIRST_HALF, SECOND_HALF = range(3)
"""Whether a record is a change of its own, or one half of an update."""


Key = TypeVar("Key", bound=Hashable)


class Point(NamedTuple):
    """One record of a partition; the timestamp is in microseconds, None if the source has none."""

    offset: int
    timestamp: int | None


class Stretch(Struct, gc=False):
    """Records of a partition: the first, the last, and counts by contract and by op code as sent.

    There may be one for each table of a topic, so the garbage collector does not look at them: none is part of a cycle.
    """

    count: int
    first: Point
    last: Point
    contracts: dict[str, int] = {}
    ops: dict[str, int] = {}

    def add(self, other: Stretch) -> None:
        self.count += other.count
        if other.first.offset < self.first.offset:
            self.first = other.first
        if other.last.offset > self.last.offset:
            self.last = other.last
        contracts, ops = self.contracts, self.ops
        for name, count in other.contracts.items():
            contracts[name] = contracts.get(name, 0) + count
        for name, count in other.ops.items():
            ops[name] = ops.get(name, 0) + count

    def joined(self, other: Stretch) -> Stretch:
        """Return the union of both."""
        both = self.copy()
        both.add(other)
        return both

    def copy(self) -> Stretch:
        return Stretch(self.count, self.first, self.last, dict(self.contracts), dict(self.ops))


def count_stretch(counts: dict[Key, Stretch], key: Key, stretch: Stretch) -> None:
    """Count records under a key; the first stretch of a key is kept, and grows by later ones."""
    known = counts.get(key)
    if known is None:
        counts[key] = stretch
    else:
        known.add(stretch)


class SequenceLine(NamedTuple):
    """A sequence of positions in one partition: its subject, the pointer to the position, and the promised order."""

    topic: str
    partition: int
    subject: str
    path: str
    monotonic: str


class PositionStep(NamedTuple):
    """A record that has a position."""

    point: Point
    position: int
    half: int
    contract: str


class Segment(NamedTuple):
    """Records from offset `start` to offset `end`, read without a gap, and the first and last with a position."""

    start: int
    end: int
    first: PositionStep | None
    last: PositionStep | None


Breaches = dict[tuple[SequenceLine, str], Stretch]


@dataclass
class Sequences:
    """The segments of each line in order of their offsets, and the breaches within them."""

    segments: dict[SequenceLine, list[Segment]] = field(default_factory=dict)
    within: Breaches = field(default_factory=dict)

    def add(self, line: SequenceLine, segments: Sequence[Segment]) -> None:
        """Add segments in order of their offsets, with gaps between them; breaches within them are added separately."""
        known, rest = self.segments.get(line, []), list(segments)
        if known and rest and known[-1].end >= rest[0].start:
            known, rest = [], sorted([*known, *rest], key=attrgetter("start", "end"))
            for segment in rest:
                self._append(line, known, segment)
        elif rest:  # mostly: one batch follows the other, and its segments have gaps between them
            self._append(line, known, rest[0])
            known += rest[1:]
        self.segments[line] = known if len(known) <= MOST_SEGMENTS else self._shortened(line, known)

    def add_breach(self, line: SequenceLine, cause: str, stretch: Stretch) -> None:
        """Count records that break the promised order of a line."""
        count_stretch(self.within, (line, cause), stretch)

    def merge(self, other: Sequences) -> None:
        """Merge the segments of another part of the run; the order of merging does not matter."""
        for breach, stretch in other.within.items():
            count_stretch(self.within, breach, stretch)
        for line, segments in other.segments.items():
            self.add(line, segments)

    def breaches(self) -> Breaches:
        """Return every breach, including those between segments that are not adjacent."""
        found: Breaches = {key: stretch.copy() for key, stretch in self.within.items()}
        for line, segments in self.segments.items():
            last: PositionStep | None = None
            for segment in segments:
                _compare(found, line, last, segment.first)
                last = segment.last or last
        return found

    def _append(self, line: SequenceLine, known: list[Segment], segment: Segment) -> None:
        if known and known[-1].end + 1 == segment.start:
            known[-1] = self._join(line, known[-1], segment)
        else:
            known.append(segment)

    def _join(self, line: SequenceLine, left: Segment, right: Segment) -> Segment:
        _compare(self.within, line, left.last, right.first)
        return Segment(left.start, max(left.end, right.end), left.first or right.first, right.last or left.last)

    def _shortened(self, line: SequenceLine, segments: list[Segment]) -> list[Segment]:
        """Join segments in pairs as if nothing were between them; records read there later are compared separately."""
        pairs = zip(segments[::2], segments[1::2], strict=False)
        return [*(self._join(line, left, right) for left, right in pairs), *segments[len(segments) // 2 * 2 :]]


def breach_between(monotonic: str, before: PositionStep, after: PositionStep) -> str | None:
    """Return how a record breaks the promised order, given the record before it."""
    if after.position < before.position:
        return None if monotonic == UNIQUE else GOES_BACK
    halves = before.half != WHOLE and after.half == SECOND_HALF  # an update may be sent joined or in two halves
    if after.position == before.position and monotonic != NON_STRICT and not halves:
        return REPEATS
    return None


def _compare(breaches: Breaches, line: SequenceLine, before: PositionStep | None, after: PositionStep | None) -> None:
    if before is None or after is None or after.point.offset <= before.point.offset:
        return
    cause = breach_between(line.monotonic, before, after)
    if cause is not None:
        stretch = Stretch(1, after.point, after.point, {after.contract: 1})
        count_stretch(breaches, (line, cause), stretch)
