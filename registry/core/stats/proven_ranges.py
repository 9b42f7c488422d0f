"""Proven ranges: the version of each part of a topic whose producer switched from one version to another.

Only a proof places a version. Between the last message proven old and the first proven new, nothing is known; nor is it
before or after all proofs of a partition that may lie on the other side of the switch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


class ProvenRun(NamedTuple):
    """Consecutive messages of a partition that prove one version."""

    contract: str
    first: int
    last: int


class OpenRange(NamedTuple):
    """Offsets of a partition that belong to no version; None is the end of the partition."""

    start: int | None
    end: int | None
    between: bool
    """Whether proofs of two versions lie around it."""


class KnownRange(NamedTuple):
    """A part of a partition in which a version holds, from `start` up to, but not including, `end`."""

    start: int | None
    end: int | None
    run: ProvenRun


Direction = tuple[str, str]
"""The first and the last version of a topic that has switched."""


def find_direction(partitions: Sequence[Sequence[ProvenRun]], versions: Sequence[str]) -> Direction | None:
    """Return the first and the last version of a topic if all its partitions go the same way; None if that is unknown.

    `versions` are all of the subject, lowest first. They rise, as far as a topic of one version tells.
    """
    steps = {pair for runs in partitions for pair in pairwise([run.contract for run in runs])}
    if len({run.contract for runs in partitions for run in runs}) == 1:
        return versions[0], versions[-1]
    rising = {versions.index(one) < versions.index(two) for one, two in steps}
    if len(rising) != 1:
        return None
    if rising.pop():
        return versions[0], versions[-1]
    named = sorted({one for pair in steps for one in pair}, key=versions.index)
    return named[-1], named[0]


def place_ranges(runs: Sequence[ProvenRun], direction: Direction | None) -> Iterator[KnownRange | OpenRange]:
    """Yield the ranges of a partition in order, and what is left open before, between and after them."""
    first, last = direction or (None, None)
    if not runs:
        yield OpenRange(None, None, between=False)
        return
    if runs[0].contract != first and runs[0].first:
        yield OpenRange(None, runs[0].first, between=False)
    before: ProvenRun | None = None
    for run in runs:
        if before is not None and before.last + 1 < run.first:
            yield OpenRange(before.last + 1, run.first, between=True)
        start = None if run is runs[0] and run.contract == first else run.first
        end = None if run is runs[-1] and run.contract == last else run.last + 1
        yield KnownRange(start, end, run)
        before = run
    if runs[-1].contract != last:
        yield OpenRange(runs[-1].last + 1, None, between=False)


def trim_interleaved(runs: Sequence[ProvenRun]) -> list[ProvenRun]:
    """Return the runs of a partition without those in which proofs of two versions take turns.

    There tables or producers switched at places of their own, so that neither version holds throughout.
    """
    contracts = list(dict.fromkeys(run.contract for run in runs))
    if len(runs) == len(contracts):
        return list(runs)
    old = runs[0]
    first_new = runs[1].first
    last_old = max(run.last for run in runs if run.contract == old.contract)
    margin = (last_old - first_new) // 2 + 1  # the last proof is not the last message
    kept = [old._replace(last=min(old.last, first_new - margin))] if old.first <= first_new - margin else []
    rest = [
        run._replace(first=max(run.first, last_old + margin))
        for run in runs
        if run.contract != old.contract and run.last >= last_old + margin
    ]
    return [*kept, *rest] if len({run.contract for run in rest}) <= 1 else kept
