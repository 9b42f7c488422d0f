"""Sender timeline: the messages of a sample in order, and which version wrote each part of a topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.version_ranges import Place, VersionRange, VersionRanges
from cdc_contracts.registry.detect.image_order import moment_of
from cdc_contracts.registry.detect.message_evidence import MessageEvidence, RecordPlace
from cdc_contracts.registry.detect.weights import WeighedMessages
from cdc_contracts.registry.stats.proven_ranges import (
    KnownRange,
    ProvenRun,
    find_direction,
    place_ranges,
    trim_interleaved,
)

Source = tuple[str, int]


class SampledMessage(NamedTuple):
    """A message: its possible senders, and the subjects of which some versions accept it and decode it differently.

    `moment` is its event time and its position, 0 where it has none; `again` whether the same bytes came before.
    """

    place: RecordPlace
    senders: WeighedMessages
    parted: tuple[str, ...] = ()
    moment: tuple[int, int] = (0, 0)
    again: bool = False

    def proves(self, subject: str) -> str | None:
        """Return the only version of a subject that can have sent it; None if there are others, or none."""
        own = [version.reference for version in self.senders.versions if version.subject == subject]
        return own[0] if len(own) == 1 else None


class SenderTimeline:
    """The messages of a sample."""

    def __init__(self) -> None:
        self._messages: list[SampledMessage] = []
        self._seen: set[int] = set()

    def add(self, message: SampledMessage, value: bytes) -> None:
        """Add a message, whose bytes are `value`."""
        digest = hash(value)
        self._messages.append(message._replace(again=digest in self._seen))
        self._seen.add(digest)

    def refute(
        self, refuted: Mapping[RecordPlace, frozenset[Version]]
    ) -> Iterator[tuple[SampledMessage, SampledMessage]]:
        """Take versions that row changes refute out of the possible senders; yield each message before and after."""
        before = sorted(self._messages, key=lambda one: one.place)
        self._messages = []
        for message in before:
            wrong = refuted.get(message.place, frozenset())
            left = tuple(version for version in message.senders.versions if version not in wrong)
            self._messages.append(message._replace(senders=message.senders._replace(versions=left)))
            yield message, self._messages[-1]

    def proven(self, subject: str) -> dict[Source, list[ProvenRun]]:
        """Return, by partition, the runs of messages that one version of a subject can have sent and no other."""
        runs: dict[Source, list[ProvenRun]] = {}
        for message in self._messages:
            mine, contract = runs.setdefault(message.place[:2], []), message.proves(subject)
            if contract is None:
                continue
            if mine and mine[-1].contract == contract:
                mine[-1] = mine[-1]._replace(last=message.place.offset)
            else:
                mine.append(ProvenRun(contract, message.place.offset, message.place.offset))
        return runs

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

        They were sent late, or once more, so that their place does not tell their version. What lies before a range
        that is open to the beginning, or after one that is open to the end, is of the same version.
        """
        held: dict[tuple[str, int, VersionRange], list[SampledMessage]] = {}
        for message in self._messages:
            one = ranges.find(*message.place, None)
            if one is not None and any(message.moment):
                held.setdefault((*message.place[:2], one), []).append(message)
        found = set()
        for (_, _, one), messages in held.items():
            proofs = [
                message.moment for message in messages if message.proves(subject) is not None and not message.again
            ]
            for message in messages if proofs else ():
                early = one.start is not None and message.moment < min(proofs)
                late = one.end is not None and message.moment > max(proofs)
                if early or late:
                    found.add(message.place)
        return found


def moment_in(message_evidence: MessageEvidence) -> tuple[int, int]:
    """Return the event time and the position of the rows of a message, 0 where there is none."""
    changes = next((judgement.changes for judgement in message_evidence.fits.values() if judgement.changes), ())
    return max(map(moment_of, changes), default=(0, 0))


def parted_subjects(message_evidence: MessageEvidence) -> Iterator[str]:
    """Yield the subjects of which some versions accept a message and decode it differently."""
    fits = message_evidence.fits
    for subject in dict.fromkeys(version.subject for version in fits):
        changes = [judgement.changes for version, judgement in fits.items() if version.subject == subject]
        if any(one != changes[0] for one in changes):
            yield subject
