"""Type bounds: the values that the declared type of a column can hold.

A table contract refuses values by them, and where there is none the type in the message: a value beyond them could only
be kept by rounding it, or not at all. Lengths of text are not among them, nor digits of a second that tables keep
anyway.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from typing import Final, NamedTuple

from cdc_contracts.registry.core.values.source_types import Digits, SourceType, parse_source_type

_BITS: Final = {
    "TINYINT": 8, "INT1": 8, "SMALLINT": 16, "INT2": 16, "MEDIUMINT": 24, "INT3": 24, "INT": 32, "INT4": 32,
    "BIGINT": 64, "INT8": 64, "INT16": 16, "INT32": 32, "INT64": 64, "SERIAL": 64, "SMALLSERIAL": 16,
    "BIGSERIAL": 64, "OID": 32,
}  # fmt: skip
"""INTEGER is not among them: it has 32 bits here and 38 digits there."""
_MOST_COUNTED: Final = 1000
"""The most times that a pattern may ask for a digit (RE2)."""
_ANY: Final = 2**31 - 1
_MICROS: Final = 6
_NANOS: Final = 9


class Misfit(IntFlag):
    """Why a value does not fit its declared type."""

    RANGE = 1
    SCALE = 2
    SECONDS = 4


_FITS: Final = Misfit(0)
_compile: Final = lru_cache(1024)(re.compile)
CAUSES: Final = {
    Misfit.RANGE: ("range", "a number beyond it"),
    Misfit.SCALE: ("scale", "more digits after the point"),
    Misfit.SECONDS: ("second-digits", "more digits of a second"),
}
"""The rule that a misfit breaks, and what is observed then."""


class DigitLimits(NamedTuple):
    """How many digits before and after its point a number, or a second, may have and surely fit; a lone 0 does."""

    whole: int
    fraction: int


@dataclass(frozen=True)
class TypeBound:
    """What canonical text has to match, and between which whole numbers its value lies (both included).

    `limits` say the same of plain digits in a simpler way, where there is one: what is within them fits.
    """

    patterns: tuple[tuple[Misfit, str], ...]
    least: int | None = None
    most: int | None = None
    limits: DigitLimits | None = None

    def misfit_of(self, text: str) -> Misfit:
        """Return the reason why the value of a text does not fit, or nothing if it fits."""
        found = _FITS
        for misfit, pattern in self.patterns:
            if _compile(pattern).fullmatch(text) is None:
                found |= misfit
        if self.least is not None and not self._holds(int(text.partition(".")[0])):
            found |= Misfit.RANGE
        return found

    def _holds(self, value: int) -> bool:
        return self.least is None or self.most is None or self.least <= value <= self.most


@lru_cache(8192)
def bound_of(declared: str, kind: str, *, tells_sign: bool = True) -> TypeBound | None:
    """Return the bound of a declared type for values of a canonical kind; None if it has or states none.

    A DECIMAL or TIMESTAMP without digits may be one whose digits the message left out; without `tells_sign` an integer
    that is not said to be unsigned may be so.
    """
    result = parse_source_type(declared)
    match kind:
        case "integer" | "bit" | "decimal" | "number":
            if result.digits is not None:
                return _of_digits(result.digits)
            return _of_integers(result, whole=kind in ("integer", "bit"), tells_sign=tells_sign)
        case "timestamp" | "datetime" if result.second_digits is not None:
            return _of_seconds(max(result.second_digits, _MICROS))
        case _:
            return None


def _of_digits(digits: Digits) -> TypeBound | None:
    whole, fraction, zeros = digits
    if max(whole, fraction) > _MOST_COUNTED:
        return None
    head = f"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole else "0"
    tail = rf"(?:\.(?:0*|0{{{zeros}}}[0-9]*))?" if zeros > 0 else r"(?:\.[0-9]*)?"
    even = f"(?:0|[1-9][0-9]*0{{{-zeros}}})" if zeros < 0 else "[0-9]+"
    return TypeBound((
        (Misfit.RANGE, f"-?{head}{tail}"),
        (Misfit.SCALE, rf"-?{even}(?:\.[0-9]{{0,{fraction}}}0*)?"),
    ), limits=None if zeros else DigitLimits(whole, fraction))  # fmt: skip


def _of_integers(declared: SourceType, *, whole: bool, tells_sign: bool) -> TypeBound | None:
    bits = declared.bits if declared.name == "BIT" else _BITS.get(declared.name)
    if bits is None:
        return None
    signed = not (declared.unsigned or declared.name == "BIT")
    least = -(1 << bits - 1) if signed else 0
    most = (1 << bits - 1) - 1 if signed and tells_sign else (1 << bits) - 1
    patterns = () if whole else ((Misfit.SCALE, r"-?[0-9]+(?:\.0*)?"),)
    return TypeBound(patterns, least, most, DigitLimits(_ANY, 0))


def _of_seconds(digits: int) -> TypeBound | None:
    if digits >= _NANOS:
        return None
    pattern = rf"[0-9T:-]+(?:\.[0-9]{{0,{digits}}})?(?:[^0-9T:.-].*)?"
    return TypeBound(((Misfit.SECONDS, pattern),), limits=DigitLimits(_ANY, digits))
