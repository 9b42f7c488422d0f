"""Votes: what speaks for one contract and against another, counted over many messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.detection.relatives import Relative
from cdc_contracts.registry.detection.testimony import Place

Side = Version | Relative
"""What a message may speak: a contract, or a relative outside the catalogue."""

PLAINER: Final = "plainer"
VALUE_FORM: Final = "value-form"
CODE_SEEN: Final = "code-seen"
DDL_SEEN: Final = "ddl-seen"
PROCESS_TIME: Final = "process-time-before"
KEY_CHAIN: Final = "key-chain"
DOUBTED_CHAIN: Final = "doubted-key-chain"
COLUMN_FORM: Final = "column-form"
COLUMN_TURN: Final = "column-turn"
MARK: Final = "mark-of-a-relative"

ENOUGH: Final = {KEY_CHAIN: 5}
"""So many votes of a kind decide, where none contradicts; one of every other kind."""
WEAK: Final = frozenset({PLAINER, COLUMN_FORM})
"""Kinds that make a contract likely, never certain."""
HINTS: Final = frozenset({DDL_SEEN, DOUBTED_CHAIN, COLUMN_TURN})
"""Kinds that are told and decide nothing: another product may send what one document leaves out, and chains of keys
that do not hold everywhere come from a stream with something missing, or from two versions. A column that turns in
mid-stream speaks for one version before and for another since, so for neither of the whole."""


@dataclass
class Vote:
    """One kind of evidence for one side against another."""

    says: str
    count: int = 0
    first: Place | None = None


@dataclass
class Votes:
    """All votes of a hearing, by the side they are for, the side they are against, and their kind."""

    _cast: dict[tuple[str, str, str], Vote] = field(default_factory=dict)

    def cast(self, winner: Side, loser: Side, kind: str, says: str, place: Place | None) -> None:
        """Count one vote; `says` is told as the first one said it."""
        vote = self._cast.setdefault((name_of(winner), name_of(loser), kind), Vote(says, first=place))
        vote.count += 1

    def of(self, winner: Side, loser: Side) -> dict[str, Vote]:
        """Return the votes for one side against another by kind."""
        return {
            kind: vote
            for (for_, against, kind), vote in self._cast.items()
            if (for_, against) == (name_of(winner), name_of(loser))
        }

    def beats(self, winner: Side, loser: Side) -> frozenset[str]:
        """Return the kinds of evidence that decide for one side against another; none where anything contradicts."""
        if self._weighing(loser, winner):
            return frozenset()
        return frozenset(
            kind for kind, vote in self._weighing(winner, loser).items() if vote.count >= ENOUGH.get(kind, 1)
        )

    def all(self) -> Iterator[tuple[str, str, str, Vote]]:
        """Yield every vote as (for, against, kind, vote), in the order of the first of them."""
        for (winner, loser, kind), vote in self._cast.items():
            yield winner, loser, kind, vote

    def contradicting(self, winner: str, loser: str, kind: str) -> int:
        """Return how many votes of a kind say the opposite."""
        vote = self._cast.get((loser, winner, kind))
        return vote.count if vote else 0

    def _weighing(self, winner: Side, loser: Side) -> dict[str, Vote]:
        return {kind: vote for kind, vote in self.of(winner, loser).items() if kind not in HINTS}


def name_of(side: Side) -> str:
    """Return the reference of a contract, the name of a relative."""
    return side.reference if isinstance(side, Version) else side.name
