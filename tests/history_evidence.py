"""Evidence that a history holds about the order of images, counted from the truth and by a model of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from change_histories import History
from change_messages import DIALECTS, MINIMAL, changed_columns
from row_changes import DELETE, INSERT, UPDATE, Image, RowChange
from topic_delivery import TopicRecord

CLEAR, SOME, NONE, CONTRARY = "clear", "some", "none", "contrary"
STRENGTHS = (CLEAR, SOME, NONE, CONTRARY)


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


def evidence_of(history: History) -> Evidence:
    """Return the evidence of a history that has one version."""
    told = [one for one in _without_repeats(history) if not _is_incomplete(history, one[1])]
    return Evidence(_votes(told), _links(told))


def _without_repeats(history: History) -> Iterator[tuple[TopicRecord, RowChange]]:
    seen: set[bytes] = set()
    for record in history.records:
        if record.value not in seen:
            seen.add(record.value)
            yield from ((record, change) for change in record.message.changes)


def _is_incomplete(history: History, change: RowChange) -> bool:
    """Say whether a message has not all columns of a row in either image."""
    minimal = history.shape.wording.images == MINIMAL and change.op == UPDATE
    return minimal and changed_columns(change) | {*change.table.key} != {column.name for column in change.columns}


def _votes(told: list[tuple[TopicRecord, RowChange]]) -> tuple[int, int]:
    anchors, updates = Counter[Hashable](), Counter[Hashable]()
    for record, change in told:
        if change.op == UPDATE:
            updates[_state(change, change.after)] += 1
            updates[_state(change, change.before)] -= 1
        elif change.op == INSERT and DIALECTS[record.message.version].load != "INSERT":
            anchors[_state(change, change.after)] += 1
        elif change.op == DELETE:
            anchors[_state(change, change.before)] -= 1
    signs = [(net > 0) == (updates[state] > 0) for state, net in anchors.items() if net and updates[state]]
    return signs.count(False), signs.count(True)


def _links(told: list[tuple[TopicRecord, RowChange]]) -> tuple[int, int]:
    """Count neighbours of a row in a partition that only the true reading joins, and that only the other does."""
    last: dict[Hashable, RowChange] = {}
    true = other = 0
    for record, change in told:
        if change.op != UPDATE or not change.table.key:
            continue
        for row in {_key(change, change.before), _key(change, change.after)}:
            place = (record.partition, change.table, row)
            before = last.get(place)
            last[place] = change
            if before is not None:
                joined, joined_otherwise = before.after == change.before, before.before == change.after
                true += joined and not joined_otherwise
                other += joined_otherwise and not joined
    return true, other


def _state(change: RowChange, image: Image | None) -> Hashable:
    return (change.table, tuple(sorted((image or {}).items(), key=str)))


def _key(change: RowChange, image: Image | None) -> Hashable:
    return tuple((image or {}).get(name) for name in change.table.key)
