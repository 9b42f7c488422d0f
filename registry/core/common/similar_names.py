"""Similar names: names close to the one a message has, so that a misspelt or renamed member is recognised."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

_MOST: Final = 3
_LEAST_LIKENESS: Final = 0.7
_SEPARATORS: Final = re.compile(r"[\W_]+")


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names most similar to a name, the most similar first; case and separators do not count."""
    others: dict[str, list[str]] = {}
    for other in sorted(set(known) - {name}):
        others.setdefault(_plain(other), []).append(other)
    close = difflib.get_close_matches(_plain(name), others, _MOST, _LEAST_LIKENESS)
    return [other for plain in close for other in others[plain]][:_MOST]


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()
