"""Structures: values of columns that are arrays or objects, read by their JSON text."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.core.common import json_structures
from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.values.decimals import read_unscaled, write_unscaled
from cdc_contracts.registry.core.values.form_values import LIMIT, BrokenValue, Context, Flag, Value

_MEMBERS: Final = {"scale", "value"}


def read_structure(text: str, _context: Context) -> Value:
    """Read an array or object unchanged."""
    return Value(str(text))


def write_structure(text: str, _context: Context) -> list[Any] | dict[str, Any]:
    """Write the array or object that a JSON text holds. Raises ValueError: it holds none."""
    return json_structures.read_structure(text)


def read_scaled(text: str, _context: Context) -> Value:
    """Read an object of a scale and the Base64 of an unscaled number, such as `{"scale": 2, "value": "AxY="}`."""
    try:
        found = json_structures.read_structure(text)
    except ValueError as error:
        raise BrokenValue from error
    if not isinstance(found, dict) or found.keys() != _MEMBERS:
        raise BrokenValue
    scale, value = found["scale"], found["value"]
    if not isinstance(value, str) or not isinstance(scale, Number) or set(scale.token) & set(".eE"):
        raise BrokenValue
    if abs(scale) > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    return read_unscaled(value, Context(scale=int(scale)))


def write_scaled(text: str, _context: Context) -> dict[str, Any]:
    """Write a decimal with the scale that its digits have."""
    scale = len(text.partition(".")[2])
    return {"scale": Number(str(scale)), "value": write_unscaled(text, Context(scale=scale))}
