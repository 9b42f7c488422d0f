"""Positions of changes in their source: a compact summary that shows whether any may occur twice.

If positions only increase, or stay equal within a transaction, none occurs twice, and no rows have to be compared. So
for each partition only the first and the last position are kept, and whether they ever decreased or stayed equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

SNAPSHOT: Final = "snapshot"
"""Rows of a full load, which has positions of its own making."""


class PositionLine(NamedTuple):
    """The changes of one subject in one partition."""

    topic: str
    partition: int
    subject: str


@dataclass(frozen=True)
class PositionStretch:
    """A summary of the positions from one offset to another; `first` and `last` are by offset.

    `fell` means that one was lower than an earlier one, or is not a number, `stayed` that two messages had the same.
    """

    start: int
    end: int
    first: int
    last: int
    least: int
    most: int
    fell: bool = False
    stayed: bool = False

    def join(self, other: PositionStretch) -> PositionStretch:
        """Return this and another stretch, which begins later, as one.

        If they overlap, the order of their positions is not known, so that one may have fallen.
        """
        latest = max(self, other, key=attrgetter("end"))
        return PositionStretch(
            self.start, latest.end, self.first, latest.last, min(self.least, other.least), max(self.most, other.most),
            fell=self.fell or other.fell or other.least < self.most or other.start <= self.end,
            stayed=self.stayed or other.stayed or other.first == self.last,
        )  # fmt: skip

    def shares(self, other: PositionStretch) -> bool:
        """Return whether a position may be in both; unless positions are numbers, that is always possible."""
        if self.least <= other.most and other.least <= self.most:
            return True
        return (self.fell and self.least == self.most) or (other.fell and other.least == other.most)

    def comes_again(self, *, each_its_own: bool) -> bool:
        """Return whether a position may occur twice; `each_its_own` if no two messages may share one."""
        return self.fell or (each_its_own and self.stayed)


@dataclass
class Positions:
    """The stretches of each line, in any order."""

    lines: dict[PositionLine, list[PositionStretch]] = field(default_factory=dict)

    def note(self, changes: pa.RecordBatch) -> None:
        """Add rows (`CHANGES_SCHEMA`) that follow those added before."""
        for line, stretch in _stretches(changes):
            known = self.lines.setdefault(line, [])
            if known and known[-1].end < stretch.start:
                known[-1] = known[-1].join(stretch)
            else:
                known.append(stretch)

    def merge(self, other: Positions) -> None:
        """Merge the positions of another part of the run."""
        for line, stretches in other.lines.items():
            self.lines.setdefault(line, []).extend(stretches)

    def whole(self) -> dict[PositionLine, PositionStretch]:
        """Return each line as one stretch."""
        found = {}
        for line, stretches in self.lines.items():
            ordered = sorted(stretches, key=lambda one: (one.start, one.end))
            whole = ordered[0]
            for stretch in ordered[1:]:
                whole = whole.join(stretch)
            found[line] = whole
        return found


class RecordedPositions(Struct, frozen=True):
    """The positions of one subject in one partition, in the form of run records."""

    topic: str
    partition: int
    subject: str
    start: int
    end: int
    first: int
    last: int
    least: int
    most: int
    fell: bool = False
    stayed: bool = False


def write_positions(lines: Mapping[PositionLine, PositionStretch]) -> tuple[RecordedPositions, ...]:
    """Return the positions of a run for its record."""
    return tuple(RecordedPositions(*line, *vars(stretch).values()) for line, stretch in sorted(lines.items()))


def read_positions(recorded: Iterable[RecordedPositions]) -> dict[PositionLine, PositionStretch]:
    """Return the positions in a run record."""
    return {
        PositionLine(one.topic, one.partition, one.subject): PositionStretch(
            one.start, one.end, one.first, one.last, one.least, one.most, fell=one.fell, stayed=one.stayed
        )
        for one in recorded
    }


def _stretches(changes: pa.RecordBatch) -> Iterator[tuple[PositionLine, PositionStretch]]:
    wanted = pc.and_(changes.column("position").is_valid(), pc.not_equal(changes.column("op"), SNAPSHOT))
    wanted = pc.and_(wanted, pc.equal(changes.column("row_index"), 0))
    # The two parts of a split update share a position, so only the first counts.
    wanted = pc.and_(wanted, pc.not_equal(pc.fill_null(changes.column("update_part"), ""), "after"))
    rows = changes.select(["topic", "partition", "contract", "position", "offset"]).filter(wanted)
    columns = [rows.column(name).dictionary_encode() for name in ("topic", "partition", "contract")]
    codes = np.zeros(rows.num_rows, np.int64)
    for column in columns:
        codes = codes * len(column.dictionary) + column.indices.to_numpy(zero_copy_only=False)
    for code in np.unique(codes):
        part = rows if (codes == code).all() else rows.filter(pa.array(codes == code))
        topic, partition, contract = (part.column(place)[0].as_py() for place in range(3))
        line = PositionLine(topic, partition, contract.partition("@")[0])
        yield line, _stretch(part.column("position"), part.column("offset").to_numpy(zero_copy_only=False))


def _stretch(texts: pa.Array, offsets: NDArray[np.int64]) -> PositionStretch:
    start, end = int(offsets[0]), int(offsets[-1])
    try:
        positions = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # not numbers: their order is unknown
        return PositionStretch(start, end, 0, 0, 0, 0, fell=True)
    steps = np.diff(positions)
    result = int(positions[0]), int(positions[-1]), int(positions.min()), int(positions.max())
    return PositionStretch(start, end, *result, fell=bool((steps < 0).any()), stayed=bool((steps == 0).any()))
