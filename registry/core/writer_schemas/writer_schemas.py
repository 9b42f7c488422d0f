"""Writer schemas: what the id in front of a record names, resolved once per process.

Confluent's wire format puts a zero byte and the id of the writer's schema, four bytes, in front of a record
(*Schema Registry for developers*, "Wire format"); its ids begin with 1. Serializers of Apicurio Registry 2 put eight
bytes there, the first four of them zero in practice (`io.apicurio.registry.serde.DefaultIdHandler`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.writer_schemas.connect_blocks import NoBlock, write_block

AVRO, JSON = "AVRO", "JSON"
SHORT, LONG = 5, 9
"""The bytes of a frame with an id of four bytes, and of eight."""
BLOCK_ID: Final = "writer-schema-id"
"""The only member of an object that stands for the block of a writer schema."""
EXPECTED_FRAMED: Final = "a record whose schema the registry has"
_BROKEN: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_MOST_TEXT: Final = 4 * 1024 * 1024
_ASK_AGAIN: Final = 30.0
"""Seconds until an id that was unknown is asked for again: a registry may be copied later than a topic."""


class NoSchema(Exception):
    """A registry has no schema of an id, or it cannot be read by; the text says why."""


class SchemaSource(Protocol):
    """Where schemas are found by id: a registry, or a folder. It is pickled for the workers of a cluster."""

    @property
    def named(self) -> str:
        """Its address, without credentials."""

    def find(self, number: int) -> tuple[str, str]:
        """Return the type and the text of a schema.

        Raises NoSchema if there is none, UnavailableError if the source does not answer.
        """


@dataclass(frozen=True, eq=False)
class WriterSchema:
    """The schema of an id: an Avro schema, and the block that says the same; `avro` is None if it is a JSON Schema."""

    number: int
    avro: Any

    @cached_property
    def block(self) -> dict[str, Any]:
        """The schema block of Kafka Connect for its records. Raises NoSchema if it has none."""
        if self.avro is None:
            raise NoSchema("a JSON Schema, whose types are not read")
        try:
            return parse_message(json.dumps(write_block(self.avro)).encode())
        except NoBlock as error:
            raise NoSchema(f"an Avro schema with {error}") from error


@dataclass(eq=False)
class WriterSchemas:
    """The writer schemas of a source by id, each asked for once."""

    source: SchemaSource
    _known: dict[int, WriterSchema] = field(default_factory=dict)
    _refused: dict[int, tuple[float, str]] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The address of the source."""
        return self.source.named

    def schema(self, number: int) -> WriterSchema:
        """Return the schema of an id.

        Raises Unreadable if the source has none or it is not one to read records by, UnavailableError if it does not
        answer.
        """
        found = self._known.get(number)
        if found is not None:
            return found
        since, why = self._refused.get(number, (0.0, ""))
        if why and time.monotonic() - since < _ASK_AGAIN:
            raise Unreadable("schema-id", why)
        try:
            self._known[number] = found = _read(number, *self.source.find(number))
        except NoSchema as error:
            why = f"schema id {number}: {error}"
            self._refused[number] = (time.monotonic(), why)
            raise Unreadable("schema-id", why) from error
        return found

    def block(self, number: int) -> dict[str, Any]:
        """Return the schema block of an id. Raises as `schema`, and Unreadable if its schema has none."""
        try:
            return self.schema(number).block
        except NoSchema as error:
            raise Unreadable("schema-id", f"schema id {number}: {error}") from error

    def with_block(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message with the block in place of the object that stands for it."""
        held = message.get("schema")
        found = self.resolve(held)
        return message if found is held else {**message, "schema": found}

    def resolve(self, held: Any) -> Any:
        """Return the block that an object stands for, any other value as it is. Raises as `block`."""
        number = held[BLOCK_ID] if isinstance(held, dict) and held.keys() == {BLOCK_ID} else None
        if isinstance(number, Number) and number.token.isdigit():
            return self.block(int(number.token))
        return held

    def __getstate__(self) -> Mapping[str, Any]:
        return {"source": self.source, "_known": {}, "_refused": {}}


def _read(number: int, kind: str, text: str) -> WriterSchema:
    if len(text) > _MOST_TEXT:
        raise NoSchema(f"a schema of more than {_MOST_TEXT:,} characters")
    if kind == JSON:
        return WriterSchema(number, None)
    if kind != AVRO:
        raise NoSchema(f"a schema of type {kind}, which is not read")
    import fastavro

    try:
        parsed = fastavro.parse_schema(json.loads(text))
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        fastavro.schema.SchemaParseException,
    ) as error:
        raise NoSchema(f"text that is no Avro schema ({type(error).__name__})") from error
    return WriterSchema(number, parsed)


class Frame(NamedTuple):
    """The id in front of a record, and where the record begins."""

    number: int
    size: int


def frame_of(value: bytes) -> Frame | None:
    """Return the frame of a record; None if the value has none. Four zero bytes are the head of a longer id."""
    if len(value) < SHORT or value[0] != 0:
        return None
    number = int.from_bytes(value[1:SHORT], "big")
    if number or len(value) < LONG:
        return Frame(number, SHORT)
    return Frame(int.from_bytes(value[1:LONG], "big"), LONG)
