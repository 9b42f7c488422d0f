"""Drift of tables: which columns the rows of a table have, and where that changes in mid-stream.

Rows are compared with rows of their kind and subject in the same partition: a full load is told by another component
than the changes are, and may name types in other words (E54), as another dialect may; the row of a DELETE may be a key
only. What the table contract lists that rows were judged by settles what is expected; else it is what the first rows
had. Two producers that take turns are one finding.
"""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cdc_contracts.registry.pointers import join_pointer
from cdc_contracts.registry.sequences import Stretch

MOST_GROUPS: Final = 20_000
MOST_SHAPES: Final = 64
MOST_BREAKS: Final = 1_000

NEW_COLUMN: Final = "new-column"
LOST_COLUMN: Final = "lost-column"
DROPPED_COLUMN: Final = "dropped-column"
COLUMN_TYPE: Final = "column-type"
_ABSENT: Final = "no such column"
_PRESENT: Final = "the column"

Place = tuple[str, int]
Shape = tuple[tuple[str, str], ...]
"""The columns of a row by name, each with its source type; an empty text where the dialect tells none."""


class Group(NamedTuple):
    """Rows that are alike unless their table changes: loaded, written or deleted ones, whose columns are at `at`.

    `listed` is what the contract of their table lists, which a stream may get another of while it runs.
    """

    topic: str
    partition: int
    table: str | None
    subject: str
    kind: str
    at: str
    listed: Shape | None = None


class TableBreach(NamedTuple):
    """Rows of a partition that have another column, or another type of one, than is expected.

    `clean` is the last offset of a row of their group that has what is expected, -1 where none has.
    """

    group: Group
    path: str
    cause: str
    expected: str
    observed: str
    stretch: Stretch
    clean: int


@dataclass
class TableShapes:
    """The shapes that the rows of each group had.

    Bounded: of more groups or shapes than are kept, the first by name are, and counted in full however the records
    were cut; `cut` says so.
    """

    seen: dict[Group, dict[Shape, Stretch]] = field(default_factory=dict)
    cut: bool = False
    breaks: dict[Place, list[int]] = field(default_factory=dict)
    """The offsets of statements by topic and partition: rows are counted by what lies between."""
    eras: dict[Group, dict[Shape, list[Stretch]]] = field(default_factory=dict)
    """The rows of partitions that have such statements, in parts that no statement lies in."""

    def add(self, group: Group, shape: Shape, stretch: Stretch) -> None:
        """Count rows of a group."""
        if group[:2] in self.breaks:
            held = self.parts(group, shape) if shape in self.seen.get(group, {}) else []
            self._part(group, shape, [*held, stretch.copy()])
        self._count(group, shape, stretch)
        self._bound(group)

    def add_break(self, topic: str, partition: int, offset: int) -> None:
        """Note a statement; rows of its batch are counted behind it, each by its side of it."""
        self.breaks[topic, partition] = _first_of([*self.breaks.get((topic, partition), ()), offset])

    def parts(self, group: Group, shape: Shape) -> list[Stretch]:
        """Return the rows of a shape in parts, cut at the statements of their partition."""
        return self.eras.get(group, {}).get(shape) or [self.seen[group][shape]]

    def merge(self, other: TableShapes) -> None:
        """Take what another part of the run saw; the order of merging does not matter."""
        self.cut |= other.cut
        self._merge_eras(other)
        for group, shapes in other.seen.items():
            for shape, stretch in shapes.items():
                self._count(group, shape, stretch)
            self._bound(group)

    def breaches(self) -> Iterator[TableBreach]:
        """Yield every column that is not as expected, by group and shape."""
        had: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for group, shapes in self.seen.items():
            names = {name for shape in shapes for name, _ in shape}
            had[group.table, group.subject, group.listed] |= names
            had[group.table, group.subject, group.listed, group.kind] |= names
        for group in sorted(self.seen, key=_name):
            shapes = self.seen[group]
            wanted = dict(group.listed if group.listed is not None else _first(shapes))
            # A listed column that rows of this kind never have, and others do, is not part of such rows.
            of_any = had[group.table, group.subject, group.listed]
            of_kind = had[group.table, group.subject, group.listed, group.kind]
            due = wanted.keys() & of_kind | wanted.keys() - of_any
            yield from _breaches_of(group, shapes, wanted, due)

    def _merge_eras(self, other: TableShapes) -> None:
        if not (self.breaks or other.breaks):
            return
        for place, offsets in other.breaks.items():
            self.breaks[place] = _first_of([*self.breaks.get(place, ()), *offsets])
        for group, shapes in other.seen.items():
            for shape in shapes if group[:2] in self.breaks else ():
                held = [side for side in (self, other) if shape in side.seen.get(group, {})]
                self._part(group, shape, [one.copy() for side in held for one in side.parts(group, shape)])

    def _part(self, group: Group, shape: Shape, found: Sequence[Stretch]) -> None:
        """Join parts of a shape that no statement lies between."""
        parts: list[Stretch] = []
        breaks = self.breaks[group[:2]]
        for one in sorted(found, key=lambda part: part.first.offset):
            last = parts[-1].last.offset if parts else -1
            if parts and bisect(breaks, last) == bisect(breaks, max(last, one.first.offset)):
                parts[-1].add(one)
            else:
                parts.append(one)
        self.eras.setdefault(group, {})[shape] = parts

    def _count(self, group: Group, shape: Shape, stretch: Stretch) -> None:
        shapes = self.seen.setdefault(group, {})
        if shape in shapes:
            shapes[shape].add(stretch)
        else:
            shapes[shape] = stretch

    def _bound(self, group: Group) -> None:
        shapes = self.seen[group]
        if len(shapes) > MOST_SHAPES:
            kept = {_first(shapes), *heapq.nsmallest(MOST_SHAPES, shapes)}
            self.cut |= len(kept) < len(shapes)
            self.seen[group] = {shape: stretch for shape, stretch in shapes.items() if shape in kept}
        if len(self.seen) > 2 * MOST_GROUPS:
            self.bound()

    def bound(self) -> None:
        """Keep the first groups by name."""
        if len(self.seen) > MOST_GROUPS:
            self.seen = {group: self.seen[group] for group in heapq.nsmallest(MOST_GROUPS, self.seen, key=_name)}
            self.eras = {group: shapes for group, shapes in self.eras.items() if group in self.seen}
            self.cut = True


def _first_of(offsets: Iterable[int]) -> list[int]:
    return sorted(set(offsets))[:MOST_BREAKS]


def _breaches_of(
    group: Group, shapes: Mapping[Shape, Stretch], wanted: Mapping[str, str], due: set[str]
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
    """Yield cause, column, expected and observed where a row is not as wanted; `due` are columns it has to have."""
    for name, source_type in found.items():
        if name not in wanted:
            yield NEW_COLUMN, name, _ABSENT, source_type or _PRESENT
        elif source_type and wanted[name] and source_type != wanted[name]:
            yield COLUMN_TYPE, name, wanted[name], source_type
    for name in sorted(due - found.keys()):
        yield LOST_COLUMN, name, wanted[name] or _PRESENT, _ABSENT


def _first(shapes: Mapping[Shape, Stretch]) -> Shape:
    return min(shapes, key=lambda shape: shapes[shape].first.offset)


def _name(group: Group) -> tuple[bool, str, str, str, str, str, int, Shape]:
    table = (group.table is not None, group.table or "")
    return (*table, group.subject, group.kind, group.at, group.topic, group.partition, group.listed or ())
