"""Random dialects: messages of shapes that no contract describes, with what each of them means known."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

Row = dict[str, Any]
NOW = 1_760_000_000

WORDS = (
    {"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"},
    {"insert": "I", "update": "U", "delete": "D"},
    {"insert": "c", "update": "u", "delete": "d"},
    {"insert": "create", "update": "modify", "delete": "remove"},
    {"insert": "A", "update": "E", "delete": "X"},
)
NO_WORDS = WORDS[-1]
"""Codes that say nothing: a draft may take them for another op, and asks."""
OP_NAMES = ("op", "type", "operation", "eventType", "opType", "action", "kind")
TABLE_NAMES = ("table", "tableName", "tbl", "table_name")
SIDES = (("before", "after"), ("old", "new"), ("prev", "current"), ("old", "data"), ("beforeImage", "afterImage"))
SINGLE = ("row", "data", "record", "after", "values")
NAMELESS = (("p", "q"), ("left", "right"), ("a1", "b2"))
KEYS = ("pkNames", "primary_keys", "keys", "pk", "primaryKeyColumns")
TIMES = ("ts", "es", "event_time", "commitTime", "ts_ms", "when", "created")
EXTRAS = ("id", "source", "schema_id", "server", "meta", "sql", "trace", "tags", "checksum", "version")
OFTEN, SELDOM, RARE = 0.5, 0.2, 0.06


class Column(NamedTuple):
    """A column: its type as messages name it, the kind that a table would have, and whether numbers are texts."""

    name: str
    type: str
    kind: str


TYPES = (
    ("INT", "integer"), ("bigint unsigned", "integer"), ("int(10) unsigned zerofill", "integer"),
    ("BIGINT", "integer"), ("mediumint UNSIGNED", "integer"), ("VARCHAR(20)", "text"), ("text", "text"),
    ("decimal(10,2)", "decimal"), ("decimal(10,2) unsigned", "decimal"), ("DATE", "date"),
)  # fmt: skip
KIND_NAMES = ("name", "city", "status", "type", "table", "ts", "note", "doc", "data", "amount", "level", "owner")


@dataclass
class Meaning:
    """What a message means: nothing for a control message, else the op, the table, and the rows with their values."""

    op: str | None
    table: str | None = None
    rows: list[tuple[Row | None, Row | None]] = field(default_factory=list)
    time: int | None = None
    """When it happened, in microseconds."""


@dataclass
class Dialect:
    """The shape of messages, drawn at random; `write` gives one message."""

    draw: Random
    arrangement: str
    names: tuple[str, str]
    lists: bool
    nested: str | None
    head: str | None
    words: dict[str, str]
    op_name: str
    table_name: str | None
    database: str | None
    key_name: str | None
    time: tuple[str, str] | None
    types: tuple[str, str] | None
    as_text: bool
    flag: bool
    features: set[str]
    extras: dict[str, str]
    inside: set[str]
    """Those of them that stand beside the rows."""
    absent: set[str]
    tables: dict[str, list[Column]]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    number: int = 0

    def pointer(self, name: str) -> str:
        """Return where a member of the envelope is."""
        inside = self.nested if name in self.inside else self.head
        return f"/{inside}/{name}" if inside is not None and name != "isDdl" else f"/{name}"

    @property
    def is_plain(self) -> bool:
        """Whether names say everything and no value is nested, so that a draft has no reason to refuse it."""
        return not self.features and self.words is not NO_WORDS and self.arrangement != "flat" and not self.inside


def draw_dialect(seed: int) -> Dialect:
    """Return a dialect; the same for the same seed."""
    draw = Random(seed)
    features: set[str] = set()
    arrangement = draw.choice(("sides", "sides", "sides", "partial", "single", "flat", "rows"))
    names = draw.choice(SIDES)
    if arrangement == "single":
        names = (draw.choice(SINGLE),) * 2
    if arrangement in ("sides", "partial") and draw.random() < SELDOM:
        names = draw.choice(NAMELESS)
        features.add("nameless")
    if arrangement == "partial" and "nameless" not in features:
        names = draw.choice((("old", "data"), ("before", "after")))
    nested = draw.choice((None, None, None, "payload", "body")) if arrangement != "flat" else None
    reserved = {*names}
    tables = {}
    for at in range(draw.choice((1, 1, 2, 3))):
        chosen = draw.sample(KIND_NAMES, draw.randint(1, 5))
        columns = [Column("id", "BIGINT", "integer"), *(Column(name, *draw.choice(TYPES)) for name in chosen)]
        if draw.random() < RARE:
            columns.append(Column(draw.choice(("attributes", "profile", "source", "extra")), "json", "object"))
            features.add("object column")
        if draw.random() < RARE:
            columns.append(Column("labels", "json", "array"))
            features.add("array column")
        tables[f"t{at}"] = columns
    if arrangement == "flat":
        tables = {name: [one for one in columns if one.name not in ("type", "table", "ts", "owner", "data", "doc")]
                  for name, columns in tables.items()}  # fmt: skip
    extras = {}
    for name in draw.sample(EXTRAS, draw.choice((0, 1, 2, 3))) if arrangement != "flat" else ():
        extras[name] = draw.choice(("constant", "number", "text", "object", "array", "objects", "null", "empty"))
    op_name = draw.choice([name for name in OP_NAMES if name not in reserved])
    times = [name for name in TIMES if name not in reserved]
    form = draw.choice(("millis", "seconds", "micros", "nanos", "iso", "iso-offset", "sql", "text-millis", "fraction"))
    types = draw.choice((None, None, ("types", "object"), ("mysqlType", "object"), ("columnTypes", "list")))
    return Dialect(
        draw, arrangement, names, arrangement == "rows" or (arrangement != "flat" and draw.random() < SELDOM), nested,
        draw.choice((None, None, "header", nested)) if arrangement != "flat" else None, draw.choice(WORDS), op_name, draw.choice(TABLE_NAMES) if draw.random() < 1 - RARE else None,
        "db" if draw.random() < OFTEN else None, draw.choice(KEYS) if draw.random() < OFTEN else None,
        (draw.choice(times), form) if draw.random() < 1 - SELDOM else None,
        types if arrangement != "flat" else None, draw.random() < OFTEN, draw.random() < SELDOM, features, extras,
        {name for name in extras if nested is not None and draw.random() < SELDOM},
        {name for name in ("types", "time", "key", "database", *extras) if draw.random() < SELDOM}, tables,
    )  # fmt: skip


def write_messages(dialect: Dialect, count: int) -> list[tuple[dict[str, Any], Meaning]]:
    """Return messages with what they mean."""
    return [_write(dialect, at) for at in range(count)]


def to_bytes(message: dict[str, Any]) -> bytes:
    """Return a message as JSON; decimals keep their digits."""
    text = json.dumps(message, ensure_ascii=False, default=lambda value: f"\0{value}\0")
    return text.replace('"\\u0000', "").replace('\\u0000"', "").encode()


def _write(dialect: Dialect, at: int) -> tuple[dict[str, Any], Meaning]:
    draw = dialect.draw
    dialect.number = at
    if at > 0 and draw.random() < RARE:
        return _control(dialect, at)
    table = draw.choice([*dialect.tables])
    several = draw.choice((1, 2, 3)) if dialect.arrangement == "rows" else 1
    held = dialect.rows.setdefault(table, [])
    op = draw.choice(("insert", "update", "delete")) if len(held) >= several else "insert"
    pairs = [_change(dialect, op, table) for _ in range(several)]
    message = _envelope(dialect, op, table, at)
    meaning = Meaning(op, table, _meant(dialect, op, pairs), _micros(dialect, at, message))
    message = _placed(dialect, message)
    _put_rows(dialect, message, op, pairs)
    return message, meaning


def _control(dialect: Dialect, at: int) -> tuple[dict[str, Any], Meaning]:
    kind = dialect.draw.choice(("HEARTBEAT", "DDL", "BEGIN"))
    message = _envelope(dialect, None, dialect.draw.choice([*dialect.tables]), at)
    message[dialect.op_name] = "QUERY" if dialect.flag and kind == "DDL" else kind
    if dialect.flag:
        message["isDdl"] = kind == "DDL" and dialect.draw.random() < OFTEN
        if kind == "DDL" and not message["isDdl"]:
            kind = "QUERY"
    if kind == "DDL":
        message["sql"] = "ALTER TABLE t0 ADD x INT"
        if not dialect.flag and dialect.draw.random() < OFTEN:
            message[dialect.op_name] = dialect.draw.choice(("ALTER", "table-alter", "CREATE TABLE", "DROP INDEX"))
    meaning = Meaning(None, time=_micros(dialect, at, message))
    message = _placed(dialect, message)
    if dialect.arrangement != "flat" and dialect.draw.random() < OFTEN:
        _put_rows(dialect, message, "none", [(None, None)])
    named = dialect.arrangement in ("sides", "partial") and "nameless" not in dialect.features
    if kind == "DDL" and named and not dialect.lists and dialect.draw.random() < OFTEN:
        target = message if dialect.nested is None else message.setdefault(dialect.nested, {})
        target[dialect.names[0]] = {"charset": "utf8", "comment": "t0"}
        message["def"] = {"columns": [{"name": "id", "type": "bigint"}], "charset": "utf8"}
    return message, meaning


def _placed(dialect: Dialect, message: dict[str, Any]) -> dict[str, Any]:
    """Return the members of an envelope where the dialect has them."""
    placed: dict[str, Any] = {}
    for name, value in message.items():
        target = placed
        for part in dialect.pointer(name)[1:].split("/")[:-1]:
            target = target.setdefault(part, {})
        target[name] = value
    return placed


def _change(dialect: Dialect, op: str, table: str) -> tuple[Row | None, Row | None]:
    held = dialect.rows[table]
    if op == "insert":
        row = {one.name: _value(dialect, one) for one in dialect.tables[table]}
        row["id"] = _number(dialect, len(held) + dialect.draw.randrange(10**6))
        held.append(row)
        return None, row
    place = dialect.draw.randrange(len(held))
    before = held.pop(place)
    if op == "delete":
        return before, None
    after = dict(before)
    for one in dialect.draw.sample(dialect.tables[table], 1):
        after[one.name] = _value(dialect, one)
    held.append(after)
    return before, after


def _number(dialect: Dialect, value: int) -> Any:
    return str(value) if dialect.as_text else value


def _value(dialect: Dialect, column: Column) -> Any:
    draw = dialect.draw
    if draw.random() < SELDOM and column.name != "id":
        return None
    match column.kind:
        case "integer":
            large = (2**31, 2**63 + draw.randrange(9)) if "bigint unsigned" in column.type else ()
            return _number(dialect, draw.choice((0, 7, draw.randrange(10**6), *large)))
        case "decimal":
            text = f"{draw.randrange(10**5)}.{draw.randrange(10)}0"
            return text if dialect.as_text else Decimal(text)
        case "date":
            return f"20{draw.randint(10, 25)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}"
        case "object":
            return draw.choice(({"x": 1}, {"x": 1, "y": "a"}))
        case "array":
            return draw.choice((["a"], [1, 2], [{"k": 1, "v": 2}]))
        case _:
            return draw.choice(("", "a", "Ann Lee", "käse", "12", "insert"))


def _envelope(dialect: Dialect, op: str | None, table: str, at: int) -> dict[str, Any]:
    draw = dialect.draw
    message: dict[str, Any] = {dialect.op_name: dialect.words[op]} if op else {}
    if dialect.table_name is not None:
        message[dialect.table_name] = table
    if dialect.database is not None and not _left_out(dialect, "database"):
        message["database"] = dialect.database
    if dialect.time is not None and not _left_out(dialect, "time"):
        message[dialect.time[0]] = _time(dialect.time[1], at)
    if dialect.key_name is not None and not _left_out(dialect, "key"):
        message[dialect.key_name] = ["id"]
    if op and dialect.types is not None and not _left_out(dialect, "types"):
        name, form = dialect.types
        columns = dialect.tables[table]
        if form == "object":
            message[name] = {one.name: one.type for one in columns}
        else:
            message[name] = [{"name": one.name, "type": one.type} for one in columns]
    if dialect.flag:
        message["isDdl"] = False
    for name, kind in dialect.extras.items():
        if name not in message and not _left_out(dialect, name):
            message[name] = _extra(draw, kind, at)
    return message


def _left_out(dialect: Dialect, name: str) -> bool:
    return name in dialect.absent and dialect.draw.random() < SELDOM


def _extra(draw: Random, kind: str, at: int) -> Any:
    return {
        "constant": "x1", "number": at * 3, "text": draw.choice(("k", "l", "m")), "object": {"host": "h", "port": at},
        "array": ["u", "v"], "objects": [{"m": at}], "null": None, "empty": "",
    }[kind]  # fmt: skip


def _time(form: str, at: int) -> Any:
    seconds = NOW + at
    text = f"2025-10-09T08:{53 + (20 + at) // 60:02d}:{(20 + at) % 60:02d}"
    return {
        "millis": seconds * 1000 + 7, "seconds": seconds, "micros": seconds * 10**6 + 7, "nanos": seconds * 10**9 + 7,
        "iso": text + "Z", "iso-offset": text + "+08:00", "sql": text.replace("T", " "),
        "text-millis": str(seconds * 1000), "fraction": Decimal(f"{seconds}.5"),
    }[form]  # fmt: skip


def _micros(dialect: Dialect, at: int, message: dict[str, Any]) -> int | None:
    """Return the time of a message as a contract can read it: local times have no zone, and others no form."""
    if dialect.time is None or dialect.time[0] not in message:
        return None
    seconds = NOW + at
    return {"millis": seconds * 10**6 + 7000, "seconds": seconds * 10**6, "iso": seconds * 10**6}.get(dialect.time[1])


def _put_rows(dialect: Dialect, message: dict[str, Any], op: str, pairs: list[tuple[Row | None, Row | None]]) -> None:
    """Write the rows of a message where its dialect has them."""
    if dialect.arrangement == "flat":
        before, after = pairs[0]
        message |= before if op == "delete" and before is not None else after or {}
        return
    target = message if dialect.nested is None else message.setdefault(dialect.nested, {})
    early, late = dialect.names
    old = [before for before, _ in pairs if before is not None]
    new = [after for _, after in pairs if after is not None]
    if dialect.arrangement == "partial":
        if op == "delete":
            old, new = [], old
        elif op == "update":
            old = [
                {name: value for name, value in before.items() if after[name] != value} or {"id": before["id"]}
                for before, after in pairs if before is not None and after is not None
            ]  # fmt: skip
    if dialect.arrangement == "single":
        rows = old if op == "delete" else new
        target[early] = _held(dialect, rows)
        return
    for name, rows in ((early, old), (late, new)):
        if rows or dialect.draw.random() < OFTEN:
            target[name] = _held(dialect, rows)


def _held(dialect: Dialect, rows: list[Row]) -> Any:
    if dialect.lists:
        return rows or dialect.draw.choice(([], None))
    return rows[0] if rows else None


def _meant(
    dialect: Dialect, op: str, pairs: list[tuple[Row | None, Row | None]]
) -> list[tuple[Row | None, Row | None]]:
    """Return the rows that a message holds: an update with a single image says nothing of the row before."""
    single = dialect.arrangement in ("single", "flat") and op == "update"
    return [(None, after) for _, after in pairs] if single else pairs
