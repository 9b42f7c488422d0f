# ruff: noqa: S105 - a token is a JSON number here
"""Integers of any size, and years."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, are_digits, break_unless
from cdc_contracts.registry.values.form_values import LIMIT, BrokenValue, Context, Flag, Number, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Mask

INTEGER: Final = re.compile("-?(?:0|[1-9][0-9]*)")
YEAR: Final = re.compile("0|0000|19(?:0[1-9]|[1-9][0-9])|20[0-9]{2}|21(?:[0-4][0-9]|5[0-5])")


def read_integer(token: str, _context: Context) -> Value:
    """Read the digits of an integer."""
    if not INTEGER.fullmatch(token):
        raise BrokenValue
    if len(token) > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    return Value("0" if token == "-0" else token)


def read_year(token: str, _context: Context) -> Value:
    """Read a year, 0 or 1901 to 2155; canonical are four digits."""
    if not YEAR.fullmatch(token):
        raise BrokenValue
    return Value(token.zfill(4))


def write_number(text: str, _context: Context) -> Number:
    """Write the text as the token of a JSON number."""
    return Number(text)


def write_text(text: str, _context: Context) -> str:
    """Write the text unchanged."""
    return text


def write_year_number(text: str, _context: Context) -> Number:
    """Write a year without leading zeros."""
    return Number(str(int(text)))


def validate_integers(values: pa.Array, context: Context) -> ColumnResult:
    """Validate int64, or digits where one value does not fit."""
    if pa.types.is_string(values.type):
        return validate_integer_texts(values, context)
    return ColumnResult(lambda: values.cast(pa.string()))


def validate_integer_texts(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate digits with an optional sign; `-0` and numbers that may be too long stay open."""
    texts = Texts(values)
    negative = (texts.lengths > 0) & (texts.bytes_at(texts.starts) == ord("-"))
    digits = texts.lengths - negative
    leading_zero = texts.bytes_at(texts.starts + negative) == ord("0")
    odd = ~are_digits(texts.data)
    odd[texts.starts[negative]] = False
    fits = (digits == 1) | ((digits > 1) & ~leading_zero)
    fits[texts.rows_of(np.flatnonzero(odd))] = False
    undecided: Mask = fits & ((negative & leading_zero) | (texts.lengths > LIMIT))
    return ColumnResult(lambda: values, undecided, break_unless(fits))
