"""Text values, which stay unchanged, and booleans."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Flag, Value

DAMAGED: Final = "\ufffd"
"""The character that decoders put in place of bytes that are none in the charset."""
Scalar = str | Number | bool
BOOLEANS: Final = {"0": "false", "1": "true"}
DIGITS: Final = {"false": "0", "true": "1"}


def token_of(value: Scalar) -> str:
    """Return the text of a string or of a structure as it is, the token of a number, `true` or `false`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.token if isinstance(value, Number) else value


def read_text(text: str, _context: Context) -> Value:
    """Read any text unchanged."""
    return Value(text)


def read_as_sent(token: str, _context: Context) -> Value:
    """Read a value of any kind by its text or token."""
    return Value(str(token))


def read_noting_damage(text: str, _context: Context) -> Value:
    """Read any text, with a note if a character was lost in it."""
    return Value(text, Flag.NOTED if DAMAGED in text else Flag.OK)


def read_undocumented(text: str, _context: Context) -> Value:
    """Read any text, with a note: no document shows how values of the type are written."""
    return Value(text, Flag.NOTED)


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
