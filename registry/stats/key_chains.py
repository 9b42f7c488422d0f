"""Key chains: what one change of a row leaves is what the next one finds, under the right reading and no other.

Versions of a subject may disagree about which image of an UPDATE is the row before it. No message shows which of them
is right; two neighbouring changes of one row do. A row is known by a digest of its key, an image by a digest of its
columns, so that what is kept of a row is small whatever it holds: its first and its last change, and the stretches of
its changes that prove one reading. Two parts of a run fit together in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.stats.position_sequences import Point

MOST_KEYS: Final = 10_000
"""So many rows are followed: those with the lowest digests, however the records were cut."""
MOST_FRAGMENTS: Final = 8 * MOST_KEYS
MOST_INTERVALS: Final = 50_000
ENOUGH_LINKS: Final = 5
"""So many links prove a reading where none is against it."""
NO_TIME: Final = -(2**63)
_MOST_NOISE: Final = 0.1
"""Above this share of links in stretches too short to prove anything, chains contradict each other."""
_READINGS: Final = 2

Array = NDArray[Any]

_END: Final = [
    ("offset", "i8"), ("within", "i4"), ("event", "i8"), ("position", "i8"), ("time", "i8"), ("shape", "u8"),
    ("image", "u8", (_READINGS,)),
]  # fmt: skip
FRAGMENT: Final = np.dtype([
    ("key", "u8"), ("table", "u8"), ("changes", "i8"), ("torn", "i8"), ("first", _END), ("last", _END),
])  # fmt: skip
"""Changes of one row between which nothing can lie: how many, the first with its before image, the last with its after
image, each by either reading (0: none). A `shape` of 0 says that the change is compared with no other."""
_RUN: Final = np.dtype([
    ("key", "u8"), ("table", "u8"), ("reading", "i1"), ("found", "i1"), ("links", "i8"), ("records", "i8"),
    ("first", "i8"), ("first_time", "i8"), ("last", "i8"), ("last_time", "i8"),
])  # fmt: skip
"""Neighbouring changes of one row that prove one reading: their links and records, the first and the last of them.
`found` tells whether the first was proven by the change before it (0) or by the one behind it (1)."""


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
    """Records of one partition that prove one reading, from the first to the last; `proven` where enough do."""

    contract: str
    reading: int
    links: int
    records: int
    first: Point
    last: Point
    proven: bool
    tables: tuple[TableShare, ...] = ()


class ChainProof(NamedTuple):
    """Records that prove their version by themselves, as far as it reads like one of the two readings."""

    reading: int
    records: int
    first: Point
    last: Point


@dataclass(frozen=True)
class ChainEvidence:
    """What the chains of one line come to.

    `links` count for each of the two readings, `torn` neighbours that no reading joins. `doubtful` says that the
    chains contradict each other all over, so that they prove nothing.
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
        """Return the stretches that speak against a version, or against several that read an UPDATE in one way.

        Those that prove nothing are among them as long as they have more links than neighbours are torn: where changes
        are missing or come late, a few links come about by themselves.
        """
        own = next((way for way, versions in enumerate(self.readings) if {*references} <= {*versions}), None)
        if self.doubtful or own is None:
            return ()
        others = (one for one in self.stretches if one.reading != own)
        return tuple(one for one in others if one.proven or one.links > self.torn)

    def speaks_for(self, reference: str) -> bool:
        """Say whether some stretch proves the reading of a version, and of no other."""
        return any(self.readings[one.reading] == (reference,) for one in self.proven())


def is_strange(line: ChainLine, stretch: ChainStretch) -> bool:
    """Say whether a stretch is read as another subject than that of its line reads an UPDATE."""
    return stretch.contract.partition("@")[0] != line.subject


def are_own(line: ChainLine, readings: Readings) -> bool:
    """Say whether all versions of two readings are of the subject of a line."""
    return all(reference.partition("@")[0] == line.subject for way in readings for reference in way)


