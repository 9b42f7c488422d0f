"""Code orders: records by a code, and the distinct codes, without sorting where the codes are few or in order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

_SMALL: Final = 2**15
"""Codes below are sorted by radix, and counted in a table."""


def number_codes(codes: NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Return where each distinct code stands first, by ascending code, and of each record the place of its code."""
    least, most = (int(codes.min()), int(codes.max())) if len(codes) else (0, _SMALL)
    if most - least >= min(_SMALL, 8 * len(codes)):
        _, firsts, places = np.unique(codes, return_index=True, return_inverse=True)
        return firsts, places
    entries = codes - least if least else codes
    table = np.full(most - least + 1, -1, np.int64)
    table[entries[::-1]] = np.arange(len(codes))[::-1]  # of equal entries the last that is written stays
    held = np.flatnonzero(table >= 0)
    firsts, table[held] = table[held], np.arange(len(held))
    return firsts, table[entries]


def order_by_code(codes: Numbers) -> Numbers:
    """Return the order of records by their code; those with one code stay in theirs."""
    if (codes[1:] >= codes[:-1]).all():
        return np.arange(len(codes))
    if codes.min() >= 0 and codes.max() < _SMALL:
        return np.argsort(codes.astype(np.int16), kind="stable")
    return np.argsort(codes, kind="stable")


def order_by_code_and_offset(codes: Numbers, offsets: Numbers) -> Numbers:
    """Return the order of records by their code, and of those with one code by their offset."""
    return np.lexsort((offsets, codes)) if (offsets[1:] < offsets[:-1]).any() else order_by_code(codes)
