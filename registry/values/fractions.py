"""Fractions of a second that end in zeros, as products write them that leave such zeros out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import to_mask
from cdc_contracts.registry.values.form_values import Flag
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Bytes

TRAILING_ZEROS: Final = "trailing-zeros"
"""The cause of a finding on such a fraction."""
_PATTERN: Final = r"\.[0-9]*0( |$)"
_ZEROS: Final = re.compile(_PATTERN, re.ASCII)


def has_trailing_zeros(text: str) -> bool:
    """Return whether a time has a fraction of a second that ends in a zero; a zone may follow it."""
    return _ZEROS.search(text) is not None


def note_trailing_zeros(values: pa.Array, flags: Bytes | None) -> Bytes | None:
    """Flag every row NOTED that is OK and has such a fraction."""
    dotted = to_mask(pc.match_substring(values, "."))
    if not dotted.any():
        return flags
    zeros = np.zeros(len(values), np.bool_)
    zeros[dotted] = to_mask(pc.match_substring_regex(values.filter(pa.array(dotted)), _PATTERN))
    if flags is not None:
        zeros &= flags == Flag.OK
    if not zeros.any():
        return flags
    return np.where(zeros, np.uint8(Flag.NOTED), np.uint8(Flag.OK) if flags is None else flags)
