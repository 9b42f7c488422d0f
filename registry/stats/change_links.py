"""Change links: two changes of one row in a known order, which only one reading of their images joins.

Under the right reading, the after image of a change is the before image of the row's next change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from cdc_contracts.registry.stats.position_sequences import Point
from cdc_contracts.registry.stats.row_changes import BLOCK, LOAD, RowChange

READINGS: Final = (0, 1)
NO_TIME: Final = -(2**63)
_SHARE: Final = 20
"""One in this many rows of a table may be in several partitions, where not all of the range was read."""

PlacedChange = tuple[int, RowChange]
"""A change and its partition."""


class LinkEnd(NamedTuple):
    """A change that a link proves to be of one reading; the two ends of a link share its weight and its count."""

    partition: int
    point: Point
    table: int
    reading: int
    links: int
    weight: float
    record: tuple[int, int, int]


@dataclass
class Links:
    """The links of the rows of one subject in one topic; `torn` counts, by partition, neighbours that none joins."""

    ends: list[LinkEnd] = field(default_factory=list)
    torn: Counter[int] = field(default_factory=Counter)


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

    A row that is in one partition is in the order of its offsets. The changes of a row in several partitions are in the
    order of their event times and positions, as far as these differ; where not all of the range was read, changes may
    be missing between them, so nothing is known.
    """
    rows: dict[int, list[PlacedChange]] = defaultdict(list)
    for placed in changes:
        rows[placed[1].key].append(placed)
    wandering = _wandering_tables(rows.values())
    crowded, links = {*busy}, Links()
    for key, mine in rows.items():
        several = len({partition for partition, _ in mine}) > 1
        if not intervals.whole and (several or mine[0][1].table in wandering):
            continue
        if several and key in crowded:
            continue
        kept = _leave_out_repeats(sorted(mine, key=lambda one: (one[0], one[1].offset, one[1].within)))
        pairs = _pairs_across(kept) if several else _pairs_of(kept, intervals, busy=key in crowded)
        for one, two in pairs:
            _join(one, two, links)
    return links


def _wandering_tables(rows: Iterable[Sequence[PlacedChange]]) -> set[int]:
    """Return the tables of which more rows than outliers are in several partitions."""
    total, several = Counter[int](), Counter[int]()
    for row in rows:
        total[row[0][1].table] += 1
        several[row[0][1].table] += len({partition for partition, _ in row}) > 1
    return {table for table, count in several.items() if count > max(1, total[table] // _SHARE)}


def _leave_out_repeats(changes: Sequence[PlacedChange]) -> list[PlacedChange]:
    """Return the changes of a row without those that were sent again: same position and time, op and images."""
    seen, kept = set(), []
    for partition, change in changes:
        known = (change.event, change.position, change.kind, *change[8:])
        if (change.event or change.position) and known in seen:
            continue
        seen.add(known)
        kept.append((partition, change))
    return kept


def _pairs_of(
    changes: Sequence[PlacedChange], intervals: Intervals, *, busy: bool
) -> Iterator[tuple[PlacedChange, PlacedChange]]:
    """Yield neighbouring changes of a row in one partition; of a busy row, only some blocks were kept."""
    numbered = zip(changes, intervals.number(changes), strict=True)
    for (one, interval), (two, next_interval) in pairwise(numbered):
        near = not busy or one[1].offset // BLOCK == two[1].offset // BLOCK
        if near and interval == next_interval and _is_later(one[1], two[1]):
            yield one, two


def _pairs_across(changes: Sequence[PlacedChange]) -> Iterator[tuple[PlacedChange, PlacedChange]]:
    """Yield neighbouring changes of a row in several partitions, where nothing else has the time of either."""
    ordered = sorted(changes, key=lambda one: (one[1].event, one[1].position))
    moments = [list(alike) for _, alike in groupby(ordered, key=lambda one: (one[1].event, one[1].position))]
    for before, after in pairwise(moments):
        if len(before) == len(after) == 1 and _is_later(before[0][1], after[0][1]):
            (one,), (two,) = before, after
            if one[0] != two[0] or one[1].offset < two[1].offset:
                yield one, two


def _is_later(one: RowChange, two: RowChange) -> bool:
    """Return whether a change is later than another by event time or position, and earlier by neither."""
    return (
        two.event >= one.event
        and two.position >= one.position
        and (two.event > one.event or two.position > one.position)
    )


def _join(left: PlacedChange, right: PlacedChange, links: Links) -> None:
    """Add what two neighbouring changes prove.

    They prove a reading if exactly one combination of readings makes the after image of the first the before image of
    the second. A row that changes back and forth fits two combinations.
    """
    (from_partition, one), (to_partition, two) = left, right
    left_images, right_images = (one.after, one.other_after), (two.before, two.other_before)
    left_open, right_open = left_images[0] != left_images[1], right_images[0] != right_images[1]
    if not (
        one.shape and one.shape == two.shape and LOAD not in (one.kind, two.kind)
        and all(left_images) and all(right_images) and (left_open or right_open)
    ):  # fmt: skip
        return
    fits = [
        (before, after)
        for before in READINGS
        for after in READINGS
        if left_images[before] == right_images[after]
        and (before == 0 or left_open)  # a change with only one reading counts once
        and (after == 0 or right_open)
    ]
    if not fits:
        links.torn[to_partition] += 1
    if len(fits) != 1:
        return
    before, after = fits[0]
    shared = left_open and right_open and before == after
    weight = 0.5 if shared else 1.0
    if left_open:
        links.ends.append(_end(from_partition, one, before, int(not shared), weight))
    if right_open:
        links.ends.append(_end(to_partition, two, after, 1, weight))


def _end(partition: int, change: RowChange, reading: int, links: int, weight: float) -> LinkEnd:
    record = change.key, change.offset, change.within
    return LinkEnd(partition, point_of(change), change.table, reading, links, weight, record)


def point_of(change: RowChange) -> Point:
    """Return where a change is."""
    return Point(change.offset, None if change.time == NO_TIME else change.time)
