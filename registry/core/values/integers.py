# ruff: noqa: S105 - a token is a JSON number here
"""Integers of any size, and years."""

from __future__ import annotations

import re
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.form_values import LIMIT, BrokenValue, Context, Flag, Value

INTEGER: Final = re.compile("-?(?:0|[1-9][0-9]*)")
INT64_CHARACTERS: Final = 20
FIRST_YEAR: Final = 1901
LAST_YEAR: Final = 2155
_FOR_0000: Final = "1900"
YEAR: Final = re.compile("0|0000|19(?:0[1-9]|[1-9][0-9])|20[0-9]{2}|21(?:[0-4][0-9]|5[0-5])")


def read_integer(token: str, _context: Context) -> Value:
    """Read the digits of an integer."""
    if not INTEGER.fullmatch(token):
        raise BrokenValue
    if len(token) > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    return Value("0" if token == "-0" else token)


def read_count(token: str, first: int, last: int) -> int:
    """Read an integer token within a range.

    Raises BrokenValue: it is no integer, or lies outside.
    """
    if len(token) > INT64_CHARACTERS or not INTEGER.fullmatch(token) or not first <= int(token) <= last:
        raise BrokenValue
    return int(token)


def read_unsigned(token: str, _context: Context) -> Value:
    """Read the digits of an unsigned integer of 64 bits, which has no sign."""
    if token.startswith("-"):
        raise BrokenValue
    return Value(str(read_count(token, 0, 2**64 - 1)))


def read_wrapped(token: str, _context: Context) -> Value:
    """Read an unsigned integer of 64 bits from the signed one of the same bits; that it was negative is noted."""
    number = read_count(token, -(2**63), 2**63 - 1)
    return Value(str(number)) if number >= 0 else Value(str(number + 2**64), Flag.NOTED)


def read_year(token: str, _context: Context) -> Value:
    """Read a year, 0 or 1901 to 2155; canonical are four digits."""
    if not YEAR.fullmatch(token):
        raise BrokenValue
    return Value(token.zfill(4))


def read_year_or_1900(token: str, context: Context) -> Value:
    """Read the same; no YEAR holds 1900, which stands for 0000 and is noted."""
    return Value("0000", Flag.NOTED) if token == _FOR_0000 else read_year(token, context)


def write_number(text: str, _context: Context) -> Number:
    """Write the text as the token of a JSON number."""
    return Number(text)


def write_wrapped(text: str, _context: Context) -> Number:
    """Write an unsigned integer of 64 bits as the signed one of the same bits."""
    number = int(text)
    return Number(str(number if number < 2**63 else number - 2**64))


def write_text(text: str, _context: Context) -> str:
    """Write the text unchanged."""
    return text


def write_year_number(text: str, _context: Context) -> Number:
    """Write a year without leading zeros."""
    return Number(str(int(text)))
