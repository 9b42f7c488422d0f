"""Type names: how the source types of a value mapping may be spelled in a message, as a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cdc_contracts.registry.contract.value_mappings import ValueMapping

_BRACKETS = r"(?:\s*\([^()]*\))*"
_SIGNS = r"(?:\s+(?:[Uu][Nn][Ss][Ii][Gg][Nn][Ee][Dd]|[Ss][Ii][Gg][Nn][Ee][Dd]|[Zz][Ee][Rr][Oo][Ff][Ii][Ll][Ll]))*"


def type_pattern(mapping: ValueMapping, types: Iterable[str]) -> str:
    """Return the pattern of every spelling that a mapping reads as one of `types`, which it lists in capitals.

    Spellings that nobody writes (brackets inside brackets, brackets within a name) are left out.
    """
    steps = mapping.document.names
    wanted = set(types)
    spelled = [*wanted, *(alias for alias, name in mapping.document.aliases.items() if name in wanted)]
    names = "|".join(_spell(name, steps) for name in sorted(spelled))
    tail = (_BRACKETS if "drop-parameters" in steps else "") + (_SIGNS if "drop-unsigned" in steps else "")
    return rf"^\s*(?:{names}){tail}\s*$" if "code" not in steps else f"^(?:{names})$"


def _spell(name: str, steps: tuple[str, ...]) -> str:
    brackets = _BRACKETS if "drop-parameters" in steps else ""
    gap = brackets + (r"[\s_]+" if "underscore-to-space" in steps else r"\s+")
    return gap.join("".join(_letter(letter, any_case="upper" in steps) for letter in word) for word in name.split(" "))


def _letter(letter: str, *, any_case: bool) -> str:
    if not letter.isalpha() or not any_case:
        return re.escape(letter)
    return f"[{letter.upper()}{letter.lower()}]"
