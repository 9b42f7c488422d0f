"""Value bounds: which values the declared type of a column holds (D14), as far as keywords of JSON Schema say it.

Many validators read a JSON number as a binary fraction of 53 bits. A keyword stands here only where no value that the
type holds is refused by such a one either; how many digits stand after the point of a number, none can say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.values import ValueForm
from cdc_contracts.registry.values.civil_time import DAY, LAST_DAY
from cdc_contracts.registry.values.day_times import MOST_MICROS
from cdc_contracts.registry.values.source_types import Digits, parse_source_type
from cdc_contracts.registry.values.timestamps import LAST_MILLI
from cdc_contracts.registry.values.type_bounds import TypeBound, bound_of

_EXACT_DIGITS: Final = 15
"""So many decimal digits a binary fraction of 53 bits keeps apart."""
_EXPONENT: Final = "[eE]"
"""A text with an exponent is not held to its digits: how many there are is not seen in them."""
_BOUNDED: Final = ("integer", "decimal", "number", "bit")
_LAST: Final[Mapping[str, int]] = {
    "days-since-epoch": LAST_DAY, "micros-of-day": MOST_MICROS, "millis-wallclock": LAST_MILLI,
    "epoch-millis-instant": LAST_MILLI, "epoch-seconds-integer": (LAST_DAY + 1) * DAY - 1,
}  # fmt: skip
"""The last moment that a form counts to: the end of the year 9999, of 838 hours and 59 minutes where it is a time."""


def value_bounds(declared: str, form: ValueForm) -> dict[str, Any]:
    """Return the keywords that bound the values of a form in a column of a declared type; none if it has no bound.

    Number keywords hold for numbers, the pattern for texts.
    """
    if form.name in _LAST:
        return {"maximum": _LAST[form.name]}
    bound = bound_of(declared, form.kind) if form.kind in _BOUNDED and not form.records else None
    if bound is None:
        return {}
    digits = parse_source_type(declared).digits
    result: dict[str, Any] = {}
    if "number" in form.wire:
        result |= _of_decimals(digits) if digits is not None else _of_integers(bound)
    if "text" in form.wire and form.kind != "bit":  # bits travel as bytes
        whole = _text_of_decimals(digits) if digits is not None else _text_of_integers(bound)
        result["pattern"] = f"{whole}|{_EXPONENT}" if form.kind != "integer" else whole
    return result


def pattern_up_to(most: int) -> str:
    """Return the pattern of the whole numbers from 1 to `most`, without leading zeros."""
    digits = str(most)
    ways = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"] if len(digits) > 1 else []
    for place, digit in enumerate(digits):
        least, left = (0 if place else 1), len(digits) - place - 1
        if int(digit) > least:
            rest = f"[0-9]{{{left}}}" if left else ""
            ways.append(f"{digits[:place]}[{least}-{int(digit) - 1}]{rest}")
    return f"(?:{'|'.join([*ways, digits])})"


def _of_integers(bound: TypeBound) -> dict[str, Any]:
    return {} if bound.least is None else {"minimum": bound.least, "maximum": bound.most}


def _text_of_integers(bound: TypeBound) -> str:
    least, most = bound.least or 0, bound.most or 0
    negative = f"|-{pattern_up_to(-least)}" if least < 0 else ""
    return rf"^(?:-?0|{pattern_up_to(most)}{negative})(?:\.0*)?$"


def _of_decimals(digits: Digits) -> dict[str, Any]:
    """Return what bounds a number by its digits before the point.

    A value next to the first that is too large may be read as that one: it is taken, where digits are many.
    """
    beyond = 10**digits.whole
    if digits.whole + digits.fraction <= _EXACT_DIGITS:
        return {"exclusiveMinimum": -beyond, "exclusiveMaximum": beyond}
    return {"minimum": -beyond, "maximum": beyond}


def _text_of_decimals(digits: Digits) -> str:
    head = f"(?:0|[1-9][0-9]{{0,{digits.whole - 1}}})" if digits.whole else "0"
    return rf"^-?{head}(?:\.[0-9]{{0,{digits.fraction}}}0*)?$"
