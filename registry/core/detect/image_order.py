"""Image order: which of two images of an UPDATE is the row before it, as far as the messages of a sample show.

Versions that place the images differently cannot both be right. What links between changes and states of rows prove
(`stats/change_evidence.py`) counts for every version that reads the images that way, whatever its subject, and against
every other one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.message_evidence import MessageEvidence, RecordPlace
from cdc_contracts.registry.core.message.canonical_changes import Change, Image
from cdc_contracts.registry.core.stats.chain_evidence import ChainEvidence, ChainLine, ChainProof
from cdc_contracts.registry.core.stats.change_evidence import weigh_changes
from cdc_contracts.registry.core.stats.change_links import NO_TIME
from cdc_contracts.registry.core.stats.digests_without_arrow import RowDigests, digest_name, digest_row
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.row_changes import (
    DELETE,
    INSERT,
    LOAD,
    UPDATE,
    RowChange,
    RowChanges,
    changes_of_rows,
)

_PARTS: Final = 3
"""The number of parts into which messages are split, each of which must hold proof: the windows of a sample."""
_KINDS: Final = {"insert": INSERT, "update": UPDATE, "delete": DELETE}


class OrderVote(NamedTuple):
    """Votes for versions that read the images of messages one way, and against those that read them the other way."""

    winners: frozenset[Version]
    losers: frozenset[Version]
    votes: int
    first: RecordPlace


@dataclass(frozen=True)
class _Followed:
    """A message that is read both ways: the versions that read it each way."""

    place: RecordPlace
    ways: tuple[frozenset[Version], frozenset[Version]]


class ImageOrder:
    """The row changes of the messages that versions of one subject read in two ways.

    `versions` are those of the subject that place the images differently; other versions that accept the same messages
    are read with them.
    """

    def __init__(self, versions: Sequence[Version]) -> None:
        self._subject = versions[0].subject
        self._places = tuple(dict.fromkeys(version.meaning.images.update_places for version in versions))
        self._readings = tuple(
            tuple(version.reference for version in versions if version.meaning.images.update_places == places)
            for places in self._places
        )
        self._changes = RowChanges()
        self._followed: list[_Followed] = []
        self._proofs: dict[ChainLine, list[tuple[int, int]]] = defaultdict(list)
        self._evidence: list[ChainEvidence] = []

    def follow(self, message_evidence: MessageEvidence) -> None:
        """Add the row changes of a message."""
        place = message_evidence.place
        self.pass_over(place)
        if not any(version.subject == self._subject for version in message_evidence.fits):
            return
        ways: tuple[list[Version], list[Version]] = [], []
        for version in message_evidence.fits:
            if version.meaning.images.update_places in self._places:
                ways[self._places.index(version.meaning.images.update_places)].append(version)
        for at, way in enumerate(ways):
            own = any(version.subject == self._subject for version in way)
            plain = [any(map(message_evidence.is_plain, one)) for one in (way, ways[1 - at])]
            if plain[1] and not own and not plain[0]:
                way.clear()  # other subjects accept it with a warning, and a version of this one as it is
        read = [[message_evidence.fits[version].changes for version in way] for way in ways]
        found = [changes[0] if changes else None for changes in read]
        one, other = (mine if mine is not None else theirs for mine, theirs in (found, found[::-1]))
        if not one or not other or len(one) != len(other):
            return
        if all(ways) and one != other:
            self._followed.append(_Followed(place, (frozenset(ways[0]), frozenset(ways[1]))))
        line = ChainLine(place.topic, place.partition, self._subject)
        if not all(ways):
            self._proofs[line].append((place.offset, int(not ways[0])))
        own_loads = all(version.meaning.full_load == "own-op" for way in ways for version in way)
        self._changes.open_line(line, (self._readings[0], self._readings[1]))
        for within, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            self._changes.add(line, self._row_changes(place, within, mine, theirs, own_loads=own_loads))

    def pass_over(self, place: RecordPlace) -> None:
        """Record that a record was read."""
        self._changes.read(place.topic, place.partition, [(place.offset, place.offset)])

    def weigh(self) -> None:
        """Find out what all changes together prove; call it once, when all messages have been added."""
        proofs = {
            line: [ChainProof(reading, 1, *[Point(offset, None)] * 2) for offset, reading in sorted(found)]
            for line, found in self._proofs.items()
        }
        self._followed = _by_windows(self._followed)
        self._evidence = weigh_changes(self._changes, proofs)

    @property
    def is_disputed(self) -> bool:
        """Whether votes speak against each other, and no switch explains them."""
        return any(line.doubtful or len(line.disputed) > 1 for line in self._evidence)

    @property
    def doubt(self) -> str | None:
        """Why the votes do not decide; None if they do, or if there are none."""
        if self.is_disputed:
            return "but others say the opposite"
        if len({stretch.reading for line in self._evidence for stretch in line.proven()}) != 1:
            return None
        parts = {_PARTS * number // len(self._followed) for number in self._proven_numbers()}
        return "but only in some part of what was read" if len(parts) < _PARTS else None

    def votes(self) -> Iterator[OrderVote]:
        """Yield the votes for versions that read messages one way, by each pair of such groups."""
        for reading, votes in self._votes().items():
            places: dict[tuple[frozenset[Version], frozenset[Version]], RecordPlace] = {}
            for message in sorted(self._followed, key=lambda followed: followed.place):
                places.setdefault((message.ways[reading], message.ways[1 - reading]), message.place)
            for (winners, losers), place in places.items():
                yield OrderVote(winners, losers, votes, place)

    def refuted(self) -> dict[RecordPlace, frozenset[Version]]:
        """Return by message the versions that read its images the wrong way.

        That is known of every message if one way is proven throughout, else of those in a stretch that proves one.
        """
        proven = {stretch.reading for line in self._evidence for stretch in line.proven()}
        if not proven or self.doubt is not None:
            return {}
        if len(proven) == 1:
            (reading,) = proven
            return {message.place: message.ways[1 - reading] for message in self._followed}
        found = {}
        for message in self._followed:
            known = self._reading_at(message.place)
            if known is not None:
                found[message.place] = message.ways[1 - known]
        return found

    @property
    def turns(self) -> list[tuple[str, RecordPlace, RecordPlace]]:
        """The versions proven one after the other, each with its range; nothing if only one is."""
        found = [
            (stretch.contract, line.line, stretch) for line in self._evidence for stretch in line.proven()
        ]  # fmt: skip
        if self.doubt is not None or len({contract for contract, _, _ in found}) < 2:  # noqa: PLR2004
            return []
        return [
            (
                contract,
                RecordPlace(line.topic, line.partition, stretch.first.offset),
                RecordPlace(line.topic, line.partition, stretch.last.offset),
            )
            for contract, line, stretch in found
        ]

    def _votes(self) -> Mapping[int, int]:
        links = [sum(line.links[way] for line in self._evidence) for way in (0, 1)]
        states = self._evidence[0].states if self._evidence else (0, 0)
        return {way: links[way] + states[way] for way in (0, 1) if links[way] + states[way]}

    def _proven_numbers(self) -> Iterator[int]:
        """Yield the numbers of the messages that some stretch of more than one record ends at or has in it."""
        for number, message in enumerate(self._followed):
            if self._reading_at(message.place) is not None:
                yield number

    def _reading_at(self, place: RecordPlace) -> int | None:
        for line in self._evidence:
            if line.line[:2] == place[:2]:
                for stretch in line.proven():
                    first, last = stretch.inner or (stretch.first.offset, stretch.last.offset)
                    if first <= place.offset <= last:
                        return stretch.reading
        return None

    def _row_changes(
        self, place: RecordPlace, within: int, one: Change, other: Change, *, own_loads: bool
    ) -> list[RowChange]:
        """Return the change of one row, two if its key changes."""
        kind = _KINDS.get(one.op, LOAD)
        if kind == INSERT and not own_loads:
            kind = LOAD
        table = digest_name(place.topic, one.tenant, one.database, one.schema, one.table)
        self._changes.tables[table] = one.table
        key = one.primary_key or []
        pairs = ((one.before, one.after), (other.before, other.after))
        images = [_digest(image, completing, key) for pair in pairs for image, completing in (pair, pair[::-1])]
        each = [None if row is None else [row] for row in images]
        changes = changes_of_rows(each, kind, table, place.offset, (NO_TIME, *moment_of(one)))
        return [change._replace(within=within) for change in changes]


def _by_windows(followed: Iterable[_Followed]) -> list[_Followed]:
    """Return messages by how far behind the beginning of their partition they are, in whatever order they were read."""
    by_partition: dict[tuple[str, int], list[_Followed]] = defaultdict(list)
    for message in sorted(followed, key=lambda one: one.place):
        by_partition[message.place[:2]].append(message)
    ranks = (
        ((2 * rank + 1) / len(found), message)
        for found in by_partition.values()
        for rank, message in enumerate(found)
    )  # fmt: skip
    return [message for _, message in sorted(ranks, key=lambda one: (one[0], one[1].place))]


def moment_of(change: Change) -> tuple[int, int]:
    """Return the event time and the position of a change, 0 where it has none."""
    position = change.position or ""
    return change.event_time or 0, int(position) if position.isdecimal() else 0


def _digest(image: Image | None, other: Image | None, key: Sequence[str]) -> RowDigests | None:
    """Return the digests of an image, completed from the other one of its change."""
    return None if image is None else digest_row({**(other or {}), **image}, key)
