"""Chain votes: under the right reading, the after image of a change is the before image of the next one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.detect.message_evidence import MessageEvidence, RecordPlace
from cdc_contracts.registry.detect.outliers import most_outliers
from cdc_contracts.registry.message.canonical_changes import Change, Image
from cdc_contracts.registry.stats.chain_blocks import find_blocks
from cdc_contracts.registry.stats.chain_evidence import ChainProof
from cdc_contracts.registry.stats.change_links import LinkEnd
from cdc_contracts.registry.stats.position_sequences import Point

_Table = tuple[str, str | None, str | None, str | None]
_Row = tuple[_Table, tuple[str | None, ...]]

_PARTS: Final = 3
"""The number of parts into which messages are split, each of which must hold a link: the windows of a sample."""
_TORN_SHARE: Final = 10
"""One in this many neighbours may connect in no reading, and two of fewer: one stray breaks a row on both sides."""
_LEAST: Final = 2 * _TORN_SHARE


class Link(NamedTuple):
    """Two changes of a row, the second at `place`: the reading that joins them, and the one that does not.

    `since` is the offset of the first of the two that is proven to be of the version that joins them. `ends` are
    numbers among the messages that the versions read differently. `plain` is whether that version has no warning.
    """

    whole: Version
    broken: Version
    place: RecordPlace
    since: int
    ends: tuple[int, int]
    plain: bool


class _Left(NamedTuple):
    """The row after a change, and the number of its message among those that are read differently."""

    image: Image
    moment: tuple[int, int]
    number: int
    offset: int


class ChainVotes:
    """The rows of a topic as each version of a subject would have left them.

    Of two consecutive changes of a row, the after image of the first is the before image of the second. Versions that
    place the images differently cannot both be right about that. In reverse order, or with changes missing, a row that
    returns to earlier values would support the wrong one. So only adjacent changes are compared, in order, and no row
    that appears in several partitions, nor any row of a table in which more rows than outliers do. A version is proven
    for all messages only if its links are found throughout. Evidence for a reading holds for every contract that reads
    the row that way, whatever its subject. Of three versions those that a message fits are compared: a newer one with
    the same placing as the one before it changes nothing for messages of the older two.
    """

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = tuple(versions)
        self._left: dict[tuple[str, int], dict[tuple[Version, _Row], _Left]] = defaultdict(dict)
        self._last: dict[tuple[str, int], int] = {}
        self._partition_of: dict[_Row, int] = {}
        self._scattered: dict[_Table, set[_Row]] = defaultdict(set)
        self._rows: Counter[_Table] = Counter()
        self._links: dict[_Row, list[Link]] = defaultdict(list)
        self._torn: Counter[_Row] = Counter()
        self._readers: set[Version] = set()
        self._open = 0

    def follow(self, message_evidence: MessageEvidence) -> None:
        """Add the changes of a message."""
        place = message_evidence.place
        self.pass_over(place)
        readings = {
            version: message_evidence.fits[version].changes
            for version in self._versions
            if version in message_evidence.fits
        }
        plain = {version for version in readings if message_evidence.is_plain(version)}
        if any(message_evidence.fits[version].control for version in readings):
            self._left[place[:2]].clear()  # a DDL may change what the images of a table hold
        self._open += len(readings) > 1 and len({str(changes) for changes in readings.values()}) > 1
        rows = {len(changes) for changes in readings.values()}
        for version, judgement in message_evidence.fits.items():
            if version not in readings and {len(judgement.changes)} == rows:
                readings[version] = judgement.changes
        for changes in zip(*readings.values(), strict=False):
            self._link(place, dict(zip(readings, changes, strict=True)), plain)

    def pass_over(self, place: RecordPlace) -> None:
        """Record that a record was read; if records before it were left out, their changes are unknown."""
        last = self._last.get(place[:2])
        if last is not None and place.offset != last + 1:
            self._left[place[:2]].clear()
        self._last[place[:2]] = place.offset

    @property
    def links(self) -> list[Link]:
        """The links of all rows that appear in one partition only, in the order of the records."""
        result = [link for row, links in self._links.items() if self._stays(row) for link in links]
        return sorted(result, key=lambda link: link.place)

    @property
    def doubt(self) -> str | None:
        """Why the links do not decide: changes are missing or versions switch; None if they do."""
        links = self.links
        joined = len({link.place for link in links})
        if _TORN_SHARE * sum(count for row, count in self._torn.items() if self._stays(row)) > max(joined, _LEAST):
            return "but some rows are whole in no reading"
        proven = {_PARTS * end // self._open for link in links for end in link.ends}
        return "but only in some part of what was read" if len(proven) < _PARTS else None

    def turns(self) -> list[tuple[Version, RecordPlace, RecordPlace]]:
        """Return the versions proven one after the other, each with its range; nothing if only one is."""
        pairs: dict[tuple[str, int], list[Link]] = defaultdict(list)
        for link in self.links:
            if {link.whole, link.broken} <= {*self._versions}:
                pairs[link.place[:2]].append(link)
        result = []
        for source, links in pairs.items():
            ends = [
                LinkEnd(place.partition, Point(offset, None), 0, reading, 1, 0.5, (0, 0, 0))
                for (place, since), joined in groupby(links, key=lambda link: (link.place, link.since))
                for reading in [self._reading(joined)]
                for offset in (since, place.offset)
            ]
            found = find_blocks(ends, ())
            proofs = [] if found.doubtful else [
                ChainProof(block.reading, int(block.weight), block.first, block.last)
                for block in found.blocks
                if block.is_strong
            ]  # fmt: skip
            result += [
                (
                    self._versions[proof.reading],
                    RecordPlace(*source, proof.first.offset),
                    RecordPlace(*source, proof.last.offset),
                )
                for proof in proofs
            ]
        return result if len({version for version, _, _ in result}) > 1 else []

    def _reading(self, alike: Iterable[Link]) -> int:
        """Return the index of the version that joins a row; of several the newest of those without warnings."""
        return max((link.plain, self._versions.index(link.whole)) for link in alike)[1]

    def _stays(self, row: _Row) -> bool:
        """Return whether a row appears in one partition only, as do all rows of its table except outliers."""
        scattered = self._scattered.get(row[0], ())
        return row not in scattered and len(scattered) <= most_outliers(self._rows[row[0]])

    def _link(self, place: RecordPlace, readings: Mapping[Version, Change], plain: set[Version]) -> None:
        left = self._left[place[:2]]
        own = {version: change for version, change in readings.items() if version in self._versions}
        rows = {
            row
            for change in own.values()
            for image in (change.before, change.after)
            if (row := _row(place, change, image)) is not None
        }
        found = {
            version: (before, change)
            for version, change in readings.items()
            if (row := _row(place, change, change.before)) is not None and (before := left.get((version, row)))
        }
        for row in rows:
            self._rows[row[0]] += row not in self._partition_of
            if self._partition_of.setdefault(row, place.partition) != place.partition:
                self._scattered[row[0]].add(row)
            for version in self._readers:
                left.pop((version, row), None)
        if len(rows) != 1:  # a changed key is a different row in each reading
            return
        (row,) = rows
        self._readers |= readings.keys()
        known = [found[version][0] for version in own if version in found]
        if len(known) == len(own) > 1 and all(
            one.moment < _moment(change) for change, one in zip(own.values(), known, strict=True)
        ):
            ends = (known[0].number, self._open - 1)
            since = place.offset if all(one.image == known[0].image for one in known) else known[0].offset
            whole = {version for version, (one, change) in found.items() if _joins(one.image, change.before or {})}
            self._links[row] += [Link(*pair, place, since, ends, pair[0] in plain) for pair in _pairs([*found], whole)]
            if not whole & own.keys():
                self._torn[row] += 1
        for version, change in readings.items():
            if change.after is not None:
                left[version, row] = _Left(change.after, _moment(change), max(self._open - 1, 0), place.offset)


def _pairs(versions: Sequence[Version], whole: set[Version]) -> Iterator[tuple[Version, Version]]:
    yield from ((one, other) for one in versions if one in whole for other in versions if other not in whole)


def _joins(after: Image, before: Image) -> bool:
    """Return whether two images of a row are the same in the columns that both have."""
    return all(after[name] == before[name] for name in after.keys() & before.keys())


def _moment(change: Change) -> tuple[int, int]:
    position = change.position or ""
    return change.event_time or 0, int(position) if position.isdecimal() else 0


def _row(place: RecordPlace, change: Change, image: Image | None) -> _Row | None:
    """Return the identity of a row in a topic; None if it has no key."""
    if image is None or not change.primary_key or any(image.get(name) is None for name in change.primary_key):
        return None
    table = (place.topic, change.database, change.schema, change.table)
    return table, tuple(image[name] for name in change.primary_key)
