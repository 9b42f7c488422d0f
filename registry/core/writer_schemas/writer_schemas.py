"""Writer schemas: what the id in front of a record names, resolved once per process.

Confluent's wire format puts a zero byte and the id of the writer's schema, four bytes, in front of a record
(*Schema Registry for developers*, "Wire format"); its ids begin with 1. In place of the id, a byte 1 and a GUID of
sixteen bytes may stand there (`io.confluent.kafka.serializers.schema.id.SchemaId`, schema-registry 8). Serializers of
Apicurio Registry 2 put eight bytes there, the first four of them zero in practice
(`io.apicurio.registry.serde.DefaultIdHandler`).
"""

from __future__ import annotations

import json
import re
import time
import uuid
import zlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.writer_schemas.avro_references import NotAvro, TooLarge, check_size, inline_references
from cdc_contracts.registry.core.writer_schemas.connect_blocks import NoBlock, write_block
from cdc_contracts.registry.core.writer_schemas.json_blocks import write_json_block

AVRO, JSON = "AVRO", "JSON"
SHORT, LONG, WITH_GUID = 5, 9, 17
"""The bytes of a frame with an id of four bytes, with one of eight, and with a GUID."""
NUMBERED, BY_GUID, BY_GLOBAL_ID = b"\0", b"\1", b"\2\0\0\0\0"
"""How a frame begins that has an id, one with a GUID, and one that no serializer writes and a header stands for."""
BLOCK_ID: Final = "writer-schema-id"
"""The only member of an object that stands for the block of a writer schema."""
EXPECTED_FRAMED: Final = "a record whose schema the registry has"
_BROKEN: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError, NotAvro)
_GLOBAL: Final = re.compile("([1-9][0-9]{0,9}) \\(global\\)", re.ASCII)
_GUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_NAMED: Final = {AVRO: "Avro schema", JSON: "JSON Schema"}
_MOST_TEXT: Final = 4 * 1024 * 1024
_MOST_KNOWN: Final = 512
_MOST_REFUSED: Final = 65_536
_MOST_MADE: Final = 16_384
_ASK_AGAIN: Final = 30.0
"""Seconds until an id that was unknown is asked for again: a registry may be copied later than a topic."""


Made = TypeVar("Made")
SchemaId = int | str
"""What names a schema: its number, or a text: its GUID in lower case, or `7 (global)` (`global_id`)."""


class NoSchema(Exception):
    """A registry has no schema of an id, or it cannot be read by; the text says why."""


class SchemaText(NamedTuple):
    """A schema as a source has it, and those that it refers to by their names, each behind what it refers to itself."""

    kind: str
    text: str
    referred: Mapping[str, str] = MappingProxyType({})


class ReaderVerdict(NamedTuple):
    """Whether a reader of the later of two schemas reads records of the earlier, and the other way round.

    None where that was not decided; `reasons` say what is not read, or why nothing was decided.
    """

    later_reads: bool | None
    earlier_reads: bool | None
    reasons: tuple[str, ...] = ()

    @property
    def breaks(self) -> bool:
        """Whether records of one are not read, or misread, by readers of the other."""
        return self.later_reads is False or self.earlier_reads is False


class ComparesReaders(Protocol):
    """What compares two schemas of a source, the earlier first. It is pickled for the workers of a cluster."""

    def __call__(self, earlier: SchemaText, later: SchemaText, /) -> ReaderVerdict:
        """Return whether readers of each read the records of the other."""


class SchemaSource(Protocol):
    """Where schemas are found by id: a registry, or a folder. It is pickled for the workers of a cluster."""

    @property
    def named(self) -> str:
        """Its address, without credentials."""

    def find(self, number: SchemaId) -> SchemaText:
        """Return a schema.

        Raises NoSchema if there is none, UnavailableError if the source does not answer.
        """


@dataclass(eq=False)
class WriterSchema:
    """The schema of an id: an Avro schema, or None and a JSON Schema with those that it refers to."""

    number: SchemaId
    avro: Any
    json: Any = None
    referred: Mapping[str, Any] = field(default_factory=dict)
    no_block: str | None = None
    """Why it has no block, once that is known."""

    @cached_property
    def block(self) -> dict[str, Any]:
        """The schema block of Kafka Connect for its records. Raises NoSchema if it has none."""
        named = "a JSON Schema" if self.avro is None else "an Avro schema"
        try:
            block = write_json_block(self.json, self.referred) if self.avro is None else write_block(self.avro)
            return parse_message(json.dumps(block).encode())
        except (NoBlock, Unreadable) as error:
            raise NoSchema(f"{named} with {error}") from error


