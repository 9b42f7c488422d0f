# ruff: noqa: S105 - a token is a JSON number here
"""BIT columns: the unsigned integer of big-endian or little-endian bytes; zero bytes at its upper end do not count."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.byte_strings import decode_base64, decode_hex, encode_base64
from cdc_contracts.registry.core.values.form_values import LIMIT, BrokenValue, Context, Flag, Value

WORD: Final = 8
"""Bytes of the longest bit field."""
MOST: Final = (1 << 8 * WORD) - 1
_TOO_LARGE: Final = 10**LIMIT
_LETTER: Final = "[A-Za-z0-9+/]"
BASE64: Final = f"(?:{_LETTER}{{4}}){{0,2}}(?:{_LETTER}{{2}}[AEIMQUYcgkosw048]=|{_LETTER}[AQgw]==)?"
HEX: Final = f"(?:[0-9A-F]{{2}}){{0,{WORD}}}"


def read_bit_number(token: str, context: Context) -> Value:
    """Read an unsigned integer of up to 64 bits."""
    if token.startswith("-") and token != "-0":
        raise BrokenValue
    value = integers.read_integer(token, context)
    if int(value.text) > MOST:
        raise BrokenValue
    return value


def read_bit_number_text(text: str, context: Context) -> Value:
    """Read the digits of an unsigned integer of up to 64 bits."""
    if text.startswith("-"):
        raise BrokenValue
    return read_bit_number(text, context)


def read_bit_base64(text: str, _context: Context) -> Value:
    """Read the unsigned integer whose bytes are given in Base64."""
    return Value(_write_unsigned(decode_base64(text)))


def read_bit_base64_le(text: str, context: Context) -> Value:
    """Read the unsigned integer whose bytes, the least first, are given in Base64.

    It has at most as many bits as its column; where no type says how many, 64.
    """
    number = int.from_bytes(decode_base64(text), "little")
    if number.bit_length() > (context.length or MOST.bit_length()):
        raise BrokenValue
    if number >= _TOO_LARGE:
        raise BrokenValue(Flag.TOO_LONG)
    return Value(str(number))


def read_bit_hex(text: str, _context: Context) -> Value:
    """Read the unsigned integer whose bytes are given in hex."""
    return Value(_write_unsigned(decode_hex(text)))


def write_bit_base64(text: str, _context: Context) -> str:
    """Write an unsigned integer as Base64 of as few bytes as it needs, at least one."""
    return encode_base64(_to_bytes(text))


def write_bit_base64_le(text: str, context: Context) -> str:
    """Write an unsigned integer, the least byte first: as many bytes as the column has, or as few as it needs."""
    data = _to_bytes(text)[::-1]
    return encode_base64(data.ljust(((context.length or 0) + WORD - 1) // WORD, b"\0"))


def write_bit_hex(text: str, _context: Context) -> str:
    """Write an unsigned integer as hex of as few bytes as it needs, at least one."""
    return _to_bytes(text).hex().upper()


def _write_unsigned(data: bytes) -> str:
    if len(data) > WORD:
        raise BrokenValue
    return str(int.from_bytes(data, "big"))


def _to_bytes(text: str) -> bytes:
    number = int(text)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
