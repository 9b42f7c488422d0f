"""Schema members: the properties of a message in the JSON Schemas of versions, as far as parsing needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer

_BOUNDS: Final = frozenset({"enum", "const", "pattern", "minimum", "minItems", "maxItems", "$ref"})


def unite_properties(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return two versions' properties as one: a member that both have accepts the kinds of both."""
    united = dict(left)
    for name, schema in right.items():
        if name not in united:
            united[name] = schema
            continue
        mine = united[name]
        kinds = {
            kind
            for one in (mine, schema)
            for kind in ([one["type"]] if isinstance(one.get("type"), str) else one.get("type", []))
        }
        merged = {**mine, **schema, "type": sorted(kinds)}
        if "properties" in mine or "properties" in schema:
            merged["properties"] = unite_properties(mine.get("properties", {}), schema.get("properties", {}))
        united[name] = merged
    return united


def members_of(properties: Mapping[str, Any], pointer: str) -> Mapping[str, Any]:
    """Return what the properties of a message list below a member; nothing where they list no members."""
    for part in split_pointer(pointer):
        properties = properties.get(part, {}).get("properties", {})
    return properties


def image_properties(schema: Mapping[str, Any], pointer: str) -> Iterator[str]:
    """Yield the properties that a schema or one of its branches declares within an image."""
    below: Any = schema
    for part in split_pointer(pointer):
        below = below.get("properties", {}).get(part, {})
    yield from below.get("properties", ())
    for branch in schema.get("allOf", ()):
        yield from image_properties(branch.get("then", {}), pointer)


def declared_kinds(schema: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the JSON kinds that a schema allows for members, by place, whatever else a message holds."""
    return dict(_kinds_below(schema, schema.get("$defs", {}), ""))


def _kinds_below(schema: Any, named: Mapping[str, Any], at: str) -> Iterator[tuple[str, frozenset[str]]]:
    if not isinstance(schema, dict):
        return
    schema = named.get(str(schema.get("$ref")).removeprefix("#/$defs/"), schema)
    types = schema.get("type")
    if types is not None:
        listed = [types] if isinstance(types, str) else types
        yield at, frozenset("number" if one == "integer" else one for one in listed)
    for name, below in schema.get("properties", {}).items():
        yield from _kinds_below(below, named, at + join_pointer(name))


def value_constraints(schema: Any, at: str) -> Iterator[tuple[str, str, Any]]:
    """Yield every constraint on the value of a member, at any depth: `(pointer, keyword, value)`; each code singly."""
    if not isinstance(schema, dict):
        return
    for keyword in ("pattern", "minimum"):
        if keyword in schema:
            yield at, keyword, schema[keyword]
    for code in schema.get("enum", ()):
        yield at, "enum", code
    if "const" in schema:
        yield at, "const", schema["const"]
    for name, below in schema.get("properties", {}).items():
        yield from value_constraints(below, at + join_pointer(name))
    for branch in schema.get("allOf", ()):
        yield from value_constraints(branch.get("if"), at)
        yield from value_constraints(branch.get("then"), at)


def bounded_collections(schema: Mapping[str, Any], at: str) -> Iterator[str]:
    """Yield the lists and maps whose values a schema constrains by more than their kind."""
    for name, below in schema.get("properties", {}).items():
        pointer = at + join_pointer(name)
        if "properties" in below:
            yield from bounded_collections(below, pointer)
        elif any(_has_bound(below.get(part)) for part in ("items", "additionalProperties")):
            yield pointer


def _has_bound(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return not _BOUNDS.isdisjoint(schema) or any(
        _has_bound(below)
        for below in (schema.get("items"), schema.get("additionalProperties"), *schema.get("properties", {}).values())
    )
