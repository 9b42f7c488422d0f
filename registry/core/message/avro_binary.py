"""Avro binary read in one pass: a schema is compiled to functions that write the JSON of what they read.

Each reader takes the bytes and a position, and returns JSON text and the position after it. A general reader that
makes Python objects first takes several times as long, and most of what it makes would be thrown away.
"""

from __future__ import annotations

import math
import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring as quote
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import ContractError

Reader = Callable[[bytes, int], tuple[str, int]]
_LONGEST_VARINT: Final = 63
_read_double = struct.Struct("<d").unpack_from
_FLOAT: Final = struct.Struct("<f")
_read_float = _FLOAT.unpack_from
_WORDS: Final[Mapping[str, str]] = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
_MOST_EMPTY: Final = 2**16
"""Items of a block that may be of no bytes."""
_MOST_DIGITS: Final = 9
"""Digits that tell any two floats apart."""


class AvroRefused(Exception):
    """The bytes are no record of the schema."""


def read_long(data: bytes, at: int) -> tuple[int, int]:
    """Return an int or long. Raises IndexError at the end of the bytes, AvroRefused where it is too long."""
    byte = data[at]
    at += 1
    if byte < 128:  # noqa: PLR2004  one byte, as most are
        return (byte >> 1) ^ -(byte & 1), at
    value, shift = byte & 127, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004
            return (value >> 1) ^ -(value & 1), at
        shift += 7
        if shift > _LONGEST_VARINT:
            raise AvroRefused


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Return a bytes value. Raises AvroRefused where it reaches over the end."""
    length = data[at]
    if length < 128 and not length & 1:  # noqa: PLR2004  one byte, as most lengths are
        length >>= 1
        at += 1
    else:
        length, at = read_long(data, at)
    end = at + length
    if length < 0 or end > len(data):
        raise AvroRefused
    return data[at:end], end


def read_text(data: bytes, at: int) -> tuple[str, int]:
    """Return a string. Raises AvroRefused where it reaches over the end, UnicodeDecodeError if it is not UTF-8."""
    value, at = read_bytes(data, at)
    return value.decode(), at


def read_branch(data: bytes, at: int, total: int) -> tuple[int, int]:
    """Return the index of a branch of a union. Raises AvroRefused where there is no such branch."""
    branch, at = read_long(data, at)
    if not 0 <= branch < total:
        raise AvroRefused
    return branch, at


def read_double(data: bytes, at: int) -> tuple[float, int]:
    """Return a double. Raises struct.error at the end of the bytes."""
    return _read_double(data, at)[0], at + 8


def compile_reader(schema: Any, named: dict[str, Reader], special: Mapping[str, Reader]) -> Reader:
    """Return the reader of a parsed schema; `special` has readers for types that are written in their own way.

    Raises ContractError if the schema holds a type that no record on the wire has.
    """
    if isinstance(schema, list):
        return union_reader([compile_reader(branch, named, special) for branch in schema])
    kind = schema["type"] if isinstance(schema, dict) else schema
    if not isinstance(schema, dict) and schema in named:
        return named[schema]
    if isinstance(kind, dict | list):
        return compile_reader(kind, named, special)
    if kind in _PLAIN:
        return special.get(kind, _PLAIN[kind])
    return _compile_complex(schema, named, special)


def _compile_complex(schema: Any, named: dict[str, Reader], special: Mapping[str, Reader]) -> Reader:
    kind = schema["type"] if isinstance(schema, dict) else schema
    match kind:
        case "array":
            return _array(compile_reader(schema["items"], named, special))
        case "map":
            return _map(compile_reader(schema["values"], named, special))
        case "enum":
            named[schema["name"]] = reader = _enum(schema["symbols"])
            return reader
        case "fixed":
            named[schema["name"]] = reader = _fixed(schema["size"])
            return reader
        case "record":
            own = special.get(last_name(schema["name"]))
            if own is None:
                return _record(schema, named, special)
            for field in schema["fields"]:  # names inside it may be used further on
                compile_reader(field["type"], named, special)
            named[schema["name"]] = own
            return own
    raise ContractError(f"records cannot contain Avro {kind}")


def last_name(name: str) -> str:
    """Return a name without its namespace."""
    return name.rpartition(".")[2]


def _record(schema: Mapping[str, Any], named: dict[str, Reader], special: Mapping[str, Reader]) -> Reader:
    fields: list[tuple[str, Reader]] = []

    def read(data: bytes, at: int) -> tuple[str, int]:
        parts = []
        for name, reader in fields:
            text, at = reader(data, at)
            parts.append(name + text)
        return "{" + ",".join(parts) + "}", at

    named[schema["name"]] = read
    fields += [
        (quote(field["name"]) + ":", compile_reader(field["type"], named, special)) for field in schema["fields"]
    ]
    return read


def union_reader(branches: list[Reader]) -> Reader:
    """Return the reader of a union of types that have these readers."""
    total = len(branches)
    by_byte = {2 * place: branch for place, branch in enumerate(branches)}  # the byte of an index below 64

    def read(data: bytes, at: int) -> tuple[str, int]:
        branch = by_byte.get(data[at])
        if branch is not None:
            return branch(data, at + 1)
        place, at = read_branch(data, at, total)
        return branches[place](data, at)

    return read


def _enum(symbols: list[str]) -> Reader:
    quoted = [quote(symbol) for symbol in symbols]

    def read(data: bytes, at: int) -> tuple[str, int]:
        place, at = read_long(data, at)
        if not 0 <= place < len(quoted):
            raise AvroRefused
        return quoted[place], at

    return read


def read_items(reader: Reader, data: bytes, at: int) -> tuple[list[str], int]:
    """Return the texts of the items of an array."""
    items: list[str] = []
    while True:
        count, at = read_long(data, at)
        if not count:
            return items, at
        if count < 0:  # then the size of the block follows
            count, (_, at) = -count, read_long(data, at)
        if count > len(data) + _MOST_EMPTY:
            raise AvroRefused
        for _ in range(count):
            text, at = reader(data, at)
            items.append(text)


def _array(items: Reader) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        texts, at = read_items(items, data, at)
        return "[" + ",".join(texts) + "]", at

    return read


def _map(values: Reader) -> Reader:
    def entry(data: bytes, at: int) -> tuple[str, int]:
        name, at = read_text(data, at)
        text, at = values(data, at)
        return f"{quote(name)}:{text}", at

    def read(data: bytes, at: int) -> tuple[str, int]:
        texts, at = read_items(entry, data, at)
        return "{" + ",".join(texts) + "}", at

    return read


def _fixed(size: int) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        if at + size > len(data):
            raise AvroRefused
        return quote(b64encode(data[at : at + size]).decode()), at + size

    return read


def _null(_data: bytes, at: int) -> tuple[str, int]:
    return "null", at


def _boolean(data: bytes, at: int) -> tuple[str, int]:
    return ("true" if data[at] else "false"), at + 1


def _long(data: bytes, at: int) -> tuple[str, int]:
    value, at = read_long(data, at)
    return str(value), at


def _double(data: bytes, at: int) -> tuple[str, int]:
    value, at = read_double(data, at)
    return (repr(value) if math.isfinite(value) else quote(repr(value))), at


def _float(data: bytes, at: int) -> tuple[str, int]:
    value = _read_float(data, at)[0]
    return (_shortest(value) if math.isfinite(value) else _WORDS[repr(value)]), at + 4


def read_java_double(data: bytes, at: int) -> tuple[str, int]:
    """Read a double; one that is not finite becomes the text that Java writes of it."""
    value, at = read_double(data, at)
    return (repr(value) if math.isfinite(value) else _WORDS[repr(value)]), at


def _shortest(value: float) -> str:
    """Return the fewest digits that are read as the same float, as Java writes it."""
    digits = (f"{value:.{length}e}" for length in range(_MOST_DIGITS))
    return next(repr(float(text)) for text in digits if _as_float(float(text)) == value)


def _as_float(value: float) -> float:
    try:
        found: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.inf
    return found


def _text(data: bytes, at: int) -> tuple[str, int]:
    value, at = read_text(data, at)
    return quote(value), at


def _bytes(data: bytes, at: int) -> tuple[str, int]:
    value, at = read_bytes(data, at)
    return quote(b64encode(value).decode()), at


_PLAIN: Final[Mapping[str, Reader]] = {
    "null": _null, "boolean": _boolean, "int": _long, "long": _long, "double": _double, "string": _text,
    "bytes": _bytes, "float": _float,
}  # fmt: skip
