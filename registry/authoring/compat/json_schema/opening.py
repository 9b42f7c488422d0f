"""Opening of schemas: what a consumer accepts, as the policy cdc reads a schema.

A consumer ignores members that its schema does not name, also where the schema forbids them. A member that the schema
names at one place and refuses at another is not ignored. A message that the open schema refuses the schema refuses too.

A schema that is used at several places may have other schemas beside it at each, and it is opened for all of them at
once. It is therefore read twice: what a consumer certainly takes, and what it may take. One that is used under `if` or
`not` and elsewhere cannot be opened for one use alone: it stays as it is, and the consumer may take anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds
from cdc_contracts.registry.authoring.compat.json_schema.place_descriptions import (
    apply_always,
    apply_in_place,
    everything_under,
    follow,
    named_by,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import MEMBER, OTHER_MEMBER, Step
from cdc_contracts.registry.core.common.subschemas import every_schema, subschemas

_REFUSING: Final = ("additionalProperties", "unevaluatedProperties")
_BESIDE: Final = frozenset({"allOf", "then", "else", "dependentSchemas", "dependencies"})
"""Keywords whose schemas apply together with the schema around them."""
_ALTERNATIVES: Final = frozenset({"anyOf", "oneOf"})
_TESTED: Final = frozenset({"if", "not"})
_IN_PLACE: Final = _BESIDE | _ALTERNATIVES | _TESTED | {"$ref"}

_Named = frozenset[Step]
"""Members that a schema names, and patterns by which it does."""
_Around = tuple[Any, ...]
"""Schemas that apply together with another one."""
_MOST_VISITS: Final = 20_000
"""Places of schemas that are followed; of a schema with more, no place is opened."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """What applies together with a schema, itself included: what it names, and how many members it asks for."""

    named: _Named = frozenset()
    least: int = 0


_NOTHING: Final = _Beside()


def open_both_ways(document: BundledSchema) -> tuple[BundledSchema, BundledSchema]:
    """Return the schema of what a consumer certainly accepts, and of what it may accept; mostly they are one."""
    if not any(f'"{word}": false' in document.text for word in _REFUSING):
        return document, document
    opened = clone(document.value)
    beside = _find_beside(opened) if document.mentions(*_IN_PLACE) else {}
    if beside is None:
        return document, document
    anywhere = {at: any_place for at, (any_place, _) in beside.items()}
    everywhere = {at: each_place for at, (_, each_place) in beside.items()}
    is_tested = _is_tested_and_used(opened, beside)
    is_exact = _open_all(document, opened, anywhere) and anywhere == everywhere
    taken = BundledSchema(opened)
    if is_tested:
        return taken, BundledSchema({word: held for word, held in document.value.items() if word == "$schema"})
    if is_exact:
        return taken, taken
    opened = clone(document.value)
    beside = _find_beside(opened) or {}
    _open_all(document, opened, {at: each_place for at, (_, each_place) in beside.items()}, may=True)
    may_take = BundledSchema(opened)
    return (taken, taken) if may_take.text == taken.text else (taken, may_take)


def _open_all(document: BundledSchema, opened: Any, beside: Mapping[int, _Beside], *, may: bool = False) -> bool:
    """Open the schemas in a copy of the document's value, and return whether each is opened exactly.

    `beside` says what applies together with each, by its identity. Where the names of members that are refused cannot
    be told from those that are not, a schema stays as it is, or takes them all if it `may`.
    """
    kept = {id(one) for one in _find_validating(opened)} if document.mentions(*_TESTED) else set()
    schemas = [one for one in every_schema(opened) if id(one) not in kept]
    unclear = {id(one) for one in schemas if _has_unclear_names(one, beside.get(id(one), _NOTHING).named)}
    changed = set()
    for one in schemas:
        is_unclear = id(one) in unclear
        around = beside.get(id(one), _NOTHING)
        named = frozenset(name for name in around.named if name[0] == MEMBER or not is_unclear)
        if (may or not is_unclear) and _open(one, _Beside(named, around.least)):
            changed.add(id(one))
    for schema in schemas if changed else ():
        if "oneOf" in schema and "anyOf" not in schema:
            inside = (id(one) for part in schema["oneOf"] for one in everything_under(opened, part))
            if not changed.isdisjoint(inside):
                # members that are ignored no longer distinguish the alternatives: a consumer takes what fits any
                schema["anyOf"] = schema.pop("oneOf")
    return not unclear


def _is_tested_and_used(document: Any, used: Collection[int]) -> bool:
    """Return whether a schema that refuses members is tested and, among the identities `used`, used elsewhere too."""
    return any(
        id(one) in used and any(one.get(word) is False for word in _REFUSING) for one in _find_validating(document)
    )


def _has_unclear_names(schema: dict[str, Any], named: _Named) -> bool:
    """Return whether a pattern of names beside a closed schema may find names that the schema itself describes."""
    if schema.get("additionalProperties") is not False:
        return False
    own, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    beside = {name for kind, name in named if kind == OTHER_MEMBER} - patterns.keys()
    return bool(beside) and bool(patterns or any(finds(one, name) for one in beside for name in own))


def _open(schema: dict[str, Any], around: _Beside) -> bool:
    """Let a schema take members, save those named beside it and not by it; say whether it refused any before."""
    refusing = [word for word in _REFUSING if schema.get(word) is False]
    if "additionalProperties" in refusing:
        own, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        beside = {name for kind, name in around.named if kind == OTHER_MEMBER} - patterns.keys()
        names = {*named_by(schema), *(name for kind, name in around.named if kind == MEMBER)} - own.keys()
        if max(schema.get("minProperties", 0), around.least) > len(own) and not patterns:
            return False  # it takes no object: members that are ignored must not make up for that
        refused = sorted(name for name in names if not any(finds(one, name) for one in patterns))
        if refused:
            schema["properties"] = {**own, **dict.fromkeys(refused, False)}
        if beside:
            schema["patternProperties"] = dict.fromkeys(sorted(beside), False)
    for word in refusing:
        del schema[word]
    return bool(refusing)


def _find_beside(document: Any) -> Mapping[int, tuple[_Beside, _Beside]] | None:
    """Return by a schema's identity what applies together with it.

    Alternatives apply together with what is around them, and not with each other. Where a schema is used at several
    places, this is what is said at any of them, and what is said at all: of how many members an object has to have,
    what may be asked, and what always is. None if there are too many places.
    """
    found: dict[int, tuple[_Beside, _Beside]] = {}
    seen: set[tuple[int, ...]] = set()
    waiting: deque[tuple[Any, _Around]] = deque([(document, ())])
    kept: dict[tuple[int, str], dict[str, Any]] = {}
    while waiting:
        schema, around = waiting.popleft()
        place = (id(schema), *sorted(map(id, around)))
        if not isinstance(schema, dict) or place in seen:
            continue
        seen.add(place)
        if len(seen) > _MOST_VISITS:
            return None
        together = [*around, schema]
        named = _named_in(document, together)
        may, must = (_least_of(all_of(document, together)) for all_of in (_apply_all, apply_always))
        anywhere, everywhere = found.get(id(schema), (_Beside(named, may), _Beside(named, must)))
        found[id(schema)] = (
            _Beside(named | anywhere.named, max(may, anywhere.least)),
            _Beside(named & everywhere.named, min(must, everywhere.least)),
        )
        waiting.extend(_parts_of(document, schema, around, kept))
    return found


def _parts_of(
    document: Any, schema: dict[str, Any], around: _Around, kept: dict[tuple[int, str], dict[str, Any]]
) -> Iterator[tuple[Any, _Around]]:
    """Yield the schemas inside a schema and the one it refers to, each with those that apply together with it.

    `kept` holds, by a schema's identity and the keyword of its alternatives, what it says besides these.
    """
    whole = around if any(one is schema for one in around) else (*around, schema)
    for word, _, part in subschemas(schema):
        if word in _BESIDE:
            yield part, whole
        elif word in _ALTERNATIVES:
            rest = {key: held for key, held in schema.items() if key != word}
            besides = kept.setdefault((id(schema), word), rest)
            yield part, around if any(one is besides for one in around) else (*around, besides)
        elif word not in {"$defs", "definitions", "properties", *_TESTED}:
            yield part, ()
    if isinstance(schema.get("$ref"), str):
        yield follow(document, schema["$ref"]), whole
    if "properties" in schema:
        others = [one["properties"] for one in _apply_all(document, whole) if one.get("properties")]
        for name, part in schema["properties"].items():
            yield part, tuple(one[name] for one in others if name in one and one[name] is not part)


def _apply_all(document: Any, schemas: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    return (one for schema in schemas for one in apply_in_place(document, schema))


def _least_of(schemas: Iterable[Mapping[str, Any]]) -> int:
    """Return how many members an object has to have by all the schemas."""
    return max((one.get("minProperties", 0) for one in schemas), default=0)


def _named_in(document: Any, schemas: Iterable[Any]) -> _Named:
    """Return what the schemas, and those they apply in place, name."""
    applied = list(_apply_all(document, schemas))
    names = {(MEMBER, name) for one in applied for name in named_by(one)}
    patterns = {(OTHER_MEMBER, key) for one in applied for key in one.get("patternProperties", ())}
    described = any(isinstance(one.get(word), dict) and one[word] for one in applied for word in _REFUSING)
    return frozenset(names | patterns | ({(OTHER_MEMBER, "")} if described else set()))


def _find_validating(document: Any) -> Iterator[Any]:
    """Yield the schemas whose refusal is what counts: under `if` and `not`."""
    for schema in every_schema(document):
        for word in ("if", "not"):
            if word in schema:
                yield from everything_under(document, schema[word])
