"""Reading a parsed message by the envelope of its contract: op, names, times, keys, images, types.

Each named reading of the vocabulary is one small function here. Reading never fails: what is not as the contract says
reads as absent, and validation reports it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.discriminators import all_hold, is_value
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.envelope_model import OpFlag, Place
from cdc_contracts.registry.core.contract.image_model import Side, Sides
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import table_name
from cdc_contracts.registry.core.message.envelope_times import NO_TIME, EventTime, read_time
from cdc_contracts.registry.core.message.framed_values import open_key
from cdc_contracts.registry.core.message.primary_keys import read_key_columns, read_names
from cdc_contracts.registry.core.message.sent_types import read_sent_defaults, read_sent_types
from cdc_contracts.registry.core.message.unsent_values import StandIns, stand_ins_of
from cdc_contracts.registry.core.values import Number

Row = dict[str, Any]

_NO_IMAGES: Final = Sides()


class TableNames(NamedTuple):
    """Where a row lives; a part the dialect does not have is None."""

    tenant: str | None
    database: str | None
    schema: str | None
    table: str | None

    @property
    def text(self) -> str | None:
        """What findings and reports call the table; None if it has no name."""
        return table_name(self.database, self.schema, self.table)


@dataclass(frozen=True)
class Reading:
    """One message as its contract places things."""

    meaning: Meaning
    message: dict[str, Any]
    reading_options: ReadingOptions
    key: bytes | None = None
    """The key of its Kafka record; None if the record has none, or it is not known."""
    _rows: dict[str, list[Row] | None] = field(default_factory=dict)
    partly_sent: set[str] = field(default_factory=set)
    """The images that were read and hold columns without a value, because it was not sent."""

    def at(self, pointer: str) -> Any:
        """Return the member at a pointer, or ABSENT."""
        return follow(self.message, split_pointer(pointer))

    def place(self, place: Place | None) -> Any:
        """Return the member a place of the envelope names, or ABSENT."""
        return ABSENT if place is None or place.in_value is None else self.at(place.in_value)

    @cached_property
    def code(self) -> str | None:
        """The op code as sent, or None if there is no text."""
        value = self.at(self.meaning.envelope.op.at)
        return value if isinstance(value, str) else None

    @cached_property
    def op(self) -> str | None:
        """The canonical op: a flag that holds decides first, then the op map; None if neither knows."""
        mapped = self.meaning.ops.get(self.code) if self.code is not None else None
        for flag in self.meaning.envelope.op.flags:
            if self._holds(flag, mapped):
                return flag.means
        return mapped

    @property
    def holds_rows(self) -> bool:
        return self.op in ROW_OPS

    @cached_property
    def images(self) -> Sides:
        """The images of the op, none for an op that holds no row."""
        return self.meaning.images.of(self.op or "") or _NO_IMAGES

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The images that the op has, the one before the change first."""
        return tuple(side for side in (self.images.before, self.images.after) if side)

    @property
    def row_places(self) -> tuple[str, ...]:
        """The pointers from which the sides take their rows, and those by which they are completed, each once."""
        places = [place for side in self.sides for place in (self.source(side), side.completed_from)]
        return tuple(dict.fromkeys(place for place in places if place is not None))

    @cached_property
    def names(self) -> TableNames:
        envelope = self.meaning.envelope
        said = split_names(
            envelope.database,
            _text(self.place(envelope.database)),
            _text(self.place(envelope.schema_name)),
            _text(self.place(envelope.table)),
            envelope.database_table,
            _text(self.place(envelope.database_table)),
        )
        return name_table(said, names_outside(self.reading_options, self.meaning)) if envelope.takes_table else said

    @cached_property
    def event_time(self) -> EventTime:
        return self._time(self.meaning.envelope.event_time)

    @cached_property
    def process_time(self) -> EventTime:
        return self._time(self.meaning.envelope.process_time)

    @cached_property
    def position(self) -> str | None:
        return as_sent(self.place(self.meaning.envelope.position), self.meaning.envelope.position)

    @cached_property
    def transaction(self) -> str | None:
        return as_sent(self.place(self.meaning.envelope.transaction), self.meaning.envelope.transaction)

    @cached_property
    def primary_key(self) -> list[str] | None:
        """The names of the key columns; None if not stated, empty if there are stated to be none."""
        place = self.meaning.envelope.primary_key
        if self.meaning.envelope.key_place is not None:
            return None if self.key_columns is None else list(self.key_columns)
        return read_names(self.place(place), place)

    @cached_property
    def key_columns(self) -> dict[str, Any] | None:
        """The key columns and their values by the Kafka key of a row; None if it states none."""
        place = self.meaning.envelope.key_place
        if place is None or self.key is None or not self.holds_rows:
            return None
        return read_key_columns(open_key(self.key, self.reading_options.schemas, self.meaning), place)

    @property
    def key_path(self) -> str:
        """The path of findings on the names of key columns: where they are, or the row of a Kafka key that has them."""
        place = self.meaning.envelope.primary_key
        if place is not None and place.in_value is not None:
            return place.in_value
        return next((source for side in reversed(self.sides) if (source := self.source(side)) is not None), "")

    @property
    def kind(self) -> str | None:
        """The kind of source that the message names, where its values are read by it."""
        kind_at = self.meaning.values.kind_at
        return None if kind_at is None else _text(self.at(kind_at))

    @cached_property
    def mapping_name(self) -> str:
        """The value mapping of this message: by the kind of its source, else by the user's parameter."""
        return self.meaning.values.mapping_for(self.kind, self.reading_options.parameters.get("source_mode"))

    @cached_property
    def ddl_text(self) -> str | None:
        ddl = self.meaning.ddl
        return _text(self.place(ddl.text)) if ddl else None

    @cached_property
    def ddl_type(self) -> str | None:
        ddl = self.meaning.ddl
        return _text(self.place(ddl.type)) if ddl else None

    def rows(self, pointer: str) -> list[Row] | None:
        """Return the rows of an image, or None if it holds none or is no image.

        An empty object is no row, unless another image completes it: then nothing of the row changed.
        """
        if pointer not in self._rows:
            found = self._rows_at(pointer)
            if found is None and self._is_completed(pointer):
                found = [{}]
            self._rows[pointer] = found
        return self._rows[pointer]

    def _rows_at(self, pointer: str) -> list[Row] | None:
        rows = self._image_rows(pointer)
        stand_ins = self.stand_ins(pointer)
        if rows is None or stand_ins is None:
            return rows
        sent = [{name: value for name, value in row.items() if not stand_ins.holds(value)} for row in rows]
        if any(len(kept) < len(row) for kept, row in zip(sent, rows, strict=True)):
            self.partly_sent.add(pointer)
        return sent

    def _image_rows(self, pointer: str) -> list[Row] | None:
        hidden = non_column_members(self.meaning, pointer)
        return image_rows(self.at(pointer), hidden, one=self.meaning.images.hold_one_row)

    def column_names(self, pointer: str) -> list[str]:
        """Return the columns that the first row of an image names, also those whose value was not sent."""
        rows = self._image_rows(pointer) if pointer in self.partly_sent else self.rows(pointer)
        return list((rows or [{}])[0])

    def stand_ins(self, pointer: str) -> StandIns | None:
        """Return what stands for values that were not sent in an image of this message, None if nothing does."""
        absent = self.meaning.images.absent
        return None if absent is None else stand_ins_of(absent, self.kind, pointer)

    def columns_of_key(self, side: Side | None) -> tuple[str, ...]:
        """Return the columns of the Kafka key where a side may take its row from it, else none."""
        return () if side is None or not side.or_key or self.key_columns is None else tuple(self.key_columns)

    def is_of_key(self, side: Side) -> bool:
        """Return whether a side may take its row from the Kafka key, and the row has just the columns of the key."""
        key = {*self.columns_of_key(side)}
        return bool(key) and any(row.keys() == key for row in self.rows(side.at) or ())

    def _is_completed(self, pointer: str) -> bool:
        """Return whether an image is an object that the message's op completes from another that holds a row."""
        return (
            self.meaning.images.hold_one_row
            and isinstance(self.at(pointer), dict)
            and any(
                side.at == pointer
                and side.completed_from is not None
                and self._rows_at(side.completed_from) is not None
                for side in self.sides
            )
        )

    def source(self, side: Side) -> str | None:
        """Return the pointer from which a side takes its rows, or None if it holds none."""
        if self.rows(side.at) is not None:
            return side.at
        return side.either if side.either is not None and self.rows(side.either) is not None else None

    @cached_property
    def types(self) -> dict[str, str] | None:
        """Source types by column as the message says them; None if it says none.

        Where each image has its own, those of the row after come first; an image without any takes those of the other.
        """
        types = self.meaning.columns.types
        if isinstance(types, str):  # none
            return None
        if types.at is not None:
            return read_sent_types(types, self.at(types.at), self.meaning.images.members_beside_columns)
        said = [value for value in map(self.at, self.types_at) if value is not ABSENT and value is not None]
        result = [read_sent_types(types, value) for value in said]
        return None if not result or None in result else {**result[-1], **result[0]}  # type: ignore[dict-item]

    @cached_property
    def defaults(self) -> dict[str, str]:
        """The values that columns have in place of NULL, as they are sent; none where the message does not say them."""
        types = self.meaning.columns.types
        return {} if types == "none" or types.at is None else read_sent_defaults(types, self.at(types.at))

    @cached_property
    def types_at(self) -> tuple[str, ...]:
        """Where this message says its types: the place of all, or one in each image that holds a row."""
        types = self.meaning.columns.types
        if isinstance(types, str):  # none
            return ()
        if types.at is not None:
            return (types.at,)
        sources = [self.source(side) for side in reversed(self.sides)]
        return tuple(source + join_pointer(types.in_image or "") for source in sources if source is not None)

    def _holds(self, flag: OpFlag, mapped: str | None) -> bool:
        if flag.at is None:
            return all_hold(flag.when, self.message)
        return (flag.of is None or mapped in flag.of) and is_value(self.at(flag.at), flag.equals)

    def _time(self, place: Place | None) -> EventTime:
        value = self.place(place)
        return NO_TIME if place is None else read_time(value, place, self.reading_options.zone("time_zone"))


