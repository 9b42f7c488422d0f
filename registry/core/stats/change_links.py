"""Change links: two changes of one row in a known order, which only one reading of their images joins.

Under the right reading, the after image of a change is the before image of the row's next change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from cdc_contracts.registry.core.stats.chain_evidence import ChangePair, ChangePlace
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.row_changes import BLOCK, LOAD, RowChange

READINGS: Final = (0, 1)
NO_TIME: Final = -(2**63)
_SHARE: Final = 20
"""One in this many rows of a table may be in several partitions, where not all of the range was read."""

PlacedChange = tuple[int, RowChange]
"""A change and its partition."""


class LinkEnd(NamedTuple):
    """A change that a link, or the vote of a state, proves to be of one reading.

    The two ends of a link share its weight and its count.
    """

    partition: int
    point: Point
    table: int
    reading: int
    links: int
    weight: float
    record: tuple[int, int, int]


@dataclass
class Links:
    """The links of the rows of one subject in one topic; `torn` counts, by partition, neighbours that none joins.

    `over_gaps` counts, by reading, the links between changes of a row that records which were not read lie between. Any
    of them may join its changes by chance, so that they prove nothing.
    `pairs` has by partition and reading the first neighbours that only this reading joins. `outliers` are changes that
    only one reading joins with both their neighbours, in rows that the other one joins throughout, with that reading.
    """

    ends: list[LinkEnd] = field(default_factory=list)
    torn: Counter[int] = field(default_factory=Counter)
    over_gaps: Counter[int] = field(default_factory=Counter)
    pairs: dict[tuple[int, int], ChangePair] = field(default_factory=dict)
    outliers: list[tuple[PlacedChange, int]] = field(default_factory=list)

    def note_pair(self, reading: int, left: PlacedChange, right: PlacedChange) -> None:
        """Keep two changes that only one reading joins, if they are the first in their partitions."""
        keep_first(self.pairs, reading, as_pair(left, right, neighbours=True))


class _Joined(NamedTuple):
    """Two neighbouring changes of a row, and the readings by which they join; None if they are not compared."""

    left: PlacedChange
    right: PlacedChange
    fits: list[tuple[int, int]] | None

    @property
    def places(self) -> set[tuple[int, int, int]]:
        """Where both changes are."""
        return {(partition, change.offset, change.within) for partition, change in (self.left, self.right)}

    def turns(self, before: int, after: int) -> bool:
        """Return whether the changes join only if they are read in two ways that differ, and are rows by either."""
        (_, one), (_, two) = self.left, self.right
        whole = all((one.after, one.other_after, two.before, two.other_before))
        return whole and self.reads(before, after)

    def allows(self, reading: int) -> bool:
        """Return whether one reading joins the changes, perhaps among others, or they are not compared."""
        return self.fits is None or self.reads(reading, reading) or (reading, reading) in self.fits

    def reads(self, before: int, after: int) -> bool:
        """Return whether the changes join only if the first is read one way, and the second another way."""
        left_open, right_open = _open_sides(self.left[1], self.right[1])
        return self.fits == [(before if left_open else 0, after if right_open else 0)]


class Intervals:
    """The intervals of offsets read from each partition: between two of them some records were not read."""

    def __init__(self, covered: Mapping[int, Sequence[tuple[int, int]]]) -> None:
        self._covered = covered
        self.whole = all(len(intervals) <= 1 for intervals in covered.values())

    def number(self, changes: Iterable[PlacedChange]) -> Iterator[int]:
        """Yield for each change, in order of offsets within its partition, the interval it is in."""
        places: dict[int, int] = defaultdict(int)
        for partition, change in changes:
            intervals, place = self._covered.get(partition, ()), places[partition]
            while place < len(intervals) and intervals[place][1] < change.offset:
                place += 1
            places[partition] = place
            yield place


def find_links(changes: Iterable[PlacedChange], intervals: Intervals, busy: Iterable[int]) -> Links:
    """Return the links between the changes of the rows of one subject in one topic.

    A row that is in one partition is in the order of its offsets, unless its event times and positions say otherwise.
    The changes of other rows are in the order of event times and positions, as far as these differ; where not all of
    the range was read, changes may be missing between them, so nothing is known. So it is over a gap in one partition,
    but there links are counted.
    """
    rows: dict[int, list[PlacedChange]] = defaultdict(list)
    for placed in changes:
        rows[placed[1].key].append(placed)
    wandering = _wandering_tables(rows.values())
    crowded, links = {*busy}, Links()
    for key, mine in rows.items():
        kept = sorted(mine, key=place_of)
        several = len({partition for partition, _ in mine}) > 1
        unordered = several or not (key in crowded or _is_in_order(kept))
        if unordered and (key in crowded or not intervals.whole):
            continue
        if unordered:
            joined = [_join(one, two, links) for one, two in _pairs_across(kept)]
            links.outliers += _find_outliers(joined)
            continue
        # Changes of the row may be among those that were not read, in another partition.
        elsewhere = not intervals.whole and mine[0][1].table in wandering
        joined = []
        for one, two, adjacent in _pairs_of(kept, intervals, busy=key in crowded):
            if adjacent and not elsewhere:
                joined.append(_join(one, two, links))
            else:
                links.over_gaps.update(_reading_over_gap(one[1], two[1]))
        links.outliers += _find_outliers(joined)
    return links


def _wandering_tables(rows: Iterable[Sequence[PlacedChange]]) -> set[int]:
    """Return the tables of which more rows than outliers are in several partitions."""
    total, several = Counter[int](), Counter[int]()
    for row in rows:
        total[row[0][1].table] += 1
        several[row[0][1].table] += len({partition for partition, _ in row}) > 1
    return {table for table, count in several.items() if count > max(1, total[table] // _SHARE)}


def leave_out_repeats(changes: Iterable[PlacedChange]) -> list[PlacedChange]:
    """Return changes without those of a row that were sent again: same position and time, op and images."""
    seen, kept = set(), []
    for partition, change in sorted(changes, key=place_of):
        known = (change.key, change.event, change.position, change.kind, *change[8:])
        if (change.event or change.position) and known in seen:
            continue
        seen.add(known)
        kept.append((partition, change))
    return kept


def _pairs_of(
    changes: Sequence[PlacedChange], intervals: Intervals, *, busy: bool
) -> Iterator[tuple[PlacedChange, PlacedChange, bool]]:
    """Yield neighbouring changes of a row in one partition, and whether everything between them was read.

    Of a busy row, only some blocks were kept.
    """
    numbered = zip(changes, intervals.number(changes), strict=True)
    for (one, interval), (two, next_interval) in pairwise(numbered):
        near = not busy or one[1].offset // BLOCK == two[1].offset // BLOCK
        if one[1].offset < two[1].offset and _moment(one) <= _moment(two):
            yield one, two, near and interval == next_interval


def _is_in_order(changes: Sequence[PlacedChange]) -> bool:
    """Return whether the changes of a row in one partition are in order of their event times and positions."""
    return all(one <= two for one, two in pairwise(map(_moment, changes)))


def _moment(placed: PlacedChange) -> tuple[int, int]:
    """Return the event time of a change, and its position: that of another instance may count from elsewhere."""
    return placed[1].event, placed[1].position


def _pairs_across(changes: Sequence[PlacedChange]) -> Iterator[tuple[PlacedChange, PlacedChange]]:
    """Yield neighbouring changes of a row in no order of offsets, where nothing else has the time of either."""
    moments = [list(alike) for _, alike in groupby(sorted(changes, key=_moment), key=_moment)]
    for before, after in pairwise(moments):
        if len(before) == len(after) == 1:
            (one,), (two,) = before, after
            if one[0] != two[0] or one[1].offset < two[1].offset:
                yield one, two


def _join(left: PlacedChange, right: PlacedChange, links: Links) -> _Joined:
    """Add what two neighbouring changes prove, and return it."""
    (from_partition, one), (to_partition, two) = left, right
    fits = _fits(one, two)
    joined = _Joined(left, right, fits)
    if fits is None:
        return joined
    if not fits:
        links.torn[to_partition] += 1
    if len(fits) != 1:
        return joined
    before, after = fits[0]
    left_open, right_open = _open_sides(one, two)
    if before == after or not (left_open and right_open):
        links.note_pair(before if left_open else after, left, right)
    shared = left_open and right_open and before == after
    weight = 0.5 if shared else 1.0
    if left_open:
        links.ends.append(end_at(from_partition, one, before, int(not shared), weight))
    if right_open:
        links.ends.append(end_at(to_partition, two, after, 1, weight))
    return joined


def _find_outliers(joined: Sequence[_Joined]) -> Iterator[tuple[PlacedChange, int]]:
    """Yield the changes of a row that only one reading joins with both neighbours, if the other one joins all the rest.

    Where changes are missing, some neighbours are joined by no reading: then nothing is said of the row. Nor is it of a
    change where a row begins or ends, since images that are not there look alike.
    """
    for reading in READINGS:
        other = 1 - reading
        found = [
            two.left
            for one, two in pairwise(joined)
            if one.right == two.left and one.turns(reading, other) and two.turns(other, reading)
        ]
        found = [placed for placed in found if placed[1].is_open]
        about = {(partition, change.offset, change.within) for partition, change in found}
        rest = [one for one in joined if not about & one.places]
        if found and any(one.reads(reading, reading) for one in rest) and all(one.allows(reading) for one in rest):
            yield from ((placed, other) for placed in found)


def _reading_over_gap(one: RowChange, two: RowChange) -> Iterator[int]:
    """Yield the reading by which alone two changes join, though others may be missing between them."""
    fits = _fits(one, two) or ()
    if len(fits) == 1:
        before, after = fits[0]
        left_open, right_open = _open_sides(one, two)
        if before == after or not (left_open and right_open):
            yield after if right_open else before


def _fits(one: RowChange, two: RowChange) -> list[tuple[int, int]] | None:
    """Return the readings by which the after image of a change is the before image of the next; None if not compared.

    They prove a reading if exactly one combination of readings fits. A row that changes back and forth fits two. By one
    reading a change of the key enters a row that was not there, by the other it leaves none.
    """
    left, right = (one.after, one.other_after), (two.before, two.other_before)
    left_open, right_open = _open_sides(one, two)
    if not (
        one.shape and one.shape == two.shape and LOAD not in (one.kind, two.kind)
        and any(left) and any(right) and (left_open or right_open)
    ):  # fmt: skip
        return None
    return [
        (before, after)
        for before in READINGS
        for after in READINGS
        if left[before] == right[after]
        and (before == 0 or left_open)  # a change with only one reading counts once
        and (after == 0 or right_open)
    ]


def _open_sides(one: RowChange, two: RowChange) -> tuple[bool, bool]:
    """Return whether the readings differ in the after image of a change, and in the before image of the next."""
    return one.after != one.other_after, two.before != two.other_before


def end_at(partition: int, change: RowChange, reading: int, links: int, weight: float) -> LinkEnd:
    """Return a change that evidence proves to be of one reading."""
    record = change.key, change.offset, change.within
    return LinkEnd(partition, point_of(change), change.table, reading, links, weight, record)


def as_pair(left: PlacedChange, right: PlacedChange, *, neighbours: bool) -> ChangePair:
    """Return where two changes are."""
    one, other = (ChangePlace(partition, change.offset) for partition, change in (left, right))
    return ChangePair(one, other, neighbours)


def keep_first(pairs: dict[tuple[int, int], ChangePair], reading: int, pair: ChangePair) -> None:
    """Keep a pair of changes for each of its partitions, if no earlier one is known."""
    for partition in {pair.one.partition, pair.other.partition}:
        known = pairs.get((partition, reading))
        if known is None or (min(pair[:2]), pair) < (min(known[:2]), known):
            pairs[partition, reading] = pair


def place_of(placed: PlacedChange) -> tuple[int, int, int]:
    """Return what orders changes by partition and place."""
    partition, change = placed
    return partition, change.offset, change.within


def point_of(change: RowChange) -> Point:
    """Return where a change is."""
    return Point(change.offset, None if change.time == NO_TIME else change.time)