@dataclass(eq=False)
class _Rows:
    """The rows of one line: what was read of it, and what is kept of its rows.

    It is compared and pickled by its bytes, so that an account of a stream holds nothing but plain values.
    """

    covered: Array = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    fragments: Array = field(default_factory=lambda: np.zeros(0, FRAGMENT))
    runs: Array = field(default_factory=lambda: np.zeros(0, _RUN))
    pending: list[tuple[Array, Array, Array]] = field(default_factory=list)
    until: int = 2**63 - 1
    """From this offset on nothing is kept: there were too many gaps."""

    def add(self, covered: Array, fragments: Array, runs: Array) -> None:
        self.pending.append((covered, fragments, runs))
        waiting = sum(len(one[1]) + len(one[0]) for one in self.pending)
        if waiting > 2 * (len(self.fragments) + len(self.covered)) + MOST_KEYS:
            self.compact()

    def compact(self) -> None:
        """Join what nothing can come between any more."""
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
        self.fragments, self.runs = np.frombuffer(fragments, FRAGMENT), np.frombuffer(runs, _RUN)
        self.pending = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rows) and self.__getstate__() == other.__getstate__()

    __hash__ = None  # type: ignore[assignment]

    def keep(self, chosen: Array, chosen_runs: Array) -> None:
        self.fragments, self.runs = self.fragments[chosen], self.runs[chosen_runs]


@dataclass
class Chains:
    """The key chains of a run, by line. Adding them up is commutative and associative.

    `changes` counts the row changes that were seen, also of rows that are not followed: those whose digest is
    above `ceiling`.
    """

    lines: dict[ChainLine, _Rows] = field(default_factory=dict)
    readings: dict[str, Readings] = field(default_factory=dict)
    tables: dict[int, str | None] = field(default_factory=dict)
    changes: int = 0
    ceiling: int = 2**64 - 1

    def __bool__(self) -> bool:
        return bool(self.lines)

    def add(self, line: ChainLine, readings: Readings, covered: Array, fragments: Array) -> None:
        """Take row changes of one line, each a fragment of its own, and the intervals of offsets that were read."""
        self.readings[line.subject] = readings
        self.changes += int(fragments["changes"].sum())
        rows = self.lines.setdefault(line, _Rows())
        rows.add(covered, fragments[fragments["key"] <= self.ceiling], np.zeros(0, _RUN))

    def merge(self, other: Chains) -> None:
        """Take what another part of the run saw; the order of merging does not matter."""
        self.readings |= other.readings
        self.tables |= other.tables
        self.changes += other.changes
        self.ceiling = min(self.ceiling, other.ceiling)
        for line, theirs in other.lines.items():
            mine = self.lines.setdefault(line, _Rows())
            mine.until = min(mine.until, theirs.until)
            for part in ((theirs.covered, theirs.fragments, theirs.runs), *theirs.pending):
                mine.add(*part)
        if sum(len(rows.fragments) for rows in self.lines.values()) > 2 * MOST_KEYS:
            self.bound()

    def bound(self) -> None:
        """Keep the rows with the lowest digests, no more than are kept of a whole run."""
        for rows in self.lines.values():
            rows.compact()
        keys = np.sort(np.concatenate([rows.fragments["key"] for rows in self.lines.values()]))
        distinct = np.unique(keys)
        if len(distinct) > MOST_KEYS:
            self.ceiling = min(self.ceiling, int(distinct[MOST_KEYS - 1]))
        if len(keys) > MOST_FRAGMENTS and keys[MOST_FRAGMENTS] > 0:
            self.ceiling = min(self.ceiling, int(keys[MOST_FRAGMENTS]) - 1)
        for rows in self.lines.values():
            rows.keep(rows.fragments["key"] <= self.ceiling, rows.runs["key"] <= self.ceiling)
        named = {int(table) for rows in self.lines.values() for table in np.unique(rows.fragments["table"])}
        self.tables = {table: name for table, name in self.tables.items() if table in named}

    def left_out(self) -> int:
        """Return how many row changes belong to rows that are not followed."""
        self.bound()
        return self.changes - sum(int(rows.fragments["changes"].sum()) for rows in self.lines.values())

    def evidence(self, proofs: Mapping[ChainLine, Sequence[ChainProof]]) -> list[ChainEvidence]:
        """Return what the chains of each line come to, together with records that prove their version by themselves."""
        if not self.lines:
            return []
        self.bound()
        scattered = self._scattered()
        return [
            self._evidence_of(line, self.lines[line], scattered, proofs.get(line, ())) for line in sorted(self.lines)
        ]

    def _evidence_of(
        self, line: ChainLine, rows: _Rows, scattered: Array, proofs: Sequence[ChainProof]
    ) -> ChainEvidence:
        runs = rows.runs[~np.isin(rows.runs["table"], scattered)]
        torn = rows.fragments["torn"][~np.isin(rows.fragments["table"], scattered)]
        links = [int(runs["links"][runs["reading"] == reading].sum()) for reading in range(_READINGS)]
        blocks, noise = _resolve_blocks(_gather_blocks(runs, proofs))
        doubtful = noise > _MOST_NOISE * (noise + sum(block.weight for block in blocks))
        readings = self.readings[line.subject]
        stretches = tuple(self._stretch(block, readings, runs, proofs, doubtful=doubtful) for block in blocks)
        return ChainEvidence(line, readings, (links[0], links[1]), int(torn.sum()), stretches, doubtful)

    def _stretch(
        self, block: _Block, readings: Readings, runs: Array, proofs: Sequence[ChainProof], *, doubtful: bool
    ) -> ChainStretch:
        mine = runs[
            (runs["reading"] == block.reading) & (runs["last"] >= block.first.offset)
            & (runs["first"] <= block.last.offset)
        ]  # fmt: skip
        own = [one for one in proofs if one.reading == block.reading and _within(one, block)]
        shares = []
        for table in np.unique(mine["table"]).tolist():
            of_table = mine[mine["table"] == table]
            first, last = of_table[of_table["first"].argmin()], of_table[of_table["last"].argmax()]
            shares.append(TableShare(
                self.tables.get(table), int(of_table["records"].sum()),
                _point(first["first"], first["first_time"]), _point(last["last"], last["last_time"]),
            ))  # fmt: skip
        return ChainStretch(
            contract=readings[block.reading][-1],
            reading=block.reading,
            links=int(mine["links"].sum()),
            records=int(mine["records"].sum()) + sum(one.records for one in own),
            first=block.first,
            last=block.last,
            proven=block.weight >= ENOUGH_LINKS and not doubtful,
            tables=tuple(sorted(shares, key=lambda share: (share.table is not None, share.table or ""))),
        )

    def _scattered(self) -> Array:
        """Return the tables of which some row is told in several partitions: no partition has all its changes."""
        result = [np.unique(rows.fragments[["key", "table"]]) for rows in self.lines.values()]
        keys, counts = np.unique(np.concatenate(result), return_counts=True)
        return np.unique(keys["table"][counts > 1])


