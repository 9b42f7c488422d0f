"""Annotated messages: every member with what its contract reads from it, and every column of every row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.explain.contract_explanations import describe_members
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.discriminators import pointers_of, valued_tests
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.envelope_schemas import show_code
from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.contract.known_codes import show_known
from cdc_contracts.registry.core.message.envelope_times import EventTime, format_micros
from cdc_contracts.registry.core.message.reading import Reading, Row
from cdc_contracts.registry.core.validate.disclosure import disclosure_of
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.redaction import redact_statement
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import KEPT_AS_SENT, BrokenValue, Flag, Number, describe_shape

MOST_MEMBERS: Final = 400
MOST_ROWS: Final = 20


@dataclass(frozen=True, slots=True)
class MessagePart:
    """One member of a message: its value, which fact the contract reads from it, and the result.

    Members that may hold row values are shown as shapes. `known` is whether the contract has such a member, `says`
    what it means.
    """

    at: str
    kind: str
    wire: str
    fact: str | None
    reads: str | None
    says: str
    known: bool


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """One column of a row: the value as sent, the value form it is read by, and its canonical text.

    `state` is ok, null, invalid (kept as sent), noted, substitute (sent for another
    value as well), broken, untyped or absent; `at` is the pointer to the value.
    """

    name: str
    at: str
    source_type: str | None
    form: str | None
    wire: str
    text: str | None
    state: str


@dataclass(frozen=True, slots=True)
class RowPart:
    """One row of an image: `role` is before or after; None if the op does not use the image."""

    role: str | None
    at: str
    row: int
    columns: tuple[ColumnPart, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedMessage:
    """A message annotated under one contract. `members` and `rows` count everything, shown or not."""

    op: str | None
    code: str | None
    table: str | None
    source_kind: str | None
    parts: tuple[MessagePart, ...]
    images: tuple[RowPart, ...]
    members: int
    rows: int


def take_apart(
    validator: ReferenceValidator, message: dict[str, Any], table: str | None, *, show_values: bool
) -> AnnotatedMessage:
    """Return a message annotated by the contract of a validator, at most 400 members and 20 rows."""
    reading = Reading(validator.meaning, message, validator.reading_options)
    show = _Show(values=show_values)
    parts = list(_Envelope(validator, reading, show).parts())
    images = list(_rows(validator, reading, show))
    return AnnotatedMessage(
        op=reading.op,
        code=None if reading.code is None else show_known(reading.code, validator.version),
        table=table,
        source_kind=None if reading.kind is None else show_known(reading.kind, validator.version),
        parts=tuple(parts[:MOST_MEMBERS]),
        images=tuple(images[:MOST_ROWS]),
        members=len(parts),
        rows=len(images),
    )


@dataclass(frozen=True, slots=True)
class _Show:
    """How values are shown: as shapes, unless values are requested."""

    values: bool

    def wire(self, value: Any, *, clear: bool = False) -> str:
        """Return a value as sent; `clear` for values that are not row values."""
        if value is ABSENT:
            return "absent"
        if value is None:
            return "null"
        if isinstance(value, dict | list):
            return _summary(value)
        shown = show_code if clear and not self.values else str if self.values else describe_shape
        if isinstance(value, str):
            return json.dumps(shown(value), ensure_ascii=False)
        if isinstance(value, Number):
            return shown(value.token)
        return str(value).lower()

    def text(self, text: str) -> str:
        """Return a canonical text."""
        return text if self.values else describe_shape(text)


class _Envelope:
    """The members of one message, each with the fact that the contract reads from it."""

    def __init__(self, validator: ReferenceValidator, reading: Reading, show: _Show) -> None:
        self._validator, self._reading, self._show = validator, reading, show
        self._disclosure = disclosure_of(validator.version)
        self._columns = {
            name for at in reading.meaning.images.pointers() for row in reading.rows(at) or () for name in row
        }
        self._columns |= set(reading.types or ())
        self._facts = dict(self._read_facts())
        self._described = {member.at: member.meaning for member in describe_members(validator.version.schema)}
        self._whole = {pointer for pointer in reading.meaning.images.pointers() if pointer}
        columns = reading.meaning.columns
        if columns.codes is not None:
            self._whole.add(columns.codes.at)
        if columns.schema_block is not None:
            self._whole.add(columns.schema_block.at)
        self._whole |= {at for at in reading.types_at if not any(at.startswith(image + "/") for image in self._whole)}

    def parts(self) -> Iterator[MessagePart]:
        """Yield the members in the order of the message; members that hold rows or types are not broken down."""
        if "" in self._reading.meaning.images.pointers():  # the message is the row: its other members are columns
            for at in self._facts:
                if at and (value := self._reading.at(at)) is not ABSENT:
                    yield self._part(at, value)
            return
        yield from self._below((), self._reading.message)

    def _below(self, parts: tuple[str, ...], members: Mapping[str, Any]) -> Iterator[MessagePart]:
        for name, value in members.items():
            here = (*parts, name)
            at = join_pointer(*here)
            inside = isinstance(value, dict) and value and at not in self._whole and self._goes_below(at)
            if inside:
                yield from self._below(here, value)
            else:
                yield self._part(at, value)
                yield from self._beside_columns(at)

    def _beside_columns(self, image: str) -> Iterator[MessagePart]:
        """Yield the members of a row that are no columns, and have a fact."""
        for name in sorted(self._reading.meaning.images.non_column_members(image)):
            at = image + join_pointer(name)
            if at in self._facts and (value := self._reading.at(at)) is not ABSENT:
                yield self._part(at, value)

    def _goes_below(self, at: str) -> bool:
        return at not in self._facts and any(
            known.startswith(at + "/") for known in (*self._facts, *self._described, *self._whole)
        )

    def _part(self, at: str, value: Any) -> MessagePart:
        fact, reads, clear = self._facts.get(at, (None, None, False))
        clear = clear and self._may_show(at, value)
        known = fact is not None or at in self._described or at in self._whole
        shown = self._show.wire(value, clear=clear)
        return MessagePart(at, kind_of(value), shown, fact, reads, self._described.get(at, ""), known)

    def _may_show(self, at: str, value: Any, *, listed: bool = False) -> bool:
        """Return whether a member's value may be shown; lists and objects are shown by their size."""
        if not isinstance(value, str | Number):
            return True
        return self._disclosure.takes(split_pointer(at), value, self._columns.__contains__, listed=listed)

    def _read_facts(self) -> Iterator[tuple[str, tuple[str, str | None, bool]]]:
        """Yield for each place what it means, what is read from it, and whether that may be shown unredacted."""
        reading, envelope, names = self._reading, self._reading.meaning.envelope, self._reading.names
        for flag in envelope.op.flags:
            for at in (flag.at,) if flag.at is not None else pointers_of(valued_tests(flag.when)):
                yield at, ("flag of the op", None, True)
        yield envelope.op.at, ("op", reading.op or "an unknown code", True)
        tenant = f"tenant {names.tenant}, database {names.database}" if names.tenant else names.database
        joined = ".".join(part for part in (names.database, names.schema, names.table) if part)
        named: list[tuple[str, Place | None, str | None]] = [
            ("database", envelope.database, tenant),
            ("schema", envelope.schema_name, names.schema),
            ("table", envelope.table, names.table),
            ("names", envelope.database_table, joined or None),
            ("event time", envelope.event_time, _describe_time(reading.event_time)),
            ("process time", envelope.process_time, _describe_time(reading.process_time)),
            ("position", envelope.position, reading.position),
            ("transaction", envelope.transaction, reading.transaction),
            ("primary key", envelope.primary_key, _describe_key(reading.primary_key)),
        ]
        for fact, place, reads in named:
            if place is not None and place.in_value is not None:
                result = "nothing" if reads is None else self._reads(place.in_value, reads) or "not a valid time"
                yield place.in_value, (fact, result, bool(reads))
        for fact, place in (
            ("checkpoint", envelope.checkpoint),
            ("source position", envelope.source_position),
            ("kind of source", envelope.source_kind),
        ):
            if place is not None and place.at is not None:
                yield place.at, (fact, None, True)
        if envelope.primary_key_values is not None and envelope.primary_key_values.at is not None:
            yield envelope.primary_key_values.at, ("values of the primary key", None, False)
        yield from self._statement()
        yield from self._blocks()

    def _reads(self, at: str, reads: str) -> str:
        """Return what is read from a member, redacted if necessary."""
        value = self._reading.at(at)
        listed = isinstance(value, list)
        result = all(self._may_show(at, item, listed=listed) for item in (value if listed else [value]))
        clear = self._show.values or result
        return show_code(reads) if clear else describe_shape(reads)

    def _statement(self) -> Iterator[tuple[str, tuple[str, str | None, bool]]]:
        ddl = self._reading.meaning.ddl
        if ddl is None:
            return
        if ddl.text is not None and ddl.text.at is not None:
            text = self._reading.ddl_text
            if text and not self._show.values:
                text = redact_statement(text)
            yield ddl.text.at, ("DDL statement", text or "none", False)
        if ddl.type is not None and ddl.type.at is not None and ddl.type.at != self._reading.meaning.envelope.op.at:
            yield ddl.type.at, ("DDL type", None, True)

    def _blocks(self) -> Iterator[tuple[str, tuple[str, str | None, bool]]]:
        reading, meaning = self._reading, self._reading.meaning
        roles = _roles(reading)
        for pointer in meaning.images.pointers():
            if pointer:
                result = " and ".join(f"row {role}" for role, side in roles.items() if reading.source(side) == pointer)
                under = (
                    any(side.completed_from == pointer for side in roles.values())
                    and "columns missing from the other row"
                )
                yield pointer, ("image", result or under or "not read for this op", False)
        if meaning.columns.types != "none":
            for at in reading.types_at:
                yield at, ("column types", None, False)
        if meaning.columns.codes is not None:
            yield meaning.columns.codes.at, ("type codes", "checked, never used to decode", False)
        if meaning.columns.schema_block is not None:
            yield meaning.columns.schema_block.at, ("schema block", "never used to decode", False)


