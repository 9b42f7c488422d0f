"""Plain texts, which stay unchanged, and booleans."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.values.arrow_columns import ColumnResult, break_unless, to_integers
from cdc_contracts.registry.values.form_values import BrokenValue, Context, Flag, Number, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

BOOLEANS: Final = {"0": "false", "1": "true"}
DIGITS: Final = {"false": "0", "true": "1"}


def read_text(text: str, _context: Context) -> Value:
    """Read any text unchanged."""
    return Value(text)


def read_undocumented(text: str, _context: Context) -> Value:
    """Read any text, with a note: no document shows how values of the type are written."""
    return Value(text, Flag.NOTED)


def validate_undocumented(values: pa.Array, _context: Context) -> ColumnResult:
    """Accept every row unchanged, with a note."""
    return ColumnResult(lambda: values, flags=np.full(len(values), Flag.NOTED, np.uint8))


def read_boolean_digit(token: str, _context: Context) -> Value:
    """Read 0 or 1."""
    if token not in BOOLEANS:
        raise BrokenValue
    return Value(BOOLEANS[token])


def write_boolean_digit(text: str, _context: Context) -> Number:
    """Write a boolean as 0 or 1."""
    return Number(DIGITS[text])


def write_boolean(text: str, _context: Context) -> bool:
    """Write a boolean."""
    return text == "true"


def validate_booleans(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate a `pa.bool_()` array."""
    return ColumnResult(lambda: values.cast(pa.string()))


def validate_boolean_digits(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate 0 and 1; every other number is broken."""
    numbers, unfit = to_integers(values)
    fits = (numbers == 0) | (numbers == 1)
    return ColumnResult(lambda: pc.if_else(pa.array(numbers == 1), "true", "false"), unfit, break_unless(fits))
