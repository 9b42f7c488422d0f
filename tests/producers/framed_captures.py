"""Framed captures: records that fastavro reads by the schemas of their registry, as a JSON converter writes them.

Nothing of the registry's reader is used here: what it has to find is known without it.
"""

from __future__ import annotations

import base64
import io
import json
import re
import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import fastavro
from producers.captures import Capture, Line, bytes_of
from producers.decoded_captures import payload_of

PLAIN = {
    "defaults-avro": "defaults-schema",
    "apicurio-avro": "defaults-schema",
    "headers-avro": "defaults-schema",
    "texts-avro": "texts",
    "doubles-avro": "doubles",
    "unwrapped-avro": "unwrapped",
}
"""The option set of JSON beside each of Avro: connectors are told the same but for names that Avro allows."""
CONFLUENT, APICURIO = struct.Struct(">BI"), struct.Struct(">BQ")
"""A byte 0, and the id of the schema in four bytes, or in eight as Apicurio's converter does by default."""
IN_HEADER = struct.Struct(">Q")
"""An id in a header of Apicurio; nothing is before the record then."""
ODD_NAMES, LEFT_OUT = "odd-Names", "a.b"
"""The table whose columns have names that Avro does not allow, and the one that its connectors leave out (`runs.yaml`)."""
OF_THE_RUN = frozenset({"ts_ms", "ts_us", "ts_ns", "__source_ts_ms", "source", "transaction", "databaseName"})
"""Members that say when and from where a message was read, and so differ each time."""
OF_ANY_RUN = ("version", "connector", "snapshot", "db", "schema", "table")
"""Those of `source` that do not."""


class RegisteredSchema(NamedTuple):
    """A schema of a registry, with its id and a subject that has it."""

    id: int
    subject: str
    schema: dict[str, Any]


def plain_of(capture: Capture) -> Capture:
    """Return the capture of the same run whose records are JSON."""
    return replace(capture, options=PLAIN[capture.options])


def registered_schemas(folder: Path) -> list[RegisteredSchema]:
    """Return the schemas of a folder that `registry dump` wrote, in the order of their ids."""
    found = []
    for line in (folder / "ids.lock").read_text(encoding="utf-8").splitlines()[1:]:
        number, position, *_ = line.split(" ")
        subject, _, version = position.rpartition("@")
        schema = json.loads((folder / "subjects" / subject / f"v{version}.avsc").read_bytes())
        found.append(RegisteredSchema(int(number), subject, schema))
    return found


def id_and_body(options: str, record: Line, name: str) -> tuple[int, bytes]:
    """Return the id of the schema of a key or value, and its bytes behind the frame.

    Raises AssertionError or struct.error if there is no such frame.
    """
    part = bytes_of(record[name])
    assert part is not None
    if options == "headers-avro":
        (header,) = (one for one in record["headers"] if one["name"] == f"apicurio.{name}.globalId")
        (number,) = IN_HEADER.unpack(bytes_of(header["value"]) or b"")
        return number, part
    frame = APICURIO if options == "apicurio-avro" else CONFLUENT
    zero, number = frame.unpack_from(part)
    assert zero == 0
    return number, part[frame.size :]


def read_whole(body: bytes, schema: dict[str, Any]) -> Any:
    """Return a record of Avro as Avro's own types: those of logical types are off.

    Raises AssertionError if bytes are behind it.
    """
    stream = io.BytesIO(body)
    held = fastavro.schemaless_reader(stream, _without_logical_types(schema))
    assert stream.tell() == len(body)
    return held


def messages_of_framed(options: str, records: Iterable[Line], folder: Path) -> dict[str, list[Any]]:
    """Return the keys and messages of framed records by their topics without the prefix, as `messages_of_json` does.

    `folder` has their schemas. Raises as `id_and_body` and `read_whole` do, and KeyError for an id without a schema.
    """
    schemas = {one.id: one.schema for one in registered_schemas(folder)}
    found = defaultdict(list)
    for record in records:
        held = []
        for name in ("key", "value"):
            if record[name] is None:
                held.append(None)
            else:
                number, body = id_and_body(options, record, name)
                held.append(_kept(_as_json(read_whole(body, schemas[number]))))
        found[_topic(record)].append(held)
    return dict(found)


def messages_of_json(records: Iterable[Line]) -> dict[str, list[Any]]:
    """Return the keys and messages of JSON records by their topics without the prefix, without what differs by run.

    Columns have names that Avro allows. The text null is no message either.
    """
    found = defaultdict(list)
    for record in records:
        topic = _topic(record)
        parts = (bytes_of(record[name]) for name in ("key", "value"))
        held = [_kept(None if part is None else payload_of(part)) for part in parts]
        found[topic].append([_adjusted(one) for one in held] if topic.endswith(ODD_NAMES) else held)
    return dict(found)


def unlike(framed: Any, plain: Any, place: str = "") -> list[tuple[str, Any, Any]]:
    """Return the places where a framed message has another value than the JSON one, with both values.

    JSON has a number of single precision as the shortest text that names it, and NaN and infinities as texts.
    """
    if isinstance(framed, dict) and isinstance(plain, dict):
        absent = object()
        return [
            one
            for name in sorted(framed.keys() | plain.keys())
            for one in unlike(framed.get(name, absent), plain.get(name, absent), f"{place}/{name}")
        ]
    if isinstance(framed, list) and isinstance(plain, list) and len(framed) == len(plain):
        return [one for n, pair in enumerate(zip(framed, plain, strict=True)) for one in unlike(*pair, f"{place}/{n}")]
    if isinstance(framed, float) and isinstance(plain, float | int | str):
        number = float(plain)
        alike = struct.pack(">d", framed) == struct.pack(">d", number) or framed == _single(number)
        return [] if alike else [(place, framed, plain)]
    return [] if type(framed) is type(plain) and framed == plain else [(place, framed, plain)]


def _single(number: float) -> float | None:
    try:
        (single,) = struct.unpack(">f", struct.pack(">f", number))
    except OverflowError:
        return None
    return single


def _topic(record: Line) -> str:
    return record["topic"].partition(".")[2]


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logical_types(one) for one in schema]
    if isinstance(schema, dict):
        return {name: _without_logical_types(one) for name, one in schema.items() if name != "logicalType"}
    return schema


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _as_json(one) for name, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, list) else value


def _adjusted(value: Any) -> Any:
    if isinstance(value, list):
        return [_adjusted(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {adjusted_name(name): _adjusted(one) for name, one in value.items() if name != LEFT_OUT}


def adjusted_name(name: str) -> str:
    """Return a name with `_` for each character that Avro does not allow, and before a first digit."""
    return re.sub(r"^(?=[0-9])|[^A-Za-z0-9_]", "_", name)


def _kept(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    kept = {name: value for name, value in message.items() if name not in OF_THE_RUN}
    source = message.get("source")
    return kept | ({"source": {name: source.get(name) for name in OF_ANY_RUN}} if source else {})
