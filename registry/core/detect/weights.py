"""Weights: how many messages support a side and contradict it, and how many are enough to decide.

A single message does not decide, unless it is at least half of all: it may be an outlier, that is, it drifted or came
from elsewhere.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.outliers import SHARE, enough, most_outliers, tolerates
from cdc_contracts.registry.core.detect.relatives import Relative
from cdc_contracts.registry.core.detect.votes import WEAK, Side, Votes

_FOREIGN_SHARE: Final = 100
"""One in this many messages may fit a contract that the topic does not follow: fitting says more than not fitting."""


class WeighedMessages(NamedTuple):
    """The possible senders of a message: versions that it fits, relatives, and relatives whose discriminator holds.

    `hosts` are versions of other subjects among whose messages it may stand, because it has no row.
    """

    versions: tuple[Version, ...] = ()
    relatives: tuple[Relative, ...] = ()
    marked: tuple[Relative, ...] = ()
    hosts: tuple[Version, ...] = ()

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that explain it. A relative without its discriminator does not: the message is drift."""
        return (*self.versions, *(self.relatives if self.versions else self.marked))

    def with_hosts(self, present: Container[Version]) -> WeighedMessages:
        """Return the senders with those of the hosts that have messages of their own."""
        own = tuple(version for version in self.hosts if version in present)
        return self._replace(versions=(*self.versions, *own), hosts=()) if self.hosts else self


class Weights:
    """The number of messages that support each side, of all that were added."""

    def __init__(self, senders: Mapping[WeighedMessages, int], messages: int, votes: Votes) -> None:
        self.messages = messages
        self.votes = votes
        self.senders = {one: count for one, count in senders.items() if one.sides}
        self.explained = sum(self.senders.values())

    @property
    def says_nothing(self) -> bool:
        """Whether no more messages are explained than may be outliers."""
        return self.explained < enough(self.messages) or self.explained * SHARE <= self.messages

    def taken(self, *sides: Side) -> int:
        """Return the number of messages that every one of some sides may have sent."""
        return sum(count for one, count in self.senders.items() if {*sides} <= {*one.sides})

    def alone(self, one: Side, others: Iterable[Side]) -> int:
        """Return the number of messages that support one side and none of the others.

        A contract accepts messages that a relative could not have sent; a relative has its discriminator on what a
        contract refuses.
        """
        rest = {*others}
        return sum(
            count
            for senders, count in self.senders.items()
            if one in (senders.versions if isinstance(one, Version) else senders.marked)
            and not rest & {*senders.versions, *senders.relatives}
        )

    def beats(self, one: Side, other: Side) -> bool:
        """Return whether enough messages are of one side only, and no more than foreign ones support the opposite.

        Messages that both accept may also support the opposite, by the evidence of their contracts.
        """
        count = self.alone(one, [other])
        if isinstance(one, Relative) and count * SHARE < self.messages:
            return False
        against = self.alone(other, [one]) + self.votes.strongest(other, one)
        return count >= enough(self.messages) and tolerates(count, against)

    def is_outlier(self, side: Side, count: int) -> bool:
        """Return whether the messages of a side may be outliers."""
        share = _FOREIGN_SHARE if isinstance(side, Version) else SHARE
        return count < enough(self.messages) or count * share <= self.messages

    def leaders(self, sides: Sequence[Side]) -> list[Side]:
        """Return the sides that no other beats and that accept all but outliers; none if several are in use.

        A side may accept all, some of them only because it is close to another: then evidence favours that other one.
        """
        unbeaten = [one for one in sides if not any(self.beats(other, one) for other in sides)]
        found = [one for one in unbeaten if all(self.is_outlier(other, self.alone(other, [one])) for other in sides)]
        candidate_sides = [one for one in unbeaten if one not in found]
        return [
            one
            for one in found
            if not any(self.votes.beats(candidate_side, one) - WEAK for candidate_side in candidate_sides)
        ]

    def fits_nearly_all(self, side: Side) -> bool:
        """Return whether a side accepts all messages except outliers, counting those that no side accepts."""
        return self.messages - self.taken(side) <= most_outliers(self.messages)

    def fits_most(self, side: Side) -> bool:
        """Return whether a side accepts more than half of the messages, counting those that no side accepts."""
        return 2 * self.taken(side) > self.messages

    def of_subject(self, subject: str, earlier: Sequence[str] = ()) -> Weights:
        """Return the weights, among its versions, of the messages that a subject accepts and some others do not."""
        own: dict[WeighedMessages, int] = {}
        for senders, count in self.senders.items():
            versions = tuple(version for version in senders.versions if version.subject == subject)
            if versions and not any(version.subject in earlier for version in senders.versions):
                own[WeighedMessages(versions)] = own.get(WeighedMessages(versions), 0) + count
        return Weights(own, sum(own.values()), self.votes)
