"""Mutated messages: other values at places of a parsed message, and the resulting bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from cdc_contracts.registry.core.message.transport import Transport
from cdc_contracts.registry.core.values import Number


class Token(str):
    """JSON text that is written as it stands."""

    __slots__ = ()


class Members(list):
    """An object as a list of name and value, so that a name may stand twice; a name may be a Token."""


def get(message: Any, parts: Sequence[Any]) -> Any:
    for part in parts:
        if isinstance(message, dict):
            message = message.get(part)
        elif isinstance(message, list) and isinstance(part, int) and part < len(message):
            message = message[part]
        else:
            return None
    return message


def walk(value: Any, parts: tuple[Any, ...] = (), parent: Any = None) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Yield every place of a message with its parent and value, the message itself first."""
    yield parts, parent, value
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(below):
        yield from walk(item, (*parts, key), value)


def members(value: Any, parts: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every member of a message, those of objects in it too, but none within a list."""
    for name, below in value.items() if isinstance(value, dict) else ():
        yield (*parts, name)
        yield from members(below, (*parts, name))


Mutant = Callable[[], Any] | bytes
"""A message that is made when it is called, or bytes that are no message."""


def to_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    raw = to_json(value() if callable(value) else value).encode("utf-8", "surrogatepass")
    return raw.replace("\udcff".encode("utf-8", "surrogatepass"), b"\xff")


def to_json(value: Any) -> str:
    if isinstance(value, Token):
        return str(value)
    if isinstance(value, Number):
        return value.token
    if isinstance(value, Members):
        return "{" + ",".join(f"{to_json(name)}:{to_json(item)}" for name, item in value) + "}"
    if isinstance(value, dict):
        return to_json(Members(value.items()))
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def replaced(message: Any, parts: Sequence[Any], value: Any) -> Any:
    """Return a copy of a message with another value in one place; DROP takes the place away.

    An object on the way that is null becomes one that holds the place alone.
    """
    if not parts:
        return value
    if message is None:
        return {} if value is DROP else {parts[0]: replaced(None, parts[1:], value)}
    first, *rest = parts
    if isinstance(message, list):
        copy = list(message)
        copy[first] = replaced(message[first], rest, value)
        return [item for item in copy if item is not DROP]
    new = replaced(message.get(first), rest, value) if rest else value
    if new is DROP:
        return {name: item for name, item in message.items() if name != first}
    return {**message, first: new}


def put(message: Any, values: dict[tuple[Any, ...], Any]) -> Mutant:
    """Return a mutation that is carried out when it is asked for: few of those thought of are chosen."""
    return partial(reduce, lambda whole, place: replaced(whole, *place), values.items(), message)


DROP = object()
KINDS: dict[str, Any] = {
    "null": None, "true": True, "false": False, "integer": Number("7"), "fraction": Number("1.5"), "text": "x",
    "digits": "12", "empty text": "", "empty list": [], "empty object": {}, "list": [Number("1")],
    "object": {"a": Number("1")}, "list of null": [None], "list of object": [{}], "list of list": [[]],
}  # fmt: skip


def written(wire: Transport, mutant: Any) -> bytes | None:
    """Return the value that holds a mutated message; None where no record can."""
    if isinstance(mutant, bytes):
        return mutant
    text = to_bytes(mutant)
    if wire.transport == "json":
        return text
    try:
        return wire.write(text.decode())
    except Exception:  # noqa: BLE001  whatever keeps a mutation from being a record
        return None
