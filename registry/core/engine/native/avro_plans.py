"""Avro plans: the reader schemas of a version as the program that `avro_reader.c` reads records by."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from json.encoder import encode_basestring as quote
from typing import Any, Final

import numpy as np

from cdc_contracts.registry.core.engine.native.value_index import NAMED
from cdc_contracts.registry.core.message.avro_binary import last_name
from cdc_contracts.registry.core.message.avro_images import IMAGE_RECORDS, codec_of
from cdc_contracts.registry.core.message.framed_values import FramedMember

(
    _NULL, _BOOLEAN, _LONG, _DOUBLE, _STRING, _BYTES, _ENUM, _ARRAY, _MAP, _UNION, _RECORD, _COLUMNS, _COLUMN_NAME,
    _IMAGE, _INTEGER, _CHARACTER, _DECIMAL, _FLOAT, _TIMESTAMP, _DATETIME, _ZONED, _TEXT, _BINARY,
    _SMALL, _FIXED, _WORD, _REST,
) = range(27)  # fmt: skip
_PLAIN: Final = {
    "null": _NULL, "boolean": _BOOLEAN, "int": _LONG, "long": _LONG, "double": _DOUBLE, "string": _STRING,
    "bytes": _BYTES, "float": _SMALL,
}  # fmt: skip
_KINDS: Final = (
    _INTEGER, _CHARACTER, _DECIMAL, _FLOAT, _TIMESTAMP, _DATETIME, _ZONED, _TEXT, _TEXT, _BINARY, _BINARY,
)  # fmt: skip
_NAMED: Final = dict(zip(NAMED, _KINDS, strict=True))
_CHARSETS: Final = (
    "utf8mb4", "utf8", "utf-8", "utf8mb3", "gbk", "latin1", "ascii", "gb18030", "gb2312", "big5", "cp1250", "cp1251",
    "cp1252", "cp1256", "cp1257", "cp850", "cp852", "cp866", "cp932", "euckr", "greek", "hebrew", "koi8-r", "koi8-u",
    "latin2", "latin5", "latin7", "macroman", "sjis", "tis620", "ujis", "iso-8859-1", "iso8859-1", "us-ascii",
)  # fmt: skip
"""Charsets whose texts are read, those of several bytes a letter where all of a text are of one byte."""
_MOST_BRANCHES: Final = 64
_MOST_NODES: Final = 4096
"""Of one schema."""
_MOST_FIXED: Final = 2**31 - 1
_UTF_8: Final = -1
_NOT_SURE: Final = -1


class NoAvroPlan(Exception):
    """The native reader cannot read records of these schemas."""


@dataclass
class AvroPlan:
    """Nodes of three numbers as `avro.h` has them, the nodes and words that they name, and the words."""

    nodes: list[list[int]] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    words: list[bytes] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    _named: dict[str, int] = field(default_factory=dict)
    _schemas: dict[str, Any] = field(default_factory=dict)
    _first: int = 0
    """Nodes before those of the schema that is added."""

    def add_schema(self, schema: Mapping[str, Any], fields: str, images: Sequence[str]) -> None:
        """Add a reader schema, a record. `fields` is the member with the columns of the members in `images`.

        Raises NoAvroPlan.
        """
        self._named, self._schemas = {}, {}
        self._find_named(schema)
        names = [one["name"] for one in schema["fields"]]
        if fields not in names or any(names.index(image) < names.index(fields) for image in images if image in names):
            raise NoAvroPlan
        members = []
        for one in schema["fields"]:
            if one["name"] == fields:
                node = self._add_node(_COLUMNS, self._add_columns(one["type"]))
            elif one["name"] in images:
                node = self._add_images(one["type"])
            else:
                node = self._add(one["type"])
            members.append((one["name"], node))
        self.roots.append(self._add_record(members))

    def add_writer_schema(self, schema: Any, members: Sequence[FramedMember]) -> int:
        """Add the schema of a writer, of any type, and return which of the program it is; None is for values of JSON.

        If there are `members`, a value is written as a message of them. Raises NoAvroPlan.
        """
        self._named, self._schemas, self._first = {}, {}, len(self.nodes)
        for one in [member.schema for member in members if member.text is None] or [schema]:
            self._find_named(one)
        nodes = [
            self._add_node(_WORD, self._add_word(one.text)) if one.text is not None else self._add_values(one.schema)
            for one in members
        ]
        named = [(one.name, node) for one, node in zip(members, nodes, strict=True)]
        self.roots.append(self._add_record(named) if named else self._add_values(schema))
        return len(self.roots) - 1

    def _add_values(self, schema: Any) -> int:
        return self._add_node(_REST) if schema is None else self._add(schema)

    def _find_named(self, schema: Any) -> None:
        """Record the types that have a name: other types may refer to them."""
        if isinstance(schema, list):
            for branch in schema:
                self._find_named(branch)
        elif isinstance(schema, dict):
            if schema["type"] in ("record", "enum", "fixed"):
                self._schemas[schema["name"]] = schema
            for below in (*schema.get("fields", ()), schema):
                for part in ("type", "items", "values"):
                    if isinstance(below.get(part), list | dict):
                        self._find_named(below[part])

    def _add(self, schema: Any) -> int:
        if isinstance(schema, list):
            return self._add_union([self._add(branch) for branch in schema])
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, dict | list):
            return self._add(kind)
        if kind in _PLAIN:
            return self._add_node(_PLAIN[kind])
        if isinstance(schema, str):
            return self._add_named(schema)
        match kind:
            case "array":
                return self._add_node(_ARRAY, self._add(schema["items"]))
            case "map":
                return self._add_node(_MAP, self._add(schema["values"]))
            case "record" | "enum" | "fixed":
                return self._add_named(schema["name"])
        raise NoAvroPlan

    def _add_named(self, name: str) -> int:
        if name in self._named:
            return self._named[name]
        if name not in self._schemas:
            raise NoAvroPlan
        schema, own = self._schemas[name], last_name(name)
        node = self._named[name] = self._add_node(_NULL)
        if schema["type"] == "enum":
            words = [quote(symbol).encode() for symbol in schema["symbols"]]
            if len(words) > _MOST_NODES or any(b"\\" in word for word in words):
                raise NoAvroPlan
            self.nodes[node] = [_ENUM, len(self.words), len(words)]
            self.words += words
        elif schema["type"] == "fixed":
            if not 0 <= schema["size"] <= _MOST_FIXED:
                raise NoAvroPlan
            self.nodes[node] = [_FIXED, schema["size"], 0]
        elif own in IMAGE_RECORDS:
            word = self._add_word(f'"{own} ') if _NAMED[own] in (_TEXT, _BINARY) else 0
            self.nodes[node] = [_NAMED[own], word, NAMED.index(own) + 1]
        else:
            self._add_record([(one["name"], self._add(one["type"])) for one in schema["fields"]], node)
        return node

    def _add_columns(self, schema: Any) -> int:
        """Add the member with the columns: of the records in its arrays the name is one of a column."""
        if isinstance(schema, list):
            return self._add_union([self._add_columns(branch) for branch in schema])
        if not isinstance(schema, dict) or schema["type"] != "array":
            return self._add(schema)
        items = schema["items"]
        record = self._schemas.get(items["name"] if isinstance(items, dict) else items)
        if record is None or record["type"] != "record" or last_name(record["name"]) in IMAGE_RECORDS:
            raise NoAvroPlan
        members = [
            (one["name"], self._add_node(_COLUMN_NAME) if one["name"] == "name" else self._add(one["type"]))
            for one in record["fields"]
        ]
        if not any(one["name"] == "name" and one["type"] == "string" for one in record["fields"]):
            raise NoAvroPlan
        return self._add_node(_ARRAY, self._add_record(members))

    def _add_images(self, schema: Any) -> int:
        branches = schema if isinstance(schema, list) else [schema]
        return self._add_union([
            self._add_node(_IMAGE, self._add(branch["items"]))
            if isinstance(branch, dict) and branch["type"] == "array"
            else self._add(branch)
            for branch in branches
        ])  # fmt: skip

    def _add_union(self, nodes: Sequence[int]) -> int:
        if len(nodes) > _MOST_BRANCHES:
            raise NoAvroPlan
        self.links += nodes
        return self._add_node(_UNION, len(self.links) - len(nodes), len(nodes))

    def _add_record(self, members: Sequence[tuple[str, int]], node: int | None = None) -> int:
        links = []
        for place, (name, below) in enumerate(members):
            links += [self._add_word(("," if place else "{") + quote(name) + ":"), below]
        node = self._add_node(_RECORD) if node is None else node
        self.nodes[node] = [_RECORD, len(self.links), len(members)]
        self.links += links
        return node

    def _add_word(self, text: str) -> int:
        self.words.append(text.encode())
        return len(self.words) - 1

    def _add_node(self, kind: int, first: int = 0, second: int = 0) -> int:
        if len(self.nodes) - self._first >= _MOST_NODES:
            raise NoAvroPlan
        self.nodes.append([kind, first, second])
        return len(self.nodes) - 1


class AvroProgram:
    """A plan as the library reads it."""

    def __init__(self, library: Any, plan: AvroPlan, digits: int) -> None:
        """Raise NoAvroPlan where the library does not take it."""
        words = list(plan.words)
        charsets: list[tuple[int, int]] = []
        pages: list[list[int]] = []
        for name, page in _find_charsets():
            charsets.append((len(words), _UTF_8 if page is None else len(pages)))
            words.append(name)
            pages += [] if page is None else [page]
        ends = np.cumsum([0, *map(len, words)]).astype(np.int32)
        self._arrays = [
            np.array(numbers, np.int32)
            for numbers in (plan.nodes, plan.links, ends, plan.roots, charsets, pages)
        ]  # fmt: skip
        self._text = np.frombuffer(b"".join(words), np.uint8)
        nodes, links, starts, roots, sets, page_points = (array.ctypes.data for array in self._arrays)
        self._program = library.structures["AvroProgram"](
            nodes, links, starts, self._text.ctypes.data, roots, sets, page_points, len(plan.nodes),
            len(plan.links), len(words), len(plan.roots), len(charsets), len(pages), digits, len(self._text),
        )  # fmt: skip
        if not library.cdc_is_avro_program(self.address):
            raise NoAvroPlan

    @property
    def address(self) -> int:
        """Where the program is; it stays there as long as this object does."""
        return ctypes.addressof(self._program)


@cache
def _find_charsets() -> tuple[tuple[bytes, list[int] | None], ...]:
    """Return charsets by the names they are written with: the characters of one byte, or None for UTF-8."""
    found: list[tuple[bytes, list[int] | None]] = []
    for name in _CHARSETS:
        codec = codec_of(name)
        if codec is None:
            continue
        page = None if codec == "utf-8" else [_decode_byte(byte, codec) for byte in range(256)]
        found += [(spelled.encode(), page) for spelled in (name, name.upper())]
    return tuple(found)


def _decode_byte(byte: int, codec: str) -> int:
    try:
        text = bytes([byte]).decode(codec)
    except UnicodeDecodeError:
        return _NOT_SURE
    return ord(text) if len(text) == 1 else _NOT_SURE
