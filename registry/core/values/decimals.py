"""Exact decimals: plain digits, the scale as sent, never through a float."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.common.exact_number import JSON_NUMBER
from cdc_contracts.registry.core.values.form_values import LIMIT, BrokenValue, Context, Flag, Value

EXPONENT_DIGITS: Final = 18
"""An exponent of more digits moves the point further than any token is long."""
SHORT: Final = "^[-0-9.]{1,40}[eE][-+]?[0-9]{1,2}$"
"""What is expanded here: it never becomes too long, and has few different scales."""


def read_decimal(token: str, _context: Context) -> Value:
    """Read a JSON number exactly."""
    parts = JSON_NUMBER.fullmatch(token)
    if parts is None:
        raise BrokenValue
    sign, whole, fraction, exponent = parts.groups()
    return Value(expand(sign, whole, fraction or "", _exponent(exponent or "0")))


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
