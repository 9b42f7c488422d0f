"""Batch positions: the positions of a validated batch, compared as far as no record can come between two any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.named_tuples import make_all
from cdc_contracts.registry.core.engine.group.verdict_records import Numbers, time_of
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import (
    GOES_BACK,
    NON_STRICT,
    REPEATS,
    SECOND_HALF,
    UNIQUE,
    WHOLE,
    Point,
    PositionStep,
    Segment,
    SequenceLine,
    Sequences,
    Stretch,
)


@dataclass(frozen=True)
class ReadRuns:
    """The offsets of a partition that a batch has, as runs without a gap: where each starts and ends."""

    starts: Numbers
    ends: Numbers

    @property
    def spans(self) -> list[tuple[int, int]]:
        return list(zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    def places(self, offsets: Numbers) -> Numbers:
        """Return by number the run of each offset."""
        return np.searchsorted(self.starts, offsets, side="right") - 1


@dataclass
class BatchPositions:
    """Records of one line with a position."""

    offsets: Numbers
    timestamps: Numbers
    positions: NDArray[Any]
    halves: Numbers
    contracts: NDArray[Any]

    def add_to(self, sequences: Sequences, line: SequenceLine, runs: ReadRuns) -> None:
        """Add the records to the sequence of their line; `runs` are those of its partition."""
        places = runs.places(self.offsets)
        sequences.add(line, list(self._segments(places, runs)))
        if len(self.offsets) < 2:  # noqa: PLR2004  a pair
            return
        before, after = self.positions[:-1], self.positions[1:]
        adjacent = places[1:] == places[:-1]
        if line.monotonic != UNIQUE:
            self._count(sequences, line, GOES_BACK, adjacent & (after < before))
        if line.monotonic != NON_STRICT and (same := adjacent & (after == before)).any():
            pairs = (self.halves[:-1] != WHOLE) & (self.halves[1:] == SECOND_HALF)
            self._count(sequences, line, REPEATS, same & ~pairs)

    def _segments(self, places: Numbers, runs: ReadRuns) -> Iterator[Segment]:
        firsts = np.flatnonzero(np.diff(places, prepend=-1))
        lasts = (np.append(firsts[1:], len(places)) - 1)[: len(firsts)]
        begins = self._steps(firsts)
        ends, several = list(begins), np.flatnonzero(lasts > firsts)
        for number, step in zip(several.tolist(), self._steps(lasts[several]), strict=True):
            ends[number] = step
        steps: list[tuple[PositionStep | None, PositionStep | None]] = [(None, None)] * len(runs.starts)
        for place, begin, end in zip(places[firsts].tolist(), begins, ends, strict=True):
            steps[place] = begin, end
        return make_all(Segment, ((*span, *pair) for span, pair in zip(runs.spans, steps, strict=True)))

    def _count(self, sequences: Sequences, line: SequenceLine, cause: str, breaches: NDArray[np.bool_]) -> None:
        numbers = np.flatnonzero(breaches) + 1
        if len(numbers):
            contracts = Counter[str](self.contracts[numbers].tolist())
            first, last = self._points(numbers[[0, -1]])
            sequences.add_breach(line, cause, Stretch(len(numbers), first, last, contracts))

    def _steps(self, numbers: Numbers) -> list[PositionStep]:
        points = self._points(numbers)
        positions, halves = self.positions[numbers].tolist(), self.halves[numbers].tolist()
        return list(
            make_all(PositionStep, zip(points, positions, halves, self.contracts[numbers].tolist(), strict=True))
        )

    def _points(self, numbers: Numbers) -> list[Point]:
        times = map(time_of, self.timestamps[numbers].tolist())
        return list(make_all(Point, zip(self.offsets[numbers].tolist(), times, strict=True)))


def join_positions(parts: Sequence[BatchPositions]) -> BatchPositions:
    """Return the records of parts that may interleave as those of one, in order of their offsets."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([part.offsets for part in parts]), kind="stable")
    names = ("offsets", "timestamps", "positions", "halves", "contracts")
    return BatchPositions(*(np.concatenate([getattr(part, name) for part in parts])[order] for name in names))


def read_runs(batches: Iterable[Batch]) -> Mapping[Source, ReadRuns]:
    """Return the runs of offsets in each partition that batches have together."""
    held: dict[Source, list[Numbers]] = {}
    for batch in batches:
        for source, chosen in batch.by_source(np.arange(len(batch))):
            held.setdefault(source, []).append(batch.offsets[chosen])
    return {source: _runs_of(parts) for source, parts in held.items()}


def _runs_of(parts: Sequence[Numbers]) -> ReadRuns:
    offsets = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if len(offsets) == 1:
        return ReadRuns(offsets, offsets)
    steps = np.diff(offsets)
    if (steps < 1).any():
        offsets = np.sort(offsets)
        steps = np.diff(offsets)
    gaps = np.flatnonzero(steps > 1)
    return ReadRuns(offsets[np.append(0, gaps + 1)], offsets[np.append(gaps, len(offsets) - 1)])
