"""Framed values: a record behind the id of its writer's schema as the JSON text of its message."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.avro_binary import AvroRefused, Reader, compile_reader, read_java_double
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


class FramedValues:
    """Reads values one by one; `with_blocks` says whether the message is beside its schema block."""

    def __init__(self, schemas: WriterSchemas, *, with_blocks: bool) -> None:
        self._schemas, self._with_blocks = schemas, with_blocks
        self._readers: dict[SchemaId, Callable[[bytes, int], tuple[str, int]]] = {}

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
            return self._beside(number, self._json(number, value[frame.size :]))
        if number not in self._readers:
            if len(self._readers) >= _MOST_READERS:
                self._readers.clear()
            try:
                self._readers[number] = compile_reader(schema, {}, _SPECIAL)
            except ContractError as error:
                raise Unreadable("schema-id", f"schema id {number}: {error.what}") from error
        try:
            text, end = self._readers[number](value, frame.size)
        except _BROKEN as error:
            raise Unreadable("avro", f"no record of the schema with id {number}{_inner(value, frame)}") from error
        if end != len(value):
            raise Unreadable("avro", f"bytes left unread by the schema with id {number}{_inner(value, frame)}")
        return self._beside(number, text.encode())

    def _json(self, number: SchemaId, text: bytes) -> bytes:
        """Return a JSON text; beside a block it has to be one object. Raises Unreadable if it is not."""
        try:
            if self._with_blocks:
                parse_message(text)
        except Unreadable as error:
            raise Unreadable(error.cause, f"behind schema id {number} {error.observed}") from error
        return text

    def _beside(self, number: SchemaId, text: bytes) -> bytes:
        """Return a message beside its block, if there is to be one."""
        block = self.block_of(number).encode()
        return b'{"schema":%b,"payload":%b}' % (block, text) if block else text

    def block_of(self, number: SchemaId) -> str:
        """Return what stands for the block of an id beside its messages; nothing if they are without one."""
        return f'{{"{BLOCK_ID}":{json.dumps(number)}}}' if self._with_blocks else ""

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


@lru_cache(maxsize=64)
def framed_values(schemas: WriterSchemas, *, with_blocks: bool) -> FramedValues:
    """Return the reader of framed values by some schemas; it remembers how each is read."""
    return FramedValues(schemas, with_blocks=with_blocks)


def open_key(key: bytes, schemas: WriterSchemas | None, meaning: Meaning) -> bytes:
    """Return the JSON text of a key that may be framed, and a key that cannot be read as it is."""
    if schemas is None or frame_of(key) is None:
        return key
    try:
        return framed_values(schemas, with_blocks=reads_blocks(meaning)).text_of(key)
    except Unreadable:
        return key


def reads_blocks(meaning: Meaning) -> bool:
    """Return whether a version reads types from the schema block beside a message."""
    types = meaning.columns.types
    return types != "none" and types.reading == "connect-schema"
