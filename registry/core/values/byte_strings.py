# ruff: noqa: PLR2004 - the numbers are those of bytes and their digits
"""Byte strings: Base64, hex, lists of numbers and text of ISO-8859-1; canonical is padded Base64."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Value

BASE64: Final = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?")
"""RFC 4648 section 4 with padding; the bits that padding leaves over are zero."""
BASE64_URL: Final = re.compile("(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9_-][AQgw]==)?")
"""RFC 4648 section 5 with padding."""
_TO_URL: Final = str.maketrans("+/", "-_")
_FROM_URL: Final = str.maketrans("-_", "+/")
HEX: Final = re.compile("(?:[0-9A-F]{2})*")
HEX_LOWER: Final = re.compile("(?:[0-9a-f]{2})*")
HEX_0X: Final = re.compile("0x(?:[0-9A-Fa-f]{2})*")
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


def decode_hex(text: str, layout: re.Pattern[str] = HEX) -> bytes:
    """Give the bytes of hex digits, by default upper-case ones.

    Raises BrokenValue: the text is anything else.
    """
    if not layout.fullmatch(text):
        raise BrokenValue
    return bytes.fromhex(text.removeprefix("0x"))


def encode_base64(data: bytes) -> str:
    """Give the canonical text of bytes."""
    return base64.b64encode(data).decode("ascii")


def read_base64(text: str, _context: Context) -> Value:
    """Read canonical Base64."""
    decode_base64(text)
    return Value(text)


def read_base64_url(text: str, _context: Context) -> Value:
    """Read Base64 of the alphabet for URLs."""
    if not BASE64_URL.fullmatch(text):
        raise BrokenValue
    return Value(text.translate(_FROM_URL))


def read_latin1(text: str, _context: Context) -> Value:
    """Read the bytes whose characters of ISO-8859-1 make up a text."""
    try:
        return Value(encode_base64(text.encode("latin-1")))
    except UnicodeEncodeError as error:
        raise BrokenValue from error


def read_hex(text: str, _context: Context) -> Value:
    """Read upper-case hex."""
    return Value(encode_base64(decode_hex(text)))


def read_hex_lower(text: str, _context: Context) -> Value:
    """Read lower-case hex."""
    return Value(encode_base64(decode_hex(text, HEX_LOWER)))


def read_hex_0x(text: str, _context: Context) -> Value:
    """Read hex of any case after `0x`."""
    return Value(encode_base64(decode_hex(text, HEX_0X)))


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


def write_hex_lower(text: str, _context: Context) -> str:
    """Write canonical Base64 as lower-case hex."""
    return decode_base64(text).hex()


def write_hex_0x(text: str, _context: Context) -> str:
    """Write canonical Base64 as upper-case hex after `0x`."""
    return "0x" + decode_base64(text).hex().upper()


def write_base64_url(text: str, _context: Context) -> str:
    """Write canonical Base64 in the alphabet for URLs."""
    return text.translate(_TO_URL)


def write_latin1(text: str, _context: Context) -> str:
    """Write canonical Base64 as the characters of ISO-8859-1 that its bytes stand for."""
    return decode_base64(text).decode("latin-1")


def write_byte_list(text: str, _context: Context) -> str:
    """Write canonical Base64 as a list of signed bytes."""
    signed = (byte - 256 if byte > 127 else byte for byte in decode_base64(text))
    return f"[{', '.join(map(str, signed))}]"
