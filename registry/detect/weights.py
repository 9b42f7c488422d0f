"""Weights: how many messages speak for a side and against it, and from how many on that decides.

No message decides alone, unless it is half of all there are: it may be a stray, one that drifted or came from
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.detect.relatives import Relative
from cdc_contracts.registry.detect.strays import SHARE, enough, strays, tolerates
from cdc_contracts.registry.detect.votes import WEAK, Side, Votes

_FOREIGN_SHARE: Final = 100
"""One in so many messages may fit another contract without its being spoken: to fit one says more than not to."""


class WeighedMessages(NamedTuple):
    """Who may have sent a message: versions that it fits, relatives, and the relatives among them whose mark it has."""

    versions: tuple[Version, ...] = ()
    relatives: tuple[Relative, ...] = ()
    marked: tuple[Relative, ...] = ()

    @property
    def sides(self) -> tuple[Side, ...]:
        """Who explains it. That it fits no contract makes it no relative's: it takes a mark, or it is drift."""
        return (*self.versions, *(self.relatives if self.versions else self.marked))


class Weights:
    """How many messages speak for which side, of so many that were heard."""

    def __init__(self, heard: Mapping[WeighedMessages, int], messages: int, votes: Votes) -> None:
        self.messages = messages
        self.votes = votes
        self.heard = {one: count for one, count in heard.items() if one.sides}
        self.explained = sum(self.heard.values())

    @property
    def says_nothing(self) -> bool:
        """Whether no more messages are explained than may be strays."""
        return self.explained < enough(self.messages) or self.explained * SHARE <= self.messages

    def taken(self, *sides: Side) -> int:
        """Return how many messages all of some sides may have sent."""
        return sum(count for one, count in self.heard.items() if {*sides} <= {*one.sides})

    def alone(self, one: Side, others: Iterable[Side]) -> int:
        """Return how many messages speak for one side, and not for any of the others.

        A contract takes messages that a relative could not have sent; a relative has its mark on what a contract
        refuses.
        """
        rest = {*others}
        return sum(
            count
            for heard, count in self.heard.items()
            if one in (heard.versions if isinstance(one, Version) else heard.marked)
            and not rest & {*heard.versions, *heard.relatives}
        )

    def beats(self, one: Side, other: Side) -> bool:
        """Say whether enough messages are of one side and not of the other, and no more than strays say the opposite.

        What both take may say the opposite as well, by the evidence of their contracts.
        """
        count = self.alone(one, [other])
        if isinstance(one, Relative) and count * SHARE < self.messages:
            return False
        against = self.alone(other, [one]) + self.votes.strongest(other, one)
        return count >= enough(self.messages) and tolerates(count, against)

    def is_stray(self, side: Side, count: int) -> bool:
        """Say whether so many messages of a side may be there by chance."""
        share = _FOREIGN_SHARE if isinstance(side, Version) else SHARE
        return count < enough(self.messages) or count * share <= self.messages

    def leaders(self, sides: Sequence[Side]) -> list[Side]:
        """Return the sides that no other beats, and that take all but strays; none where several are spoken.

        A side may take all, and some only because it is so near another: then evidence speaks for that one there.
        """
        unbeaten = [one for one in sides if not any(self.beats(other, one) for other in sides)]
        found = [one for one in unbeaten if all(self.is_stray(other, self.alone(other, [one])) for other in sides)]
        rivals = [one for one in unbeaten if one not in found]
        return [one for one in found if not any(self.votes.beats(rival, one) - WEAK for rival in rivals)]

    def fits_nearly_all(self, side: Side) -> bool:
        """Say whether a side takes all messages but strays, also of those that nobody takes."""
        return self.messages - self.taken(side) <= strays(self.messages)

    def fits_most(self, side: Side) -> bool:
        """Say whether a side takes more than half of the messages, also of those that nobody takes."""
        return 2 * self.taken(side) > self.messages

    def of_subject(self, subject: str, earlier: Sequence[str] = ()) -> Weights:
        """Return the weights of the messages that a subject takes, and none of some others, among its versions."""
        own: dict[WeighedMessages, int] = {}
        for heard, count in self.heard.items():
            versions = tuple(version for version in heard.versions if version.subject == subject)
            if versions and not any(version.subject in earlier for version in heard.versions):
                own[WeighedMessages(versions)] = own.get(WeighedMessages(versions), 0) + count
        return Weights(own, sum(own.values()), self.votes)
