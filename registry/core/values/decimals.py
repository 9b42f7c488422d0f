"""Exact decimals: plain digits, the scale as sent, never through a float."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.common.exact_number import JSON_NUMBER, Number
from cdc_contracts.registry.core.values.byte_strings import decode_base64, encode_base64
from cdc_contracts.registry.core.values.form_values import LIMIT, BrokenValue, Context, Flag, Value

EXPONENT_DIGITS: Final = 18
"""An exponent of more digits moves the point further than any token is long."""
_TOO_LARGE: Final = 10**LIMIT
SHORT: Final = "^[-0-9.]{1,40}[eE][-+]?[0-9]{1,2}$"
"""What is expanded here: it never becomes too long, and has few different scales."""


def read_decimal(token: str, _context: Context) -> Value:
    """Read a JSON number exactly."""
    parts = JSON_NUMBER.fullmatch(token)
    if parts is None:
        raise BrokenValue
    sign, whole, fraction, exponent = parts.groups()
    return Value(expand(sign, whole, fraction or "", _exponent(exponent or "0")))


def read_decimal_of_scale(token: str, context: Context) -> Value:
    """Read a JSON number with at least as many digits after its point as the type of the column has.

    A zero may have fewer: it is noted, and has those of its type.
    """
    value = read_decimal(token, context)
    scale = max(context.scale or 0, 0)
    if len(value.text.partition(".")[2]) >= scale:
        return value
    if value.text.strip("0."):
        raise BrokenValue
    if scale + len("0.") > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    return Value(f"0.{'0' * scale}", Flag.NOTED)


def read_unscaled(text: str, context: Context) -> Value:
    """Read Base64 of the big-endian two's complement of a number without its point; the column's type has its scale.

    Bytes that only repeat the sign may stand before it. Without a scale the text is kept as sent.
    """
    data = decode_base64(text)
    if not data:
        raise BrokenValue
    if context.scale is None:
        return Value(text, Flag.NO_SCALE)
    number = int.from_bytes(data, "big", signed=True)
    if abs(number) >= _TOO_LARGE:
        raise BrokenValue(Flag.TOO_LONG)
    return Value(expand("-" if number < 0 else "", str(abs(number)), "", -context.scale))


def write_unscaled(text: str, context: Context) -> str:
    """Write a decimal of the scale of its column as Base64 of as few bytes as it needs."""
    if context.scale is None:
        return text
    whole, _, fraction = text.partition(".")
    digits = (whole + fraction)[: min(context.scale, 0) or None]
    number = int(digits or "0")
    size = (number + (number < 0)).bit_length() // 8 + 1
    return encode_base64(number.to_bytes(size, "big", signed=True))


def write_unscaled_or_number(text: str, context: Context) -> str | Number:
    """Write a decimal of the scale of its column as Base64, and any other one as a number."""
    fraction = len(text.partition(".")[2])
    return write_unscaled(text, context) if context.scale in (None, fraction) else Number(text)


def pad_fraction(text: str, scale: int | None) -> str:
    """Return plain digits with zeros at their end, so that there are as many after the point as a type has."""
    whole, _, fraction = text.partition(".")
    return text if scale is None or len(fraction) >= scale else f"{whole}.{fraction:0<{scale}}"


def expand(sign: str, whole: str, fraction: str, exponent: int) -> str:
    """Write digits and a power of ten as plain digits; a zero has no sign.

    Raises BrokenValue: the text would be longer than LIMIT. It is counted before it is written.
    """
    scale = len(fraction) - exponent
    digits = (whole + fraction).lstrip("0")
    sign = sign if digits else ""
    if scale <= 0 and not digits:
        return "0"
    length = len(digits) - scale if scale <= 0 else max(len(digits), scale + 1) + len(".")
    if len(sign) + length > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    if scale <= 0:
        return sign + digits + "0" * -scale
    digits = digits.zfill(scale + 1)
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}"


def _exponent(digits: str) -> int:
    bare = digits.lstrip("+-").lstrip("0") or "0"
    size = 10**EXPONENT_DIGITS if len(bare) > EXPONENT_DIGITS else int(bare)
    return -size if digits.startswith("-") else size
