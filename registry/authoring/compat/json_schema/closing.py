"""Closing of schemas: what a producer sends, as the policy cdc reads a schema: members that it names, and no others.

A place is left as it is where that cannot be decided, and where no object could be sent if it were closed: a message
of the closed schema is always one of the schema.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.containment import find_impossible
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds
from cdc_contracts.registry.authoring.compat.json_schema.place_descriptions import (
    MOST_IN_PLACE,
    apply_in_place,
    everything_under,
    follow,
    name_members,
    named_by,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import value_at
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.common.subschemas import every_place, every_schema

_IN_PLACE: Final = frozenset({
    "$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas", "dependencies",
})  # fmt: skip
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_NOTES: Final = frozenset({
    "title", "description", "$comment", "default", "examples", "deprecated", "$defs", "definitions", "$schema", "$id",
    "readOnly", "writeOnly",
})  # fmt: skip
_BESIDE: Final = _NOTES | {"type", "anyOf", "oneOf"}
"""Keywords beside which each alternative says all of an object."""
_HOLDING: Final = _IN_PLACE | {
    "properties", "patternProperties", "additionalProperties", "additionalItems", "items", "prefixItems",
}  # fmt: skip
"""A schema without these keywords names no member, directly or in a subschema."""
_LIMITING: Final = ("not", "if", "propertyNames", "minProperties", "allOf", "anyOf", "oneOf", "dependencies",
                    "dependentSchemas", "$ref")  # fmt: skip
"""Without these, an object of the members that a schema names can be sent if any can."""
_OPEN: Final[tuple[Any, ...]] = (True, {})


@dataclass(frozen=True, slots=True)
class _Closed:
    """A schema that was closed, and its own keywords."""

    schema: dict[str, Any]
    own: Mapping[str, Any]

    def reopen(self) -> None:
        for word in ("properties", "additionalProperties"):
            self.schema.pop(word)
            if word in self.own:
                self.schema[word] = self.own[word]


class ClosedSchema(BundledSchema):
    """The schema of what a producer sends.

    `reopened` has the JSON Pointers of the places that were left open as they would take no object.
    """

    def __init__(self, value: Any, *, reopened: Collection[str]) -> None:
        super().__init__(value)
        self.reopened = reopened


def close_schema(document: BundledSchema) -> ClosedSchema:
    """Return the schema of what a producer sends."""
    closed = clone(document.value)
    places = _close(document, closed)
    may_be_emptied = document.mentions(*_LIMITING)
    left, reopened = places, set[int]()
    while left and may_be_emptied and (emptied := _find_emptied(document, closed, left)):
        for one in _innermost(closed, emptied):
            one.reopen()
            reopened.add(id(one.schema))
        left = [one for one in left if id(one.schema) not in reopened]
    pointers = {at for at, one in every_place(closed) if id(one) in reopened} if reopened else set()
    return ClosedSchema(closed, reopened=pointers)


def is_closed_exactly(document: BundledSchema) -> bool:
    """Return whether it is known of each place what a producer sends there: no schemas apply together."""
    return not document.mentions(*_IN_PLACE)


def _close(document: BundledSchema, closed: Any) -> list[_Closed]:
    """Close a copy of the document's value, and return what was closed in it."""
    is_plain = is_closed_exactly(document)
    untouched = set() if is_plain else {id(one) for one in _find_applied(closed)}
    places: list[_Closed] = []
    done: set[int] = set()
    waiting = [closed]
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, dict) or _HOLDING.isdisjoint(schema) or id(schema) in done or id(schema) in untouched:
            continue
        done.add(id(schema))
        if schema.keys() - _NOTES == {"$ref"}:
            waiting.append(follow(closed, schema["$ref"]) if isinstance(schema["$ref"], str) else None)
        elif _is_choice(schema):
            waiting += [part for word in ("anyOf", "oneOf") for part in schema.get(word, ())]
        else:
            names = set(named_by(schema)) if is_plain else name_members(closed, [schema])
            # a schema that is closed already refuses what it does not describe, also where others name it
            if schema.get("additionalProperties") is not False and names and _may_close(schema, closed, names):
                places.append(_Closed(schema, dict(schema)))
                schema["additionalProperties"] = False
                schema["properties"] = {**schema.get("properties", {}), **_missing(names, schema)}
        waiting += _below(schema, closed)
    return places


