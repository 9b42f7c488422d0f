"""Texts that stay as they are, and booleans."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.forms.arrays import np, pa, pc
from cdc_contracts.registry.forms.columns import Settled, break_unless, to_integers
from cdc_contracts.registry.forms.values import BrokenValue, Context, Flag, Number, Value

BOOLEANS: Final = {"0": "false", "1": "true"}
DIGITS: Final = {"false": "0", "true": "1"}


def read_text(text: str, _context: Context) -> Value:
    """Read any text as it is."""
    return Value(text)


def read_undocumented(text: str, _context: Context) -> Value:
    """Read any text, with a note: no document shows how values of the type are written."""
    return Value(text, Flag.NOTED)


def settle_undocumented(values: pa.Array, _context: Context) -> Settled:
    """Settle every row as it stands, with a note."""
    return Settled(lambda: values, flags=np.full(len(values), Flag.NOTED, np.uint8))


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


def settle_booleans(values: pa.Array, _context: Context) -> Settled:
    """Settle a `pa.bool_()` array."""
    return Settled(lambda: values.cast(pa.string()))


def settle_boolean_digits(values: pa.Array, _context: Context) -> Settled:
    """Settle 0 and 1; every other number is broken."""
    numbers, unfit = to_integers(values)
    fits = (numbers == 0) | (numbers == 1)
    return Settled(lambda: pc.if_else(pa.array(numbers == 1), "true", "false"), unfit, break_unless(fits))
