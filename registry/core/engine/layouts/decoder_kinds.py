"""Decoder kinds: the type that the parser decodes a member or column to, in C.

A decoder is a msgspec type. A value of another kind makes the parser reject the record. The decoder is then widened to
RAW, which accepts every kind; the kind is read from the first byte of the token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Raw, UnsetType

from cdc_contracts.registry.core.common.json_messages import MAX_DEPTH, Unreadable, depth_exceeds, parse_value
from cdc_contracts.registry.core.common.json_structures import ObjectText, as_structure
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.values import Number, ValueForm
from cdc_contracts.registry.core.values.form_schemas import NUMBER

TEXT: Final = "text"
INT: Final = "int"
TEXT_OR_INT: Final = "text-or-int"
BOOL: Final = "bool"
RAW: Final = "raw"
WIDE: Final = "wide"

TYPES: Final[dict[str, Any]] = {
    TEXT: str | UnsetType | None,
    INT: int | UnsetType | None,
    TEXT_OR_INT: int | str | UnsetType | None,
    BOOL: bool | UnsetType | None,
    RAW: Raw | UnsetType,
    WIDE: Raw | UnsetType,
}
_LONGEST_INT: Final = 4300
_KIND_OF_BYTE: Final = {ord('"'): "string", ord("{"): "object", ord("["): "array", ord("n"): "null",
                        ord("t"): "boolean", ord("f"): "boolean"}  # fmt: skip
_STRUCTURES: Final = ("array", "object")
_ONE_MEMBER: Final = re.compile(rb'\{ ?("[ !#-\[\]-~]*") ?: ?("[ !#-\[\]-~]*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?) ?\}')
"""An object of one member that holds a plain text or number, as those that stand for a value of another type."""
_decode_any = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode


class Odd:
    """A value of a kind that its decoder does not accept; equal to every other of the same kind."""

    __slots__ = ("kind", "token")

    def __init__(self, kind: str, token: bytes) -> None:
        self.kind = kind
        self.token = token

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and other.kind == self.kind

    def __hash__(self) -> int:
        return hash(("odd", self.kind))


class Unfit(Exception):
    """A token that the fast path must not decide: the reference validator has to validate the whole record."""


def decoder_of_form(form: ValueForm) -> str:
    """Return the decoder whose values the fast path of the form accepts."""
    return WIDE if form.decoder == RAW and form.wire != NUMBER else form.decoder


def join_decoders(decoders: Iterable[str]) -> str:
    """Return the narrowest decoder that accepts the values of all these decoders."""
    wanted = set(decoders)
    if not wanted:
        return WIDE
    if len(wanted) == 1:
        return wanted.pop()
    return TEXT_OR_INT if wanted <= {TEXT, INT, TEXT_OR_INT} else WIDE


def decoder_takes(decoder: str, value: Any) -> bool:
    """Return whether the parser accepts a parsed value (`parse_message`) with a decoder."""
    if value is None or decoder == WIDE:
        return True
    if isinstance(value, bool):
        return decoder in (BOOL, RAW)
    if isinstance(value, Number):
        whole = is_integer(value) and len(value.token) <= _LONGEST_INT
        return decoder == RAW or (whole and decoder in (INT, TEXT_OR_INT))
    if isinstance(value, str):
        return decoder in (TEXT, TEXT_OR_INT, RAW)
    return decoder == RAW


def kind_of_token(token: bytes) -> str:
    """Return the JSON kind of a raw token."""
    return _KIND_OF_BYTE.get(token[0], "number")


def open_token(token: bytes) -> Any:
    """Return the value of a raw token: None, a bool, a text, a `Number`, or `Odd` for an array or object.

    Raises Unfit where the token needs the strict parser (a lone surrogate, deep nesting).
    """
    kind = kind_of_token(token)
    if kind == "null":
        return None
    if kind == "number":
        return Number(token.decode())
    try:
        if kind == "string":
            return _decode_text(token)
        if kind == "boolean":
            return token == b"true"
        _decode_any(token)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Unfit from error
    if depth_exceeds(token, MAX_DEPTH - 4):
        raise Unfit
    return Odd(kind, token)


def open_value(token: bytes) -> Any:
    """Return the value of a raw token, an array or object as its JSON text, with numbers of any size.

    Raises Unfit as `open_token` does.
    """
    if kind_of_token(token) not in _STRUCTURES:
        return open_token(token)
    simple = _ONE_MEMBER.fullmatch(token)
    if simple is not None:
        return ObjectText((b"{%b:%b}" % simple.groups()).decode())
    try:
        return as_structure(parse_value(token))
    except Unreadable as error:
        raise Unfit from error


def open_member(token: bytes) -> Any:
    """Return the value of a raw token of a member of any kind, a small integer as an int.

    Raises Unfit as `open_token` does.
    """
    found = open_token(token)
    return int(found.token) if is_integer(found) and decoder_takes(INT, found) else found


def open_odd(value: Any) -> dict[str, Any]:
    """Return the members of an object that was opened as `Odd`; none for anything else."""
    if not (isinstance(value, Odd) and value.kind == "object"):
        return {}
    try:
        return _decode_any(value.token)  # type: ignore[no-any-return]
    except msgspec.DecodeError:  # a number beyond doubles
        return open_tokens([value.token])[0]  # type: ignore[no-any-return]


def open_tokens(tokens: Sequence[bytes]) -> list[Any]:
    """Return the values of raw tokens of validated members, lists and objects in full, parsed in one go."""
    if not tokens:
        return []
    found: list[Any] = parse_value(b"[" + b",".join(tokens) + b"]")
    return found


@lru_cache(maxsize=4096)
def outline_of(token: bytes) -> Any:
    """Return the kinds of the values in a list or object, at every depth, as a comparable value.

    Raises Unfit where the token holds no JSON value.
    """
    try:
        return outline_value(parse_value(token))
    except Unreadable as error:
        raise Unfit from error


def outline_value(value: Any) -> Any:
    """Return the kinds of the values in a parsed value, at every depth, as a comparable value."""
    match value:
        case dict():
            return ("object", tuple((name, outline_value(below)) for name, below in value.items()))
        case list():
            return ("array", tuple(dict.fromkeys(map(outline_value, value))))
        case Number():
            return "integer" if is_integer(value) else "number"
    return type(value)
