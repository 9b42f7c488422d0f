"""Mixtures: which contracts are used in topics where no single contract accepts nearly all messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.detect.relatives import Relative
from cdc_contracts.registry.detect.strays import SHARE
from cdc_contracts.registry.detect.votes import Side, name_of
from cdc_contracts.registry.detect.weights import WeighedMessages, Weights

_MOST_SIDES: Final = 8


@dataclass(frozen=True)
class MixturePart:
    """A side that is in use: how many messages are its own, and the contracts that read all of these the same."""

    side: Side
    messages: int
    equals: tuple[Version, ...]


class Mixture:
    """The sides in use in a topic, the fewest that accept all messages except strays."""

    def __init__(self, accumulator: EvidenceAccumulator, weights: Weights, sides: Sequence[Side]) -> None:
        self.accumulator = accumulator
        self.weights = weights
        self._sides = sides
        self.parts = self._cover()

    @property
    def detected(self) -> list[Side]:
        return [part.side for part in self.parts]

    def judged(self) -> tuple[Version, ...]:
        """Return the versions to validate against: none that could be confused with a relative in the same topic."""
        return tuple(side for side in self.detected if isinstance(side, Version) and not self._may_be_taken_for(side))

    def _cover(self) -> list[MixturePart]:
        """Return the sides, each time the one that accepts most of what is left.

        One that evidence contradicts gives way to the one it favours, where that accepts all of its messages except
        strays. One whose messages may all be those of a relative that reads them differently is not in use.
        """
        left = self._weighed()
        parts: list[MixturePart] = []
        while left and len(parts) < _MOST_SIDES:
            best = self._best(left)
            own = {heard: count for heard, count in left.items() if best in heard.sides}
            count = sum(own.values())
            if parts and self.weights.is_stray(best, count):
                break
            parts.append(MixturePart(best, count, tuple(self._equals(best, own))))
            left = {heard: count for heard, count in left.items() if heard not in own}
        beats, detected = self.accumulator.votes.beats, [part.side for part in parts]
        parts = [replace(part, equals=tuple(one for one in part.equals if one not in detected)) for part in parts]
        return sorted(parts, key=lambda part: sum(bool(beats(one, part.side)) for one in detected))

    def _equals(self, best: Side, own: Mapping[WeighedMessages, int]) -> Iterator[Version]:
        """Yield the contracts that accept the messages of a side as well and read them the same."""
        for other in self._sides:
            if (
                isinstance(best, Version)
                and isinstance(other, Version)
                and other != best
                and all(other in heard.versions for heard in own)
                and self.accumulator.read_alike(best, other)
            ):
                yield other

    def _weighed(self) -> dict[WeighedMessages, int]:
        """Return how many messages have which sides left, where evidence decides between those that accept them."""
        weighed: Counter[WeighedMessages] = Counter()
        for heard, count in self.weights.heard.items():
            versions = tuple(
                side for side in self.accumulator.votes.unbeaten(heard.versions) if isinstance(side, Version)
            )
            weighed[heard._replace(versions=versions)] += count
        return weighed

    def _best(self, left: Mapping[WeighedMessages, int]) -> Side:
        """Return the side that accepts most of the messages that are left, as far as evidence allows."""
        sides = self._sides
        counts = {name_of(side): sum(n for heard, n in left.items() if side in heard.sides) for side in sides}
        most = max(sides, key=lambda side: counts[name_of(side)])
        shares = {
            name_of(side): sum(n for heard, n in left.items() if {side, most} <= {*heard.sides}) for side in sides
        }
        enough = {True: counts[name_of(most)], False: (1 - 1 / SHARE) * counts[name_of(most)]}
        rivals = [side for side in sides if shares[name_of(side)] >= enough[isinstance(side, Relative)]]
        unbeaten = self.accumulator.votes.unbeaten(rivals)
        others = [side for side in unbeaten if isinstance(side, Relative) and side.reads == "other"]
        return others[0] if others else max(unbeaten, key=lambda side: counts[name_of(side)])

    def _may_be_taken_for(self, version: Version) -> bool:
        """Return whether a relative is also in use whose messages the version would accept and read differently."""
        return any(
            isinstance(side, Relative)
            and version.subject in side.near
            and side.reads == "other"
            and self.weights.taken(side) * SHARE > self.weights.explained
            for side in self.detected
        )
