"""JSON structures: arrays and objects that are the value of a column, as JSON text without blanks.

Members keep their order, numbers their digits as sent; texts have characters in place of escapes.
"""

from __future__ import annotations

from json.encoder import encode_basestring as quote
from typing import Any, Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_value

_CONSTANTS: Final = {None: "null", True: "true", False: "false"}


class ArrayText(str):
    """An array as JSON text; unlike a text with the same characters, it is an array in its message."""

    __slots__ = ()


class ObjectText(str):
    """An object as JSON text; unlike a text with the same characters, it is an object in its message."""

    __slots__ = ()


def as_structure(value: list[Any] | dict[str, Any]) -> ArrayText | ObjectText:
    """Return a parsed array or object as text."""
    return ArrayText(write_json(value)) if isinstance(value, list) else ObjectText(write_json(value))


def read_structure(text: str) -> list[Any] | dict[str, Any]:
    """Return the array or object that a JSON text holds, every number by its token.

    Raises ValueError: the text holds no array or object.
    """
    try:
        found = parse_value(text.encode())
    except (Unreadable, UnicodeEncodeError) as error:
        raise ValueError("not one JSON array or object") from error
    if not isinstance(found, list | dict):
        raise ValueError("neither an array nor an object")  # noqa: TRY004  the text is wrong, not its type
    return found


def write_json(value: Any) -> str:
    """Return a parsed JSON value, or one of Python but no float, as text, every number by its token."""
    if isinstance(value, ArrayText | ObjectText):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Number):
        return value.token
    if isinstance(value, dict):
        return "{" + ",".join([f"{quote(name)}:{write_json(one)}" for name, one in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_json, value)) + "]"
    return _CONSTANTS[value] if value is None or isinstance(value, bool) else str(int(value))
