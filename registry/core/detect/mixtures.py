"""Mixtures: the contracts used in a topic in which no single contract accepts nearly all messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.outliers import SHARE
from cdc_contracts.registry.core.detect.relatives import Relative
from cdc_contracts.registry.core.detect.votes import Side, name_of
from cdc_contracts.registry.core.detect.weights import WeighedMessages, Weights

_MOST_SIDES: Final = 8


@dataclass(frozen=True)
class MixturePart:
    """A side in use: the number of its messages, and the contracts that read all of them the same."""

    side: Side
    messages: int
    equals: tuple[Version, ...]


class Mixture:
    """The sides in use in a topic: the fewest that accept all messages except outliers."""

    def __init__(self, accumulator: EvidenceAccumulator, weights: Weights, sides: Sequence[Side]) -> None:
        self.accumulator = accumulator
        self.weights = weights
        self._sides = sides
        self.parts = self._cover()

    @property
    def detected(self) -> list[Side]:
        return [part.side for part in self.parts]

    def validated(self) -> tuple[Version, ...]:
        """Return the versions to validate against, without those easily confused with a relative in the same topic."""
        return tuple(side for side in self.detected if isinstance(side, Version) and not self._may_be_taken_for(side))

    def _cover(self) -> list[MixturePart]:
        """Return the sides greedily, each time the one that accepts most of the remaining messages.

        A side that evidence contradicts is replaced by the one it favours, if that accepts all of its messages except
        outliers. A side whose messages may all be of a relative that reads them differently is not in use.
        """
        left = self._weighed()
        parts: list[MixturePart] = []
        while left and len(parts) < _MOST_SIDES:
            best = self._best(left)
            own = {senders: count for senders, count in left.items() if best in senders.sides}
            count = sum(own.values())
            if parts and self.weights.is_outlier(best, count):
                break
            parts.append(MixturePart(best, count, tuple(self._equals(best, own))))
            left = {senders: count for senders, count in left.items() if senders not in own}
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
                and all(other in senders.versions for senders in own)
                and self.accumulator.read_alike(best, other)
            ):
                yield other

    def _weighed(self) -> dict[WeighedMessages, int]:
        """Return the number of messages by the sides left after evidence has decided between accepting sides."""
        weighed: Counter[WeighedMessages] = Counter()
        for senders, count in self.weights.senders.items():
            versions = tuple(
                side for side in self.accumulator.votes.unbeaten(senders.versions) if isinstance(side, Version)
            )
            weighed[senders._replace(versions=versions)] += count
        return weighed

    def _best(self, left: Mapping[WeighedMessages, int]) -> Side:
        """Return the side that accepts most of the remaining messages, as far as evidence allows."""
        sides = self._sides
        counts = {name_of(side): sum(n for senders, n in left.items() if side in senders.sides) for side in sides}
        most = max(sides, key=lambda side: counts[name_of(side)])
        shares = {
            name_of(side): sum(n for senders, n in left.items() if {side, most} <= {*senders.sides}) for side in sides
        }
        enough = {True: counts[name_of(most)], False: (1 - 1 / SHARE) * counts[name_of(most)]}
        candidate_sides = [side for side in sides if shares[name_of(side)] >= enough[isinstance(side, Relative)]]
        unbeaten = self.accumulator.votes.unbeaten(candidate_sides)
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