def column_path(reading: Reading, pointer: str | None, name: str) -> str:
    """Return the path of a column of an image; array positions of rows are written 0."""
    row = "" if reading.meaning.images.hold_one_row else "/0"
    return f"{pointer}{row}{join_pointer(name)}"


def image_rows(value: Any, hidden: frozenset[str], *, one: bool) -> list[Row] | None:
    """Return the rows an image member holds, or None. An empty list or object holds no row.

    `one` says that it holds one row, as an object; `hidden` are members beside the columns.
    """
    if one:
        if not isinstance(value, dict):
            return None
        row = {name: one for name, one in value.items() if name not in hidden} if hidden else value
        return [row] if row else None
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return value
    return None


def non_column_members(meaning: Meaning, pointer: str) -> frozenset[str]:
    """Return the members of an image that are no columns: those the contract names, and the types of its columns."""
    members = meaning.images.non_column_members(pointer)
    types = meaning.columns.types
    return members if isinstance(types, str) or types.in_image is None else members | {types.in_image}


def may_hold_rows(reading: Reading, pointer: str) -> bool:
    """Return whether an image member is absent, null or of the kind that holds rows."""
    value = reading.at(pointer)
    if value is ABSENT or value is None:
        return True
    if reading.meaning.images.hold_one_row:
        return isinstance(value, dict)
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def split_names(
    database_place: Place | None,
    database: str | None,
    schema: str | None,
    table: str | None,
    joined_place: Place | None,
    joined: str | None,
) -> TableNames:
    """Return the names of tenant, database, schema and table, split as the contract says."""
    tenant = None
    if database_place and database_place.split == "tenant.database" and database and database.count(".") == 1:
        tenant, database = database.split(".")
    if joined_place and joined is not None:
        head, dot, tail = joined.partition(".")
        match joined_place.split:
            case "database.table":
                database, table = (head, tail) if dot else (None, joined)
            case "schema.table":
                schema, table = (head, tail) if dot else (None, joined)
            case "tenant.database.table":
                tenant, database, table = ([None] * 3 + joined.rsplit(".", 2))[-3:]
            case "object-name-escaped":
                parts = [part.replace("\\u002E", ".") for part in joined.split(".", 2)]
                database, schema, table = ([None] * (3 - len(parts)) + parts) if len(parts) != 2 else (  # noqa: PLR2004
                    parts[0], None, parts[1])  # fmt: skip
    return TableNames(tenant, database, schema, table)


