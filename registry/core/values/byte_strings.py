# ruff: noqa: PLR2004 - the numbers are those of bytes and their digits
"""Byte strings: Base64, upper-case hex and lists of numbers; canonical is padded Base64."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Value

BASE64: Final = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?")
"""RFC 4648 section 4 with padding; the bits that padding leaves over are zero."""
HEX: Final = re.compile("(?:[0-9A-F]{2})*")
_ITEM: Final = "(?:-?[1-9][0-9]{0,2}|0)"
BYTE_LIST: Final = re.compile(rf"\[(?:{_ITEM}(?:, {_ITEM})*)?\]")
PART: Final = 1 << 16
"""Bytes looked at in one go: few enough to stay in the cache with what is computed from them."""


def decode_base64(text: str) -> bytes:
    """Give the bytes of canonical Base64.

    Raises BrokenValue: the text is anything else.
    """
    try:
        data = binascii.a2b_base64(text)
    except ValueError as error:
        raise BrokenValue from error
    if binascii.b2a_base64(data, newline=False) != text.encode():
        raise BrokenValue
    return data


def decode_hex(text: str) -> bytes:
    """Give the bytes of upper-case hex digits.

    Raises BrokenValue: the text is anything else.
    """
    if not HEX.fullmatch(text):
        raise BrokenValue
    return bytes.fromhex(text)


def encode_base64(data: bytes) -> str:
    """Give the canonical text of bytes."""
    return base64.b64encode(data).decode("ascii")


def read_base64(text: str, _context: Context) -> Value:
    """Read canonical Base64."""
    decode_base64(text)
    return Value(text)


def read_hex(text: str, _context: Context) -> Value:
    """Read upper-case hex."""
    return Value(encode_base64(decode_hex(text)))


def read_byte_list(text: str, _context: Context) -> Value:
    """Read a list of numbers from -128 to 255; the negative ones are bytes less 256."""
    if not BYTE_LIST.fullmatch(text):
        raise BrokenValue
    numbers = [int(item) for item in text[1:-1].split(", ")] if text != "[]" else []
    if numbers and not (min(numbers) >= -128 and max(numbers) <= 255):
        raise BrokenValue
    return Value(encode_base64(bytes(number & 255 for number in numbers)))


def write_hex(text: str, _context: Context) -> str:
    """Write canonical Base64 as upper-case hex."""
    return decode_base64(text).hex().upper()


def write_byte_list(text: str, _context: Context) -> str:
    """Write canonical Base64 as a list of signed bytes."""
    signed = (byte - 256 if byte > 127 else byte for byte in decode_base64(text))
    return f"[{', '.join(map(str, signed))}]"
