"""Schema headers: headers of a Kafka record that name the schema of its value or key, as the frame that says the same.

A record whose header names its schema has no frame. With that frame put in front of it, it is read like any other.
Names and bytes are those of Confluent's clients (`io.confluent.kafka.serializers.schema.id.SchemaId`, release 8)
and of Apicurio Registry's (`io.apicurio.registry.serde.kafka.headers.KafkaSerdeHeaders`, 2 and 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.writer_schemas.writer_schemas import (
    BY_GLOBAL_ID,
    BY_GUID,
    NUMBERED,
    SHORT,
    WITH_GUID,
    frame_of,
)

Part = Literal["value", "key"]
"""What of a record a header is about."""
PARTS: Final[tuple[Part, ...]] = ("value", "key")
Header = tuple[str, bytes | None]
CAUSE: Final = "schema-header"
_LONG_ID: Final = 8
_BINARY: Final = b"BINARY"


def _read_id(name: str, content: bytes) -> bytes:
    """Return the frame of an id or GUID as Confluent's clients write it: with the first byte of a frame."""
    if (len(content), content[:1]) not in ((SHORT, NUMBERED), (WITH_GUID, BY_GUID)):
        raise _refuse(name, f"{len(content)} bytes that are neither 0 and an id of four nor 1 and a GUID of sixteen")
    if content[:1] == NUMBERED and not any(content):
        raise _refuse(name, "the id 0, which no schema has")
    return content


def _read_global_id(name: str, content: bytes) -> bytes:
    return BY_GLOBAL_ID + _read_long_id(name, content)[1:]


def _read_long_id(name: str, content: bytes) -> bytes:
    """Return the frame of an id of eight bytes. Ids of registries begin with 1 and have 31 bits."""
    if len(content) != _LONG_ID:
        raise _refuse(name, f"{len(content)} bytes, and an id has {_LONG_ID}")
    number = int.from_bytes(content, "big", signed=True)
    if not 0 < number < 2**31:
        raise _refuse(name, f"the id {number}, which no schema has")
    return NUMBERED + number.to_bytes(SHORT - 1, "big")


def _check_encoding(name: str, content: bytes) -> bytes:
    if content != _BINARY:
        raise _refuse(name, "an encoding other than BINARY, which is not read")
    return b""


def _refuse(name: str, what: str) -> Unreadable:
    return Unreadable(CAUSE, f"header {name}: {what}")


_READERS: Final[Mapping[str, Callable[[str, bytes], bytes]]] = {
    "__{}_schema_id": _read_id,
    "apicurio.{}.globalId": _read_global_id,
    "apicurio.{}.contentId": _read_long_id,
    "apicurio.{}.encoding": _check_encoding,
}
_NAMED_BY_PLACE: Final = "apicurio.{}.artifactId"
"""Of a record without an id: its schema is named by group, artifact and version."""
_BY_PART: Final = {part: {name.format(part): read for name, read in _READERS.items()} for part in PARTS}
NAMES: Final = {part: (*_BY_PART[part], _NAMED_BY_PLACE.format(part)) for part in _BY_PART}
"""The names of headers that say by which schema a part of a record is read."""


def frame_in(headers: Iterable[Header], part: Part = "value") -> bytes:
    """Return the frame that headers stand for in front of the value or key of their record; nothing if they name none.

    A header without a value is none, and what several say alike is said once, as clients read it. Raises Unreadable if
    one is not as it should be, or they name different schemas: clients take the first or the last.
    """
    frames: dict[bytes, str] = {}
    by_place = ""
    for name, content in headers:
        if content is None:
            continue
        if name in _BY_PART[part]:
            frames.setdefault(_BY_PART[part][name](name, content), name)
        elif name == _NAMED_BY_PLACE.format(part):
            by_place = name
    frames.pop(b"", None)
    if len(frames) > 1:
        named = ", ".join(f"{name} {_number(frame)}" for frame, name in frames.items())
        raise Unreadable(CAUSE, f"headers that name different schemas: {named}")
    if by_place and not frames:
        raise _refuse(by_place, "a schema that is named by its artifact, and schemas are read by id")
    return next(iter(frames), b"")


def frame_or_none(headers: Iterable[Header]) -> bytes | None:
    """Return the frame in front of a value as `frame_in` does, None where headers cannot be read."""
    try:
        return frame_in(headers)
    except Unreadable:
        return None


def put_frames(value: bytes | None, key: bytes | None, headers: Iterable[Header]) -> tuple[bytes | None, bytes | None]:
    """Return a value and a key behind the frames that the headers of their record stand for.

    Raises Unreadable as `frame_in` for the value; a key whose headers cannot be read is empty, as one in a batch is.
    """
    held = list(headers)
    if key is not None:
        try:
            key = frame_in(held, "key") + key
        except Unreadable:
            key = b""
    return (None if value is None else frame_in(held) + value), key


def _number(frame: bytes) -> Any:
    found = frame_of(frame)
    return None if found is None else found.number
