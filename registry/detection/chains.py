"""Key chains: under the right reading, what one update of a row left is what the next one finds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.changes import Change, Image
from cdc_contracts.registry.detection.testimony import Place, Testimony

_Table = tuple[str, str | None, str | None, str | None]
_Row = tuple[_Table, tuple[str | None, ...]]

_PARTS: Final = 3
"""Into so many parts messages are split, each of which has to hold a link: the windows of a sample."""


class Link(NamedTuple):
    """Two changes of a row, the second at `place`: the reading that joins them, and the one that does not.

    `ends` count among the messages that the versions read differently.
    """

    whole: Version
    broken: Version
    place: Place
    ends: tuple[int, int]


class _Left(NamedTuple):
    """What a change left of a row, and when; the number of its message among those that are read differently."""

    image: Image
    moment: tuple[int, int]
    number: int


class KeyChains:
    """The rows of a topic as each version of a subject would have left them.

    Of two changes of one row that follow each other, the after image of the first is the before image of the second.
    Versions that place the images differently cannot both be right about that. Told backwards, or with changes left
    out, a row that goes round in circles would speak for the wrong one: so only neighbours are compared that nothing
    can lie between, the later one behind the earlier, and no row that is told in several partitions. And a version is
    proven for all messages only where its links are found all over them.
    """

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = tuple(versions)
        self._left: dict[tuple[str, int], dict[tuple[Version, _Row], _Left]] = defaultdict(dict)
        self._last: dict[tuple[str, int], int] = {}
        self._partition_of: dict[_Row, int] = {}
        self._scattered: set[_Table] = set()
        self._links: dict[_Table, list[Link]] = defaultdict(list)
        self._torn: set[_Table] = set()
        self._open = 0

    def follow(self, testimony: Testimony) -> None:
        """Take the changes of a message into account."""
        place = testimony.place
        self.pass_over(place)
        readings = {version: testimony.fits[version].changes for version in self._versions if version in testimony.fits}
        if any(testimony.fits[version].control for version in readings):
            self._left[place[:2]].clear()  # a DDL may change what the images of a table hold
        self._open += len(readings) > 1 and len({str(changes) for changes in readings.values()}) > 1
        for changes in zip(*readings.values(), strict=False):
            self._link(place, dict(zip(readings, changes, strict=True)))

    def pass_over(self, place: Place) -> None:
        """Note that a record was read; where others were left out before it, what they did to a row is not known."""
        last = self._last.get(place[:2])
        if last is not None and place.offset != last + 1:
            self._left[place[:2]].clear()
        self._last[place[:2]] = place.offset

    @property
    def links(self) -> list[Link]:
        """The links of all rows that are told in one partition, in the order of the records."""
        told = [link for table, links in self._links.items() if table not in self._scattered for link in links]
        return sorted(told, key=lambda link: link.place)

    @property
    def doubt(self) -> str | None:
        """What keeps the links from deciding: something is missing or switched; None where nothing does."""
        if self._torn - self._scattered:
            return "but some rows are whole in no reading"
        proven = {_PARTS * end // self._open for link in self.links for end in link.ends}
        return "but only in some part of what was read" if len(proven) < _PARTS else None

    def _link(self, place: Place, readings: Mapping[Version, Change]) -> None:
        left = self._left[place[:2]]
        rows = {
            row
            for change in readings.values()
            for image in (change.before, change.after)
            if (row := _row(place, change, image)) is not None
        }
        found = {
            version: (before, change)
            for version, change in readings.items()
            if (row := _row(place, change, change.before)) is not None and (before := left.get((version, row)))
        }
        for row in rows:
            if self._partition_of.setdefault(row, place.partition) != place.partition:
                self._scattered.add(row[0])
            for version in self._versions:
                left.pop((version, row), None)
        if len(rows) != 1:  # a key that changes is a row of its own in each reading
            return
        (row,) = rows
        if len(found) == len(self._versions) and all(one.moment < _moment(change) for one, change in found.values()):
            ends = (next(one.number for one, _ in found.values()), self._open - 1)
            whole = {version for version, (one, change) in found.items() if _joins(one.image, change.before or {})}
            self._links[row[0]] += [Link(*pair, place, ends) for pair in _pairs(self._versions, whole)]
            if not whole:
                self._torn.add(row[0])
        for version, change in readings.items():
            if change.after is not None:
                left[version, row] = _Left(change.after, _moment(change), max(self._open - 1, 0))


def _pairs(versions: Sequence[Version], whole: set[Version]) -> Iterator[tuple[Version, Version]]:
    yield from ((one, other) for one in versions if one in whole for other in versions if other not in whole)


def _joins(after: Image, before: Image) -> bool:
    """Say whether two images of a row are the same in the columns that both have."""
    return all(after[name] == before[name] for name in after.keys() & before.keys())


def _moment(change: Change) -> tuple[int, int]:
    position = change.position or ""
    return change.event_time or 0, int(position) if position.isdecimal() else 0


def _row(place: Place, change: Change, image: Image | None) -> _Row | None:
    """Return what names a row of a topic; None where it has no key."""
    if image is None or not change.primary_key or any(image.get(name) is None for name in change.primary_key):
        return None
    table = (place.topic, change.database, change.schema, change.table)
    return table, tuple(image[name] for name in change.primary_key)