def _rows(validator: ReferenceValidator, reading: Reading, show: _Show) -> Iterator[RowPart]:
    columns, roles = validator.forms.columns_of(reading), _roles(reading)
    sources: list[tuple[str | None, str, str | None]] = [
        (role, source, side.completed_from if source == side.at else None)
        for role, side in roles.items()
        if (source := reading.source(side)) is not None
    ]
    read = {pointer for _, source, over in sources for pointer in (source, over)}
    sources += [(None, pointer, None) for pointer in reading.meaning.images.pointers() if pointer not in read]
    for role, source, over in sources:
        below = (reading.rows(over) or []) if over is not None else []
        for index, row in enumerate(reading.rows(source) or ()):
            under = below[index] if index < len(below) else {}
            shown = _columns(validator, columns, show, (row, source), (under, over or source))
            yield RowPart(role, source, index, tuple(shown))


def _columns(
    validator: ReferenceValidator, columns: TypedColumns, show: _Show, own: tuple[Row, str], under: tuple[Row, str]
) -> Iterator[ColumnPart]:
    types: Mapping[str, str] = columns.types or {}
    for name in dict.fromkeys([*types, *under[0], *own[0]]):
        row, at = own if name in own[0] else under
        if name not in row:
            yield ColumnPart(name, own[1], types.get(name), None, "absent", None, "absent")
        else:
            yield _column(validator, columns, show, name, row[name], at)


