"""Framed values: a record behind the id of its writer's schema as the JSON text of its message."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from itertools import takewhile
from json.encoder import encode_basestring as quote
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.contract.connect_schemas import list_fields
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.avro_binary import AvroRefused, Reader, compile_reader, read_java_double
from cdc_contracts.registry.core.message.schema_block_types import says_type
from cdc_contracts.registry.core.writer_schemas.writer_schemas import (
    BLOCK_ID,
    Frame,
    SchemaId,
    WriterSchemas,
    frame_of,
)

_BROKEN: Final = (IndexError, AvroRefused, UnicodeDecodeError, struct.error, OverflowError, RecursionError)
_SPECIAL: Final[Mapping[str, Reader]] = {"double": read_java_double}
_MOST_READERS: Final = 512
_LIKELY: Final = 2**24
"""Ids below are taken for ids where bytes may be something else."""
_OWN: Final = frozenset({"schema", "record", "payload"})
"""Members that messages have which their records do not."""


class FrameReading(NamedTuple):
    """What becomes of a framed record: with a schema block beside it or alone, with the row apart from other fields.

    The row is apart if a contract names the `parameter` that fields of columns have.
    """

    with_blocks: bool
    parameter: str | None = None


class FramedMember(NamedTuple):
    """A member of the message of a record: a `text` that is that of its schema, or else part of the record's bytes."""

    name: str
    text: str | None
    schema: Any = None


class FramedValues:
    """Reads values one by one; `with_blocks` and `parameter` say how the message of a record is laid out."""

    def __init__(self, schemas: WriterSchemas, *, with_blocks: bool, parameter: str | None = None) -> None:
        self._schemas, self._with_blocks, self._parameter = schemas, with_blocks, parameter
        self._readers: dict[SchemaId, Reader] = {}

    def text_of(self, value: bytes) -> bytes:
        """Return the JSON text of a value; one without a frame as it is.

        Raises Unreadable if its schema is unknown or does not fit it, UnavailableError if the registry does not answer.
        """
        frame = frame_of(value)
        if frame is None:
            return value
        number = frame.number
        schema = self.avro_schema(number)
        if schema is None:
            inner = _inner(value, frame)
            if inner:
                raise Unreadable("schema-id", f"behind schema id {number} no JSON{inner}")
            return self._json(number, value[frame.size :])
        if number not in self._readers:
            if len(self._readers) >= _MOST_READERS:
                self._readers.clear()
            try:
                self._readers[number] = _compile(schema, self.members_of(number))
            except ContractError as error:
                raise Unreadable("schema-id", f"schema id {number}: {error.what}") from error
        try:
            text, end = self._readers[number](value, frame.size)
        except _BROKEN as error:
            raise Unreadable("avro", f"no record of the schema with id {number}{_inner(value, frame)}") from error
        if end != len(value):
            raise Unreadable("avro", f"bytes left unread by the schema with id {number}{_inner(value, frame)}")
        return text.encode()

    def _json(self, number: SchemaId, text: bytes) -> bytes:
        """Return the message of a JSON text; beside a block it has to be one object. Raises Unreadable if it is not.

        What would be read as a frame again is none.
        """
        if not self._with_blocks and frame_of(text) is None:
            return text
        try:
            parse_message(text)
        except Unreadable as error:
            raise Unreadable(error.cause, f"behind schema id {number} {error.observed}") from error
        return b'{"schema":%b,"payload":%b}' % (_block_of(number).encode(), text)

    def members_of(self, number: SchemaId) -> tuple[FramedMember, ...]:
        """Return the members of the messages of an id; none if the message is what the record holds."""
        if not self._with_blocks:
            return ()
        schema, block = self._schemas.schema(number).avro, FramedMember("schema", _block_of(number))
        apart = None if self._parameter is None else self._row_apart(number, schema, self._parameter)
        return (block, *(apart or [FramedMember("payload", None, schema)]))

    def _row_apart(self, number: SchemaId, schema: Any, parameter: str) -> list[FramedMember] | None:
        """Return the members of a record whose first fields are columns; None if they are not, or clash with ours."""
        if not isinstance(schema, dict) or schema["type"] != "record":
            return None
        described = list_fields(self._schemas.block(number))
        columns = {one["field"] for one in described if says_type(one, parameter)}
        fields = schema["fields"]
        row = list(takewhile(lambda field: field["name"] in columns, fields))
        beside = [FramedMember(field["name"], None, field["type"]) for field in fields[len(row) :]]
        if not row or len(row) < len(columns) or any(one.name in _OWN for one in beside):
            return None
        payload = FramedMember("payload", None, {**schema, "fields": row})
        return [FramedMember("record", quote(schema["name"])), payload, *beside]

    def avro_schema(self, number: SchemaId) -> Any:
        """Return the Avro schema of an id; None if it is a JSON Schema. Raises as `text_of`."""
        schema = self._schemas.schema(number)
        if self._with_blocks:
            self._schemas.block(number)
        return schema.avro


def _inner(value: bytes, frame: Frame) -> str:
    """Return what is said of a record behind a frame that begins with another, as if its header were of another one.

    Bytes of a record may look like a frame, with an id that no registry has yet.
    """
    inner = frame_of(value[frame.size :])
    if inner is None or (isinstance(inner.number, int) and not 0 < inner.number < _LIKELY):
        return ""
    return f"; it begins with a frame, of schema id {inner.number}"


def _block_of(number: SchemaId) -> str:
    """Return what stands for the block of an id."""
    return f'{{"{BLOCK_ID}":{json.dumps(number)}}}'


def _compile(schema: Any, members: tuple[FramedMember, ...]) -> Reader:
    """Return the reader of records. Raises ContractError if a schema holds a type that no record on the wire has."""
    named: dict[str, Reader] = {}
    if not members:
        return compile_reader(schema, named, _SPECIAL)
    parts = [
        (quote(one.name) + ":" + (one.text or ""), None if one.text else compile_reader(one.schema, named, _SPECIAL))
        for one in members
    ]

    def read(data: bytes, at: int) -> tuple[str, int]:
        texts = []
        for head, reader in parts:
            text = ""
            if reader is not None:
                text, at = reader(data, at)
            texts.append(head + text)
        return "{" + ",".join(texts) + "}", at

    return read


def framed_values(schemas: WriterSchemas, reading: FrameReading) -> FramedValues:
    """Return the reader of framed values by some schemas; it remembers how each is read."""
    return schemas.once(
        reading, lambda: FramedValues(schemas, with_blocks=reading.with_blocks, parameter=reading.parameter)
    )


def open_key(key: bytes, schemas: WriterSchemas | None, meaning: Meaning) -> bytes:
    """Return the JSON text of a key that may be framed, and a key that cannot be read as it is."""
    if schemas is None or frame_of(key) is None:
        return key
    try:
        return framed_values(schemas, frame_reading(meaning)).text_of(key)
    except Unreadable:
        return key


def frame_reading(meaning: Meaning) -> FrameReading:
    """Return how framed records are laid out for a version: beside their blocks if it reads types from these."""
    types = meaning.columns.types
    if types == "none" or types.reading != "connect-schema":
        return FrameReading(with_blocks=False)
    return FrameReading(with_blocks=True, parameter=types.parameter)
