"""Chain fragments: the changes of each row, joined if no other change can be between them.

The types of their records are plain descriptions, so that a tally without chains needs no numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.values.lazy_arrow import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_INTERVALS: Final = 50_000
READINGS: Final = 2
_SPARE: Final = 10_000
"""The number of fragments and intervals that may wait before they are joined, even if few of them connect."""

if TYPE_CHECKING:
    Array = NDArray[Any]
else:
    Array = Any

_END: Final = [
    ("offset", "i8"), ("within", "i4"), ("event", "i8"), ("position", "i8"), ("time", "i8"), ("shape", "u8"),
    ("image", "u8", (READINGS,)),
]  # fmt: skip
FRAGMENT: Final = [
    ("key", "u8"), ("table", "u8"), ("changes", "i8"), ("torn", "i8"), ("first", _END), ("last", _END),
]  # fmt: skip
"""Changes of one row between which nothing can lie: how many, the first with its before image, the last with its after
image, each by either reading (0: none). A `shape` of 0 says that the change is compared with no other."""
RUN: Final = [
    ("key", "u8"), ("table", "u8"), ("reading", "i1"), ("found", "i1"), ("links", "i8"), ("records", "i8"),
    ("first", "i8"), ("first_time", "i8"), ("last", "i8"), ("last_time", "i8"),
]  # fmt: skip
"""Neighbouring changes of one row that prove one reading: their links and records, the first and the last of them.
`found` tells whether the first was proven by the change before it (0) or by the one behind it (1)."""


@dataclass(eq=False)
class ChainRows:
    """The rows of one line: the offsets read, and the fragments kept of its rows.

    It is compared and pickled by its bytes, so that the totals of a stream consist of plain values only.
    """

    covered: Array = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    fragments: Array = field(default_factory=lambda: np.zeros(0, FRAGMENT))
    runs: Array = field(default_factory=lambda: np.zeros(0, RUN))
    pending: list[tuple[Array, Array, Array]] = field(default_factory=list)
    until: int = 2**63 - 1
    """From this offset on nothing is kept: there were too many gaps."""

    def add(self, covered: Array, fragments: Array, runs: Array) -> None:
        self.pending.append((covered, fragments, runs))
        waiting = sum(len(one[1]) + len(one[0]) for one in self.pending)
        if waiting > 2 * (len(self.fragments) + len(self.covered)) + _SPARE:
            self.compact()

    def compact(self) -> None:
        """Join fragments between which nothing can come any more."""
        if not self.pending:
            return
        parts = [(self.covered, self.fragments, self.runs), *self.pending]
        covered, fragments, runs = (np.concatenate(one) for one in zip(*parts, strict=True))
        self.pending = []
        self.covered = _join_intervals(covered)
        if len(self.covered) > MOST_INTERVALS:
            self.until = min(self.until, int(self.covered[MOST_INTERVALS][0]))
        if len(self.covered) and int(self.covered[-1][1]) >= self.until:
            self.covered = self.covered[self.covered[:, 0] < self.until]
            fragments = fragments[fragments["first"]["offset"] < self.until]
            runs = runs[runs["first"] < self.until]
        self.fragments, found = _join_fragments(fragments, self.covered)
        self.runs = _join_runs(np.concatenate([runs, found]), self.covered)

    def __getstate__(self) -> tuple[int, bytes, bytes, bytes]:
        self.compact()
        return self.until, self.covered.tobytes(), self.fragments.tobytes(), self.runs.tobytes()

    def __setstate__(self, state: tuple[int, bytes, bytes, bytes]) -> None:
        self.until, covered, fragments, runs = state
        self.covered = np.frombuffer(covered, np.int64).reshape(-1, 2)
        self.fragments, self.runs = np.frombuffer(fragments, FRAGMENT), np.frombuffer(runs, RUN)
        self.pending = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainRows) and self.__getstate__() == other.__getstate__()

    __hash__ = None  # type: ignore[assignment]

    def keep(self, chosen: Array, chosen_runs: Array) -> None:
        self.fragments, self.runs = self.fragments[chosen], self.runs[chosen_runs]


def _join_intervals(covered: Array) -> Array:
    """Return the intervals of offsets that were read, adjacent ones joined."""
    if not len(covered):
        return covered
    covered = covered[np.argsort(covered[:, 0], kind="stable")]
    reach = np.maximum.accumulate(covered[:, 1])
    begins = np.append(True, covered[1:, 0] > reach[:-1] + 1)
    ends = np.append(np.flatnonzero(begins)[1:], len(covered)) - 1
    return np.stack([covered[begins, 0], reach[ends]], axis=1)


def _interval_of(offsets: Array, covered: Array) -> Array:
    return np.searchsorted(covered[:, 0], offsets, side="right")


def _join_fragments(fragments: Array, covered: Array) -> tuple[Array, Array]:
    """Return the fragments, joined if no other change of the row can be between them, and the links found."""
    if not len(fragments):
        return fragments, np.zeros(0, RUN)
    first = fragments["first"]
    fragments = fragments[np.lexsort((first["within"], first["offset"], fragments["key"]))]
    intervals = _interval_of(fragments["first"]["offset"], covered)
    joined = (fragments["key"][1:] == fragments["key"][:-1]) & (intervals[1:] == intervals[:-1])
    at = np.flatnonzero(joined)
    runs, torn = _solve(fragments[at], fragments[at + 1])
    fragments["torn"][at] += torn
    begins = np.flatnonzero(np.append(True, ~joined))
    ends = np.append(begins[1:], len(fragments)) - 1
    whole = fragments[begins]
    whole["last"] = fragments["last"][ends]
    for name in ("changes", "torn"):
        whole[name] = np.add.reduceat(fragments[name], begins)
    return whole, runs


def _solve(left: Array, right: Array) -> tuple[Array, Array]:
    """Return which reading each pair of adjacent changes proves, and which pairs no reading joins.

    A pair proves a reading if exactly one combination of readings makes the after image of the first the before image
    of the second. A row that changes back and forth, or a repeated change, fits two combinations.
    """
    one, two = left["last"], right["first"]
    result = (one["shape"] != 0) & (one["shape"] == two["shape"]) & (one["image"] != 0).all(axis=1)
    result &= (two["image"] != 0).all(axis=1) & (two["event"] >= one["event"]) & (two["position"] >= one["position"])
    result &= (two["event"] > one["event"]) | (two["position"] > one["position"])
    left_open = one["image"][:, 0] != one["image"][:, 1]
    right_open = two["image"][:, 0] != two["image"][:, 1]
    result &= left_open | right_open
    fits = one["image"][:, :, None] == two["image"][:, None, :]
    fits[:, 1, :] &= left_open[:, None]  # a change with only one reading counts once
    fits[:, :, 1] &= right_open[:, None]
    solutions = fits.reshape(len(fits), READINGS**2).sum(axis=1)
    at = np.flatnonzero(result & (solutions == 1))
    combination = fits[at].reshape(len(at), READINGS**2).argmax(axis=1)
    before, after = combination // READINGS, combination % READINGS
    runs = []
    for ends, reading, is_open, by, counts in (
        (one, before, left_open, 1, ~right_open[at] | (before != after)),
        (two, after, right_open, 0, np.ones(len(at), np.bool_)),
    ):
        held = is_open[at]
        found = np.zeros(int(held.sum()), RUN)
        chosen = ends[at[held]]
        found["key"], found["table"] = left["key"][at[held]], left["table"][at[held]]
        found["reading"], found["found"], found["records"], found["links"] = reading[held], by, 1, counts[held]
        found["first"] = found["last"] = chosen["offset"]
        found["first_time"] = found["last_time"] = chosen["time"]
        runs.append(found)
    return np.concatenate(runs), result & (solutions == 0)


def _join_runs(runs: Array, covered: Array) -> Array:
    """Return the runs of each row, adjacent ones of one reading joined if nothing can be between them."""
    if not len(runs):
        return runs
    runs = runs[np.lexsort((runs["last"], runs["found"], runs["first"], runs["key"]))]
    intervals = _interval_of(runs["first"], covered)
    same = (runs["key"][1:] == runs["key"][:-1]) & (intervals[1:] == intervals[:-1])
    same &= runs["reading"][1:] == runs["reading"][:-1]
    shared = same & (runs["first"][1:] == runs["last"][:-1])
    runs["records"][1:] -= shared
    begins = np.flatnonzero(np.append(True, ~same))
    ends = np.append(begins[1:], len(runs)) - 1
    whole = runs[begins]
    whole["last"], whole["last_time"] = runs["last"][ends], runs["last_time"][ends]
    for name in ("links", "records"):
        whole[name] = np.add.reduceat(runs[name], begins)
    return whole
