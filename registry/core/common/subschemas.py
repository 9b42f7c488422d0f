"""Subschemas: the schemas inside a schema, and whether they apply to the same value or to a part of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer

DYNAMIC_REFERENCES: Final = ("$dynamicRef", "$recursiveRef")
REFERENCES: Final = ("$ref", *DYNAMIC_REFERENCES)
SAME_VALUE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
"""Keywords whose schemas apply to the same value as the schema around them."""

_ONE: Final = frozenset({
    "not", "if", "then", "else", "additionalProperties", "unevaluatedProperties", "propertyNames", "additionalItems",
    "unevaluatedItems", "contains", "contentSchema",
})  # fmt: skip
_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
BY_NAME: Final = frozenset({
    "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions",
})  # fmt: skip
"""Keywords whose value has a schema under each name: the names are arbitrary, and may be those of keywords."""

VALUES: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are no schemas, whatever they look like."""


def every_schema(document: Any) -> Iterator[Any]:
    """Yield a schema and all inside it. A member may be called as a keyword is: what stands at names is no schema."""
    yield from (one for _, one in every_place(document))


def every_place(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield a schema and all inside it, each after the JSON Pointer that leads to it."""
    waiting = [("", document)]
    while waiting:
        at, one = waiting.pop()
        if isinstance(one, dict):
            yield at, one
            waiting += [(at + step, below) for _, step, below in subschemas(one)]


def holds_any(document: Any, keywords: Collection[str]) -> bool:
    """Return whether an object anywhere in a document, schema or not, has one of the keywords."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not one.keys().isdisjoint(keywords):
                return True
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the schemas directly inside a schema: keyword, pointer from the schema, and the schema."""
    for keyword, value in schema.items():
        for step, one in _inside(keyword, value):
            if isinstance(one, dict):
                yield keyword, f"/{keyword}{step}", one


def _inside(keyword: str, value: Any) -> Iterator[tuple[str, Any]]:
    if keyword in _ONE:
        yield "", value
    elif (keyword in _LIST or keyword == "items") and isinstance(value, list):
        yield from ((f"/{at}", one) for at, one in enumerate(value))
    elif keyword == "items":
        yield "", value
    elif keyword in BY_NAME and isinstance(value, dict):
        yield from ((join_pointer(name), one) for name, one in value.items())


def map_schemas(schema: Mapping[str, Any], change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return a schema with what a function returns in place of each schema directly inside it."""

    def changed(one: Any) -> Any:
        return change(one) if isinstance(one, dict) else one

    def inside(keyword: str, value: Any) -> Any:
        if isinstance(value, list):
            return [changed(one) for one in value] if keyword in _LIST or keyword == "items" else value
        if keyword in BY_NAME and isinstance(value, dict):
            return {name: changed(one) for name, one in value.items()}
        return changed(value) if keyword in _ONE or keyword == "items" else value

    return {keyword: inside(keyword, value) for keyword, value in schema.items()}


def without_kind(document: Mapping[str, Any], places: Iterable[str], kind: str) -> dict[str, Any]:
    """Return a schema whose members at some places, as JSON Pointers into a message, take no value of a kind."""
    result = copy.deepcopy(dict(document))
    for at in places:
        member: Any = result
        for name in split_pointer(at):
            member = member.get("properties", {}).get(name, {})
        if isinstance(member.get("type"), list):
            member["type"] = [one for one in member["type"] if one != kind]
    return result
