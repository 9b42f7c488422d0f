"""Member examples: what each member of the envelope holds in messages of its version.

A value is taken from the first rendered example that has one. What they do not hold, the hand-written
envelope may give an example of itself. Columns are not members of the envelope: value forms have examples of their own.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Final

_DEFINED: Final = "#/$defs/"
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def with_member_examples(schema: dict[str, Any], messages: Sequence[Any]) -> dict[str, Any]:
    """Return a JSON Schema whose members, however deep they lie, have `examples` from messages that it takes.

    Members are those under `properties`, also of what `$ref` leads to. Where no message holds more than an empty value,
    an example that is there stays.
    """
    result = copy.deepcopy(schema)
    _add_examples(result, result, list(messages), frozenset())
    return result


def _add_examples(whole: dict[str, Any], schema: dict[str, Any], values: list[Any], inside: frozenset[str]) -> None:
    """Put examples into the members of a schema of which `values` are instances; `inside` are definitions around it."""
    name = schema.get("$ref", "").removeprefix(_DEFINED)
    if name in inside:
        return
    if name:
        schema, inside = whole["$defs"][name], inside | {name}
    named = schema.get("properties", {})
    for member, below in named.items():
        held = [value[member] for value in values if isinstance(value, dict) and member in value]
        example = next((value for value in held if value not in _EMPTY), None)
        if example is None and "examples" not in below:
            example = next((value for value in held if value is not None), None)
        if example is not None:
            below["examples"] = [example]
        _add_examples(whole, below, held, inside)
    if isinstance(schema.get("additionalProperties"), dict):
        others = [value.items() for value in values if isinstance(value, dict)]
        held = [one for items in others for member, one in items if member not in named]
        _add_examples(whole, schema["additionalProperties"], held, inside)
    if "items" in schema:
        held = [one for value in values if isinstance(value, list) for one in value]
        _add_examples(whole, schema["items"], held, inside)