def _is_choice(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema says no more of objects than its alternatives do, one of which each object follows."""
    return len(schema.keys() & {"anyOf", "oneOf"}) == 1 and schema.keys() <= _BESIDE


def _missing(names: set[str], schema: Any) -> dict[str, Any]:
    return {name: {} for name in sorted(names) if name not in schema.get("properties", {})}


def _may_close(schema: Any, document: Any, names: set[str]) -> bool:
    """Return whether the names that a schema and those beside it give are all that a producer may mean."""
    applied = list(apply_in_place(document, schema))
    return len(applied) < MOST_IN_PLACE and not is_map(applied, names)


def is_map(applied: Sequence[Mapping[str, Any]], names: Collection[str]) -> bool:
    """Return whether an object that all the schemas describe together may have members of other names."""
    return not any(one.get("properties") for one in applied) or any(
        one.get("additionalProperties", True) not in (*_OPEN, False)
        or bool(one.get("patternProperties"))
        or "unevaluatedProperties" in one
        or bool(one.keys() & {"$dynamicRef", "$recursiveRef"})
        or one.get("minProperties", 0) > len(names)
        for one in applied
    )


def _find_emptied(document: BundledSchema, closed: Any, places: list[_Closed]) -> list[_Closed]:
    """Return the places that take no object since they were closed, and took some before."""
    known = {id(one.schema): one for one in places}
    pointers = {at: known[id(one)] for at, one in every_place(closed) if id(one) in known}
    before, after = clone(document.value), clone(closed)
    for whole in (before, after):
        for at in pointers:
            # what is asked is whether an object is left: other values pass wherever no type is given
            value_at(whole, split_pointer(at))["type"] = "object"
    emptied = find_impossible(BundledSchema(after)).keys() & pointers.keys()
    if emptied:
        emptied -= find_impossible(BundledSchema(before)).keys()
    return [pointers[at] for at in emptied]


def _innermost(closed: Any, places: list[_Closed]) -> list[_Closed]:
    """Return the places with no other one inside: they may be why those around them take nothing. Else all of them."""
    known = {id(one.schema) for one in places}
    inner = [one for one in places if _is_alone(one.schema, known, closed)]
    return inner or places


def _is_alone(schema: Any, known: Collection[int], closed: Any) -> bool:
    return not any(id(one) in known for one in everything_under(closed, schema) if one is not schema)


def _below(schema: Any, document: Any) -> list[Any]:
    """Return the schemas of the members and elements, which nothing else describes."""
    applied = bool(schema.keys() & _IN_PLACE)
    patterns = schema.get("patternProperties", {})
    others = {name for name in schema.get("properties", {}) for key in patterns if finds(key, name)}
    found: list[Any] = list(patterns.values()) if not applied and not others and len(patterns) == 1 else []
    if applied:
        beside = [one for one in apply_in_place(document, schema) if one is not schema]
        if any(_says_more(part) for one in beside for part in _of_any_name(one)):
            return []
        others |= {name for one in beside for name, part in one.get("properties", {}).items() if _says_more(part)}
    found += [part for name, part in schema.get("properties", {}).items() if name not in others]
    if not applied:
        found += [schema.get("additionalProperties")]
    if not applied and "contains" not in schema:
        found += [schema.get("additionalItems")]
        items = schema.get("items")
        found += items if isinstance(items, list) else [items]
        found += schema.get("prefixItems", [])
    return found


def _of_any_name(schema: Mapping[str, Any]) -> list[Any]:
    return [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]


def _says_more(schema: Any) -> bool:
    """Return whether a schema says more than a type: what it describes may be described twice then."""
    return isinstance(schema, dict) and not schema.keys().isdisjoint(_DESCRIBING)


_DESCRIBING: Final = _HOLDING | {"required", "dependentRequired", "minProperties", "propertyNames", "contains"}


def _find_applied(document: Any) -> Iterator[Any]:
    """Yield the schemas that apply beside another one to the same value: closing them would refuse its members."""
    for schema in every_schema(document):
        words = ("allOf",) if _is_choice(schema) else _LISTS
        parts = [part for word in words for part in schema.get(word, ())]
        parts += [schema[word] for word in ("if", "then", "else", "not") if word in schema]
        parts += [part for word in ("dependentSchemas", "dependencies") for part in schema.get(word, {}).values()]
        if "$ref" in schema and schema.keys() - _NOTES != {"$ref"}:
            parts.append({"$ref": schema["$ref"]})
        for part in parts:
            yield from everything_under(document, part)
