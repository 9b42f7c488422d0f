"""State votes: which reading of UPDATEs agrees with the states that rows enter and leave, in whatever order.

A state is the whole image of a row. An INSERT enters a state and a DELETE leaves one; under the right reading, UPDATEs
leave what was entered and enter what is left. So where the sum of INSERTs less DELETEs and the sum of UPDATEs have
different signs, a state votes for the reading, and against it where they have the same. Sums need no order and no
partition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from cdc_contracts.registry.core.stats.chain_evidence import ChangePair
from cdc_contracts.registry.core.stats.change_links import LinkEnd, PlacedChange, as_pair, end_at, keep_first, place_of
from cdc_contracts.registry.core.stats.row_changes import LOAD, UPDATE, RowChange

_ROUNDS: Final = 3
"""How often the boundary of each partition is moved to where the others leave it best."""

TWO_CHANGES: Final = 2

State = tuple[int, int]
"""A row and its image, as digests."""


class StateVote(NamedTuple):
    """The vote of a state, its table, and the UPDATEs that it is about."""

    against: bool
    table: int
    updates: tuple[PlacedChange, ...]


ReadingOf = Callable[[int, RowChange], int | None]
"""Which reading is taken to be right of a change in a partition, 0 or 1; None where that is open."""


@dataclass(frozen=True)
class ReadingTurn:
    """Where one reading follows another: by partition the first offset of the later one, None where there is none."""

    first: int
    boundaries: Mapping[int, int | None]

    def reading_of(self, partition: int, change: RowChange) -> int:
        """Return the reading of a change."""
        boundary = self.boundaries.get(partition)
        return self.first if boundary is None or change.offset < boundary else 1 - self.first


class States:
    """The states that the changes of some rows enter and leave.

    Changes of a full load and UPDATEs with incomplete images take no part; nor do busy rows, of which only some changes
    are known. Rows without a key may be alike, so that a state counts for one row only if two changes touch it.
    """

    def __init__(self, changes: Iterable[PlacedChange], busy: Iterable[int] = ()) -> None:
        self._anchors: Counter[State] = Counter()
        self._anchored: dict[State, list[tuple[PlacedChange, int]]] = defaultdict(list)
        self._updates: dict[State, list[tuple[PlacedChange, int]]] = defaultdict(list)
        self._touched: Counter[State] = Counter()
        self._known: set[State] = set()
        crowded = {*busy}
        for placed in changes:
            if placed[1].key not in crowded:
                self._add(placed)

    def votes(self, reading_of: ReadingOf) -> Iterator[StateVote]:
        """Yield the votes of all states on how their UPDATEs are read; none of a state where that is open."""
        for state in self._updates:
            vote = self._vote_of(state, reading_of)
            if vote is not None:
                yield vote

    def find_pairs(self) -> dict[tuple[int, int], ChangePair]:
        """Return by partition and reading the first change that enters or leaves a state, and the UPDATE that answers.

        For a reading, that is one by which a state votes for it.
        """
        pairs: dict[tuple[int, int], ChangePair] = {}
        for state, updates in self._updates.items():
            vote = self._vote_of(state, lambda _, __: 0)
            if vote is not None:
                reading, entered = int(vote.against), self._anchors[state] > 0
                answers = [placed for placed, sign in updates if ((sign > 0) == entered) == bool(reading)]
                anchors = [placed for placed, sign in self._anchored[state] if (sign > 0) == entered]
                keep_first(pairs, reading, as_pair(_first(anchors), _first(answers), neighbours=False))
        return pairs

    @cached_property
    def uniform_votes(self) -> Sequence[StateVote]:
        """The votes of all states where every UPDATE is read the first way; those against are for the other one."""
        return list(self.votes(lambda _, __: 0))

    def find_ends(self) -> Iterator[LinkEnd]:
        """Yield the UPDATEs that alone enter or leave a state, with the reading that the state votes for.

        Such a vote is about one place, as a link is.
        """
        for vote in self.uniform_votes:
            if len(vote.updates) == 1:
                ((partition, change),) = vote.updates
                yield end_at(partition, change, int(vote.against), 1, 1.0)

    def _vote_of(self, state: State, reading_of: ReadingOf) -> StateVote | None:
        anchored, updates = self._anchors[state], self._updates[state]
        readings = {placed: reading_of(*placed) for placed, _ in updates} if anchored else {}
        if not anchored or None in readings.values() or not self._is_of_one_row(state):
            return None
        entered = sum(-sign if readings[placed] else sign for placed, sign in updates)
        if not entered:
            return None
        return StateVote((anchored > 0) == (entered > 0), updates[0][0][1].table, tuple(readings))

    def find_turn(self) -> ReadingTurn | None:
        """Return the turn, one of each partition, after which the fewest states are entered more often than left.

        None if no turn is better than one reading throughout.
        """
        changes: dict[int, dict[int, list[tuple[State, int]]]] = defaultdict(lambda: defaultdict(list))
        for state, updates in self._updates.items():
            for (partition, change), sign in updates:
                changes[partition][change.offset].append((state, sign))
        best: tuple[int, ReadingTurn] | None = None
        uniform = min(self._breaks(ReadingTurn(first, {})) for first in (0, 1))
        for first in (0, 1):
            turn = self._sweep(first, changes)
            found = self._breaks(turn)
            if found < uniform and (best is None or found < best[0]):
                best = found, turn
        return best[1] if best else None

    def _is_of_one_row(self, state: State) -> bool:
        return state in self._known or self._touched[state] == TWO_CHANGES

    def _add(self, placed: PlacedChange) -> None:
        change = placed[1]
        swapped = (change.before, change.after) == (change.other_after, change.other_before)
        if change.kind == LOAD or change.before == change.after or not (swapped or not change.is_open):
            return
        if change.kind == UPDATE and change.before and change.after and not change.shape:
            return  # its images lack different columns
        for image, sign in ((change.before, -1), (change.after, 1)):
            if not image:
                continue
            state = change.key, image
            self._touched[state] += 1
            if change.shape:
                self._known.add(state)
            if change.is_open:
                self._updates[state].append((placed, sign))
            else:  # an INSERT, a DELETE, or an UPDATE that proves its version by itself
                self._anchors[state] += sign
                self._anchored[state].append((placed, sign))

    def _sweep(self, first: int, changes: Mapping[int, Mapping[int, list[tuple[State, int]]]]) -> ReadingTurn:
        """Move the boundary of one partition after the other to where the fewest states are broken."""
        balance: Counter[State] = Counter(self._anchors)
        sign_of = 1 if first == 0 else -1
        for of_partition in changes.values():
            for parts in of_partition.values():
                for state, sign in parts:
                    balance[state] += sign_of * sign
        boundaries: dict[int, int | None] = dict.fromkeys(changes)
        for _ in range(_ROUNDS):
            moved = False
            for partition in sorted(changes):
                before = boundaries[partition]
                boundaries[partition] = self._place(sign_of, changes[partition], before, balance)
                moved |= boundaries[partition] != before
            if not moved:
                break
        return ReadingTurn(first, boundaries)

    @staticmethod
    def _place(
        sign_of: int, of_partition: Mapping[int, list[tuple[State, int]]], before: int | None, balance: Counter[State]
    ) -> int | None:
        """Return the best boundary of a partition where those of the others stay; the balance follows it."""
        offsets = sorted(of_partition)

        def flip(offset: int, by: int) -> int:
            change = 0
            for state, sign in of_partition[offset]:
                was = abs(balance[state])
                balance[state] += 2 * by * sign
                change += abs(balance[state]) - was
            return change

        for offset in offsets:
            if before is not None and offset >= before:
                flip(offset, sign_of)  # as if the first reading held throughout
        best, broken, found = 0, 0, None
        for offset in reversed(offsets):
            broken += flip(offset, -sign_of)
            if broken < best:
                best, found = broken, offset
        for offset in offsets:
            if found is None or offset < found:
                flip(offset, sign_of)
        return found

    def _breaks(self, turn: ReadingTurn) -> int:
        """Return how often states are entered more often than left, or left more often than entered."""
        states: Sequence[State] = [*{**self._anchors, **self._updates}]
        return sum(
            abs(
                self._anchors[state] + sum(_turned(placed, sign, turn) for placed, sign in self._updates.get(state, ()))
            )
            for state in states
        )


def _first(changes: Iterable[PlacedChange]) -> PlacedChange:
    return min(changes, key=place_of)


def _turned(placed: PlacedChange, sign: int, turn: ReadingTurn) -> int:
    return -sign if turn.reading_of(*placed) else sign
