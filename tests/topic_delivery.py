"""Delivery: messages on their way into the partitions of a topic, late, repeated, lost, compacted or cut off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from zlib import crc32

from row_changes import ROW_OPS, RowChange

BY_KEY, ROUND_ROBIN, BY_TABLE, RAISED, STRAY = (
    "by key",
    "round robin",
    "by table",
    "by key, partitions raised",
    "by key, one strayed",
)


@dataclass(frozen=True)
class SentMessage:
    """A message as a producer sends it: the true changes it is about, and the version it is written in."""

    value: bytes
    key: bytes | None
    version: str
    changes: tuple[RowChange, ...]
    time: int
    partition: int
    instance: int = 0


@dataclass(frozen=True)
class TopicRecord:
    """A message where a reader finds it; `timestamp` is in milliseconds."""

    partition: int
    offset: int
    timestamp: int
    message: SentMessage
    repeat: bool = False

    @property
    def value(self) -> bytes:
        return self.message.value


@dataclass(frozen=True)
class DeliveryHabits:
    """What becomes of messages. Shares are of messages; of `gone` and `compacted` they are of each partition's offsets.

    `window` is how many places a message may be late or early: 0 keeps the order, None none of it. `exchanged` pairs of
    neighbours change places. `repeated` messages come again at once or later, `blocks` times a run of up to 30 does.
    `slices` is the part that is read of each partition, in slices.
    """

    partitions: int = 1
    spread: str = BY_KEY
    window: int | None = 0
    exchanged: int = 0
    repeated: float = 0.0
    blocks: int = 0
    lost: float = 0.0
    compacted: float = 0.0
    gone: float = 0.0
    slices: float | None = None


class Partitioner:
    """Gives each change its partition."""

    def __init__(self, draw: Random, habits: DeliveryHabits, changes: Sequence[RowChange]) -> None:
        self._draw, self._habits = draw, habits
        self._raised_at = draw.randint(len(changes) // 5, len(changes) * 4 // 5)
        updates = [change.number for change in changes if change.op == "update"]
        self._strayed = draw.choice(updates) if habits.spread == STRAY and updates else None
        self._turn = 0

    def partition_of(self, change: RowChange) -> int:
        count, spread = self._habits.partitions, self._habits.spread
        if spread == ROUND_ROBIN:
            self._turn += 1
            return self._turn % count
        if spread == BY_TABLE or change.op not in ROW_OPS:
            return _hash(change.table.name) % count
        if spread == RAISED and change.number < self._raised_at:
            count = max(1, count // 2)
        place = _hash(f"{change.table.name} {change.key or sorted(change.image.items(), key=str)}") % count
        return (place + 1) % count if change.number == self._strayed else place


def deliver(draw: Random, messages: Iterable[SentMessage], habits: DeliveryHabits) -> list[TopicRecord]:
    """Return what a reader finds of messages in the order in which they were sent, one partition after the other."""
    found = []
    by_partition: dict[int, list[SentMessage]] = defaultdict(list)
    for message in messages:
        if draw.random() >= habits.lost:
            by_partition[message.partition].append(message)
    for partition, sent in sorted(by_partition.items()):
        arrived = _repeat(draw, _disorder(draw, sent, habits), habits)
        start = draw.choice((0, 0, draw.randint(1, 10_000)))
        clock = 0
        records = []
        for offset, (message, repeat) in enumerate(arrived, start):
            clock = max(clock, message.time) + (0 if not repeat else 1)
            records.append(TopicRecord(partition, offset, clock, message, repeat))
        kept = _slice(_compact(draw, records[int(habits.gone * len(records)) :], habits), habits)
        found += [replace(record, partition=partition) for record in kept]
    return found


def _disorder(draw: Random, sent: list[SentMessage], habits: DeliveryHabits) -> list[SentMessage]:
    if habits.window is None:
        return draw.sample(sent, len(sent))
    places = {number: number + draw.uniform(0, habits.window) for number in range(len(sent))}
    ordered = [sent[number] for number in sorted(places, key=places.__getitem__)]
    for _ in range(habits.exchanged if len(ordered) > 1 else 0):
        at = draw.randrange(len(ordered) - 1)
        ordered[at], ordered[at + 1] = ordered[at + 1], ordered[at]
    return ordered


def _repeat(draw: Random, sent: list[SentMessage], habits: DeliveryHabits) -> list[tuple[SentMessage, bool]]:
    result: list[tuple[SentMessage, bool]] = []
    due: list[tuple[int, SentMessage]] = []
    ends = set(draw.sample(range(len(sent)), min(habits.blocks, len(sent))))
    for place, message in enumerate(sent):
        result.append((message, False))
        if draw.random() < habits.repeated:
            due.append((place + draw.choice((0, 0, draw.randint(1, 50))), message))
        if place in ends:
            result += [(one, True) for one in sent[max(0, place + 1 - draw.randint(2, 30)) : place + 1]]
        result += [(one, True) for at, one in due if at <= place]
        due = [(at, one) for at, one in due if at > place]
    return result + [(one, True) for _, one in due]


def _compact(draw: Random, records: list[TopicRecord], habits: DeliveryHabits) -> list[TopicRecord]:
    """Keep the last record of each key in the part of a partition that was compacted."""
    clean = int(habits.compacted * len(records))
    last = {record.message.key: record.offset for record in records if record.message.key is not None}
    return [
        record
        for place, record in enumerate(records)
        if place >= clean or record.message.key is None or last[record.message.key] == record.offset
    ]


def _slice(records: list[TopicRecord], habits: DeliveryHabits) -> list[TopicRecord]:
    """Keep equal slices from the beginning of a partition to its end."""
    if habits.slices is None or not records:
        return records
    first, end = records[0].offset, records[-1].offset + 1
    count = 5
    size = max(1, int(habits.slices * (end - first) / count))
    starts = [first + (end - first - size) * place // (count - 1) for place in range(count)]
    return [record for record in records if any(start <= record.offset < start + size for start in starts)]


def _hash(text: str) -> int:
    return crc32(text.encode())
