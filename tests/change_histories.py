"""Random histories of changes as topics hold them, in any version of dialects that are alike, with the truth known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from random import Random

import pyarrow as pa
from change_messages import DIALECTS, DTS_2, Sending, Wording, write_message
from row_changes import ROW_OPS, UPDATE, Image, RowChange, SourceDatabase, SourceHabits
from topic_delivery import DeliveryHabits, Partitioner, SentMessage, TopicRecord, deliver

START = 1_760_000_000_000
FIRST, ALONG = "before the log", "among the log"
RISING, CONSTANT, RESTARTING = "rising", "constant", "restarting"
WHOLE, PARTITION, TABLE, INSTANCE = "whole topic", "partition", "table", "instance"


@dataclass(frozen=True)
class Switch:
    """A producer turns to another version at one place for each partition, table or instance, or for the whole topic."""

    to: str
    by: str = WHOLE


@dataclass(frozen=True)
class ProducerHabits:
    """How producers write. `instances` share the tables, or with `shared` the rows; each counts its own ids.

    With `doubled` one more instance writes every change again, a little later and with ids of its own.
    `gap` is the time between changes in milliseconds; `outliers` are UPDATEs written in the other version of a switch
    or, without one, in `outlier_version`.
    """

    instances: int = 1
    shared: bool = False
    doubled: bool = False
    ids: str = RISING
    gap: int = 100
    whole_seconds: bool = False
    several: float = 0.0
    load_place: str = FIRST
    keyed: bool = True
    outliers: int = 0
    outlier_version: str | None = None


@dataclass(frozen=True)
class HistoryShape:
    """All that decides a history but for chance."""

    version: str = DTS_2
    switch: Switch | None = None
    source: SourceHabits = field(default_factory=SourceHabits)
    wording: Wording = field(default_factory=Wording)
    producer: ProducerHabits = field(default_factory=ProducerHabits)
    delivery: DeliveryHabits = field(default_factory=DeliveryHabits)


@dataclass(frozen=True)
class History:
    """A topic: its records, one partition after the other, and the shape they were made by."""

    shape: HistoryShape
    seed: int
    records: Sequence[TopicRecord]
    topic: str = "orders"

    def truth(self, partition: int, offset: int) -> tuple[RowChange, ...]:
        """Return the changes that a message is about."""
        return self._by_place[partition, offset].message.changes

    @property
    def _by_place(self) -> dict[tuple[int, int], TopicRecord]:
        if "_places" not in self.__dict__:
            self.__dict__["_places"] = {(record.partition, record.offset): record for record in self.records}
        return self.__dict__["_places"]

    def batches(self, size: int | None = None, *, mixed: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the records as a source delivers them; `mixed` by time, else one partition after the other."""
        records = sorted(self.records, key=lambda one: (one.timestamp, one.partition)) if mixed else self.records
        for start in range(0, len(records), size or len(records) or 1):
            yield self._batch(records[start : start + (size or len(records))])

    def _batch(self, records: Sequence[TopicRecord]) -> pa.RecordBatch:
        times = [record.timestamp * 1000 for record in records]
        return pa.RecordBatch.from_pydict({
            "key": pa.array([record.message.key for record in records], pa.binary()),
            "value": pa.array([record.value for record in records], pa.binary()),
            "topic": pa.array([self.topic] * len(records)),
            "partition": pa.array([record.partition for record in records], pa.int32()),
            "offset": pa.array([record.offset for record in records], pa.int64()),
            "timestamp": pa.array(times, pa.timestamp("us", tz="UTC")),
        })  # fmt: skip


def make_history(shape: HistoryShape, seed: int) -> History:
    """Return the history of a shape."""
    draw = Random(seed)
    log = SourceDatabase(draw, shape.source).run()
    changes = _arrange(draw, [*log.loaded], log.changes, shape.producer)
    messages = [message for _, message in sorted(_write(draw, changes, shape), key=lambda one: one[0])]
    return History(shape, seed, deliver(draw, messages, shape.delivery))


def _arrange(draw: Random, loaded: list[RowChange], log: list[RowChange], habits: ProducerHabits) -> list[RowChange]:
    """Put the rows of a full load before the log, or each somewhere before the change after which it was read."""
    if habits.load_place == FIRST:
        return [*loaded, *log]
    places = sorted((draw.uniform(-1, row.number), place) for place, row in enumerate(loaded))
    merged = [(float(change.number), 1, change) for change in log]
    merged += [(at, 0, loaded[place]) for at, place in places]
    return [change for _, _, change in sorted(merged, key=lambda one: one[:2])]


