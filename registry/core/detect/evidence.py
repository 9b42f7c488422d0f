"""Evidence of a detection: the candidates with what supports and contradicts them, and single pieces of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator, describe_breach
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.detect.relatives import Relative
from cdc_contracts.registry.core.detect.reported_detection import EvidencePlace, ReportedCandidate, ReportedEvidence
from cdc_contracts.registry.core.detect.votes import HINTS, MARK, Side, name_of
from cdc_contracts.registry.core.detect.weights import Weights


def evidence_of(
    kind: str, says: str, winner: str, loser: str | None, count: int, contradicting: int, first: RecordPlace | None
) -> ReportedEvidence:
    """Return one piece of evidence: what it supports and contradicts, and the first of the messages that say so."""
    place = EvidencePlace(*first) if first else None
    return ReportedEvidence(kind, says, winner, loser, count, contradicting, place)


class EvidenceList:
    """The evidence of an accumulator about detected contracts."""

    def __init__(self, accumulator: EvidenceAccumulator, weights: Weights, sides: Sequence[Side]) -> None:
        self.accumulator = accumulator
        self.weights = weights
        self._takers = Weights(accumulator.takers, accumulator.messages, accumulator.votes)
        self._sides = list(dict.fromkeys([*sides, *(side for one in accumulator.takers for side in one.sides)]))

    def candidates(self, named: Sequence[Side]) -> tuple[ReportedCandidate, ...]:
        """Return the named contracts, and others that accept at least half of the messages of one of them."""
        first = [side for side in named if isinstance(side, Version)]
        candidate_sides = [
            side
            for side in self._sides
            if isinstance(side, Version)
            and side not in first
            and any(2 * self._takers.taken(side, one) >= self._takers.taken(one) for one in named)
        ]
        return tuple(map(self._candidate, [*first, *candidate_sides]))

    def _candidate(self, version: Version) -> ReportedCandidate:
        weights = self._takers
        records = weights.taken(version)
        alone = sum(count for senders, count in weights.senders.items() if senders.sides == (version,))
        result = self.accumulator.votes.all()
        votes = [(winner, loser, vote.count) for winner, loser, kind, vote in result if kind not in HINTS]
        return ReportedCandidate(
            contract=version.reference,
            records=records,
            votes=alone + sum(count for winner, _, count in votes if winner == version.reference),
            against=weights.explained - records + sum(count for _, loser, count in votes if loser == version.reference),
        )

    def evidence(self, named: Sequence[Side]) -> tuple[ReportedEvidence, ...]:
        """Return the evidence for the named contracts, the most frequent first."""
        names = {name_of(side) for side in named}
        result = [
            evidence_of("refused", f"{refused.reference} rejects {describe_breach(refusal.finding)}", taken.reference,
                    refused.reference, refusal.count, self._refusals(refused, taken), refusal.first)
            for (taken, refused), refusal in self.accumulator.refusals.items()
            if taken.reference in names
        ]  # fmt: skip
        result += [
            evidence_of(kind, vote.says, winner, loser, vote.count,
                    self.accumulator.votes.contradicting(winner, loser, kind), vote.first)
            for winner, loser, kind, vote in self.accumulator.votes.all()
            if winner in names
        ]  # fmt: skip
        return tuple(sorted(result, key=lambda one: (-one.count, one.kind, one.winner, one.loser or "")))

    def detected(self, detected: Sequence[Side]) -> Iterator[ReportedEvidence]:
        """Yield for each detected contract the number of messages that none of the others accepts."""
        for side in detected:
            found = [
                senders
                for senders in self.weights.senders
                if side in senders.sides and not {*senders.sides} & {*detected} - {side}
            ]
            if found:
                count = sum(self.weights.senders[senders] for senders in found)
                first = min(self.accumulator.first[senders] for senders in found)
                says = f"of the contracts detected here, only {name_of(side)} accepts these messages"
                yield evidence_of("spoken", says, name_of(side), None, count, 0, first)

    def unmatched(self, named: Sequence[Side]) -> Iterator[ReportedEvidence]:
        """Yield the messages that fit other contracts but none of the named ones: too few to decide anything."""
        for senders in sorted(self.weights.senders, key=lambda one: self.accumulator.first[one]):
            if not {*senders.sides} & {*named}:
                names = " or ".join(map(name_of, senders.sides))
                says = f"{names} accepts messages that no contract named here accepts"
                count, first = self.weights.senders[senders], self.accumulator.first[senders]
                yield evidence_of("stray", says, name_of(senders.sides[0]), None, count, 0, first)

    def marks(self, relative: Relative) -> Iterator[ReportedEvidence]:
        """Yield the number of messages that a relative may have sent."""
        found = [senders for senders in self.weights.senders if relative in senders.sides]
        first = min(self.accumulator.first[senders] for senders in found)
        says = f"the messages have the structure of {relative.name} messages"
        yield evidence_of(MARK, says, relative.name, None, self.weights.taken(relative), 0, first)

    def _refusals(self, taken: Version, refused: Version) -> int:
        found = self.accumulator.refusals.get((taken, refused))
        return found.count if found else 0
