# ruff: noqa: PLR2004 - the numbers are those of ECMAScript
"""Binary floating point: the shortest digits that read back, laid out as ECMAScript does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, break_unless
from cdc_contracts.registry.values.decimals import scan_numbers
from cdc_contracts.registry.values.form_values import JSON_NUMBER, BrokenValue, Context, Flag, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Mask

BINARY32_OVERFLOW: Final = float(2**128 - 2**103)
"""From here on a value rounds to infinity in binary32."""
ARROW_EXPONENT: Final = 1e10
"""From here on Arrow writes an exponent."""
ECMASCRIPT_EXPONENT: Final = 1e21
"""From here on ECMAScript does; below 1e-6 both do."""
EXACT: Final = 2.0**53
"""Up to here the digits of a whole number are its shortest text."""
_LOST: Final = re.compile("-|[0.]*[1-9]")
"""What a token of a zero begins with that has a sign, or is a number too small to be told from 0."""
PLAIN_DIGITS: Final = 15
"""Any decimal with at most this many digits is the shortest text of its binary64."""


def read_float64(token: str, _context: Context) -> Value:
    """Read a JSON number as the nearest binary64."""
    return _read(token, float("inf"))


def read_float32(token: str, _context: Context) -> Value:
    """Read the same, within the range of binary32; its digits are not cut to that precision."""
    return _read(token, BINARY32_OVERFLOW)


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


def validate_float64(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate tokens known to be JSON numbers."""
    return _validate(values, float("inf"))


def validate_float32(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate tokens known to be JSON numbers, within the range of binary32."""
    return _validate(values, BINARY32_OVERFLOW)


def validate_float64_texts(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate texts, checked to be JSON numbers."""
    return _validate_texts(values, float("inf"))


def validate_float32_texts(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate texts, checked to be JSON numbers within the range of binary32."""
    return _validate_texts(values, BINARY32_OVERFLOW)


def _validate(values: pa.Array, overflow: float) -> ColumnResult:
    """Validate JSON numbers; zeros stay open, as what is written may be more than that."""
    numbers = values.cast(pa.float64()).fill_null(0.0).to_numpy()
    sizes = np.abs(numbers)
    fits = sizes < overflow
    unlike = (sizes >= ARROW_EXPONENT) & (sizes < ECMASCRIPT_EXPONENT) & fits
    whole = unlike & (sizes <= EXACT) & (numbers == np.rint(numbers))

    def write() -> pa.Array:
        text = pa.array(numbers).cast(pa.string())
        if not whole.any():
            return text
        return pc.if_else(
            pa.array(whole), pa.array(np.where(whole, numbers, 0).astype(np.int64)).cast(pa.string()), text
        )

    undecided = (unlike & ~whole) | (numbers == 0)
    return ColumnResult(write, undecided, break_unless(fits))


def _validate_texts(values: pa.Array, overflow: float) -> ColumnResult:
    texts = Texts(values)
    fits, exponents = scan_numbers(texts)
    plain = fits & ~exponents & _is_shortest(texts)
    if plain.all():
        return ColumnResult(lambda: values)
    rest = np.flatnonzero(fits & ~plain)
    inner = _validate(values.take(pa.array(rest)), overflow)
    flags = np.where(fits, np.uint8(Flag.OK), np.uint8(Flag.BROKEN))
    if inner.flags is not None:
        flags[rest] = inner.flags
    undecided = np.zeros(len(fits), bool)
    if inner.open is not None:
        undecided[rest] = inner.open
    mask = np.zeros(len(fits), bool)
    mask[rest] = True
    return ColumnResult(lambda: pc.replace_with_mask(values, pa.array(mask), inner.text()), undecided, flags)


def _is_shortest(texts: Texts) -> Mask:
    """Mark JSON numbers without exponent that surely are their own canonical text."""
    negative = texts.bytes_at(texts.starts) == ord("-")
    lead = texts.starts + negative
    ends_in_zero = (texts.bytes_at(texts.ends - 1) == ord("0")) & (texts.lengths > 1)
    small = (texts.bytes_at(lead) == ord("0")) & (texts.bytes_at(lead + 2) == ord("0"))
    fits: Mask = (texts.lengths - negative <= PLAIN_DIGITS) & ~ends_in_zero & ~small
    return fits