@dataclass(eq=False)
class WriterSchemas:
    """The writer schemas of a source by id, each asked for once; of many the texts are kept, which are smaller."""

    source: SchemaSource
    unknown: str | None = None
    """`stop` or `quarantine`: what becomes of records while their schema is not known.

    Without it, one that the source does not have is quarantined, and a source that does not answer stops the run.
    """
    comparison: ComparesReaders | None = None
    """How two schemas are compared: by whoever opens the source, as the rules of compatibility are not of the core."""
    _known: dict[SchemaId, WriterSchema] = field(default_factory=dict)
    _texts: dict[SchemaId, bytes] = field(default_factory=dict)
    _refused: dict[SchemaId, tuple[float, str]] = field(default_factory=dict)
    _made: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The address of the source."""
        return self.source.named

    def schema(self, number: SchemaId) -> WriterSchema:
        """Return the schema of an id.

        Raises Unreadable if the source has none or it is not one to read records by, UnavailableError if it does not
        answer; of what is `unknown`, the one that is asked for.
        """
        found = self._known.get(number)
        if found is not None:
            return found
        since, why = self._refused.get(number, (0.0, ""))
        if why and time.monotonic() - since < _ASK_AGAIN:
            raise Unreadable("schema-id", why)
        try:
            found = read_schema(number, self._text(number))
        except NoSchema as error:
            why = f"schema id {number}: {error}"
            if len(self._refused) >= _MOST_REFUSED:
                self._refused.clear()
            self._refused[number] = (time.monotonic(), why)
            raise Unreadable("schema-id", why) from error
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[number] = found
        return found

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is made of the schemas, made once: it lives as long as they do, and so does their connection."""
        if key not in self._made:
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            self._made[key] = make()
        found: Made = self._made[key]
        return found

    def compare(self, earlier: SchemaId, later: SchemaId) -> ReaderVerdict:
        """Return whether readers of two schemas read each other's records. Raises as `schema`."""
        if self.comparison is None:
            return ReaderVerdict(None, None)
        for number in (earlier, later):
            self.schema(number)  # of one that was refused it says so, and asks no more
        return self.comparison(self._text(earlier), self._text(later))

    def _text(self, number: SchemaId) -> SchemaText:
        """Return the text of a schema, which is asked for once."""
        if number not in self._texts:
            found = self._find(number)
            if len(found.text) + sum(map(len, found.referred.values())) > _MOST_TEXT:
                raise NoSchema(f"a schema of more than {_MOST_TEXT:,} characters")
            self._texts[number] = zlib.compress(json.dumps([found.kind, found.text, dict(found.referred)]).encode(), 1)
        return SchemaText(*json.loads(zlib.decompress(self._texts[number])))

    def _find(self, number: SchemaId) -> SchemaText:
        try:
            return self.source.find(number)
        except NoSchema as error:
            if self.unknown != "stop":
                raise
            what, hint = f"the schema with id {number} is unknown: {error}", "Leave out --unknown-schema to go on."
            raise UnavailableError(what, where=self.named, hint=hint) from error
        except UnavailableError as error:
            if self.unknown != "quarantine":
                raise
            raise NoSchema(f"the registry does not answer: {error.what}") from error

    def block(self, number: SchemaId) -> dict[str, Any]:
        """Return the schema block of an id. Raises as `schema`, and Unreadable if its schema has none."""
        found = self.schema(number)
        try:
            if found.no_block is None:
                return found.block
        except NoSchema as error:
            found.no_block = str(error)
        raise Unreadable("schema-id", f"schema id {number}: {found.no_block}")

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
        if isinstance(number, str) and (_GUID.fullmatch(number) or global_number(number) is not None):
            return self.block(number)
        return held

    def __getstate__(self) -> Mapping[str, Any]:
        kept = {"source": self.source, "unknown": self.unknown, "comparison": self.comparison}
        return kept | {"_known": {}, "_texts": {}, "_refused": {}, "_made": {}}


def read_schema(number: SchemaId, held: SchemaText) -> WriterSchema:
    """Return the schema of an id, read. Raises NoSchema if it is not one to read records by."""
    if held.kind not in (AVRO, JSON):
        raise NoSchema(f"a schema of type {held.kind}, which is not read")
    try:
        parsed = json.loads(held.text)
        referred = {name: json.loads(text) for name, text in held.referred.items()}
        check_size([parsed, *referred.values()])
        json.dumps([parsed, referred], ensure_ascii=False).encode()  # a lone surrogate is in no record
        if held.kind == JSON:
            return WriterSchema(number, None, parsed, referred)
        return WriterSchema(number, inline_references(parsed, referred.values()))
    except TooLarge as error:
        raise NoSchema(f"a schema with {error}") from error
    except _BROKEN as error:
        raise NoSchema(f"text that is no {_NAMED[held.kind]} ({type(error).__name__})") from error


class Frame(NamedTuple):
    """The id in front of a record, and where the record begins."""

    number: SchemaId
    size: int


def frame_of(value: bytes) -> Frame | None:
    """Return the frame of a record; None if the value has none. Four zero bytes are the head of a longer id."""
    if value[:1] == BY_GUID and len(value) >= WITH_GUID:
        return Frame(guid_text(value[1:WITH_GUID]), WITH_GUID)
    if value[:SHORT] == BY_GLOBAL_ID and len(value) >= LONG and any(value[SHORT:LONG]):
        return Frame(global_id(int.from_bytes(value[SHORT:LONG], "big")), LONG)
    if len(value) < SHORT or value[:1] != NUMBERED:
        return None
    number = int.from_bytes(value[1:SHORT], "big")
    if number or len(value) < LONG:
        return Frame(number, SHORT)
    return Frame(int.from_bytes(value[1:LONG], "big"), LONG)


def guid_text(guid: bytes) -> str:
    """Return the text of a GUID of sixteen bytes."""
    return str(uuid.UUID(bytes=guid))


def global_id(number: int) -> str:
    """Return what names a schema by its global id: registries that have these too count ids of contents apart."""
    return f"{number} (global)"


def global_number(number: SchemaId) -> int | None:
    """Return the global id that names a schema, None if something else does."""
    found = _GLOBAL.fullmatch(number) if isinstance(number, str) else None
    return None if found is None else int(found[1])
