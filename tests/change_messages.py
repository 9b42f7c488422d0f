"""Messages of changes as dialects write them, made from the documents of the dialects and not by the product."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from row_changes import ADD_COLUMN, CODES, DELETE, INSERT, ROW_OPS, SNAPSHOT, TRUNCATE, UPDATE, Column, Image, RowChange

FULL, CHANGED, MINIMAL = "full", "changed columns", "minimal"
"""Images of UPDATEs: all columns in both; in one of them the changed ones; in both the key and the changed ones."""


@dataclass(frozen=True)
class Dialect:
    """How a version of a dialect writes changes: the members that hold the images, and its codes of ops."""

    subject: str
    delete: str = "data"
    update_after: str = "data"
    load: str = "INSERT"
    ddl: str = "DDL"
    positioned: bool = True
    several_rows: bool = True
    numbers_as_text: bool = True
    epoch_timestamps: bool = False

    @property
    def update_before(self) -> str:
        return "old" if self.update_after == "data" else "data"


DTS_1, DTS_2 = "dts/canal@1", "dts/canal@2"
JSON_1, JSON_2, JSON_C_1, JSON_C_2 = "drs/json@1", "drs/json@2", "drs/json-c@1", "drs/json-c@2"
OMS_1, OMS_2 = "oms-community/canal@1", "oms-community/canal@2"
DIALECTS = {
    DTS_1: Dialect("dts/canal", delete="old", update_after="old", load="INIT"),
    DTS_2: Dialect("dts/canal", load="INIT"),
    JSON_1: Dialect("drs/json", delete="old", epoch_timestamps=True),
    JSON_2: Dialect("drs/json", delete="old", load="INIT", epoch_timestamps=True),
    JSON_C_1: Dialect("drs/json-c"),
    JSON_C_2: Dialect("drs/json-c", load="INIT"),
    OMS_1: Dialect(
        "oms-community/canal", load="ROW", positioned=False, several_rows=False, numbers_as_text=False,
        epoch_timestamps=True,
    ),
    OMS_2: Dialect(
        "oms-community/canal", load="ROW", positioned=False, several_rows=False, numbers_as_text=False,
        epoch_timestamps=True,
    ),
}  # fmt: skip
SWAPPED = {DTS_1}
"""The versions whose UPDATEs have the row before in `data`."""


@dataclass(frozen=True)
class Wording:
    """What a producer may do in one way or another.

    `images` are those of UPDATEs; `partial_member` holds the changed columns where only one image has them alone, and
    `insert_member` a row that has no other side: the documents of DTS before 2022 leave both open.
    """

    images: str = FULL
    partial_member: str = "old"
    insert_member: str = "data"
    gtid: bool = False
    keeps_null_members: bool = True


@dataclass(frozen=True)
class Sending:
    """The facts of one message that are of no row: its id and its times in milliseconds."""

    id: int
    event_time: int
    process_time: int


def write_message(reference: str, changes: Sequence[RowChange], wording: Wording, sending: Sending) -> bytes:
    """Return the message of changes of one kind and table; changes of tables are written one by one."""
    dialect, first = DIALECTS[reference], changes[0]
    members = {
        "database": json.dumps(first.table.database),
        "table": json.dumps(first.table.name),
        "type": json.dumps(code_of(reference, first.op)),
        "isDdl": "false" if first.op in ROW_OPS else "true",
        "es": str(sending.event_time),
        "ts": str(sending.process_time),
        "sql": json.dumps(first.statement),
    }
    if dialect.positioned:
        members["id"] = str(sending.id)
    if wording.gtid and dialect.subject == "dts/canal":
        members["gtid"] = json.dumps(f"8a6e0c1d-55b2-4f3a-9c70-1f2e3d4c5b6a:{first.number}")
    if first.op in ROW_OPS:
        images = image_members(reference, first.op, wording)
        members["sqlType"] = json.dumps({one.name: _code(one, dialect) for one in _written_columns(changes, wording)})
        members["mysqlType"] = json.dumps({one.name: one.type for one in _written_columns(changes, wording)})
        members["pkNames"] = json.dumps(list(first.table.key))
        for member, side in images.items():
            members[member] = "[" + ", ".join(_row(reference, one, side, member, wording) for one in changes) + "]"
    empty = {"data", "old"} if first.op in ROW_OPS else {"data", "old", "pkNames", "sqlType", "mysqlType"}
    if wording.keeps_null_members:
        members |= dict.fromkeys(sorted(empty - members.keys()), "null")
    return ("{" + ", ".join(f'"{name}": {text}' for name, text in members.items()) + "}").encode()


def code_of(reference: str, op: str) -> str:
    """Return the wire code of an op."""
    dialect = DIALECTS[reference]
    ddl = {TRUNCATE: "TRUNCATE", ADD_COLUMN: "ALTER"} if dialect.subject.startswith("oms") else {}
    codes = {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", SNAPSHOT: dialect.load}
    return codes.get(op) or ddl.get(op, "DDL")


def image_members(reference: str, op: str, wording: Wording) -> dict[str, str]:
    """Return the members that hold images of an op, each with the side it holds."""
    dialect = DIALECTS[reference]
    match op:
        case "update":
            return {dialect.update_before: "before", dialect.update_after: "after"}
        case "delete":
            return {dialect.delete: "before"}
    return {wording.insert_member if reference in SWAPPED else "data": "after"}


def _written_columns(changes: Sequence[RowChange], wording: Wording) -> list[Column]:
    """Return the columns that a message names: of minimal images only those that it holds."""
    held = set[str]().union(*(_names(change, wording) for change in changes))
    return [column for column in changes[0].columns if column.name in held]


def _names(change: RowChange, wording: Wording) -> set[str]:
    names = {column.name for column in change.columns}
    if wording.images == MINIMAL and change.op == UPDATE:
        return changed_columns(change) | {name for name in names if name in change.table.key} or names
    return names


def changed_columns(change: RowChange) -> set[str]:
    before, after = change.before or {}, change.after or {}
    return {name for name in after if before.get(name) != after[name]}


def _row(reference: str, change: RowChange, side: str, member: str, wording: Wording) -> str:
    image: Image = (change.before if side == "before" else change.after) or {}
    names = _names(change, wording)
    partial = wording.partial_member if reference in SWAPPED else "old"
    if change.op == UPDATE and wording.images == CHANGED and member == partial:
        names = changed_columns(change) or names
    types = {column.name: column.type for column in change.columns}
    members = (f'"{name}": {_token(reference, types[name], text)}' for name, text in image.items() if name in names)
    return "{" + ", ".join(members) + "}"


def _token(reference: str, source_type: str, text: str | None) -> str:
    """Return a value as a JSON token of a dialect."""
    dialect = DIALECTS[reference]
    if text is None:
        return "null"
    if source_type in ("bigint", "int", "decimal") and not dialect.numbers_as_text:
        return text
    if source_type == "datetime" and reference != OMS_1:
        text = text.replace("T", " ")
    if source_type == "timestamp":
        if not dialect.epoch_timestamps:
            return f'"{text.replace("T", " ")}"'
        from datetime import datetime

        seconds = str(int(datetime.fromisoformat(text + "+00:00").timestamp()))
        return seconds if reference == OMS_1 else f'"{seconds}"'
    return f'"{text}"'


def _code(column: Column, dialect: Dialect) -> int:
    if column.type == "datetime" and dialect.subject.startswith("drs"):
        return 94
    return CODES[column.type]
