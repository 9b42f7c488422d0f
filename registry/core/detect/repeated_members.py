"""Repeated members: members that repeat the value of the message before, as where a product writes batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.message_evidence import MessageEvidence, RecordPlace
from cdc_contracts.registry.core.detect.relatives import Relative
from cdc_contracts.registry.core.detect.votes import REPEAT, SELDOM_REPEAT, Side, Votes

_BATCHES: Final = 5
"""If a product writes in batches, at least one in this many messages repeats the value of the message before."""


@dataclass
class RepeatedMembers:
    """The messages that repeat a member of the message before, by whom that is evidence for."""

    _before: dict[tuple[str, str, int], tuple[Any, bytes]] = field(default_factory=dict)
    _places: dict[tuple[Relative, Side, Version], list[RecordPlace]] = field(default_factory=dict)
    _neighbours: Counter[Relative] = field(default_factory=Counter)

    def take(self, message_evidence: MessageEvidence, value: bytes) -> None:
        """Add one message, given as it was sent as well."""
        for relative in self._repeating(message_evidence, value):
            for side, version in taken_for(message_evidence, relative):
                self._places.setdefault((relative, side, version), []).append(message_evidence.place)

    def cast(self, votes: Votes) -> None:
        """Cast the votes of all messages."""
        for (relative, side, version), places in self._places.items():
            kind = REPEAT if _BATCHES * len(places) >= self._neighbours[relative] else SELDOM_REPEAT
            says = f"{relative.repeats} is what it was in the message before, as in the batches of {relative.name}"
            votes.cast(side, version, kind, says, min(places), count=len(places))

    def _repeating(self, message_evidence: MessageEvidence, value: bytes) -> Iterator[Relative]:
        """Yield the relatives whose repeating member has the value of the previous message, if the messages differ."""
        place = message_evidence.place
        for relative in message_evidence.shown:
            if relative.repeats is not None:
                key = (relative.name, place.topic, place.partition)
                result = follow(message_evidence.message, split_pointer(relative.repeats))
                if key in self._before:
                    self._neighbours[relative] += 1
                    before, message = self._before[key]
                    if before == result and message != value:  # the same bytes were sent again
                        yield relative
                self._before[key] = result, value


def taken_for(message_evidence: MessageEvidence, relative: Relative) -> Iterator[tuple[Side, Version]]:
    """Yield whom it is evidence for that a message shows a relative, with each version near it that accepts it too."""
    near = [version for version in message_evidence.fits if version.subject in relative.near]
    return product(message_evidence.shown_for(relative), near)
