"""Linear patterns: the regular expressions of contracts, matched in time linear in the text.

A pattern such as `^(a+)+$` is matched with every message of a topic: a backtracking engine would never finish some of
them. The engine here takes no pattern that needs backtracking.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.subschemas import every_place

Finds = Callable[[str], bool]
"""Says whether a pattern finds something in a text."""

_CHARACTER, _IN_CLASS = r"[A-Za-z0-9@:,_/ -]", r"[!-,./-Z_a-~]"
_QUANTIFIER: Final = r"[+*?]|\{[0-9]{1,3}(?:,[0-9]{1,3})?\}"
_PORTABLE: Final = re.compile(rf"\^(?:(?:{_CHARACTER}|\[(?:{_IN_CLASS}(?:-{_IN_CLASS})?)+\])(?:{_QUANTIFIER})?)+\$")
_HINT_BACKTRACKING: Final = (
    "Write it without (?=, (?!, (?<=, (?<! and references such as \\1: a text might be tried without end with them."
)
_HINT_SYNTAX: Final = "Write patterns in ECMAScript syntax."


@cache
def compile_pattern(pattern: str) -> Finds:
    """Return a JSON Schema pattern as ECMAScript means it: digits are ASCII and `$` is the very end.

    Raises ContractError if it is no pattern, or cannot be matched in linear time.
    """
    try:
        return jsonschema_rs.Draft202012Validator(
            {"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions()
        ).is_valid
    except (ValueError, jsonschema_rs.ValidationError):
        pass
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (ValueError, jsonschema_rs.ValidationError):
        raise ContractError(f"no pattern: {pattern}", hint=_HINT_SYNTAX) from None
    raise ContractError(f"a pattern with lookaround or backreferences: {pattern}", hint=_HINT_BACKTRACKING)


def is_portable(pattern: str) -> bool:
    """Return whether every engine of regular expressions means the same by a pattern.

    It is anchored at both ends, and between them are characters and classes of ASCII with quantifiers.
    """
    return _PORTABLE.fullmatch(pattern) is not None


def refuse_endless_patterns(schema: Any, *, where: str) -> None:
    """Raise ContractError if a contract's schema holds a pattern that is none, or is not matched in linear time."""
    for at, one in every_place(schema):
        if one.get("patternProperties"):
            raise ContractError(
                "`patternProperties` is not supported in contracts",
                where=f"{where}#{at}",
                hint="List the members in `properties`, or describe the others in `additionalProperties`.",
            )
        if isinstance(one.get("pattern"), str):
            try:
                compile_pattern(one["pattern"])
            except ContractError as error:
                raise ContractError(error.what, where=f"{where}#{at}/pattern", hint=error.hint) from None