def prove(links: Sequence[ChainProof]) -> list[ChainProof]:
    """Return the stretches that single links of one partition prove, in order of their offsets.

    None where they contradict each other all over.
    """
    runs = np.zeros(len(links), _RUN)
    for at, link in enumerate(links):
        runs[at] = (0, 0, link.reading, 0, 1, link.records, link.first.offset, NO_TIME, link.last.offset, NO_TIME)
    blocks, noise = _resolve_blocks(_gather_blocks(runs, ()))
    if noise > _MOST_NOISE * (noise + sum(block.weight for block in blocks)):
        return []
    strong = [block for block in blocks if block.weight >= ENOUGH_LINKS]
    return [ChainProof(block.reading, int(block.weight), block.first, block.last) for block in strong]


@dataclass
class _Block:
    """Ends of runs that follow each other and prove the same reading; each weighs half of its run's links."""

    reading: int
    first: Point
    last: Point
    weight: float


def _gather_blocks(runs: Array, proofs: Sequence[ChainProof]) -> list[_Block]:
    """Return the ends of all runs in order of their offsets, neighbours of one reading together."""
    own = np.zeros(len(proofs), _RUN)
    for at, proof in enumerate(proofs):
        first, last = ((point.offset, NO_TIME if point.timestamp is None else point.timestamp) for point in proof[2:])
        own[at] = (0, 0, proof.reading, 0, 2 * ENOUGH_LINKS, 0, *first, *last)
    runs = np.concatenate([runs, own])
    if not len(runs):
        return []
    offsets = np.concatenate([runs["first"], runs["last"]])
    order = np.lexsort((np.tile(runs["reading"], 2), offsets))
    offsets, times = offsets[order], np.concatenate([runs["first_time"], runs["last_time"]])[order]
    readings, weights = np.tile(runs["reading"], 2)[order], np.tile(runs["links"], 2)[order] / 2
    begins = np.flatnonzero(np.append(True, np.diff(readings) != 0))
    ends = np.append(begins[1:], len(readings)) - 1
    weighed = np.add.reduceat(weights, begins)
    return [
        _Block(
            int(readings[begin]), _point(offsets[begin], times[begin]), _point(offsets[end], times[end]), float(weight)
        )
        for begin, end, weight in zip(begins, ends, weighed, strict=True)
    ]


