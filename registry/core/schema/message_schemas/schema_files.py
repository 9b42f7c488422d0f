"""Schema files of a version (`message.schema.json`, `message.avsc`): written from its contract, compared with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from json.encoder import encode_basestring as quote
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.core.common.atomic_files import write_whole
from cdc_contracts.registry.core.contract.catalogue import AVRO_MESSAGE_SCHEMA, MESSAGE_SCHEMA, Version
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema

_WIDTH: Final = 120
_STEP: Final = 2
_on_one_line: Final = json.JSONEncoder(ensure_ascii=False).encode


def message_files(version: Version) -> dict[str, str]:
    """Return the texts of a version's message schemas by file name. Raises ContractError if it is broken."""
    documents = {MESSAGE_SCHEMA: message_schema(version), AVRO_MESSAGE_SCHEMA: avro_message_schema(version)}
    return {name: lay_out(document) for name, document in documents.items()}


def stale_files(version: Version, *, missing: bool) -> dict[str, str]:
    """Return what the files of a version should hold and do not; with `missing` also those that are not there."""
    stale = {}
    for name, text in message_files(version).items():
        file = version.folder.joinpath(name)
        held = file.read_text(encoding="utf-8") if file.is_file() else None
        if held != text and (held is not None or missing):
            stale[name] = text
    return stale


def write_message_files(version: Version) -> list[Path]:
    """Write the message schemas of a version into its folder, each whole or not at all; return those that changed.

    Raises ContractError if the version is broken, UnavailableError if a file cannot be written.
    """
    written = []
    for name, text in stale_files(version, missing=True).items():
        file = Path(str(version.folder)) / name
        write_whole(file, text)
        written.append(file)
    return written


def lay_out(document: Any) -> str:
    """Return a JSON document as the text of a file."""
    return _write(document, 0, 0) + "\n"


def _write(value: Any, indent: int, before: int) -> str:
    """Return a value; `before` are the characters that stand before it on its line, or after it."""
    if isinstance(value, str):
        return quote(value)
    if not isinstance(value, dict | list) or not value:
        return _on_one_line(value)
    room = _WIDTH - indent - before
    if _room_after(value, room) >= 0 and len(line := _on_one_line(value)) <= room:
        return line
    inner = indent + _STEP
    if isinstance(value, list):
        items = [_write(item, inner, 1) for item in value]
        opening, closing = "[]"
    else:
        names = {f"{quote(name)}: ": item for name, item in value.items()}
        items = [name + _write(item, inner, len(name) + 1) for name, item in names.items()]
        opening, closing = "{}"
    between = ",\n" + " " * inner
    return f"{opening}\n{' ' * inner}{between.join(items)}\n{' ' * indent}{closing}"


def _room_after(value: Any, room: int) -> int:
    """Return how much of the room a value leaves at most; a negative number is enough to know of a long value."""
    if isinstance(value, dict):
        room -= sum(map(len, value)) + 6 * len(value)  # `"": ` and `, ` or two brackets
        items: Iterable[Any] = value.values()
    else:
        room -= 2 * len(value)
        items = value
    for item in items:
        if room < 0:
            break
        if isinstance(item, str):
            room -= len(item) + 2
        elif isinstance(item, dict | list):
            room = _room_after(item, room)
    return room
