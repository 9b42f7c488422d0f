"""Avro images: each value, a record, is written as one text, its name first, so that no kind is lost.

`Integer 42`, `Character red apple`, `DateTime 2024-05-06 12:53:20.5`, `Timestamp 1715000000.012345`,
`BinaryObject amc=`: the value forms `avro-*` read them. A value that its record does not hold as it should (bytes
that are not in the charset, a fraction beyond the unit) has `!` after the name, and no form takes it.
"""

from __future__ import annotations

import codecs
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from json.encoder import encode_basestring as quote
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.core.message.avro_binary import (
    AvroRefused,
    Reader,
    read_bytes,
    read_double,
    read_long,
    read_text,
)

NULL: Final = "NULL"
NONE: Final = "NONE"
# Names of charsets as MySQL and Java write them, where Python has another or means another.
_CODECS: Final[Mapping[str, str]] = MappingProxyType({
    "utf8mb4": "utf-8", "utf8mb3": "utf-8", "utf8": "utf-8", "latin1": "cp1252", "ucs2": "utf-16-be",
    "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be", "binary": "", "swe7": "",
    "koi8r": "koi8-r", "koi8u": "koi8-u", "hp8": "hp-roman8", "macce": "mac-latin2",
})  # fmt: skip
_LATIN1: Final = "latin1"
_HOLES: Final = "cdc-contracts-latin1"
"""How MySQL fills what cp1252 leaves undefined: its latin1 has the control character of the same number there."""
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""Codecs of Python that no database has: some make half characters of plain letters."""
_LONGEST_NAME: Final = 64
_INT: Final = 2
"""The byte before a part of a DateTime that is present."""
_PARTS: Final = ("year", "month", "day", "hour", "minute", "second", "millis")


def image_readers(digits: int) -> Mapping[str, Reader]:
    """Return the readers of image records by name; `digits` of a second are what their parts of one count."""

    def timestamp(data: bytes, at: int) -> tuple[str, int]:
        seconds, at = read_long(data, at)
        part, at = read_long(data, at)
        result = _fraction(part, digits)
        return ('"Timestamp! "' if result is None else f'"Timestamp {seconds}{result}"'), at

    def datetime(data: bytes, at: int) -> tuple[str, int]:
        text, at = _read_datetime(data, at, digits)
        return f'"DateTime{text}"', at

    def zoned(data: bytes, at: int) -> tuple[str, int]:
        text, at = _read_datetime(data, at, digits)
        zone, at = read_text(data, at)
        return quote(f"TimestampWithTimeZone{text} {zone}"), at

    return {**_READERS, "Timestamp": timestamp, "DateTime": datetime, "TimestampWithTimeZone": zoned}


def to_datum(text: str | None, digits: int) -> Any:
    """Return the value of an image as fastavro writes it: a record with its name, or a symbol.

    Raises ValueError if the text is none that a reader of images writes.
    """
    if text is None:
        return NULL
    name, _, rest = text.partition(" ")
    if name not in _WRITERS:
        raise ValueError(f"not a value of an image: {name}")
    return (name, _WRITERS[name](rest, digits))


def _fraction(part: int, digits: int) -> str | None:
    """Return a part of a second as a fraction without zeros at its end; None if it is a second or more."""
    if not part:
        return ""
    return f".{part:0{digits}d}".rstrip("0") if 0 < part < 10**digits else None


def _read_datetime(data: bytes, at: int, digits: int) -> tuple[str, int]:
    parts: list[int | None] = []
    for _ in _PARTS:
        branch = data[at]
        at += 1
        value: int | None = None
        if branch == _INT:
            byte = data[at]
            if byte < 128:  # noqa: PLR2004  one byte, as most parts are
                value = (byte >> 1) ^ -(byte & 1)
                at += 1
            else:
                value, at = read_long(data, at)
        elif branch:
            raise AvroRefused
        parts.append(value)
    year, month, day, hour, minute, second, part = parts
    sign = ""
    if (hour or 0) < 0 or (minute or 0) < 0 or (second or 0) < 0 or (part or 0) < 0:
        clock = [count for count in (hour, minute, second, part) if count]
        if clock[0] > 0:
            return "! ", at
        sign = "-"
        hour, minute, second, part = (count if count is None else abs(count) for count in (hour, minute, second, part))
    result = "" if not part else _fraction(part, digits)
    if result is None or (year or 0) < 0 or (month or 0) < 0 or (day or 0) < 0:
        return "! ", at
    text = ""
    if year is not None:
        text = f" {year:04d}" if month is None or day is None else f" {year:04d}-{month:02d}-{day:02d}"
    if hour is not None and minute is not None and second is not None:
        text += f" {sign}{hour:02d}:{minute:02d}:{second:02d}{result}"
    return text or "! ", at


def _skip_long(data: bytes, at: int) -> int:
    """Return the position after an int or long."""
    return at + 1 if data[at] < 128 else read_long(data, at)[1]  # noqa: PLR2004


def _integer(data: bytes, at: int) -> tuple[str, int]:
    at = _skip_long(data, at)
    value, at = read_text(data, at)
    return quote("Integer " + value), at


def _character(data: bytes, at: int) -> tuple[str, int]:
    charset, at = read_text(data, at)
    value, at = read_bytes(data, at)
    codec = codec_of(charset) if len(charset) <= _LONGEST_NAME else None
    try:
        if codec is not None:
            holes = _HOLES if charset.lower() == _LATIN1 else "strict"
            return quote("Character " + value.decode(codec, holes)), at
    except (LookupError, UnicodeDecodeError):
        pass
    return quote(f"Character! {charset} {b64encode(value).decode()}"), at


def _fill_hole(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.start + 1].decode("iso-8859-1"), error.start + 1


codecs.register_error(_HOLES, _fill_hole)


@lru_cache(256)
def codec_of(charset: str) -> str | None:
    """Return Python's name of a charset as databases write them; None if they have none of that name."""
    name = charset.lower()
    try:
        codec = codecs.lookup(_CODECS.get(name, name)).name
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        return None
    return None if codec in _NO_CHARSETS else codec


