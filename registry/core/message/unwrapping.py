"""Unwrapping: messages that another tool wrapped on the way to Kafka, taken out of what it put around them."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from cdc_contracts.registry.core.common.json_messages import Unreadable

_URL_SAFE: Final = bytes.maketrans(b"-_", b"+/")
_MISSING: Final = msgspec.Raw(b"")


class _Envelope(msgspec.Struct):
    payload: msgspec.Raw = _MISSING


_TEXT: Final = msgspec.json.Decoder(str)
_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)


def unwrap(value: bytes | None, wrapping: str) -> bytes | None:
    """Return the message in a value; None is a tombstone, wrapped or not.

    Raises Unreadable, with the wrapping as its cause, where the value is not wrapped like this.
    """
    return None if value is None else _UNWRAP[wrapping](value)


def _from_base64(value: bytes) -> bytes:
    """Read base64 of either alphabet, as it is or as a JSON string; line ends between are those of MIME."""
    text = value.strip()
    if text.startswith(b'"'):
        text = _decoded(_TEXT, text, "base64").encode()
    text = text.translate(_URL_SAFE, b"\r\n")
    try:
        return b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise Unreadable("base64", "bytes that are not base64") from None


def _from_connect(value: bytes) -> bytes | None:
    """Read `payload`: the message itself, byte for byte, or its text."""
    payload = bytes(_decoded(_ENVELOPE, value, "connect-json").payload)
    if not payload:
        raise Unreadable("connect-json", "no member `payload`")
    if payload == b"null":
        return None
    return _decoded(_TEXT, payload, "connect-json").encode() if payload.startswith(b'"') else payload


def _decoded(decoder: msgspec.json.Decoder[Any], value: bytes, cause: str) -> Any:
    try:
        return decoder.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Unreadable(cause, "not one JSON text of this kind") from None


_UNWRAP: Final[Mapping[str, Callable[[bytes], bytes | None]]] = {"base64": _from_base64, "connect-json": _from_connect}
WRAPPINGS: Final[Mapping[str, str]] = {
    "base64": "the message in base64",
    "connect-json": "an object whose member `payload` is the message",
}
"""What can be unwrapped, and what a value has to be then."""
