"""Table drift: the columns of the rows of a table, and where they change mid-stream.

Rows are compared with rows of their kind and subject in the same partition: a full load is written by another component
than the changes, and may name types differently (E54), as may another dialect; the row of a DELETE may be only a key.
The expected columns are those of the table contract used for validation, otherwise those of the first rows. Two
alternating producers are one finding.
"""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.stats.position_sequences import Stretch, count_stretch
from cdc_contracts.registry.core.stats.read_offsets import ReadOffsets

MOST_GROUPS: Final = 20_000
MOST_SHAPES: Final = 64

NEW_COLUMN: Final = "new-column"
LOST_COLUMN: Final = "lost-column"
DROPPED_COLUMN: Final = "dropped-column"
COLUMN_TYPE: Final = "column-type"
_ABSENT: Final = "no such column"
_PRESENT: Final = "the column"

Place = tuple[str, int]
Shape = tuple[tuple[str, str], ...]
"""The columns of a row by name, each with its source type; an empty text if the dialect sends none."""


class RowGroup(NamedTuple):
    """Rows that have the same columns unless their table changes: loaded, written or deleted, with columns at `at`.

    `listed` are the columns of their table contract, which may change while a stream runs.
    """

    topic: str
    partition: int
    table: str | None
    subject: str
    kind: str
    at: str
    listed: Shape | None = None


class TableBreach(NamedTuple):
    """Rows of a partition with another column, or another type of a column, than expected.

    `clean` is the last offset of a row of their group that is as expected, -1 if none is.
    """

    group: RowGroup
    path: str
    cause: str
    expected: str
    observed: str
    stretch: Stretch
    clean: int


@dataclass
class TableShapes:
    """The shapes that the rows of each group had.

    Bounded: of too many groups or shapes the first by name are kept, counted in full whatever the batch limits; then
    `cut` is set.
    """

    seen: dict[RowGroup, dict[Shape, Stretch]] = field(default_factory=dict)
    cut: bool = False
    offsets: dict[Place, ReadOffsets] = field(default_factory=dict)
    """What was read by topic and partition: rows are counted by what lies between its statements."""
    eras: dict[RowGroup, dict[Shape, list[Stretch]]] = field(default_factory=dict)
    """The rows of a shape in parts, where a statement, or what was not read, lies between some of them."""

    def add(self, groups: Iterable[RowGroup], shape: Shape, stretches: Iterable[Stretch]) -> None:
        """Count rows of groups that have a shape, those of each group as a stretch without a statement in it.

        Up to twice as many shapes are kept until `bound` is called, which then has less to compare.
        """
        parted = self._parted()
        for group, stretch in zip(groups, stretches, strict=True):
            if parted and group[:2] in parted:
                self._count_parts(group, shape, [stretch])
            if (shapes := self.seen.get(group)) is None:
                self._take(group, {shape: stretch})
            else:
                count_stretch(shapes, shape, stretch)
                if len(shapes) > 2 * MOST_SHAPES:
                    self._bound_group(group, shapes)

    def add_read(self, topic: str, partition: int, offsets: ReadOffsets) -> None:
        """Record the offsets read from a partition and those of its statements, before its rows are counted."""
        known = self.offsets.get((topic, partition))
        if known is None:
            known = self.offsets[topic, partition] = ReadOffsets()
        if known.merge(offsets):
            self._rejoin((topic, partition))

    def parts(self, group: RowGroup, shape: Shape) -> list[Stretch]:
        """Return the rows of a shape in parts, in order, with no statement of their partition within a part."""
        return self.eras.get(group, {}).get(shape) or [self.seen[group][shape]]

    def merge(self, other: TableShapes) -> None:
        """Merge the shapes of another part of the run; the order of merging does not matter."""
        self.cut |= other.cut
        for place, offsets in other.offsets.items():
            self.add_read(*place, offsets)
        parted = self._parted()
        for group, shapes in other.seen.items():
            if parted and group[:2] in parted:
                for shape in shapes:
                    self._count_parts(group, shape, other.parts(group, shape))
            if (known := self.seen.get(group)) is None:
                self._take(group, dict(shapes))
                continue
            for shape, stretch in shapes.items():
                count_stretch(known, shape, stretch)
            self._bound_group(group, known)

    def breaches(self) -> Iterator[TableBreach]:
        """Yield every unexpected or missing column, by group and shape."""
        had: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for group, shapes in self.seen.items():
            names = {name for shape in shapes for name, _ in shape}
            had[group.table, group.subject, group.listed] |= names
            had[group.table, group.subject, group.listed, group.kind] |= names
        for group in sorted(self.seen, key=_name):
            shapes = self.seen[group]
            wanted = dict(group.listed if group.listed is not None else _first(shapes))
            if len(shapes) == 1 and wanted == dict(*shapes):
                continue
            # A listed column that only rows of other kinds have is not part of rows of this kind.
            of_any = had[group.table, group.subject, group.listed]
            of_kind = had[group.table, group.subject, group.listed, group.kind]
            due = wanted.keys() & of_kind | wanted.keys() - of_any
            yield from _breaches_of(group, shapes, wanted, due)

    def _parted(self) -> set[Place]:
        """Return the partitions whose rows are counted in parts."""
        return {place for place, offsets in self.offsets.items() if offsets.parted}

    def _take(self, group: RowGroup, shapes: dict[Shape, Stretch]) -> None:
        """Keep the shapes of a group that is new here."""
        self.seen[group] = shapes
        if len(self.seen) > 2 * MOST_GROUPS:
            self._bound_groups()

    def _count_parts(self, group: RowGroup, shape: Shape, parts: Sequence[Stretch]) -> None:
        """Count rows in parts, before they are counted as a whole."""
        whole = self.seen.get(group, {}).get(shape)
        known = self.eras.get(group, {}).get(shape) or [one.copy() for one in [whole] if one is not None]
        self._keep_parts(group, shape, _in_parts(known, parts, self.offsets[group[:2]]))

    def _keep_parts(self, group: RowGroup, shape: Shape, parts: list[Stretch]) -> None:
        """Keep the parts of a shape; a single part is not kept, as it is the whole."""
        if len(parts) > 1:
            self.eras.setdefault(group, {})[shape] = parts
        elif group in self.eras:
            self.eras[group].pop(shape, None)
            if not self.eras[group]:
                del self.eras[group]

    def _rejoin(self, place: Place) -> None:
        """Join the parts of a partition between which nothing can come any more."""
        offsets = self.offsets[place]
        for group in [group for group in self.eras if group[:2] == place]:
            for shape, parts in [*self.eras[group].items()]:
                self._keep_parts(group, shape, _in_parts([], parts, offsets))

    def _bound_group(self, group: RowGroup, shapes: dict[Shape, Stretch]) -> None:
        """Keep the first shapes of a group by name, and the one that came first."""
        if len(shapes) > MOST_SHAPES:
            kept = {_first(shapes), *heapq.nsmallest(MOST_SHAPES, shapes)}
            self.cut |= len(kept) < len(shapes)
            self.seen[group] = {shape: stretch for shape, stretch in shapes.items() if shape in kept}
            for shape in shapes.keys() - kept:
                self._keep_parts(group, shape, [])

    def _bound_groups(self) -> None:
        """Keep the first groups by name."""
        if len(self.seen) > MOST_GROUPS:
            self.seen = {group: self.seen[group] for group in heapq.nsmallest(MOST_GROUPS, self.seen, key=_name)}
            self.eras = {group: shapes for group, shapes in self.eras.items() if group in self.seen}
            self.cut = True

    def bound(self) -> None:
        """Keep the first groups by name, and of each its first shapes."""
        self._bound_groups()
        for group, shapes in [*self.seen.items()]:
            self._bound_group(group, shapes)