class OutsideNames(NamedTuple):
    """The names of a table given outside of messages. `of_all` if messages that say no name are of the same table.

    `owner` is the database or the schema: a topic does not tell which.
    """

    owner: str | None
    table: str | None
    of_all: bool

    @property
    def names(self) -> TableNames:
        return TableNames(None, self.owner, None, self.table)


def names_outside(options: ReadingOptions, meaning: Meaning) -> OutsideNames:
    """Return the names given outside of the message, by a topic or an option: its last two parts."""
    owner, dot, table = (options.table or "").rpartition(".")
    of_all = options.deletes_by_null(meaning.envelope.op.null_means)  # deletions by null values say no name
    return OutsideNames(owner.rpartition(".")[2] if dot else None, table or None, of_all)


def name_table(said: TableNames, outside: OutsideNames) -> TableNames:
    """Return the names of a table whose messages may leave some out: those outside, unless the message contradicts.

    A message that says another table, or more than the table, is believed; not if it only says that the owner is a
    schema, or if messages without names are of its table: one table has one name.
    """
    if said.table is not None and said.table != outside.table:
        return said
    owners = [one for one in (said.database, said.schema) if one is not None]
    is_same = outside.owner in owners or (outside.owner is None and outside.table is not None)
    if not owners or (is_same and outside.of_all) or owners == [said.schema] == [outside.owner]:
        return outside.names
    return said._replace(table=outside.table)


def as_sent(value: Any, place: Place | None) -> str | None:
    """Return a member's text as sent: a text, or the token of a number; null and what means none are None.

    An integer has no sign of its own at zero: `-0` is 0.
    """
    if isinstance(value, Number):
        absent = place is not None and place.absent_value is not None and value == place.absent_value
        return None if absent else "0" if value.token == "-0" else value.token  # noqa: S105  the token of a number
    if isinstance(value, str):
        return None if place and place.null_text == value else value
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