def _column(
    validator: ReferenceValidator, columns: TypedColumns, show: _Show, name: str, value: Any, at: str
) -> ColumnPart:
    source_type = (columns.types or {}).get(name)
    untyped = source_type is None and columns.origin != "none"
    form = None if untyped else validator.forms.form_of(columns, name, value)
    wire = show.wire(value)
    text, state = None, "untyped" if form is None else "null" if value is None else "broken"
    if form is not None and value is not None and form.takes(value):
        try:
            read = form.read(value, validator.forms.context_of_column(form, columns, name))
            text, state = show.text(read.text), _STATES.get(read.flag, "ok")
        except BrokenValue:
            text = None
    return ColumnPart(name, at, source_type, form.name if form else None, wire, text, state)


def _roles(reading: Reading) -> dict[str, Side]:
    sides = {"before": reading.images.before, "after": reading.images.after}
    return {role: side for role, side in sides.items() if side is not None}


def _summary(value: dict[str, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        return f"{len(value)} member{'s' * (len(value) != 1)}"
    if value and all(isinstance(row, dict) for row in value):
        width = max(map(len, value))
        return f"{len(value)} row{'s' * (len(value) != 1)} of {width} column{'s' * (width != 1)}"
    return f"{len(value)} item{'s' * (len(value) != 1)}"


def _describe_time(time: EventTime) -> str | None:
    if time.micros is None:
        return None if time.text is None else ""
    return format_micros(time.micros).removesuffix("Z").rstrip("0").rstrip(".") + "Z"


def _describe_key(names: list[str] | None) -> str | None:
    return None if names is None else ", ".join(names) or "declared to have none"


_STATES: Final = {
    Flag.OK: "ok",
    **dict.fromkeys(KEPT_AS_SENT, "invalid"),
    **dict.fromkeys((Flag.NOTED, Flag.NOT_WHOLE), "noted"),
    Flag.SUBSTITUTE: "substitute",
}
