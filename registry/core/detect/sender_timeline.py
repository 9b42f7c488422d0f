"""Sender timeline: the messages of a sample in order, and which version wrote each part of a topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median_high, median_low
from typing import Final, NamedTuple

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.version_ranges import Place, VersionRange, VersionRanges
from cdc_contracts.registry.core.detect.image_order import moment_of
from cdc_contracts.registry.core.detect.message_evidence import MessageEvidence, RecordPlace
from cdc_contracts.registry.core.detect.weights import WeighedMessages
from cdc_contracts.registry.core.stats.proven_ranges import (
    KnownRange,
    ProvenRun,
    find_direction,
    place_ranges,
    trim_interleaved,
)

Source = tuple[str, int]

_AT_AN_END: Final = 3
"""The proofs at an end of a range that say when it began or ended: one of them may itself have come late."""
_BY_CHANCE: Final = 0.01
"""What is less likely than this, if proofs lie anywhere, is taken for the mark of another version."""
_FAR_APART: Final = 100
"""Messages this far apart, in number, are in order, except for a few that came late."""
_MOST_LATE: Final = 33
"""Of this many messages one may have come so late."""


class SampledMessage(NamedTuple):
    """A message: its possible senders, and the subjects of which some versions accept it and decode it differently.

    `moment` is its event time and its position, 0 where it has none; `original` is where the same bytes came first, by
    the order of offsets, if that is elsewhere.
    """

    place: RecordPlace
    senders: WeighedMessages
    parted: tuple[str, ...] = ()
    moment: tuple[int, int] = (0, 0)
    digest: int = 0
    original: RecordPlace | None = None

    def proves(self, subject: str) -> str | None:
        """Return the only version of a subject that can have sent it; None if there are others, or none."""
        own = [version.reference for version in self.senders.versions if version.subject == subject]
        return own[0] if len(own) == 1 else None


class SenderTimeline:
    """The messages of a sample."""

    def __init__(self) -> None:
        self._messages: list[SampledMessage] = []
        self._firsts: dict[int, RecordPlace] = {}

    def add(self, message: SampledMessage, value: bytes) -> None:
        """Add a message, whose bytes are `value`."""
        digest = hash(value)
        self._messages.append(message._replace(digest=digest))
        self._firsts[digest] = min(message.place, self._firsts.get(digest, message.place))

    def refute(
        self, refuted: Mapping[RecordPlace, frozenset[Version]]
    ) -> Iterator[tuple[SampledMessage, SampledMessage]]:
        """Take versions that row changes refute out of the possible senders; yield each message before and after."""
        before = self._in_order(self._messages)
        self._messages = []
        for message in before:
            wrong = refuted.get(message.place, frozenset())
            left = tuple(version for version in message.senders.versions if version not in wrong)
            self._messages.append(message._replace(senders=message.senders._replace(versions=left)))
            yield message, self._messages[-1]

    def join(self, other: SenderTimeline) -> None:
        """Add the messages of another sample; those that both have are taken from the other."""
        theirs = {message.place for message in other._messages}
        kept = [message for message in self._messages if message.place not in theirs]
        for digest, place in other._firsts.items():
            self._firsts[digest] = min(place, self._firsts.get(digest, place))
        self._messages = self._in_order([*kept, *other._messages])

    def _in_order(self, messages: Sequence[SampledMessage]) -> list[SampledMessage]:
        """Return messages in order of offsets, each with the place of its original."""
        found = []
        for message in sorted(messages, key=lambda one: one.place):
            first = self._firsts[message.digest]
            found.append(message._replace(original=None if first == message.place else first))
        return found

    def unread_gaps(self, ranges: VersionRanges) -> dict[Source, tuple[int, int]]:
        """Return what was not read between two versions, by partition: the first offset, and the one after the last."""
        offsets: dict[Source, list[int]] = {}
        for message in self._messages:
            offsets.setdefault(message.place[:2], []).append(message.place.offset)
        found = {}
        for source, read in offsets.items():
            for one, two in pairwise(ranges.ranges_of(*source)):
                if one.contract != two.contract and one.end is not None and two.start is not None:
                    held = sum(one.end <= offset < two.start for offset in read)
                    if two.start - one.end > held:
                        found[source] = one.end, two.start
        return found

    def proven(self, subject: str) -> dict[Source, list[ProvenRun]]:
        """Return, by partition, the runs of messages that one version of a subject can have sent and no other.

        A message whose bytes came before proves nothing where it came again.
        """
        runs: dict[Source, list[ProvenRun]] = {}
        for message in self._messages:
            mine, contract = runs.setdefault(message.place[:2], []), message.proves(subject)
            if contract is None or message.original is not None:
                continue
            if mine and mine[-1].contract == contract:
                mine[-1] = mine[-1]._replace(last=message.place.offset)
            else:
                mine.append(ProvenRun(contract, message.place.offset, message.place.offset))
        return runs

    def is_proven_in_part(self, subject: str) -> bool:
        """Return whether a part of a partition, or all of it, has so few proofs that another version may hold there.

        Messages count that versions of the subject read differently. If proofs were spread evenly over them, none of
        them would be missing from such a part more often than once in a hundred topics.
        """
        lines: dict[Source, list[bool]] = {}
        for message in self._messages:
            proven = message.proves(subject) is not None
            if proven or subject in message.parted:
                lines.setdefault(message.place[:2], []).append(proven)
        messages, proofs = (sum(map(count, lines.values())) for count in (len, sum))
        for line in lines.values():
            edges = (line.index(True), line[::-1].index(True)) if any(line) else (len(line),)
            among, held = (len(line), sum(line)) if any(line) else (messages, proofs)
            if any((1 - edge / among) ** held < _BY_CHANCE for edge in edges):
                return True
        return False

    def ranges(self, subject: str, versions: Sequence[str]) -> tuple[VersionRanges | None, int]:
        """Return the ranges in which versions of a subject are proven, and how many messages no range covers.

        `versions` are all of the subject, lowest first. None if nothing is proven.
        """
        runs = {place: trim_interleaved(found) for place, found in self.proven(subject).items()}
        places: dict[Place, tuple[VersionRange, ...]] = {}
        for topic in dict.fromkeys(topic for topic, _ in runs):
            mine = {place: found for place, found in runs.items() if place[0] == topic}
            direction = find_direction(list(mine.values()), versions)
            for place, found in mine.items():
                places[place] = tuple(
                    VersionRange(one.start, one.end, one.run.contract)
                    for one in place_ranges(found, direction)
                    if isinstance(one, KnownRange)
                )
        ranges = VersionRanges(places)
        ranges = ranges.without(self._untimely(subject, ranges))
        covered = sum(ranges.find(*message.place, None) is not None for message in self._messages)
        return ranges if covered else None, len(self._messages) - covered

    def _untimely(self, subject: str, ranges: VersionRanges) -> set[RecordPlace]:
        """Return the messages that happened before the first proof of the range they are in, or after the last.

        They were sent late, or once more, so that their place does not tell their version; so were those that came
        first where another version holds. What lies before a range that is open to the beginning, or after one that is
        open to the end, is of the same version.
        """
        held: dict[Source, dict[VersionRange, list[SampledMessage]]] = {}
        for message in self._messages:
            one = ranges.find(*message.place, None)
            if one is not None and any(message.moment):
                held.setdefault(message.place[:2], {}).setdefault(one, []).append(message)
        found = {message.place for message in self._messages if _is_of_another_range(message, ranges)}
        for by_range in held.values():
            moment_of_one = _comparable_moments([message for messages in by_range.values() for message in messages])
            for one, messages in by_range.items():
                proofs = [
                    moment_of_one(message)
                    for message in messages
                    if message.proves(subject) is not None and message.original is None
                ]
                if not proofs:
                    continue
                first, last = median_low(proofs[:_AT_AN_END]), median_high(proofs[-_AT_AN_END:])
                found |= {
                    message.place
                    for message in messages
                    if (one.start is not None and moment_of_one(message) < first)
                    or (one.end is not None and moment_of_one(message) > last)
                }
        return found


def _comparable_moments(messages: Sequence[SampledMessage]) -> Callable[[SampledMessage], tuple[int, ...]]:
    """Return what orders the messages of a partition: their event times, with their positions if these can be compared.

    They cannot if an instance began to count anew, or several count side by side: then far more messages are out of
    order than those that came late.
    """
    apart = min(_FAR_APART, len(messages) // 2)
    far = [(one.moment, two.moment) for one, two in zip(messages, messages[apart:], strict=False)]
    wrong = sum(one[0] == two[0] and one > two for one, two in far)
    return (lambda message: message.moment[:1]) if wrong * _MOST_LATE > len(far) else (lambda message: message.moment)


def _is_of_another_range(message: SampledMessage, ranges: VersionRanges) -> bool:
    """Return whether a message came first where another version holds, or none that is known."""
    if message.original is None:
        return False
    first, own = (ranges.find(*place, None) for place in (message.original, message.place))
    return own is not None and (first is None or first.contract != own.contract)


def moment_in(message_evidence: MessageEvidence) -> tuple[int, int]:
    """Return the event time and the position of the rows of a message, 0 where there is none."""
    changes = next(
        (version_verdict.changes for version_verdict in message_evidence.fits.values() if version_verdict.changes), ()
    )
    return max(map(moment_of, changes), default=(0, 0))


def parted_subjects(message_evidence: MessageEvidence) -> Iterator[str]:
    """Yield the subjects of which some versions accept a message and decode it differently."""
    fits = message_evidence.fits
    for subject in dict.fromkeys(version.subject for version in fits):
        changes = [version_verdict.changes for version, version_verdict in fits.items() if version.subject == subject]
        if any(one != changes[0] for one in changes):
            yield subject