def _resolve_blocks(blocks: list[_Block]) -> tuple[list[_Block], float]:
    """Leave out what is too little to prove anything between blocks of the other reading that do; and how much that is.

    What lies at an end of the range stays: a version may have turned there.
    """
    noise = 0.0
    while True:
        weak = [
            place
            for place in range(1, len(blocks) - 1)
            if blocks[place].weight < ENOUGH_LINKS
            and max(blocks[place - 1].weight, blocks[place + 1].weight) >= ENOUGH_LINKS
        ]
        if not weak:
            break
        place = min(weak, key=lambda one: blocks[one].weight)
        before, gone, after = blocks[place - 1 : place + 2]
        noise += gone.weight
        whole = _Block(before.reading, before.first, after.last, before.weight + after.weight)
        blocks = [*blocks[: place - 1], whole, *blocks[place + 2 :]]
    noise += sum(block.weight for block in blocks[1:-1] if block.weight < ENOUGH_LINKS)
    return blocks, noise


def _join_intervals(covered: Array) -> Array:
    """Return the intervals of offsets that were read, those that touch as one."""
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
    """Return the fragments, those of a row between which nothing can lie as one, and what their joints prove."""
    if not len(fragments):
        return fragments, np.zeros(0, _RUN)
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
    """Return what pairs of neighbouring changes prove, and which of them no reading joins.

    A pair proves something where one combination of readings makes the after image of the first the before image of
    the second, and no other does. A row that changes back and forth, or a change sent again, fits two of them.
    """
    one, two = left["last"], right["first"]
    result = (one["shape"] != 0) & (one["shape"] == two["shape"]) & (one["image"] != 0).all(axis=1)
    result &= (two["image"] != 0).all(axis=1) & (two["event"] >= one["event"]) & (two["position"] >= one["position"])
    result &= (two["event"] > one["event"]) | (two["position"] > one["position"])
    left_open = one["image"][:, 0] != one["image"][:, 1]
    right_open = two["image"][:, 0] != two["image"][:, 1]
    result &= left_open | right_open
    fits = one["image"][:, :, None] == two["image"][:, None, :]
    fits[:, 1, :] &= left_open[:, None]  # both readings of a change that is read alike are one
    fits[:, :, 1] &= right_open[:, None]
    solutions = fits.reshape(len(fits), _READINGS**2).sum(axis=1)
    at = np.flatnonzero(result & (solutions == 1))
    combination = fits[at].reshape(len(at), _READINGS**2).argmax(axis=1)
    before, after = combination // _READINGS, combination % _READINGS
    runs = []
    for ends, reading, is_open, by, counts in (
        (one, before, left_open, 1, ~right_open[at] | (before != after)),
        (two, after, right_open, 0, np.ones(len(at), np.bool_)),
    ):
        held = is_open[at]
        found = np.zeros(int(held.sum()), _RUN)
        chosen = ends[at[held]]
        found["key"], found["table"] = left["key"][at[held]], left["table"][at[held]]
        found["reading"], found["found"], found["records"], found["links"] = reading[held], by, 1, counts[held]
        found["first"] = found["last"] = chosen["offset"]
        found["first_time"] = found["last_time"] = chosen["time"]
        runs.append(found)
    return np.concatenate(runs), result & (solutions == 0)


def _join_runs(runs: Array, covered: Array) -> Array:
    """Return the runs of each row, neighbours of one reading as one where nothing can lie between them."""
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


def _within(proof: ChainProof, block: _Block) -> bool:
    return proof.first.offset <= block.last.offset and proof.last.offset >= block.first.offset


def _point(offset: Any, time: Any) -> Point:
    return Point(int(offset), None if time == NO_TIME else int(time))
