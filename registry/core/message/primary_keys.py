"""Primary keys: the names of the key columns as a message states them, or as the key of its Kafka record does."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message, parse_value
from cdc_contracts.registry.core.common.json_structures import as_structure
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace, Place
from cdc_contracts.registry.core.values import Number

_BLANK: Final = b" \t\r\n"
_PAYLOAD: Final = "/payload"
BLOCK: Final = frozenset({"schema", "payload"})
"""The members of a key or a value that a converter writes beside its schema."""


def read_names(value: Any, place: Place | None) -> list[str] | None:
    """Return the key column names of a member; null means that there are none, absent that they are not stated."""
    if place is None or value is ABSENT:
        return None
    if value is None:
        return []
    if place.reading == "joined-u0001":
        return (value.split("\u0001") if value else []) if isinstance(value, str) else None
    if place.reading == "json-text-groups":
        value = _group_of(value, place.member)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return value
    return None


def _group_of(value: Any, member: str | None) -> Any:
    """Return one list out of a text that holds a JSON object of lists."""
    try:
        groups = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None
    return groups.get(member) if isinstance(groups, dict) else None


@lru_cache(1024)
def read_key_columns(key: bytes, place: KeyPlace) -> dict[str, Any] | None:
    """Return the members of the object at a place of a key, by the names of columns; None if there is no object.

    There is none either where a member that should be the JSON text of a value is not, or is missing. The result is
    shared, and must not be changed.
    """
    message = parse_key(key)
    found = ABSENT if message is None else follow(message, split_pointer(columns_at(message, place.at)))
    if not isinstance(found, dict):
        return None
    columns = {name: value for name, value in found.items() if name not in place.not_columns}
    for member, column in place.json_texts:
        value = _parse_value(columns.pop(member, None))
        if value is ABSENT:
            return None
        columns[column] = value
    return columns


def _parse_value(text: Any) -> Any:
    """Return the value of a JSON text; ABSENT if it holds none."""
    try:
        return parse_value(text.encode()) if isinstance(text, str) else ABSENT
    except Unreadable:
        return ABSENT


def parse_key(key: bytes) -> dict[str, Any] | None:
    """Return the members of a key; None if it is no JSON object."""
    if not key.lstrip(_BLANK).startswith(b"{"):
        return None  # quickly: whole topics may have other keys
    try:
        return parse_message(key)
    except Unreadable:
        return None


def columns_at(message: dict[str, Any], at: str) -> str:
    """Return where in a key the object of key columns is that a contract has at a pointer.

    Keys have a converter of their own: a schema block may be beside columns that should be the whole key, and missing
    beside those that should be its payload.
    """
    if not at and _has_block(message):
        return _PAYLOAD
    return "" if at == _PAYLOAD and message.keys().isdisjoint(BLOCK) else at


def _has_block(message: dict[str, Any]) -> bool:
    """Return whether a key is a schema block, or null in place of one, beside the columns."""
    return (
        message.keys() == BLOCK and isinstance(message["schema"], dict | None) and isinstance(message["payload"], dict)
    )


def are_alike(one: Any, other: Any) -> bool:
    """Return whether two parsed values are of one JSON kind and written alike; an integer has no sign at zero."""
    return _as_sent(one) == _as_sent(other)


def _as_sent(value: Any) -> tuple[type, str]:
    if isinstance(value, dict | list):
        value = as_structure(value)
    if isinstance(value, Number):
        return Number, "0" if value.token == "-0" else value.token  # noqa: S105  a JSON token
    return type(value), str(value)
