"""Fractions of a second that end in zeros, as products write them that leave such zeros out."""

from __future__ import annotations

import re
from typing import Final

TRAILING_ZEROS: Final = "trailing-zeros"
"""The cause of a finding on such a fraction."""
_PATTERN: Final = r"\.[0-9]*0( |$)"
_ZEROS: Final = re.compile(_PATTERN, re.ASCII)


def has_trailing_zeros(text: str) -> bool:
    """Return whether a time has a fraction of a second that ends in a zero; a zone may follow it."""
    return _ZEROS.search(text) is not None
