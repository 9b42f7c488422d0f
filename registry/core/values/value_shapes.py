"""Value shapes, for reports: what a value looked like, without its content."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.json_structures import as_structure

WIDTH: Final = 40


class _StandIns(dict[int, str]):
    """What stands for each character, by its code."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        stand_in = letter if " " <= letter <= "~" else "x"
        if letter.isascii() and letter.isalnum():
            stand_in = "9" if letter.isdigit() else "a"
        if letter.isascii():
            self[code] = stand_in
        return stand_in


_STAND_INS: Final = _StandIns()


def describe_shape(value: Any) -> str:
    """Give the shape of a JSON text, number (by its token), boolean, or of a structure by its JSON text.

    Each ASCII digit becomes 9, each ASCII letter a, other printable ASCII stays, anything else becomes x;
    after 40 characters comes an ellipsis.
    """
    if type(value) is str and len(value) <= WIDTH:
        return value.translate(_STAND_INS)
    if isinstance(value, bool):
        return "aaaa" if value else "aaaaa"
    if isinstance(value, list | dict):
        value = as_structure(value)
    text = value.token if isinstance(value, Number) else str(value)
    shape = shape_of(text[:WIDTH])
    return shape + "…" if len(text) > WIDTH else shape


def shape_of(text: str) -> str:
    """Give the shape of a text of any length."""
    return text.translate(_STAND_INS)
