"""Identifiers: names for columns whose own name a language does not allow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

_LETTERS: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


def docstring_text(text: str) -> str:
    """Return a text that may stand in a docstring of Python."""
    return "".join(one if one.isprintable() and one not in '"\\' else "_" for one in text)


def plain_name(text: str) -> str:
    """Return a text with letters, digits and underscores only, that does not begin with a digit."""
    name = _LETTERS.sub("_", text)
    return name if name and not name[0].isdigit() else f"_{name}"


def names_beside(wanted: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a free name for each: one that is taken, whatever its case, gets `_` in front until it is free."""
    used = {name.casefold() for name in taken}
    names = {}
    for name in wanted:
        free = name
        while free.casefold() in used:
            free = f"_{free}"
        used.add(free.casefold())
        names[name] = free
    return names


def distinct_names(
    texts: Iterable[str], make: Callable[[str], str] = plain_name, taken: Iterable[str] = ()
) -> dict[str, str]:
    """Return a distinct name for each text; where several give the same name, the later ones are numbered."""
    used = set(taken)
    names: dict[str, str] = {}
    for text in texts:
        name, number = make(text), 1
        while name in used:
            number += 1
            name = f"{make(text)}_{number}"
        used.add(name)
        names[text] = name
    return names
