"""Transport: how messages of a version are written in a Kafka value, and how they are made JSON.

JSON is taken as it is. An Avro record becomes the JSON of its fields; its images, which follow the order of `fields`,
become objects by column name. Where they do not fit the fields (other lengths, one name twice) they stay lists.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from functools import cached_property
from json.encoder import encode_basestring as quote
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.json_messages import EXPECTED, Record, Unreadable, parse_message
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.avro_binary import (
    AvroRefused,
    Reader,
    compile_reader,
    last_name,
    read_items,
    union_reader,
)
from cdc_contracts.registry.core.message.avro_images import NONE, NULL, image_readers, to_datum
from cdc_contracts.registry.core.message.framed_values import FramedValues, frame_reading, framed_values
from cdc_contracts.registry.core.message.text_images import TextImages
from cdc_contracts.registry.core.writer_schemas.writer_schemas import EXPECTED_FRAMED

EXPECTED_RECORD: Final = "one Avro record"
_FRAME: Final = 5
_MOST_FIELDS: Final = 1024
_BROKEN: Final = (IndexError, AvroRefused, UnicodeDecodeError, struct.error, OverflowError, RecursionError)


class JsonTransport:
    """Values that are JSON texts, or records behind the id of their schema whose JSON `framed` writes.

    `text_images` opens images that are texts themselves, where a version has such.
    """

    expected = EXPECTED
    transport = "json"

    def __init__(
        self, reading_options: ReadingOptions, framed: FramedValues | None = None, text_images: TextImages | None = None
    ) -> None:
        self._reading_options, self._framed, self.text_images = reading_options, framed, text_images

    def text_of(self, value: bytes, key: bytes | None = None) -> bytes:
        """Return the JSON text of a value, with the row that only its key holds.

        Raises Unreadable if its frame names no schema that fits it.
        """
        if self._framed is not None:
            try:
                value = self._framed.text_of(value)
            except Unreadable as error:
                raise Unreadable(error.cause, error.observed, EXPECTED_FRAMED) from error
        return value if self.text_images is None else self.text_images.open(value, key)

    def parse(self, text: bytes) -> dict[str, Any]:
        """Return the message of a JSON text. Raises Unreadable where it holds none.

        What stands for the block of a writer schema becomes that block.
        """
        options = self._reading_options
        message = parse_message(text, max_bytes=options.max_bytes, strict=options.strict_json)
        return message if options.schemas is None else options.schemas.with_block(message)

    def open(self, value: bytes, key: bytes | None = None) -> dict[str, Any]:
        """Return the message of a value, with the row that only its key holds. Raises Unreadable as `text_of`."""
        return self.parse(self.text_of(value, key))

    def read_sent(self, value: bytes) -> dict[str, Any]:
        """Return the message of a value without a frame as it is sent, its images not opened. Raises as `parse`."""
        return self.parse(value)

    def write(self, text: str) -> bytes:
        """Return the value that holds a JSON text."""
        return (text if self.text_images is None else self.text_images.close(text)).encode()


class AvroTransport:
    """Values that are Avro records of one of the reader schemas, bare or behind the frame of a schema registry.

    `fields` is the member with the columns, `images` are those with a value for each; `digits` those that a part of a
    second has. `order` has the places of the schemas in the order they are tried: the one that fitted last is first.
    """

    expected = EXPECTED_RECORD
    transport = "avro"
    text_images = None

    def __init__(self, version: Version, reading_options: ReadingOptions) -> None:
        """Raise ContractError if a schema of the version cannot be read."""
        meaning = version.meaning
        if meaning.avro is None:
            raise ContractError("`transport: avro` needs `avro`", where=version.reference)
        self.most_bytes = reading_options.max_bytes
        self.digits = reading_options.second_digits(meaning.avro.fraction)
        self.framed = "confluent" in meaning.avro.framing
        self._names = meaning.avro.schemas
        columns = meaning.columns.types
        self.fields = columns.at[1:] if columns != "none" and columns.at else ""
        self.images = tuple(pointer[1:] for pointer in meaning.images.pointers())
        self.order = list(range(len(self._names)))
        self._version = version

    @cached_property
    def schemas(self) -> dict[str, Any]:
        """The parsed reader schemas by name, in the order they are tried."""
        import fastavro

        return {name: fastavro.parse_schema(self._version.read_json(name)) for name in self._names}

    @cached_property
    def _readers(self) -> list[Callable[[bytes, int], tuple[str, int]]]:
        special = image_readers(self.digits)
        return [RecordReader(schema, self.fields, self.images, special).read for schema in self.schemas.values()]

    def text_of(self, value: bytes) -> bytes:
        """Return the JSON of a record. Raises Unreadable where the value is none, or holds more than one.

        The schema that fitted last is tried first: of two schemas that differ in length one leaves bytes unread.
        """
        if len(value) > self.most_bytes:
            raise Unreadable("too-long", f"more than {self.most_bytes} bytes")
        if not value:
            raise Unreadable("empty", "an empty value")
        problem = "no record of the schema"
        for start in (0, _FRAME) if self.framed and value[0] == 0 else (0,):
            for place in self.order:
                try:
                    text, end = self._readers[place](value, start)
                except _BROKEN:
                    continue
                if end == len(value):
                    self.order = [place, *(other for other in self.order if other != place)]
                    return text.encode()
                problem = "bytes left unread"
        raise Unreadable("avro", problem)

    def parse(self, text: bytes) -> dict[str, Any]:
        """Return the message of such a text."""
        return Record(parse_message(text, max_bytes=len(text)))

    def open(self, value: bytes, _key: bytes | None = None) -> dict[str, Any]:
        """Return the message of a value. Raises Unreadable where it holds none."""
        return self.parse(self.text_of(value))

    def read_sent(self, value: bytes) -> dict[str, Any]:
        """Return the same: what is sent is a record."""
        return self.open(value)

    def write(self, text: str) -> bytes:
        """Return the record of the newest schema that a JSON text of this wire says, without a frame.

        Raises ValueError if the text holds what no record does.
        """
        import fastavro

        message = json.loads(text)
        schema = self.schemas[self._names[-1]]
        names = [field["name"] for field in message.get(self.fields) or ()]
        for image in self.images:
            values = message.get(image)
            if isinstance(values, dict):
                message[image] = [to_datum(values[name], self.digits) if name in values else NONE for name in names]
        known: dict[str, Any] = {}
        fastavro.parse_schema(schema, named_schemas=known)
        named = {last_name(name): name for name in known}
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, _with_names(message, named))
        return out.getvalue()


Transport = JsonTransport | AvroTransport


def open_transport(version: Version, reading_options: ReadingOptions) -> Transport:
    """Return how messages of a version are read from values."""
    if version.meaning.transport == "avro":
        return AvroTransport(version, reading_options)
    schemas = reading_options.schemas
    framed = None if schemas is None else framed_values(schemas, frame_reading(version.meaning))
    text_images = TextImages(version.meaning, reading_options) if version.meaning.images.are_texts else None
    return JsonTransport(reading_options, framed, text_images)


class RecordReader:
    """Reads the records of one schema as JSON text; remembers the columns of the record before."""

    def __init__(self, schema: Any, fields: str, images: tuple[str, ...], special: Any) -> None:
        named: dict[str, Reader] = {}
        self._parts: list[tuple[str, str, Reader]] = []
        self._known: dict[bytes, tuple[str, list[str]]] = {}
        self._latest = b""
        for field in schema["fields"]:
            name = field["name"]
            compiled = self._image if name in images else compile_reader
            reader = compiled(field["type"], named, special)
            self._parts.append((name, quote(name) + ":", reader))
        self._fields = fields
        self._columns: list[str] = []

    def read(self, data: bytes, at: int) -> tuple[str, int]:
        """Return the record that begins at a position as JSON, and the position behind it."""
        texts = []
        for name, head, reader in self._parts:
            if name == self._fields:
                text, at = self._read_fields(reader, data, at)
            else:
                text, at = reader(data, at)
            texts.append(head + text)
        return "{" + ",".join(texts) + "}", at

    def _read_fields(self, reader: Reader, data: bytes, at: int) -> tuple[str, int]:
        """Read the columns; mostly they are, byte for byte, those of the record before."""
        if self._latest and data.startswith(self._latest, at):
            text, self._columns = self._known[self._latest]
            return text, at + len(self._latest)
        text, end = reader(data, at)
        found = json.loads(text)
        columns = [quote(field["name"]) + ":" for field in found] if isinstance(found, list) else []
        if len(self._known) >= _MOST_FIELDS:
            self._known.clear()
        self._latest = data[at:end]
        self._known[self._latest] = (text, columns)
        self._columns = columns
        return text, end

    def _image(self, schema: Any, named: dict[str, Reader], special: Any) -> Reader:
        readers = [
            self._rows(compile_reader(branch["items"], named, special))
            if isinstance(branch, dict) and branch["type"] == "array"
            else compile_reader(branch, named, special)
            for branch in (schema if isinstance(schema, list) else [schema])
        ]
        return union_reader(readers)

    def _rows(self, value: Reader) -> Reader:
        null, none = quote(NULL), quote(NONE)

        def read(data: bytes, at: int) -> tuple[str, int]:
            texts, at = read_items(value, data, at)
            columns = self._columns
            if len(texts) != len(columns) or len(set(columns)) != len(columns):
                return "[" + ",".join(texts) + "]", at
            pairs = [
                name + ("null" if text == null else text) for name, text in zip(columns, texts, strict=True)
                if text != none
            ]  # fmt: skip
            return "{" + ",".join(pairs) + "}", at

        return read


def _with_names(value: Any, named: dict[str, str]) -> Any:
    if isinstance(value, tuple):
        return (named[value[0]], _with_names(value[1], named))
    if isinstance(value, list):
        return [_with_names(item, named) for item in value]
    if isinstance(value, dict):
        return {name: _with_names(item, named) for name, item in value.items()}
    return value
