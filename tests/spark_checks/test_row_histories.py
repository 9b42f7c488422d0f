"""Current rows of tables that are loaded, changed and truncated, with parts of their topics sent again: against a model.

The model knows what the source did and which messages are the same, and looks at messages as a set. Many histories
share one table, each with a topic of its own; all of them see the same truncations, so that few merges test them all.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa
import pytest
from lakehouse import change, typed

from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.tables.canonical.table_layouts import ColumnLayout, TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.table_resets import Resets, TableReset
from cdc_contracts.spark_checks.tables.lakehouse.current_rows import CurrentTables
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import CURRENT, DELETED, DeltaDirectory
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings

SEEDS = int(os.environ.get("CDC_CONTRACTS_HISTORIES", "10"))
"""How many tables a nightly run has; a default run has one."""
TOPICS = 10
BATCHES = 4
TRUNCATED_AT = (100, 200)
"""The positions at which the source truncates the table."""
TRUNCATED_IN = ((0, 1), (1, 1))
"""The batches that bring these truncations for the first time, in tables by turns."""
KEY = ("id", "size")
SIZES = "SMLX"
NAME = TableName("shop", None, "orders")
COLUMNS = {"id": pa.int64(), "size": pa.string(), "name": pa.string()}
LAYOUT = TableLayout(
    NAME, tuple(ColumnLayout(name, kind, None, None) for name, kind in COLUMNS.items()), (), "messages"
)


@dataclass(frozen=True, eq=False)
class Message:
    """What the source wrote: the size that lost its row, and the size and name of the row that is there after it.

    The position of a full load is of its own making: the source writes it at no position of the log.
    """

    op: str
    position: int
    old: str | None = None
    new: str | None = None
    name: str | None = None

    @property
    def place(self) -> int:
        """What decides its partition."""
        return SIZES.index(self.new or self.old or "S")


@dataclass(frozen=True)
class Delivery:
    """A message in a topic, perhaps not for the first time."""

    message: Message
    topic: int
    partition: int
    offset: int
    batch: int

    @property
    def source(self) -> Source:
        return Source(f"t{self.topic}", self.partition)


@dataclass
class History:
    """What a source did to rows of one id, and what is in its topic."""

    topic: int
    draw: Random
    partitions: int
    in_every_partition: bool
    rows: dict[str, str] = field(default_factory=dict)
    log: list[tuple[int, Message]] = field(default_factory=list)

    def write(self, truncated_in: tuple[int, ...]) -> list[Delivery]:
        """Let the source go on between two truncations, and before and after them; return what its topic holds."""
        for start in (0, *TRUNCATED_AT):
            if start:
                self.rows.clear()
                truncation = Message("truncate", start)
                for partition in range(self.partitions if self.in_every_partition else 1):
                    self._send(partition, truncation)
            changed: set[str] = set()
            for step in range(1, self.draw.randint(1, 9)):
                message = self._change(start + step, changed)
                self._send(message.place % self.partitions, message)
        sent = [message.position if message.op == "truncate" else 0 for _, message in self.log]
        while True:
            cuts = sorted(self.draw.choices(range(len(self.log) + 1), k=BATCHES - 1))
            if truncated_in == tuple(sum(sent.index(at) >= cut for cut in cuts) for at in TRUNCATED_AT):
                break
        offsets: Counter[int] = Counter()
        deliveries = []
        for number, (partition, message) in enumerate(self.log):
            batch = sum(number >= cut for cut in cuts)
            deliveries.append(Delivery(message, self.topic, partition, offsets[partition], batch))
            offsets[partition] += 1
        return deliveries

    def _change(self, position: int, changed: set[str]) -> Message:
        size = self.draw.choice(SIZES)
        name = f"{size.lower()}{position}"
        if size not in self.rows:
            # What a full load reads is older than any change, so it shows rows again that no change has been about.
            op = self.draw.choice(["insert", "load", "load"] if size not in changed else ["insert"])
        else:
            op = self.draw.choice(["update", "delete", "move", "load"])
        free = [other for other in SIZES if other not in self.rows]
        if op == "load":
            self.rows.setdefault(size, name)
            return Message("snapshot", self.draw.choice([position, 7]), new=size, name=self.rows[size])
        old = size if op != "insert" else None
        new = None if op == "delete" else self.draw.choice(free) if op == "move" and free else size
        self.rows.pop(size, None)
        if new is not None:
            self.rows[new] = name
        changed |= {size, new or size}
        return Message("update" if op == "move" else op, position, old, new, name if new else None)

    def _send(self, partition: int, message: Message) -> None:
        self.log.append((partition, message))
        if self.draw.randrange(6) == 0:  # some of the last messages of a partition once more
            again = self.draw.randrange(self.partitions)
            sent = [one for where, one in self.log if where == again]
            start = self.draw.randrange(len(sent)) if sent else 0
            stop = self.draw.choice([len(sent), start + 1, start + 2])
            self.log += [(again, one) for one in sent[start:stop]]


def written(seed: int) -> tuple[list[Delivery], list[History]]:
    draw = Random(seed)
    histories = [History(topic, draw, draw.randint(1, 3), draw.random() < 0.7) for topic in range(TOPICS)]
    truncated_in = TRUNCATED_IN[seed % len(TRUNCATED_IN)]
    return [*by_hand(), *(delivery for one in histories for delivery in one.write(truncated_in))], histories


def by_hand() -> list[Delivery]:
    """Return a topic in which a row that a truncation had emptied comes again, and only then the truncation."""
    old, new = (Message("snapshot", 7, new="S", name=name) for name in ("old", "new"))
    kept, truncation = Message("snapshot", 7, new="M", name="kept"), Message("truncate", TRUNCATED_AT[-1])
    sent = [(1, old), (1, truncation), (1, new), (1, kept), (2, old), (3, truncation)]
    return [Delivery(one, TOPICS, 0, offset, batch) for offset, (batch, one) in enumerate(sent)]


# --- what the deliveries come to


def rows_of(deliveries: list[Delivery]) -> dict[tuple[int, str], tuple[str | None, str]]:
    """Return the name and position of each row that is there after all these deliveries, in whatever order."""
    truncated = max((one.message.position for one in deliveries if one.message.op == "truncate"), default=-1)
    newest: dict[tuple[int, str], tuple[int, str | None]] = {}
    loaded: dict[tuple[int, str], tuple[int, Message]] = {}
    for one in deliveries:
        message = one.message
        if message.op == "snapshot":
            key = one.topic, message.new or ""
            if not is_emptied(one, deliveries) and (key not in loaded or one.offset > loaded[key][0]):
                loaded[key] = one.offset, message
        elif message.op != "truncate" and message.position > truncated:
            for size, name in {message.old: None, message.new: message.name}.items():
                if size and newest.get((one.topic, size), (-1, None))[0] <= message.position:
                    newest[one.topic, size] = message.position, name
    there = {key: (message.name, str(message.position)) for key, (_, message) in loaded.items() if key not in newest}
    return there | {key: (name, str(position)) for key, (position, name) in newest.items() if name is not None}


def is_emptied(load: Delivery, deliveries: list[Delivery]) -> bool:
    """Say whether a truncation came after a row of a full load: whether it shows that it did.

    It does in its own partition when it first comes, and of what earlier batches read from others. Sent again, it shows
    that of rows which were sent again as well.
    """
    if came_before_a_truncation(load, deliveries):
        return True
    mine = [one for one in deliveries if one.source == load.source]
    again = [one for one in mine if one.message is load.message and one.offset < load.offset]
    truncated_again = any(one.message.op == "truncate" and one.offset > load.offset for one in mine)
    return truncated_again and any(came_before_a_truncation(one, deliveries) for one in again)


def came_before_a_truncation(load: Delivery, deliveries: list[Delivery]) -> bool:
    for position in TRUNCATED_AT:
        sent = [one for one in deliveries if one.message.op == "truncate" and one.message.position == position]
        first_here = min((one.offset for one in sent if one.source == load.source), default=0)
        if load.offset < first_here or load.batch < min((one.batch for one in sent), default=0):
            return True
    return False


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(200))
def test_the_model_gives_the_rows_of_the_source_where_nothing_is_sent_again(seed):
    deliveries, histories = written(seed)
    first = {(one.topic, one.partition, id(one.message)): one for one in reversed(deliveries)}
    found = rows_of([one for one in deliveries if one in first.values()])
    for history in histories:
        if history.in_every_partition or history.partitions == 1:
            names = {size: name for (topic, size), (name, _) in found.items() if topic == history.topic}
            assert names == history.rows


def test_a_truncation_that_is_sent_again_empties_what_it_had_emptied():
    deliveries = by_hand()
    states = [rows_of([one for one in deliveries if one.batch <= batch]) for batch in (1, 2, 3)]
    names = [{size: name for (_, size), (name, _) in rows.items()} for rows in states]
    assert names == [{"S": "new", "M": "kept"}, {"S": "old", "M": "kept"}, {"S": "new", "M": "kept"}]


# --- the same by merges


def typed_rows(spark, deliveries):
    def image(one, size, name):
        return None if size is None else {"id": one.topic, "size": size, "name": name}

    rows = []
    for one in deliveries:
        message = one.message
        if message.op != "truncate":
            before, after = image(one, message.old, "?"), image(one, message.new, message.name)
            row = change(message.op, one.offset, before=before, after=after, position=str(message.position))
            rows.append({**row, "_topic": one.source.topic, "_partition": one.partition})
    return typed(spark, LAYOUT, rows)


def emptyings(deliveries, so_far, past):
    """Return what a run over deliveries reports to have emptied the table; it knows all partitions so far."""
    resets = Resets()
    for one in deliveries:
        if one.message.op == "truncate":
            place = {"topic": one.source.topic, "partition": one.partition, "offset": one.offset}
            found = {"contract": "a/b@1", **place, "position": str(one.message.position)}
            resets.note([TableReset("shop", None, ("orders",), "TRUNCATE", emptied=True, **found)])
    ends, starts = (
        Counter(one.source for one in so_far),
        Counter(one.source for one in so_far if one.batch < deliveries[0].batch),
    )
    return Emptyings(resets.all(), {source: Span(starts[source], end) for source, end in ends.items()}, tuple(past))


def content(spark, tables):
    rows = spark.table(tables.addresses.find(CURRENT, NAME)).collect()
    assert len({(row["id"], row["size"]) for row in rows}) == len(rows)
    return {(row["id"], row["size"]): (row["name"], row["_position"]) for row in rows}


def differences(found, expected):
    return {
        key: (found.get(key), expected.get(key)) for key in {**found, **expected} if found.get(key) != expected.get(key)
    }


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, SEEDS))])
def test_current_rows_are_those_of_the_source_whatever_is_sent_again(spark, tmp_path, seed, part):
    """Merged batch by batch, and built anew from all of them."""
    ways = part(["merged", "built anew"], 2)
    deliveries, _ = written(seed)
    tables = CurrentTables(DeltaDirectory(str(tmp_path)), {"a/b@1"})
    tables.addresses.prepare(spark)
    past, so_far = [], []
    for batch in range(BATCHES):
        mine = [one for one in deliveries if one.batch == batch]
        so_far += mine
        reported = emptyings(mine, so_far, past)
        if "merged" in ways:
            tables.merge(spark, LAYOUT, KEY, typed_rows(spark, mine), typed_rows(spark, so_far), reported)
            assert differences(content(spark, tables), rows_of(so_far)) == {}, f"after batch {batch}"
        past += [(one, reported.spans) for one in reported.new]

    if "built anew" in ways:
        for kind in (CURRENT, DELETED):
            spark.sql(f"DROP TABLE IF EXISTS {tables.addresses.find(kind, NAME)}")
        nothing, reported = typed_rows(spark, []), Emptyings((), {}, tuple(past))
        tables.merge(spark, LAYOUT, KEY, nothing, typed_rows(spark, so_far), reported)
        assert differences(content(spark, tables), rows_of(so_far)) == {}, "built anew"
