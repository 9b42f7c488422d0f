"""Place descriptions: all schemas of a document that apply to one place in a message."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import ELEMENT, MEMBER, Step
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import Parts, value_at
from cdc_contracts.registry.core.common.pointers import split_reference
from cdc_contracts.registry.core.common.subschemas import subschemas

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("if", "then", "else", "not")
_OTHERS: Final = ("additionalProperties", "unevaluatedProperties")
_REST: Final = ("items", "additionalItems", "unevaluatedItems")
_DEPENDENT: Final = ("dependencies", "dependentRequired", "dependentSchemas")
ANY_NAME: Final = "other"
"""A member that schemas hardly name."""
_DEEPEST_WAY: Final = 3
MOST_IN_PLACE: Final = 2_000
"""Schemas that are followed for one place; what more there are is left out."""


def apply_in_place(document: Any, schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the schema and every other that it applies to the same value."""

    def beside(one: dict[str, Any]) -> Iterator[Any]:
        yield from (part for word in _LISTS for part in one.get(word, ()))
        yield from (one[word] for word in _SINGLE if word in one)
        yield from (*one.get("dependentSchemas", {}).values(), *one.get("dependencies", {}).values())
        if isinstance(one.get("$ref"), str) and one["$ref"].startswith("#"):
            yield follow(document, one["$ref"])

    return _each_once([schema], beside, MOST_IN_PLACE)


def apply_always(document: Any, schemas: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas and every other that each value they accept has to fit: by `allOf` and by reference."""

    def beside(one: dict[str, Any]) -> Iterator[Any]:
        yield from one.get("allOf", ())
        if isinstance(one.get("$ref"), str):
            yield follow(document, one["$ref"])

    return _each_once(schemas, beside, MOST_IN_PLACE)


def _each_once(
    schemas: Iterable[Any], more: Callable[[dict[str, Any]], Iterable[Any]], most: float = inf
) -> Iterator[Mapping[str, Any]]:
    """Yield schemas and what each leads to, the last first, each once and up to a maximum."""
    seen: set[int] = set()
    waiting = list(schemas)
    while waiting and len(seen) < most:
        one = waiting.pop()
        if isinstance(one, dict) and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += more(one)


def follow(document: Any, reference: str) -> Any:
    """Return what a reference inside the document leads to, None if it leads nowhere."""
    parts = split_reference(reference)
    return None if parts is None else value_at(document, parts)


def name_members(document: Any, schemas: Iterable[Any]) -> set[str]:
    """Return every member that the schemas, and those they apply in place, name: described, required or depended on."""
    return {name for schema in schemas for one in apply_in_place(document, schema) for name in named_by(one)}


def named_by(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the members that a schema itself names."""
    yield from schema.get("properties", ())
    required = schema.get("required")
    yield from required if isinstance(required, list) else ()  # draft 3 wrote a flag there, which asks nothing since
    for word in _DEPENDENT:
        for name, asked in schema.get(word, {}).items():
            yield name
            yield from asked if isinstance(asked, list) else ()


def everything_under(document: Any, schema: Any) -> Iterator[Any]:
    """Yield a schema, all inside it and all that these refer to."""

    def below(one: dict[str, Any]) -> Iterator[Any]:
        yield from (part for _, _, part in subschemas(one))
        if isinstance(one.get("$ref"), str):
            yield follow(document, one["$ref"])

    return _each_once([schema], below)


def step_into(schema: Mapping[str, Any], step: Step) -> Iterator[Any]:
    """Yield what a schema says of the member or element where a step leads."""
    kind, name = step
    if kind == MEMBER:
        yield from (part for _, part in describe_member(schema, name))
    elif kind == ELEMENT:
        items = schema.get("prefixItems") or schema.get("items")
        if isinstance(items, list):
            yield from items[int(name) : int(name) + 1]
        yield from (schema[word] for word in _REST if isinstance(schema.get(word), dict))


def describe_member(schema: Mapping[str, Any], name: str) -> Iterator[tuple[Parts, Any]]:
    """Yield what a schema says of a member, each with its place in it: what it says of others only if no more."""
    found = [(("properties", name), schema["properties"][name])] if name in schema.get("properties", {}) else []
    for pattern, part in schema.get("patternProperties", {}).items():
        if finds(pattern, name):
            found.append((("patternProperties", pattern), part))
    yield from found
    if not found:
        yield from (((word,), schema[word]) for word in _OTHERS if isinstance(schema.get(word), dict))


def find_ways(document: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield where values may lie in a message, the outermost first: members that are named, any other, and elements."""
    waiting: deque[tuple[tuple[str | int, ...], list[Any]]] = deque([((), [document])])
    while waiting:
        way, schemas = waiting.popleft()
        yield way
        if len(way) == _DEEPEST_WAY:
            continue
        applied = [one for schema in schemas for one in apply_in_place(document, schema)]
        names = dict.fromkeys([*(name for one in applied for name in named_by(one)), *([ANY_NAME] if applied else [])])
        for name in names:
            waiting.append(((*way, name), [part for one in applied for part in step_into(one, (MEMBER, name))]))
        elements = [part for one in applied for part in step_into(one, (ELEMENT, "0"))]
        if elements:
            waiting.append(((*way, 0), elements))
