"""Changelogs: what a source of three tables writes to a topic, and what the decoded tables have to hold afterwards.

The rows are made here, each value together with its canonical text; the text goes into messages, the value into what is
expected. So what is expected comes from no decoder. The same seed gives the same bytes.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable

REFERENCE = "oms-community/dataworks@2"
"""A dialect that tells both images whole, types with their parameters, keys, positions and transactions."""
ANOTHER = "dts/canal@2"

CHANGE, CONTROL, TOMBSTONE, QUARANTINED = "conforming", "control", "tombstone", "quarantined"

_POOL = 199
_MOST_LIVE = 2_000
_FIRST_EVENT = 1_718_000_000_000_000
_FIRST_KEY = 2**63 - 50  # the first keys fit 64 bits with a sign, the later ones do not
_WORDS = ("red", "two for one", "Grüße", "苹果", "\U0001f34e", 'said "yes"', "back\\slash", "line\nbreak", "null", "")

ORDERS = SourceTable(
    "orders",
    {
        "id": "bigint unsigned", "customer": "varchar(60)", "total": "decimal(20,2)", "made": "datetime(3)",
        "seen": "timestamp(6)", "photo": "blob",
    },
    ("id",),
    database="shop",
)  # fmt: skip
ITEMS = SourceTable(
    "items",
    {
        "order_id": "bigint unsigned", "line": "int", "price": "decimal(38,10)", "weight": "double", "day": "date",
        "at": "time(3)",
    },
    ("order_id", "line"),
    database="shop",
)  # fmt: skip
LEVELS = SourceTable(
    "levels",
    {
        "sku": "varchar(24)", "quantity": "bigint", "counted": "datetime(6)", "changed": "timestamp(3)",
        "flags": "bit(8)", "digest": "varbinary(16)",
    },
    ("sku",),
    database="stock",
)  # fmt: skip
TABLES = (ORDERS, ITEMS, LEVELS)
NAMES = {table: f"{table.database}.{table.name}" for table in TABLES}

Row = dict[str, Any]


@dataclass
class Changelog:
    """Messages in the order they are written, and what they come to.

    `messages`: partition and value. `rows`: by table, in order of partition and offset, what `tables/` has to hold:
    `_op`, `_partition`, `_offset`, `_position` and typed images. `current`: by table and key the row that is there at
    the end, with what it is there by; `gone`: the keys that were deleted since their table was emptied. `counts`:
    messages by partition and outcome.
    """

    messages: list[tuple[int, bytes | None]] = field(default_factory=list)
    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in NAMES.values()})
    current: dict[str, dict[tuple[Any, ...], Row]] = field(
        default_factory=lambda: {name: {} for name in NAMES.values()}
    )
    gone: dict[str, set[tuple[Any, ...]]] = field(default_factory=lambda: {name: set() for name in NAMES.values()})
    counts: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, partition: int, value: bytes | None, outcome: str) -> int:
        """Append a message and return its offset."""
        offset = self.counts[partition].total()
        self.messages.append((partition, value))
        self.counts[partition][outcome] += 1
        return offset


def write_changelog(count: int, *, seed: int = 7, partitions: int = 3) -> Changelog:
    """Return the changelog of `count` messages.

    About 97 in a hundred are inserts, updates (some of the key) and deletes; between them come tombstones, messages
    without a row, now and then a TRUNCATE, messages with a member that nobody knows (decoded all the same), and
    messages that drift or mean harm. The messages of a row are in one partition until its key changes.
    """
    draw = Random(seed)
    sources = [_Source(table, draw) for table in TABLES]
    renderer = Renderer(shipped_catalogue().version(REFERENCE), ReadingOptions())
    other = Renderer(shipped_catalogue().version(ANOTHER), ReadingOptions())
    log = Changelog()
    for number in range(count):
        table_at = min(int(draw.random() * 5) // 2, 2)  # two in five, two in five, one in five
        source = sources[table_at]
        moment = _FIRST_EVENT + number * 5_000
        if number % 401 == 400:
            log.add(number // 401 % partitions, None, TOMBSTONE)
        elif number % 97 == 96:
            op = ("heartbeat", "begin", "commit", "ddl")[number // 97 % 4]
            empties = op == "ddl" and number // 388 % 31 == 6
            event = _control(op, source.table, number, moment, empties=empties)
            log.add(number // 97 % partitions, renderer.render(event), CONTROL)
            if empties:
                source.empty(log)
        elif number % 61 == 60:
            event = replace(source.peek(), event_time=moment, position=str(number))
            hurt = _HARM[number // 61 % len(_HARM)]
            log.add(number // 61 % partitions, hurt(renderer.render(event), other.render(event)), QUARANTINED)
        else:
            event, key = source.change()
            event = replace(event, event_time=moment, process_time=moment + 250_000, position=str(number))
            value = renderer.render(event)
            if number % 251 == 250:
                value = value[:-1] + b',"shard":7}'
            partition = (key + table_at) % partitions
            source.keep(log, partition, log.add(partition, value, CHANGE), event)
    for rows in log.rows.values():
        rows.sort(key=lambda row: (row["_partition"], row["_offset"]))
    return log


class _Source:
    """One table as it changes: rows of canonical texts, and the values that the texts stand for."""

    def __init__(self, table: SourceTable, draw: Random) -> None:
        self.table = table
        self._draw = draw
        self._name = NAMES[table]
        self._next = 0
        self._live: list[tuple[int, dict[str, str | None]]] = []
        self._meaning: dict[str, dict[str, Any]] = {}
        self._pools: dict[str, list[str | None]] = {}
        for name, source_type in table.types.items():
            drawn = [_DRAWN[source_type](draw) for _ in range(_POOL)]
            self._meaning[name] = dict(drawn)
            self._pools[name] = [None, *[text for text, _ in drawn]]

    def peek(self) -> Event:
        """Return an insert that never happens."""
        return Event("insert", self.table, None, self._row(0))

    def change(self) -> tuple[Event, int]:
        """Return the next change, and the number of the key of the row it was of."""
        kind = self._draw.random()
        if not self._live or (kind < 0.4 and len(self._live) < _MOST_LIVE):
            key, row = self._next, self._row(self._next)
            self._next += 1
            self._live.append((key, row))
            return Event("insert", self.table, None, row), key
        place = int(self._draw.random() * len(self._live))
        key, before = self._live[place]
        if kind < 0.9:
            after = dict(before)
            for name in self._draw.sample(list(self._pools), 2):
                if name not in self.table.primary_key:
                    after[name] = self._pick(name)
            number = key
            if kind > 0.87:
                number, self._next = self._next, self._next + 1
                after |= self._key(number)
            self._live[place] = number, after
            return Event("update", self.table, before, after), key
        self._live[place] = self._live[-1]
        self._live.pop()
        return Event("delete", self.table, before, None), key

    def keep(self, log: Changelog, partition: int, offset: int, event: Event) -> None:
        """Note what a change comes to."""
        before, after = self._typed(event.before), self._typed(event.after)
        facts = {"_op": event.op, "_partition": partition, "_offset": offset, "_position": event.position}
        log.rows[self._name].append({**facts, "before": before, "after": after})
        current, gone = log.current[self._name], log.gone[self._name]
        if before is not None:
            key = tuple(before[name] for name in self.table.primary_key)
            del current[key]
            gone.add(key)
        if after is not None:
            key = tuple(after[name] for name in self.table.primary_key)
            gone.discard(key)
            current[key] = {**facts, **after}

    def empty(self, log: Changelog) -> None:
        """The table has no rows any more, and nothing of it has to be known."""
        self._live.clear()
        log.current[self._name].clear()
        log.gone[self._name].clear()

    def _row(self, key: int) -> dict[str, str | None]:
        return {name: self._pick(name) for name in self._pools} | self._key(key)

    def _key(self, key: int) -> dict[str, str | None]:
        texts: dict[str, str | None] = {}
        for place, name in enumerate(self.table.primary_key):
            text, value = _KEYS[self.table.types[name]](key)
            texts[name] = text if place == 0 else str(key % 7)
            self._meaning[name][text] = value
            if place:
                self._meaning[name][str(key % 7)] = key % 7
        return texts

    def _pick(self, name: str) -> str | None:
        pool = self._pools[name]
        return pool[int(self._draw.random() * len(pool))]

    def _typed(self, image: dict[str, str | None] | None) -> Row | None:
        if image is None:
            return None
        meaning = self._meaning
        return {name: None if text is None else meaning[name][text] for name, text in image.items()}


def _control(op: str, table: SourceTable, number: int, moment: int, *, empties: bool) -> Event:
    reported = table if op == "ddl" else None
    text = f"ALTER TABLE {table.name} COMMENT = 'number {number}'" if op == "ddl" else None
    if empties:
        text = f"TRUNCATE TABLE `{table.database}`.`{table.name}`"
    return Event(op, reported, None, None, moment, moment, str(number), None, text, "ALTER" if op == "ddl" else None)


# --- values, each with its canonical text


def _words(draw: Random) -> tuple[str, str]:
    text = " ".join(draw.choices(_WORDS, k=draw.randint(0, 5)))[:60]
    return text, text


def _decimal(digits: int, scale: int) -> Any:
    def drawn(draw: Random) -> tuple[str, Decimal]:
        number = draw.randrange(-(10**digits) + 1, 10**digits) // 10 ** draw.randrange(0, digits)
        whole, fraction = divmod(abs(number), 10**scale)
        text = ("-" if number < 0 else "") + f"{whole}.{fraction:0{scale}d}"
        return text, Decimal(text)

    return drawn


def _bytes(most: int) -> Any:
    def drawn(draw: Random) -> tuple[str, bytes]:
        value = draw.randbytes(draw.randint(0, most))
        return base64.b64encode(value).decode(), value

    return drawn


def _moment(digits: int, zone: Any) -> Any:
    def drawn(draw: Random) -> tuple[str, datetime]:
        step = 10 ** (6 - digits)
        within = timedelta(seconds=draw.randrange(0, 2_000_000_000), microseconds=draw.randrange(0, 10**digits) * step)
        value = datetime(1971, 1, 2, tzinfo=zone) + within
        fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
        return f"{value:%Y-%m-%dT%H:%M:%S}{fraction}{'Z' if zone else ''}", value

    return drawn


def _day(draw: Random) -> tuple[str, date]:
    value = date(1, 1, 1) + timedelta(days=draw.randrange(0, 3_652_059))
    return value.isoformat(), value


def _clock(draw: Random) -> tuple[str, str]:
    fraction = f".{draw.randrange(1, 1000):03d}".rstrip("0")
    sign = draw.choice(("", "-"))
    text = f"{sign}{draw.randint(0, 838):02d}:{draw.randint(0, 59):02d}:{draw.randint(0, 58):02d}{fraction}"
    return text, text


def _double(draw: Random) -> tuple[str, float]:
    value = draw.randrange(-(2**40), 2**40) / 8
    return str(int(value)) if value == int(value) else repr(value), value


def _integer(lowest: int, highest: int) -> Any:
    def drawn(draw: Random) -> tuple[str, int]:
        value = draw.randint(lowest, highest)
        return str(value), value

    return drawn


def _unsigned(draw: Random) -> tuple[str, Decimal]:
    value = draw.randrange(0, 2**64)
    return str(value), Decimal(value)


_DRAWN = {
    "bigint unsigned": _unsigned,
    "varchar(60)": _words,
    "varchar(24)": _words,
    "decimal(20,2)": _decimal(20, 2),
    "decimal(38,10)": _decimal(38, 10),
    "datetime(3)": _moment(3, None),
    "datetime(6)": _moment(6, None),
    "timestamp(3)": _moment(3, UTC),
    "timestamp(6)": _moment(6, UTC),
    "date": _day,
    "time(3)": _clock,
    "double": _double,
    "int": _integer(-(2**31), 2**31 - 1),
    "bigint": _integer(-(2**63), 2**63 - 1),
    "bit(8)": _integer(0, 255),
    "blob": _bytes(48),
    "varbinary(16)": _bytes(16),
}
_KEYS = {
    "bigint unsigned": lambda key: (str(_FIRST_KEY + key), Decimal(_FIRST_KEY + key)),
    "int": lambda key: (str(key), key),
    "varchar(24)": lambda key: (f"SKU/{key}", f"SKU/{key}"),
}


# --- harm: what is no message of the dialect any more, made of one that is


def _edited(edit: Any) -> Any:
    def hurt(value: bytes, _: bytes) -> bytes:
        message = json.loads(value)
        edit(message)
        return json.dumps(message, ensure_ascii=False).encode()

    return hurt


_HARM = (
    lambda value, other: other,
    lambda value, _: value[:-3],
    lambda value, _: value + b"{}",
    lambda value, _: b"[" + value + b"]",
    lambda value, _: b"\xef\xbb\xbf" + value,
    lambda value, _: value.replace(b'"INSERT"', b'"INS\xffERT"'),
    lambda value, _: value.replace(b'"INSERT"', b'"INS\\ud800ERT"'),
    lambda value, _: value.replace(b'"extend":null', b'"extend":NaN'),
    lambda value, _: value.replace(b'"extend":null', b'"extend":' + b"[" * 300 + b"]" * 300),
    lambda value, _: b"",
    lambda value, _: b"null",
    _edited(lambda message: message["payload"].update(op="UPSERT")),
    _edited(lambda message: message["schema"].pop("column")),
    _edited(lambda message: message["payload"].update(after=None)),
    _edited(lambda message: message["payload"]["timestamp"].update(eventTime="soon")),
    _edited(lambda message: message["payload"]["after"]["data"].update(nobody="knows my type")),
    _edited(lambda message: message["schema"]["column"][1].update(type=7)),
    _edited(
        lambda message: message["payload"]["after"]["data"].update(dict.fromkeys(("photo", "at", "digest"), "***"))
    ),
)
