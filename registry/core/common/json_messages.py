"""JSON messages: the bytes of one message, read strictly; one parser decides what is a JSON message."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.exact_number import Number

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_DEPTH: Final = 128
_SHORT: Final = 6
EXPECTED: Final = "one JSON object"

_KINDS: Final = {type(None): "null", bool: "boolean", Number: "number", str: "string", list: "array"}
_BLANK = b" \t\r\n"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OPEN = ord("[")
_NOT_OF_SKELETON = bytes(byte for byte in range(256) if byte not in b'[]{}"\\')
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89abAB]|\\u[dD][c-fC-F]")


class Unreadable(Exception):
    """The bytes are not a message: `cause` names the rule, `observed` describes them.

    `expected` is what they should have been, None where whoever reads them says so.
    """

    def __init__(self, cause: str, observed: str, expected: str | None = None) -> None:
        super().__init__(observed)
        self.cause = cause
        self.observed = observed
        self.expected = expected


class Record(dict[str, Any]):
    """A message that was an Avro record on the wire, every byte of it read."""


def parse_message(value: bytes, *, max_bytes: int = MAX_BYTES, strict: bool = False) -> dict[str, Any]:
    """Return the object a message holds; every number keeps its token (`Number`).

    Of members with one name the last wins; `strict` refuses them.
    Raises Unreadable where the value is not exactly one RFC 8259 object in UTF-8, with its cause.
    """
    message = parse_value(value, max_bytes=max_bytes, strict=strict)
    if not isinstance(message, dict):
        raise Unreadable("null-text" if message is None else "not-object", kind_of(message))
    return message


def parse_value(
    value: bytes, *, max_bytes: int = MAX_BYTES, strict: bool = False, decoder: json.JSONDecoder | None = None
) -> Any:
    """Return the value of a JSON text of any kind as `parse_message` does. Raises Unreadable where it is none.

    `decoder` is one of `taking_constants`.
    """
    if len(value) > max_bytes:
        raise Unreadable("too-long", f"more than {max_bytes} bytes")
    if not value.strip(_BLANK):
        raise Unreadable("empty", "an empty value")
    if value.startswith(b"\xef\xbb\xbf"):
        raise Unreadable("bom", "a byte order mark")
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("utf8", "bytes that are not UTF-8") from None
    if depth_exceeds(value, MAX_DEPTH):
        raise Unreadable("depth", f"nesting deeper than {MAX_DEPTH}")
    try:
        message = (decoder or (_STRICT if strict else _LENIENT)).decode(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, _DuplicateMember):
            raise Unreadable("duplicate-member", "a member name twice") from None
        raise Unreadable("json", "not one JSON text") from None
    if _ESCAPED_SURROGATE.search(text) and _holds_lone_surrogate(_with_every_member(text)):
        raise Unreadable("surrogate", "a lone surrogate")
    return message


def kind_of(value: Any) -> str:
    """Return the JSON kind of a parsed value: null, boolean, number, string, array or object."""
    return _KINDS.get(type(value), "object")


def depth_exceeds(value: bytes, limit: int) -> bool:
    """Return whether arrays and objects in a JSON text nest deeper than `limit`."""
    if value.count(b"[") + value.count(b"{") <= limit:
        return False
    brackets = _brackets_of(value)
    inner, levels = brackets, 0
    while inner and levels <= limit and len(shorter := inner.replace(b"[]", b"")) < len(inner):
        inner, levels = shorter, levels + 1
    if not inner:
        return levels > limit
    depth = 0  # deeper than that, or out of balance
    for byte in brackets:
        depth += 1 if byte == _OPEN else -1
        if depth > limit:
            return True
    return False


def _brackets_of(value: bytes) -> bytes:
    """Return the brackets of a JSON text that stand outside of its strings, all as `[` and `]`."""
    skeleton = value.translate(_AS_BRACKETS, _NOT_OF_SKELETON)
    if b"\\" in skeleton or skeleton.count(b'"') % 2:  # an escape, or a text without an end
        return _STRING.sub(b"", value).translate(_AS_BRACKETS, _NOT_OF_SKELETON + b'"\\')
    return _STRING.sub(b"", skeleton.replace(b'""', b"")).replace(b'"', b"")


def has_duplicates(value: bytes) -> bool:
    """Return whether some object of a JSON text names a member twice, or the text is not readable."""
    try:
        json.loads(value, object_pairs_hook=_unique_members)
    except (ValueError, RecursionError):
        return True
    return False


class _DuplicateMember(ValueError):
    pass


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateMember
    return members


def _refuse_constant(token: str) -> None:
    raise ValueError(token)


def _with_every_member(text: str) -> Any:
    """Return what a text holds, with objects as lists of their members: also the first of two with one name."""
    return json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=list)


def _holds_lone_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    return isinstance(value, list | tuple) and any(_holds_lone_surrogate(item) for item in value)


_short_number: Final = lru_cache(1024)(Number)


def _make_number(token: str) -> Number:
    """Return the number of a token; short ones recur, in the codes of types above all, and are made once."""
    return _short_number(token) if len(token) <= _SHORT else Number(token)


_LENIENT: Final = json.JSONDecoder(parse_int=_make_number, parse_float=_make_number, parse_constant=_refuse_constant)
_STRICT: Final = json.JSONDecoder(
    parse_int=_make_number, parse_float=_make_number, parse_constant=_refuse_constant, object_pairs_hook=_unique_members
)


def taking_constants(member: str) -> json.JSONDecoder:
    """Return a decoder that takes NaN, Infinity and -Infinity, each as an object whose `member` holds its name."""
    return json.JSONDecoder(
        parse_int=_make_number, parse_float=_make_number, parse_constant=lambda name: {member: name}
    )