def _decimal(data: bytes, at: int) -> tuple[str, int]:
    value, at = read_text(data, at)
    return quote("Decimal " + value), _skip_long(data, _skip_long(data, at))


def _float(data: bytes, at: int) -> tuple[str, int]:
    value, at = read_double(data, at)
    return f'"Float {value!r}"', _skip_long(data, _skip_long(data, at))


def _of_text(name: str) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        _, at = read_text(data, at)
        value, at = read_text(data, at)
        return quote(f"{name} {value}"), at

    return read


def _of_bytes(name: str) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        _, at = read_text(data, at)
        value, at = read_bytes(data, at)
        return f'"{name} {b64encode(value).decode()}"', at

    return read


_READERS: Final[Mapping[str, Reader]] = {
    "Integer": _integer, "Character": _character, "Decimal": _decimal, "Float": _float,
    "TextGeometry": _of_text("TextGeometry"), "TextObject": _of_text("TextObject"),
    "BinaryGeometry": _of_bytes("BinaryGeometry"), "BinaryObject": _of_bytes("BinaryObject"),
}  # fmt: skip


def _write_decimal(text: str, _digits: int) -> dict[str, Any]:
    plain = text.lstrip("-")
    return {"value": text, "precision": len(plain.replace(".", "")), "scale": len(plain.partition(".")[2])}


def _write_datetime(text: str, digits: int) -> dict[str, Any]:
    result: dict[str, int | None] = dict.fromkeys(_PARTS)
    for half in text.split(" "):
        if ":" not in half:
            result |= zip(("year", "month", "day"), map(int, half.split("-")), strict=False)
            continue
        clock, _, fraction = half.partition(".")
        counts = dict(zip(("hour", "minute", "second"), map(int, clock.lstrip("-").split(":")), strict=True))
        counts |= {"millis": int(fraction.ljust(digits, "0"))} if fraction else {}
        first = next((name for name, count in counts.items() if count), "hour")
        result |= counts | ({first: -counts[first]} if clock.startswith("-") else {})
    return result


def _write_timestamp(text: str, digits: int) -> dict[str, Any]:
    whole, _, fraction = text.partition(".")
    return {"timestamp": int(whole), "millis": int(fraction.ljust(digits, "0") or 0)}


def _write_zoned(text: str, digits: int) -> dict[str, Any]:
    moment, _, zone = text.rpartition(" ")
    return {"value": _write_datetime(moment, digits), "timezone": zone}


_WRITERS: Final[Mapping[str, Callable[[str, int], dict[str, Any]]]] = {
    "Integer": lambda text, _: {"precision": 8, "value": text},
    "Character": lambda text, _: {"charset": "utf8mb4", "value": text.encode()},
    "Decimal": _write_decimal,
    "Float": lambda text, _: {"value": float(text), "precision": 64, "scale": 64},
    "Timestamp": _write_timestamp,
    "DateTime": _write_datetime,
    "TimestampWithTimeZone": _write_zoned,
    "TextGeometry": lambda text, _: {"type": "GEOMETRY", "value": text},
    "TextObject": lambda text, _: {"type": "TEXT", "value": text},
    "BinaryGeometry": lambda text, _: {"type": "GEOMETRY", "value": b64decode(text)},
    "BinaryObject": lambda text, _: {"type": "BLOB", "value": b64decode(text)},
}

IMAGE_RECORDS: Final = frozenset(_WRITERS)
"""The records that hold the values of images."""
