"""Messages with something changed: the samples of a version, and other values in places of a parsed message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cdc_contracts.registry.forms import Number

ABSENT = object()


class Token(str):
    """JSON text that is written as it stands."""

    __slots__ = ()


@cache
def samples(version) -> list[bytes]:
    """Return the samples and drift samples of a version."""
    folder = Path(str(version.folder)) / "samples"
    files = [file for part in (folder, folder / "drift") for file in sorted(part.iterdir())]
    return [
        file.read_bytes()
        for file in files
        if file.suffix in (".json", ".bin", ".avro") and not file.name.endswith((".change.json", ".findings.json"))
    ]


def places(value: Any, parts: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every member of a message, those of objects in it too."""
    for name, below in value.items() if isinstance(value, dict) else ():
        yield (*parts, name)
        yield from places(below, (*parts, name))


def put(message: Any, parts: tuple[str | int, ...], token: Any) -> Any:
    """Return a message with a JSON text in one place; ABSENT takes the member away."""
    first, *rest = parts
    if isinstance(first, int):
        return [*message[:first], put(message[first], tuple(rest), token), *message[first + 1 :]]
    if rest:
        return {**message, first: put(message[first], tuple(rest), token)}
    others = {name: below for name, below in message.items() if name != first}
    return others if token is ABSENT else {**message, first: Token(token)}


def write(value: Any) -> str:
    """Return the JSON text of a message, every number as it was sent."""
    if isinstance(value, Number):
        return value.token
    if isinstance(value, Token):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{write(below)}" for name, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)
