"""Version runs: the sequence of versions in a partition, by the records that prove one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

MOST_RUNS: Final = 1_000


class Run(NamedTuple):
    """Consecutive proven records of one version in one partition: their count, and first and last offset and time.

    `certain` are the offsets between which the version is certain, where those at the ends may be linked by chance.
    """

    version: str
    first: int
    last: int
    records: int
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    certain: tuple[int, int] | None = None


def gather_runs(runs: Sequence[Run], more: Sequence[Run]) -> list[Run]:
    """Return the runs of two parts of a partition in order of their offsets.

    Records not yet counted may be between two parts, so only runs with adjacent offsets are joined.
    """
    if runs and more and runs[-1].last < more[0].first:  # mostly: one batch follows the other
        return [*runs[:-1], *_fold([runs[-1], more[0]], _touch), *more[1:]]
    return _fold(sorted([*runs, *more], key=attrgetter("first", "last")), _touch)


def join_runs(runs: Iterable[Run]) -> list[Run]:
    """Return runs in order of their offsets, adjacent runs of one version joined, whatever is between them."""
    return _fold(sorted(runs, key=attrgetter("first", "last")), lambda left, right: True)


def leave_out_open(runs: Iterable[Run]) -> list[Run]:
    """Return runs without those of an undecided version that are adjacent to proven ones of their subject.

    Records of an undecided version are named by their subject only. Next to a proven run they belong to no run, as in
    a topic of one subject; a stretch without any proof stays.
    """
    result: list[Run] = []
    for _, stretch in groupby(join_runs(runs), key=lambda run: run.version.partition("@")[0]):
        found = list(stretch)
        result += [run for run in found if "@" in run.version] or found
    return join_runs(result)


def _fold(runs: Sequence[Run], belong: Callable[[Run, Run], bool]) -> list[Run]:
    folded: list[Run] = []
    for run in runs:
        before = folded[-1] if folded else None
        if before is not None and before.version == run.version and belong(before, run):
            end = max(before, run, key=lambda one: one.last)
            folded[-1] = before._replace(
                last=end.last, records=before.records + run.records, last_timestamp=end.last_timestamp
            )
        else:
            folded.append(run)
    return folded


def _touch(left: Run, right: Run) -> bool:
    return right.first <= left.last + 1
