"""Evidence that a history holds about the order of images, counted from the truth and by a model of its own.

Votes need no order. Links count only where changes stand in the order in which they happened, and instances that write
the same are told apart: that is known here, and no reader may be expected to see more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass

from change_histories import History, HistoryShape
from change_messages import DIALECTS, MINIMAL, changed_columns
from row_changes import DELETE, INSERT, UPDATE, Image, RowChange, Table
from topic_delivery import TopicRecord

CLEAR, SOME, NONE, CONTRARY = "clear", "some", "none", "contrary"
STRENGTHS = (CLEAR, SOME, NONE, CONTRARY)
Told = tuple[TopicRecord, RowChange]
"""A change, and the record that tells of it."""


@dataclass(frozen=True)
class Evidence:
    """Votes at anchors and links between neighbours, of the true reading and of the other."""

    votes: tuple[int, int]
    links: tuple[int, int]

    @property
    def strength(self) -> str:
        """Say how strongly all of it speaks for the truth."""
        true, other = (sum(pair) for pair in zip(self.votes, self.links, strict=True))
        if true + other == 0:
            return NONE
        if true <= other:
            return CONTRARY
        return CLEAR if true >= 5 and true >= 9 * other else SOME


def evidence_of(
    history: History, declared: str | None = None, among: Collection[tuple[int, int]] | None = None
) -> Evidence:
    """Return the evidence of a history that has one version, to a reader who takes it for `declared`.

    `among` are the partitions and offsets of the only messages that count.
    """
    told = [
        one
        for one in _without_repeats(history)
        if not _is_incomplete(history, one[1]) and (among is None or (one[0].partition, one[0].offset) in among)
    ]
    loads = any(DIALECTS[version].load == "INSERT" for version in (history.shape.version, declared) if version)
    return Evidence(_votes(told, inserts=not loads), _links(told) if is_in_order(history.shape) else (0, 0))


def is_in_order(shape: HistoryShape) -> bool:
    """Say whether every partition has its messages in the order in which they were sent."""
    return shape.delivery.window == 0 and shape.delivery.exchanged == 0


def _without_repeats(history: History) -> Iterator[Told]:
    seen: set[bytes] = set()
    for record in history.records:
        if record.value not in seen:
            seen.add(record.value)
            yield from ((record, change) for change in record.message.changes)


def _is_incomplete(history: History, change: RowChange) -> bool:
    """Say whether a message has not all columns of a row in either image."""
    minimal = history.shape.wording.images == MINIMAL and change.op == UPDATE
    return minimal and changed_columns(change) | {*change.table.key} != {column.name for column in change.columns}


def _votes(told: list[Told], *, inserts: bool) -> tuple[int, int]:
    """Count votes at anchors; INSERTs are none where they may be rows of a full load."""
    anchors, updates, touched = (Counter[tuple[Table, Hashable]]() for _ in range(3))
    for _, change in told:
        if change.op == UPDATE:
            updates[_state(change, change.after)] += 1
            updates[_state(change, change.before)] -= 1
            touched.update((_state(change, change.after), _state(change, change.before)))
        elif change.op == DELETE or (change.op == INSERT and inserts):
            anchors[_state(change, change.image)] += 1 if change.op == INSERT else -1
            touched[_state(change, change.image)] += 1
    signs = [
        (net > 0) == (updates[state] > 0)
        for state, net in anchors.items()
        if net and updates[state] and (state[0].key or touched[state] == 2)  # without a key rows may be alike
    ]
    return signs.count(False), signs.count(True)


def _links(told: list[Told]) -> tuple[int, int]:
    """Count neighbours of a row that only the true reading joins, and that only the other does."""
    true = other = 0
    for (_, before), (_, change) in _neighbours(told):
        joined, joined_otherwise = before.after == change.before, before.before == change.after
        true += joined and not joined_otherwise
        other += joined_otherwise and not joined
    return true, other


def _neighbours(told: list[Told]) -> Iterator[tuple[Told, Told]]:
    """Yield UPDATEs of a row that follow each other, of rows that have all their changes in one partition."""
    placed = [
        ((record.message.instance, change.table, row), (record, change))
        for record, change in told
        if change.op == UPDATE and change.table.key
        for row in {_key(change, change.before), _key(change, change.after)}
    ]
    partitions: dict[Hashable, set[int]] = defaultdict(set)
    for row, (record, _) in placed:
        partitions[row].add(record.partition)
    last: dict[Hashable, Told] = {}
    for row, one in placed:
        if row in last and len(partitions[row]) == 1:
            yield last[row], one
        last[row] = one


def outliers_shown(history: History) -> int:
    """Return how many messages of another version have a neighbour that only their true reading joins."""
    told = [one for one in _without_repeats(history) if not _is_incomplete(history, one[1])]
    shown = set[int]()
    for (first, before), (second, after) in _neighbours(told):
        one = next((record for record in (first, second) if record.message.version != history.shape.version), None)
        if one is not None and before.after == after.before and before.before != before.after != after.after:
            shown.add(one.offset * 1000 + one.partition)
    return len(shown)


def goes_round_with_gaps(shape: HistoryShape) -> bool:
    """Say whether rows go round in a few states and some of their changes are missing, or told twice in two orders.

    Such a history may contradict the truth by chance, for any reader.
    """
    delivery, producer = shape.delivery, shape.producer
    missing = delivery.lost or delivery.gone or delivery.slices or (delivery.compacted and producer.keyed)
    return shape.source.states is not None and bool(missing or producer.doubled)


def _state(change: RowChange, image: Image | None) -> tuple[Table, Hashable]:
    return (change.table, tuple(sorted((image or {}).items(), key=str)))


def _key(change: RowChange, image: Image | None) -> Hashable:
    return tuple((image or {}).get(name) for name in change.table.key)
