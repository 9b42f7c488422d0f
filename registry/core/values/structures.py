"""Structures: values of columns that are arrays or objects, read by their JSON text."""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.core.common import json_structures
from cdc_contracts.registry.core.values.form_values import Context, Value


def read_structure(text: str, _context: Context) -> Value:
    """Read an array or object unchanged."""
    return Value(str(text))


def write_structure(text: str, _context: Context) -> list[Any] | dict[str, Any]:
    """Write the array or object that a JSON text holds. Raises ValueError: it holds none."""
    return json_structures.read_structure(text)
