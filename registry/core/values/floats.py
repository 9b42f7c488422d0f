# ruff: noqa: PLR2004 - the numbers are those of ECMAScript
"""Binary floating point: the shortest digits that read back, laid out as ECMAScript does."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.core.common.exact_number import JSON_NUMBER, Number
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value

LITERALS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
"""What stands for the values of binary64 that are no numbers; they are their own canonical texts."""
BINARY32_OVERFLOW: Final = float(2**128 - 2**103)
"""From here on a value rounds to infinity in binary32."""
_LOST: Final = re.compile("-|[0.]*[1-9]")
"""What a token of a zero begins with that has a sign, or is a number too small to be told from 0."""


def read_float64(token: str, _context: Context) -> Value:
    """Read a JSON number as the nearest binary64."""
    return _read(token, float("inf"))


def read_float32(token: str, _context: Context) -> Value:
    """Read the same, within the range of binary32; its digits are not cut to that precision."""
    return _read(token, BINARY32_OVERFLOW)


def read_float64_or_literal(token: str, context: Context) -> Value:
    """Read a number, or a text for what is none."""
    return Value(token) if token in LITERALS else read_float64(token, context)


def read_float32_or_literal(token: str, context: Context) -> Value:
    """Read the same, with numbers within the range of binary32."""
    return Value(token) if token in LITERALS else read_float32(token, context)


def write_float_or_literal(text: str, _context: Context) -> str | Number:
    """Write a number as a JSON number, what is none as text."""
    return text if text in LITERALS else Number(text)


def _read(token: str, overflow: float) -> Value:
    if not JSON_NUMBER.fullmatch(token):
        raise BrokenValue
    number = float(token)
    if abs(number) >= overflow:
        raise BrokenValue
    return Value(shortest(number), Flag.NOT_WHOLE if number == 0 and _LOST.match(token) else Flag.OK)


def shortest(number: float) -> str:
    """Write a finite number as ECMAScript's Number::toString; -0 is 0."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or "0")
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
