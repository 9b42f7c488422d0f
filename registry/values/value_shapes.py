"""Value shapes, for reports: what a value looked like, without its content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.form_values import Number
from cdc_contracts.registry.values.lazy_arrow import pc

if TYPE_CHECKING:
    import pyarrow as pa

WIDTH: Final = 40
STEPS: Final = (("[0-9]", "9"), ("[A-Za-z]", "a"), ("[^ -~]", "x"))
"""Patterns and what stands for them, in this order: an `x` made by the last must not become an `a`."""


def describe_shape(value: str | Number | bool) -> str:  # noqa: FBT001 - a JSON value
    """Give the shape of a JSON text, number (by its token) or boolean.

    Each ASCII digit becomes 9, each ASCII letter a, other printable ASCII stays, anything else becomes x;
    after 40 characters comes an ellipsis.
    """
    if isinstance(value, bool):
        return "aaaa" if value else "aaaaa"
    text = value.token if isinstance(value, Number) else str(value)
    shape = text[:WIDTH]
    for pattern, stand_in in STEPS:
        shape = re.sub(pattern, stand_in, shape)
    return shape + "…" if len(text) > WIDTH else shape


def describe_shapes(values: pa.Array) -> pa.Array:
    """Give `describe_shape` of every text or token in a `pa.string()` array; null stays null."""
    shapes = pc.utf8_slice_codeunits(values, 0, WIDTH)
    for pattern, stand_in in STEPS:
        shapes = pc.replace_substring_regex(shapes, pattern, stand_in)
    longer = pc.greater(pc.utf8_length(values), WIDTH)
    return pc.if_else(longer, pc.binary_join_element_wise(shapes, "…", ""), shapes)
