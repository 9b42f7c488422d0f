"""Votes: evidence for one contract and against another, counted over many messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.column_forms import ENOUGH as VALUES_OF_A_COLUMN
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.detect.outliers import SHARE, enough, tolerates
from cdc_contracts.registry.core.detect.relatives import Relative

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
REPEAT: Final = "repeated-value"
SELDOM_REPEAT: Final = "seldom-repeated-value"

LINKS: Final = 5
"""Links of key chains that are enough to decide."""
_LINKS_TO_ONE: Final = 10
"""One contradicting link is tolerated for this many: contradicting chains may be of two versions."""
WEAK: Final = frozenset({PLAINER, COLUMN_FORM})
"""Kinds that make a contract likely, never certain."""
HINTS: Final = frozenset({DDL_SEEN, DOUBTED_CHAIN, COLUMN_TURN, SELDOM_REPEAT})
"""Kinds that are reported and decide nothing: another product may send what one document leaves out, and chains of keys
that do not hold everywhere come from a stream with something missing, or from two versions. A column that turns in
mid-stream speaks for one version before and for another since, so for neither of the whole. A value that repeats now
and then was sent again; batches repeat it all the time."""


@dataclass
class Vote:
    """One kind of evidence for one side against another."""

    says: str
    count: int = 0
    first: RecordPlace | None = None


@dataclass
class Votes:
    """All votes of so many messages, by the side they are for, the side they are against, and their kind."""

    messages: int = 0
    _cast: dict[tuple[str, str, str], Vote] = field(default_factory=dict)

    def cast(
        self, winner: Side, loser: Side, kind: str, says: str, place: RecordPlace | None, *, count: int = 1
    ) -> None:
        """Count votes; the text `says` of the first in order of offsets is kept."""
        vote = self._cast.setdefault((name_of(winner), name_of(loser), kind), Vote(says, first=place))
        vote.count += count
        if place is not None and vote.first is not None and place < vote.first:
            vote.says, vote.first = says, place

    def of(self, winner: Side, loser: Side) -> dict[str, Vote]:
        """Return the votes for one side against another by kind."""
        return {
            kind: vote
            for (for_, against, kind), vote in self._cast.items()
            if (for_, against) == (name_of(winner), name_of(loser))
        }

    def beats(self, winner: Side, loser: Side) -> frozenset[str]:
        """Return the kinds of evidence that decide for one side against another; none if too much contradicts."""
        against = {kind: vote.count for kind, vote in self._weighing(loser, winner).items()}
        return frozenset(
            kind
            for kind, vote in self._weighing(winner, loser).items()
            if vote.count >= self._needed(kind) and _tolerates(kind, vote.count, against)
        )

    def strongest(self, winner: Side, loser: Side) -> int:
        """Return the most votes of any one strong kind for one side against another."""
        weighing = self._weighing(winner, loser)
        return max((vote.count for kind, vote in weighing.items() if kind not in WEAK), default=0)

    def unbeaten(self, sides: Sequence[Side]) -> list[Side]:
        """Return the sides that no other of them beats by evidence; all of them if none would be left."""
        left = [one for one in sides if not any(self.beats(other, one) for other in sides if other is not one)]
        return left or list(sides)

    def all(self) -> Iterator[tuple[str, str, str, Vote]]:
        """Yield every vote as (for, against, kind, vote), in the order of the first of them."""
        for (winner, loser, kind), vote in self._cast.items():
            yield winner, loser, kind, vote

    def contradicting(self, winner: str, loser: str, kind: str) -> int:
        """Return the number of votes of a kind for the opposite."""
        vote = self._cast.get((loser, winner, kind))
        return vote.count if vote else 0

    def _needed(self, kind: str) -> int:
        """Return how many votes of a kind decide: one for a column, since it is based on many values.

        A few discriminators of a relative among many messages are drift of a similar contract.
        """
        share = -(-self.messages // SHARE) if kind == MARK else 0
        return {KEY_CHAIN: LINKS, COLUMN_FORM: 1}.get(kind, max(enough(self.messages), share))

    def _weighing(self, winner: Side, loser: Side) -> dict[str, Vote]:
        return {kind: vote for kind, vote in self.of(winner, loser).items() if kind not in HINTS}


def _tolerates(kind: str, count: int, against: Mapping[str, int]) -> bool:
    """Return whether votes of a kind outweigh opposite votes; the vote of a column counts for all its values."""
    if kind == KEY_CHAIN and against.get(KEY_CHAIN, 0) > count // _LINKS_TO_ONE:
        return False
    return tolerates(count * VALUES_OF_A_COLUMN if kind == COLUMN_FORM else count, sum(against.values()))


def name_of(side: Side) -> str:
    """Return the reference of a contract, or the name of a relative."""
    return side.reference if isinstance(side, Version) else side.name
