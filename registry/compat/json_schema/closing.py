"""Closing of schemas: what a producer sends and what a consumer accepts, as the policy cdc reads a schema.

A producer sends the members that its schema names, and no others: `close_schema`. A consumer ignores members that its
schema does not name, also where the schema forbids them: `open_schema`. Both leave a place unchanged where they cannot
decide, so that a message of the closed schema is one of the schema, and one that the open schema refuses the schema
refuses too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.common.subschemas import subschemas
from cdc_contracts.registry.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.compat.json_schema.place_descriptions import apply_in_place, follow, name_members

_IN_PLACE: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas"})
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_NOTES: Final = frozenset({
    "title", "description", "$comment", "default", "examples", "deprecated", "$defs", "definitions", "$schema", "$id",
    "readOnly", "writeOnly",
})  # fmt: skip
_HOLDING: Final = _IN_PLACE | {
    "properties", "patternProperties", "additionalProperties", "additionalItems", "items", "prefixItems",
    "dependencies",
}  # fmt: skip
"""A schema without these keywords names no member, directly or in a subschema."""
_REFUSING: Final = ("additionalProperties", "unevaluatedProperties")
_OPEN: Final[tuple[Any, ...]] = (True, {})


def close_schema(document: BundledSchema) -> BundledSchema:
    """Return the schema of what a producer sends."""
    closed = clone(document.value)
    is_plain = not document.mentions(*_IN_PLACE)
    untouched = set() if is_plain else {id(one) for one in _find_applied(closed)}
    done: set[int] = set()
    waiting = [closed]
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, dict) or _HOLDING.isdisjoint(schema) or id(schema) in done or id(schema) in untouched:
            continue
        done.add(id(schema))
        asked = schema.keys() - _NOTES
        if asked == {"$ref"}:
            waiting.append(follow(closed, schema["$ref"]) if isinstance(schema["$ref"], str) else None)
        elif len(asked & _IN_PLACE) == 1 and not schema.keys() & {"properties", "allOf", "$ref", "not", "if"}:
            waiting += [part for word in ("anyOf", "oneOf") for part in schema.get(word, ())]
        else:
            names = set(schema.get("properties", ())) if is_plain else name_members(closed, [schema])
            if names and _may_close(schema, closed):
                schema["additionalProperties"] = False
                schema["properties"] = {**schema.get("properties", {}), **_missing(names, schema)}
        waiting += _below(schema)
    return BundledSchema(closed)


def open_schema(document: BundledSchema) -> BundledSchema:
    """Return the schema of what a consumer accepts: the document itself where it refuses no member."""
    if not any(f'"{word}": false' in document.text for word in _REFUSING):
        return document
    opened = clone(document.value)
    kept = {id(one) for one in _find_judging(opened)} if document.mentions("not", "if") else set()
    _open(opened, opened, kept, set())
    return BundledSchema(opened)


def _missing(names: set[str], schema: Any) -> dict[str, Any]:
    return {name: {} for name in sorted(names) if name not in schema.get("properties", {})}


def _may_close(schema: Any, document: Any) -> bool:
    """Return whether the names that a schema and those beside it give are all that a producer may mean."""
    return all(
        one.get("additionalProperties", True) in _OPEN
        and not one.get("patternProperties")
        and "unevaluatedProperties" not in one
        and "$dynamicRef" not in one
        for one in apply_in_place(document, schema)
    )


def _below(schema: Any) -> list[Any]:
    """Return the schemas of the members and elements, which nothing else describes."""
    applied = bool(schema.keys() & _IN_PLACE)
    found: list[Any] = [] if applied else list(schema.get("patternProperties", {}).values())
    others = {name for word in _LISTS for part in schema.get(word, ()) for name in _names_inside(part)}
    others |= {name for word in ("then", "else") for name in _names_inside(schema.get(word))}
    found += [part for name, part in schema.get("properties", {}).items() if name not in others]
    if not applied:
        found += [schema.get("additionalProperties"), schema.get("additionalItems")]
        items = schema.get("items")
        found += items if isinstance(items, list) else [items]
        found += schema.get("prefixItems", [])
    return found


def _names_inside(schema: Any) -> Iterator[str]:
    """Yield the members of which a branch says more than a type: what they hold may be described twice."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, part in one.get("properties", {}).items():
                if isinstance(part, dict) and part.keys() & (
                    _IN_PLACE | {"properties", "items", "additionalProperties"}
                ):
                    yield name
            waiting += [part for word in _LISTS for part in one.get(word, ())]
            waiting += [one.get("then"), one.get("else")]


def _find_applied(document: Any) -> Iterator[Any]:
    """Yield the schemas that apply beside another one to the same value: closing them would refuse its members."""
    for schema in _every_schema(document):
        alone = not schema.keys() & {"properties", "allOf", "$ref", "not", "if"} and len(schema.keys() & _IN_PLACE) == 1
        words = ("allOf",) if alone else _LISTS
        parts = [part for word in words for part in schema.get(word, ())]
        parts += [schema[word] for word in ("if", "then", "else", "not") if word in schema]
        parts += schema.get("dependentSchemas", {}).values()
        if "$ref" in schema and schema.keys() - _NOTES != {"$ref"}:
            parts.append({"$ref": schema["$ref"]})
        for part in parts:
            yield from _everything_under(document, part)


def _find_judging(document: Any) -> Iterator[Any]:
    """Yield the schemas whose refusal is what counts: under `if` and `not`."""
    for schema in _every_schema(document):
        for word in ("if", "not"):
            if word in schema:
                yield from _everything_under(document, schema[word])


def _every_schema(document: Any) -> Iterator[Any]:
    """Yield a schema and all inside it. A member may be called as a keyword is: what stands at names is no schema."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += [below for _, _, below in subschemas(one)]


def _everything_under(document: Any, schema: Any) -> Iterator[Any]:
    """Yield a schema, all inside it and all that these refer to."""
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [below for _, _, below in subschemas(one)]
            if isinstance(one.get("$ref"), str):
                waiting.append(follow(document, one["$ref"]))


def _open(document: Any, schema: Any, kept: set[int], done: set[int]) -> bool:
    """Open a schema and all below it; say whether anything was opened."""
    if not isinstance(schema, dict) or id(schema) in done or id(schema) in kept:
        return False
    done.add(id(schema))
    refusing = [word for word in _REFUSING if schema.get(word) is False]
    for word in refusing:
        del schema[word]
    opened = {word for word, _, below in subschemas(schema) if _open(document, below, kept, done)}
    if isinstance(schema.get("$ref"), str):
        _open(document, follow(document, schema["$ref"]), kept, done)
    if "oneOf" in opened and "anyOf" not in schema:
        # members that are ignored no longer distinguish the alternatives: a consumer takes what fits any
        schema["anyOf"] = schema.pop("oneOf")
    return bool(refusing or opened)