def _in_parts(known: list[Stretch], found: Sequence[Stretch], offsets: ReadOffsets) -> list[Stretch]:
    """Return the parts of a shape with others added in order; no two are in one cell."""
    for one in found:
        cell = offsets.cell(one.first.offset)
        place = bisect(known, one.first.offset, key=attrgetter("first.offset"))
        for beside in (place - 1, place):
            if 0 <= beside < len(known) and offsets.cell(known[beside].first.offset) == cell:
                known[beside].add(one)
                break
        else:
            known.insert(place, one.copy())
    return known


def _breaches_of(
    group: RowGroup, shapes: Mapping[Shape, Stretch], wanted: Mapping[str, str], due: set[str]
) -> Iterator[TableBreach]:
    rows = [(dict(shape), shapes[shape]) for shape in sorted(shapes)]
    found = [(one, stretch) for columns, stretch in rows for one in _differences(wanted, due, columns)]
    clean: dict[str, int] = {}
    for name in {name for (_, name, _, _), _ in found}:
        wanted_types = (None,) if name not in wanted else ("", wanted[name])
        as_wanted = [stretch.last.offset for columns, stretch in rows if columns.get(name) in wanted_types]
        clean[name] = max(as_wanted, default=-1)
    for (cause, name, expected, observed), stretch in found:
        path = group.at + join_pointer(name)
        yield TableBreach(group, path, cause, expected, observed, stretch, clean[name])


def _differences(
    wanted: Mapping[str, str], due: set[str], found: Mapping[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield cause, column, expected and observed for each deviation of a row; `due` are required columns."""
    for name, source_type in found.items():
        if name not in wanted:
            yield NEW_COLUMN, name, _ABSENT, source_type or _PRESENT
        elif source_type and wanted[name] and source_type != wanted[name]:
            yield COLUMN_TYPE, name, wanted[name], source_type
    for name in sorted(due - found.keys()):
        yield LOST_COLUMN, name, wanted[name] or _PRESENT, _ABSENT


def _first(shapes: Mapping[Shape, Stretch]) -> Shape:
    return min(shapes, key=lambda shape: shapes[shape].first.offset)


def _name(group: RowGroup) -> tuple[bool, str, str, str, str, str, int, Shape]:
    table = (group.table is not None, group.table or "")
    return (*table, group.subject, group.kind, group.at, group.topic, group.partition, group.listed or ())