def _write(draw: Random, changes: list[RowChange], shape: HistoryShape) -> Iterator[tuple[float, SentMessage]]:
    """Yield the messages of changes, each with its place in the order in which they are sent."""
    habits, partitioner = shape.producer, Partitioner(draw, shape.delivery, changes)
    versions, ids = _Versions(draw, shape, changes), _Ids(draw, habits, len(changes))
    places = [(change, partitioner.partition_of(change), _instance(change, habits)) for change in changes]
    for place, group in enumerate(_grouped(draw, places, shape)):
        first, partition, instance = group[0]
        own, key = tuple(change for change, _, _ in group), _record_key(first) if habits.keyed else None
        event_time = START + first.number * habits.gap
        shown = event_time // 1000 * 1000 if habits.whole_seconds else event_time
        for writer, late in [(instance, 0.0), (-1, draw.uniform(0, 20))][: 1 + habits.doubled]:
            version = versions.version_of(own, partition, writer)
            sending = Sending(ids.next_id(writer), shown, event_time + draw.randint(1, 300) + int(late * habits.gap))
            value = write_message(version, own, shape.wording, sending)
            yield place + late, SentMessage(value, key, version, own, sending.process_time, partition, writer)


class _Ids:
    """Numbers the messages of each instance."""

    def __init__(self, draw: Random, habits: ProducerHabits, messages: int) -> None:
        self._draw, self._habits = draw, habits
        self._last: dict[int, int] = {}
        self._left = draw.randrange(messages) if habits.ids == RESTARTING else -1

    def next_id(self, instance: int) -> int:
        if self._left == 0:
            self._last.clear()
        self._left -= 1
        before = self._last.setdefault(instance, self._draw.randint(1, 10**6))
        self._last[instance] = before + (self._habits.ids != CONSTANT)
        return self._last[instance]


Placed = tuple[RowChange, int, int]
"""A change, its partition and its instance."""


def _grouped(draw: Random, places: list[Placed], shape: HistoryShape) -> Iterator[list[Placed]]:
    """Yield changes by message: neighbours of one kind may share one, each about a row of its own."""
    versions = [shape.version] + ([shape.switch.to] if shape.switch else [])
    several = all(DIALECTS[version].several_rows for version in versions) and shape.producer.several
    for _, group in groupby(places, lambda one: (one[0].op, one[0].table, one[0].columns, *one[1:])):
        held: list[Placed] = []
        for one in group:
            joins = one[0].op in ROW_OPS and several and draw.random() < several
            if held and (not joins or one[0].row in {change.row for change, _, _ in held}):
                yield held
                held = []
            held.append(one)
        yield held


class _Versions:
    """Decides the version of each message."""

    def __init__(self, draw: Random, shape: HistoryShape, changes: list[RowChange]) -> None:
        self._shape, self._draw, self._last = shape, draw, len(changes)
        self._turns: dict[object, int] = {}
        updates = [change.number for change in changes if change.op == UPDATE]
        self._outliers = set(draw.sample(updates, min(shape.producer.outliers, len(updates))))

    def version_of(self, changes: Sequence[RowChange], partition: int, instance: int) -> str:
        shape, change = self._shape, changes[0]
        version, other = shape.version, shape.producer.outlier_version
        if shape.switch is not None:
            by = {PARTITION: partition, TABLE: change.table.number, INSTANCE: instance}.get(shape.switch.by, 0)
            if by not in self._turns:
                self._turns[by] = self._draw.randint(self._last // 10, self._last * 9 // 10)
            turned = change.number >= self._turns[by] and change.op != "snapshot"
            version, other = (shape.switch.to, shape.version) if turned else (shape.version, shape.switch.to)
        if change.op == UPDATE and other is not None and any(one.number in self._outliers for one in changes):
            return other
        return version


def _instance(change: RowChange, habits: ProducerHabits) -> int:
    own = change.row if habits.shared and change.row is not None else change.table.number
    return own % habits.instances


def _record_key(change: RowChange) -> bytes | None:
    if change.op not in ROW_OPS or not change.table.key:
        return None
    return json.dumps({"table": change.table.name, **dict(zip(change.table.key, change.key, strict=True))}).encode()


def same_image(decoded: Image | None, true: Image | None) -> bool:
    """Say whether an image agrees with the true row in every column it has; the zone of an instant is left out."""
    if decoded is None or true is None:
        return decoded is true
    shown = {name: text and text.removesuffix("Z") for name, text in decoded.items()}
    return bool(shown) and all(name in true and true[name] == text for name, text in shown.items())
