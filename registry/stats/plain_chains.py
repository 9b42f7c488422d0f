"""Plain chains: key chains of records that come one by one, followed without numpy.

The evidence equals that of `key_chains.py`, which follows whole batches and can be merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from cdc_contracts.registry.stats.chain_blocks import (
    ENOUGH_LINKS,
    MOST_NOISE,
    ChainBlock,
    overlap,
    resolve_blocks,
)
from cdc_contracts.registry.stats.chain_evidence import (
    ChainEvidence,
    ChainLine,
    ChainProof,
    ChainStretch,
    Readings,
    TableShare,
)
from cdc_contracts.registry.stats.chain_fragments import MOST_INTERVALS
from cdc_contracts.registry.stats.key_chains import MOST_FRAGMENTS, MOST_KEYS, Chains
from cdc_contracts.registry.stats.position_sequences import Point

_MOST_RUNS = 50_000


class ChangeEnd(NamedTuple):
    """One side of a row change: when it was, and digests of its columns and of its image by either reading (0: none).

    A `shape` of 0 says that the change is compared with no other.
    """

    point: Point
    within: int
    event: int
    position: int
    shape: int
    images: tuple[int, int]

    @property
    def left_open(self) -> bool:
        """Whether the two readings see different rows here."""
        return self.images[0] != self.images[1]


class RowChange(NamedTuple):
    """A change of one row: digests of its key and its table, its before side and its after side."""

    key: int
    table: int
    before: ChangeEnd
    after: ChangeEnd


@dataclass(frozen=True)
class _Run:
    """Neighbouring changes of one row that prove one reading; `found` as in `chain_fragments.RUN`."""

    key: int
    table: int
    interval: int
    reading: int
    found: int
    links: int
    records: int
    first: Point
    last: Point


@dataclass
class _Row:
    """One row: its last change, and the result of its changes."""

    last: RowChange
    interval: int
    fragments: int = 1
    changes: int = 1
    torn: int = 0


@dataclass
class _Line:
    """The rows of one line; an interval is a stretch of offsets without a gap."""

    rows: dict[int, _Row] = field(default_factory=dict)
    runs: list[_Run] = field(default_factory=list)
    joined: int = 0

    def add(self, change: RowChange, interval: int) -> None:
        row = self.rows.get(change.key)
        if row is None:
            self.rows[change.key] = _Row(change, interval)
            return
        if row.interval == interval:
            runs, torn = _compare(row.last, change, interval)
            self.runs += runs
            row.torn += torn
        else:
            row.fragments += 1
        row.last, row.interval = change, interval
        row.changes += 1
        if len(self.runs) > 2 * self.joined + _MOST_RUNS:
            self.runs = _join_runs(self.runs)
            self.joined = len(self.runs)


@dataclass
class PlainChains(Chains):
    """The key chains of records that are added in the order of their offsets, partition by partition."""

    plain_lines: dict[ChainLine, _Line] = field(default_factory=dict)
    _intervals: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.plain_lines)

    def read(self, topic: str, partition: int, offset: int) -> None:
        """Record that an offset was read."""
        number, last = self._intervals.get((topic, partition), (0, offset - 1))
        self._intervals[topic, partition] = (number + (offset > last + 1), offset)

    def open_line(self, line: ChainLine, readings: Readings) -> None:
        """Record that the changes of a subject in a partition are followed, if there are any."""
        self.readings[line.subject] = readings
        self.plain_lines.setdefault(line, _Line())

    def follow(self, line: ChainLine, changes: Iterable[RowChange]) -> None:
        """Add the row changes of the message that was read last."""
        mine, interval = self.plain_lines[line], self._intervals[line.topic, line.partition][0]
        for change in sorted(changes, key=lambda one: one.before.within):
            self.changes += 1
            if change.key <= self.ceiling and interval < MOST_INTERVALS:
                mine.add(change, interval)
        if sum(len(one.rows) for one in self.plain_lines.values()) > 2 * MOST_KEYS:
            self.bound()

    def followed(self) -> Iterable[ChainLine]:
        return self.plain_lines

    def bound(self) -> None:
        """Keep the rows with the lowest digests, up to the maximum for a whole run."""
        fragments = Counter[int]()
        for line in self.plain_lines.values():
            for key, row in line.rows.items():
                fragments[key] += row.fragments
        keys, total = sorted(fragments), 0
        if len(keys) > MOST_KEYS:
            self.ceiling = min(self.ceiling, keys[MOST_KEYS - 1])
        for key in keys:
            total += fragments[key]
            if total > MOST_FRAGMENTS:
                self.ceiling = min(self.ceiling, key - 1)
                break
        for line in self.plain_lines.values():
            line.rows = {key: row for key, row in line.rows.items() if key <= self.ceiling}
            line.runs = [run for run in line.runs if run.key <= self.ceiling]

    def left_out(self) -> int:
        """Return the number of changes of rows that are not followed."""
        self.bound()
        return self.changes - sum(row.changes for line in self.plain_lines.values() for row in line.rows.values())

    def evidence(self, proofs: Mapping[ChainLine, Sequence[ChainProof]]) -> list[ChainEvidence]:
        """Return the evidence of each line, from its chains and from records that prove their version by themselves."""
        self.bound()
        scattered = self._scattered_tables()
        return [
            self._plain_evidence(line, self.plain_lines[line], scattered, proofs.get(line, ()))
            for line in sorted(self.plain_lines)
        ]

    def _plain_evidence(
        self, line: ChainLine, rows: _Line, scattered: frozenset[int], proofs: Sequence[ChainProof]
    ) -> ChainEvidence:
        runs = [run for run in _join_runs(rows.runs) if run.table not in scattered]
        torn = sum(row.torn for row in rows.rows.values() if row.last.table not in scattered)
        links = tuple(sum(run.links for run in runs if run.reading == reading) for reading in (0, 1))
        blocks, noise = resolve_blocks(_gather_blocks(runs, proofs))
        doubtful = noise > MOST_NOISE * (noise + sum(block.weight for block in blocks))
        readings = self.readings[line.subject]
        stretches = tuple(self._plain_stretch(block, readings, runs, proofs, doubtful=doubtful) for block in blocks)
        return ChainEvidence(line, readings, (links[0], links[1]), torn, stretches, doubtful)

    def _plain_stretch(
        self, block: ChainBlock, readings: Readings, runs: Sequence[_Run], proofs: Sequence[ChainProof],
        *, doubtful: bool,
    ) -> ChainStretch:  # fmt: skip
        mine = [
            run
            for run in runs
            if run.reading == block.reading
            and run.last.offset >= block.first.offset
            and run.first.offset <= block.last.offset
        ]
        own = [one for one in proofs if one.reading == block.reading and overlap(one, block)]
        shares = []
        for table in sorted({run.table for run in mine}):
            of_table = [run for run in mine if run.table == table]
            shares.append(TableShare(
                self.tables.get(table), sum(run.records for run in of_table),
                min((run.first for run in of_table), key=lambda point: point.offset),
                max((run.last for run in of_table), key=lambda point: point.offset),
            ))  # fmt: skip
        return ChainStretch(
            contract=readings[block.reading][-1],
            reading=block.reading,
            links=sum(run.links for run in mine),
            records=sum(run.records for run in mine) + sum(one.records for one in own),
            first=block.first,
            last=block.last,
            proven=block.weight >= ENOUGH_LINKS and not doubtful,
            tables=tuple(sorted(shares, key=lambda share: (share.table is not None, share.table or ""))),
        )

    def _scattered_tables(self) -> frozenset[int]:
        """Return the tables with a row in several partitions: no partition has all changes of such a row."""
        seen = Counter(key for line in self.plain_lines.values() for key in line.rows)
        return frozenset(
            row.last.table for line in self.plain_lines.values() for key, row in line.rows.items() if seen[key] > 1
        )


def _compare(left: RowChange, right: RowChange, interval: int) -> tuple[list[_Run], bool]:
    """Return what two adjacent changes of a row prove, and whether no reading joins them, as `_solve` does."""
    one, two = left.after, right.before
    comparable = (
        one.shape != 0
        and one.shape == two.shape
        and all(one.images)
        and all(two.images)
        and two.event >= one.event
        and two.position >= one.position
        and (two.event > one.event or two.position > one.position)
        and (one.left_open or two.left_open)
    )
    fits = [
        (before, after)
        for before in (0, 1)
        for after in (0, 1)
        if one.images[before] == two.images[after]
        and (before == 0 or one.left_open)  # a change with only one reading counts once
        and (after == 0 or two.left_open)
    ]
    if not comparable or len(fits) > 1:
        return [], False
    if not fits:
        return [], True
    before, after = fits[0]
    runs = []
    if one.left_open:
        counts = not two.left_open or before != after
        runs.append(_Run(left.key, left.table, interval, before, 1, int(counts), 1, one.point, one.point))
    if two.left_open:
        runs.append(_Run(left.key, left.table, interval, after, 0, 1, 1, two.point, two.point))
    return runs, False


def _join_runs(runs: Iterable[_Run]) -> list[_Run]:
    """Return the runs of each row, adjacent ones of one reading joined if nothing can be between them."""
    joined: list[_Run] = []
    for run in sorted(runs, key=lambda one: (one.key, one.first.offset, one.found, one.last.offset)):
        before = joined[-1] if joined else None
        if before is None or (before.key, before.interval, before.reading) != (run.key, run.interval, run.reading):
            joined.append(run)
            continue
        shared = run.first.offset == before.last.offset
        joined[-1] = replace(
            before, links=before.links + run.links, records=before.records + run.records - shared, last=run.last
        )
    return joined


def _gather_blocks(runs: Sequence[_Run], proofs: Sequence[ChainProof]) -> list[ChainBlock]:
    """Return the ends of all runs in order of their offsets, adjacent ones of one reading grouped."""
    whole = [(run.first, run.last, run.reading, run.links / 2) for run in runs]
    whole += [(proof.first, proof.last, proof.reading, float(ENOUGH_LINKS)) for proof in proofs]
    ends = [(first, reading, weight) for first, _, reading, weight in whole]
    ends += [(last, reading, weight) for _, last, reading, weight in whole]
    ends.sort(key=lambda end: (end[0].offset, end[1]))
    blocks = []
    for reading, alike in groupby(ends, key=lambda end: end[1]):
        held = list(alike)
        blocks.append(ChainBlock(reading, held[0][0], held[-1][0], float(sum(weight for *_, weight in held))))
    return blocks
