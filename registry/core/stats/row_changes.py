"""Row changes: a sample of the row changes of a run, which does not depend on how the records were cut or ordered.

Versions of a subject may disagree about which image of an UPDATE is the row before it. Many changes together show which
reading is right (`change_links.py`, `state_votes.py`). For that, every change of the rows with the lowest key digests
is kept: digests of its images by either reading, where it stands, and when it happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cdc_contracts.registry.core.common.lazy_arrow import np
from cdc_contracts.registry.core.stats.chain_evidence import ChainEvidence, ChainLine, Readings
from cdc_contracts.registry.core.stats.digests_without_arrow import RowDigests, mix
from cdc_contracts.registry.core.stats.read_offsets import join_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:
    Array = Any

MOST_CHANGES: Final = 24_000
"""The number of changes that are kept of a whole run."""
MOST_OF_A_ROW: Final = 1_000
"""A row with more changes than this is busy: only some blocks of offsets are kept of it."""
BLOCK: Final = 1 << 16
"""The number of offsets in a block."""
_OF_A_BLOCK: Final = 64
"""The changes kept of a busy row in a block: its first."""
MOST_INTERVALS: Final = 50_000
HIGHEST: Final = 2**64 - 1
"""The highest digest."""

UPDATE: Final = 0
INSERT: Final = 1
DELETE: Final = 2
LOAD: Final = 3
"""Kinds of changes. A row of a full load shows what stood there when it was read, perhaps after changes that follow in
the topic; so it is no proof that the row began with it."""


class RowChange(NamedTuple):
    """A change of one row: its images by either reading as digests, 0 where there is none.

    `event` and `position` are 0 where the message has none; `time` is the timestamp of the record. A `shape` of 0 says
    that the change is compared with no other: its images have different columns.
    """

    key: int
    table: int
    offset: int
    within: int
    kind: int
    time: int
    event: int
    position: int
    shape: int
    before: int
    after: int
    other_before: int
    other_after: int

    @property
    def is_open(self) -> bool:
        """Whether the two readings see different changes."""
        return (self.before, self.after) != (self.other_before, self.other_after)


CHANGE: Final = [
    (name, "i1" if name == "kind" else "i8" if name in ("offset", "within", "time", "event", "position") else "u8")
    for name in RowChange._fields
]
"""The record of a change in an array."""
_PLACE: Final = itemgetter(0, 2, 3)


class BusyRow(NamedTuple):
    """What is kept of a row with very many changes: blocks of at least this level.

    `total` counts all its changes up to when only `kept` of them were kept.
    """

    level: int
    total: int
    kept: int


@dataclass
class _Line:
    """The changes kept of one line, as arrays and as tuples; those of busy rows are always tuples."""

    arrays: list[Array] = field(default_factory=list)
    changes: list[RowChange] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.arrays)) + len(self.changes)

    def all(self) -> list[RowChange]:
        """Return every change, ordered by row and place."""
        found = [*self.changes]
        for array in self.arrays:
            found += map(RowChange._make, array.tolist())
        return sorted(found, key=_PLACE)


@dataclass(eq=False)
class RowChanges:
    """The row changes of a run by line, and the offsets read. Adding them up is commutative and associative.

    `total` counts all row changes, including those of rows that are not followed because their digest is above
    `ceiling`; `until` has by partition the offset from which on nothing is kept, because there were too many gaps.
    """

    lines: dict[ChainLine, _Line] = field(default_factory=dict)
    covered: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    until: dict[tuple[str, int], int] = field(default_factory=dict)
    readings: dict[str, Readings] = field(default_factory=dict)
    tables: dict[int, str | None] = field(default_factory=dict)
    busy: dict[int, BusyRow] = field(default_factory=dict)
    total: int = 0
    ceiling: int = HIGHEST
    weighed: tuple[Any, list[ChainEvidence]] | None = None
    """What was found of these changes, with the proofs that it was found with."""
    _joined: dict[tuple[str, int], int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def read(self, topic: str, partition: int, intervals: Iterable[tuple[int, int]]) -> None:
        """Record intervals of offsets that were read, each by its first and last offset."""
        source, self.weighed = (topic, partition), None
        covered = self.covered.setdefault(source, [])
        for first, last in intervals:
            if covered and covered[-1][1] + 1 == first:
                covered[-1] = covered[-1][0], last
            else:
                covered.append((first, last))
        if len(covered) > 2 * self._joined.get(source, 0) + MOST_INTERVALS:
            self._join(source)

    def open_line(self, line: ChainLine, readings: Readings) -> None:
        """Record that the changes of a subject in a partition are followed, if there are any."""
        self.readings[line.subject], self.weighed = readings, None
        self.lines.setdefault(line, _Line())

    def add(self, line: ChainLine, changes: Iterable[RowChange]) -> None:
        """Add changes one by one."""
        mine, until = self.lines[line], self.until.get(line[:2], 2**63)
        for change in changes:
            self.total += 1
            if change.key <= self.ceiling and change.offset < until:
                mine.changes.append(change)
        self._bound_if_needed()

    def add_array(self, line: ChainLine, changes: Array) -> None:
        """Add the changes of a batch as an array of CHANGE."""
        self.total += len(changes)
        if self.ceiling < HIGHEST:
            changes = changes[changes["key"] <= self.ceiling]
        if line[:2] in self.until:
            changes = changes[changes["offset"] < self.until[line[:2]]]
        if len(changes):
            self.lines[line].arrays.append(changes)
            self._bound_if_needed()

    def merge(self, other: RowChanges) -> None:
        """Merge the changes of another part of the run; the order of merging does not matter."""
        self.readings |= other.readings
        self.tables |= other.tables
        self.total += other.total
        self.weighed = None
        self.ceiling = min(self.ceiling, other.ceiling)
        for key in {*self.busy, *other.busy}:
            one, two = self._row(key), other._row(key)
            self.busy[key] = BusyRow(max(one.level, two.level), one.total + two.total, one.kept + two.kept)
        for source, intervals in other.covered.items():
            self.read(*source, intervals)
        for source, until in other.until.items():
            self.until[source] = min(until, self.until.get(source, until))
        for line, theirs in other.lines.items():
            own = self.lines.setdefault(line, _Line())
            own.arrays += theirs.arrays
            own.changes += theirs.changes
        self._bound_if_needed()

    def changes_of(self, line: ChainLine) -> list[RowChange]:
        """Return the changes kept of a line, ordered by row and place."""
        return self.lines[line].all()

    def intervals_of(self, topic: str, partition: int) -> list[tuple[int, int]]:
        """Return the intervals of offsets read from a partition, ascending."""
        self._join((topic, partition))
        return self.covered.get((topic, partition), [])

    def left_out(self) -> int:
        """Return the number of changes that are not kept."""
        self.bound()
        return self.total - sum(map(len, self.lines.values()))

    def bound(self) -> None:
        """Keep the rows with the lowest digests, up to the maximum for a whole run."""
        for source in [*self.covered]:
            self._join(source)
        for line, rows in self.lines.items():
            until = self.until.get(line[:2])
            if until is not None:
                rows.arrays = [array[array["offset"] < until] for array in rows.arrays]
                rows.changes = [change for change in rows.changes if change.offset < until]
        if self.busy or sum(map(len, self.lines.values())) > min(MOST_OF_A_ROW, MOST_CHANGES):
            self._lower_ceiling()
        self.busy = {key: row for key, row in self.busy.items() if key <= self.ceiling}
        self._drop()
        for key in self.busy:
            self._thin(key)
        if len(self.tables) > MOST_OF_A_ROW:
            known = {change.table for rows in self.lines.values() for change in rows.all()}
            self.tables = {table: name for table, name in self.tables.items() if table in known}

    def _lower_ceiling(self) -> None:
        """Find the rows that are busy, and the ceiling above which there are too many changes."""
        keys, counts = self._counts()
        crowded = keys[counts > MOST_OF_A_ROW].tolist()
        self.busy |= {key: self._row(key) for key in {*self.busy, *crowded}}
        if self.busy:
            counts = np.where(np.isin(keys, np.array([*self.busy], np.uint64)), MOST_OF_A_ROW, counts)
        beyond = keys[np.cumsum(counts) > MOST_CHANGES]
        if len(beyond):
            self.ceiling = min(self.ceiling, int(beyond[0]) - 1)

    def _bound_if_needed(self) -> None:
        if sum(map(len, self.lines.values())) > 2 * MOST_CHANGES:
            self.bound()

    def _counts(self) -> tuple[Array, Array]:
        """Return the rows of which changes are kept, by ascending digest, and the number of changes of each."""
        held = [array["key"] for rows in self.lines.values() for array in rows.arrays]
        held += [np.array([change.key for change in rows.changes], np.uint64) for rows in self.lines.values()]
        return np.unique(np.concatenate(held or [np.zeros(0, np.uint64)]), return_counts=True)

    def _row(self, key: int) -> BusyRow:
        """Return what is kept of one row."""
        held = sum(
            sum(int((array["key"] == key).sum()) for array in rows.arrays)
            + sum(change.key == key for change in rows.changes)
            for rows in self.lines.values()
        )
        row = self.busy.get(key, BusyRow(0, 0, 0))
        return BusyRow(row.level, row.total + held - row.kept, held)

    def _drop(self) -> None:
        """Remove what is above the ceiling, and take busy rows out of the arrays."""
        for rows in self.lines.values():
            rows.changes = [change for change in rows.changes if change.key <= self.ceiling]
            if not rows.arrays:
                continue
            array = np.concatenate(rows.arrays)
            array = array[array["key"] <= self.ceiling]
            if self.busy:
                crowded = np.isin(array["key"], np.array([*self.busy], np.uint64))
                rows.changes += map(RowChange._make, array[crowded].tolist())
                array = array[~crowded]
            rows.arrays = [array] if len(array) else []

    def _thin(self, key: int) -> None:
        """Keep of a busy row the first changes in each block, and so few blocks that there are not too many."""
        row, blocks = self.busy[key], dict[tuple[ChainLine, int], list[RowChange]]()
        for line, rows in self.lines.items():
            for change in sorted((one for one in rows.changes if one.key == key), key=_PLACE):
                blocks.setdefault((line, change.offset // BLOCK), []).append(change)
        level = row.level
        kept = {place: found[:_OF_A_BLOCK] for place, found in blocks.items()}
        while True:
            kept = {place: found for place, found in kept.items() if _level_of(place) >= level}
            if sum(map(len, kept.values())) <= MOST_OF_A_ROW:
                break
            level += 1
        self.busy[key] = row._replace(level=level, kept=sum(map(len, kept.values())))
        for line, rows in self.lines.items():
            rows.changes = [change for change in rows.changes if change.key != key]
            rows.changes += [change for (own, _), found in kept.items() if own == line for change in found]

    def _join(self, source: tuple[str, int]) -> None:
        """Join the intervals of a partition; beyond too many gaps nothing is kept."""
        covered = self.covered.get(source)
        if not covered:
            return
        joined = join_spans(covered)
        if len(joined) > MOST_INTERVALS:
            self.until[source] = min(self.until.get(source, 2**63), joined[MOST_INTERVALS][0])
        until = self.until.get(source)
        if until is not None:
            joined = [interval for interval in joined if interval[0] < until]
        self.covered[source], self._joined[source] = joined, len(joined)

    def state(self) -> tuple[Any, ...]:
        """Return everything kept as plain values, the same for the same records however they were cut."""
        self.bound()
        return (
            {line: self.changes_of(line) for line in sorted(self.lines)},
            self.covered, self.until, self.readings, self.tables, self.busy, self.total, self.ceiling,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowChanges) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"weighed": None}
        state["lines"] = {
            line: ([array.tobytes() for array in rows.arrays], [tuple(change) for change in rows.changes])
            for line, rows in self.lines.items()
        }
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self.lines = {
            line: _Line([np.frombuffer(one, CHANGE) for one in arrays], [RowChange._make(one) for one in changes])
            for line, (arrays, changes) in state["lines"].items()
        }


def changes_of_rows(
    images: Sequence[Sequence[RowDigests] | None], kind: int, table: int, offset: int, moment: tuple[int, int, int]
) -> list[RowChange]:
    """Return the row changes of a record that two readings agree on; none if their rows do not correspond.

    `images` are those before and after by one reading and by the other, `moment` the time, event and position of the
    changes. If a key changes, the change is one of both rows, each with its own image only. A row without a key is
    known by its image.
    """
    shown = [side for side in images if side is not None]
    if not shown or any(len(side) != len(shown[0]) for side in shown):
        return []
    changes: tuple[list[RowChange], list[RowChange]] = [], []
    for within in range(len(shown[0])):
        rows = [side[within] for side in shown]
        keys = list(dict.fromkeys(row.key or row.image for row in rows))
        alike = all(row.shape == rows[0].shape for row in rows)
        if len(keys) > 1 and not alike:
            continue
        shape = rows[0].shape if alike and rows[0].key else 0
        for number, key in enumerate(keys[:2]):
            own = _digests_under(key, [None if side is None else side[within] for side in images])
            changes[number].append(RowChange(mix(key ^ table), table, offset, within, kind, *moment, shape, *own))
    return [*changes[0], *changes[1]]


def _digests_under(key: int, rows: Iterable[RowDigests | None]) -> Iterator[int]:
    """Yield the image of each row; 0 where there is none, or it has another key."""
    for row in rows:
        yield row.image if row is not None and (row.key or row.image) == key else 0


def _level_of(place: tuple[ChainLine, int]) -> int:
    """Return the level of a block: each is reached by half as many blocks as the one below."""
    (_, partition, _), block = place
    mixed = mix(block * 1_000_003 + partition + 1)
    return (mixed & -mixed).bit_length() if mixed else 64
