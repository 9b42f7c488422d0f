"""Removals: members that one document names and another no longer names, wherever and however it names them.

Both documents are followed member by member and element by element; what counts at each place is all that they say of
it together: beside one another, in `allOf` and its like, by reference. Where the names are written does not matter. A
member that a schema names and, beside that, refuses in every message is not sent; what only may apply refuses nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule
from cdc_contracts.registry.authoring.compat.json_schema.pattern_languages import names_beside
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds, write_text
from cdc_contracts.registry.authoring.compat.json_schema.place_descriptions import (
    ANY_NAME,
    apply_always,
    apply_in_place,
    describe_member,
    named_by,
    step_into,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    ELEMENT,
    MEMBER,
    OTHER_MEMBER,
    Route,
    SchemaDifference,
    Step,
    TooMuchToCompare,
    Way,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import Parts, SchemaShape, value_at
from cdc_contracts.registry.core.common.pointers import split_reference

MEMBER_REMOVED: Final = JsonRule(
    id="C119", name="member-removed", severity=BREAKING,
    says="The new version no longer sends a member that consumers of the old one may read.",
    action="Keep the member, or inform every consumer first and publish a new subject.",
    good="the member stays, and may be null from now on", bad="an optional member is removed from properties",
    confluent="PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", harmless=("PROPERTY_REMOVED",),
)  # fmt: skip


REMOVED: Final = "PROPERTY_REMOVED"

_LIMIT: Final = 20_000
_CHARACTERS_OF_A_PLACE: Final = 16
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("then", "else")  # members under `if` and `not` are tested, not sent
_OTHERS: Final = ("additionalProperties", "unevaluatedProperties")
_REST: Final = ("additionalItems", "unevaluatedItems")
_NAMING: Final = frozenset({
    "$ref", *_LISTS, *_SINGLE, *_OTHERS, *_REST, "dependentSchemas", "dependencies", "properties", "patternProperties",
    "items", "prefixItems",
})  # fmt: skip
"""A schema without these keywords names no member, directly or in a subschema."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema and its place."""

    schema: Any
    at: Parts


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place in a message, with the schemas for it in the writer's and the reader's document.

    `way` leads there by names of members, also where the route says a pattern. The last two are those of the schemas
    that each value there has to fit.
    """

    route: Route
    way: Way
    mine: Sequence[_Place]
    theirs: Sequence[Any]
    my_certain: Sequence[Any]
    their_certain: Sequence[Any]


def find_removals(writer: Any, reader: Any, length: int) -> Iterator[SchemaDifference]:
    """Yield each member that a writer's document names and a reader's does not, the outermost ones only.

    A member that is described once and lies at several places of a message is yielded for each of them. `length` is
    how many characters both have. Raises TooMuchToCompare, after what was found until then.
    """
    limit = _LIMIT + length // _CHARACTERS_OF_A_PLACE
    seen: set[tuple[frozenset[int], ...]] = set()
    waiting = deque([_Spot((), (), [_Place(writer, ())], [reader], [writer], [reader])])
    while waiting:
        spot = waiting.popleft()
        mine_here, *others = [one.schema for one in spot.mine], spot.theirs, spot.my_certain, spot.their_certain
        key = tuple(frozenset(map(id, schemas)) for schemas in (mine_here, *others))
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > limit:
            raise TooMuchToCompare
        mine = list(_apply(writer, spot.mine))
        theirs = [one for schema in spot.theirs for one in apply_in_place(reader, schema)]
        certain = [
            list(apply_always(whole, one)) for whole, one in ((writer, spot.my_certain), (reader, spot.their_certain))
        ]
        known = {name for one in theirs for name in named_by(one)}
        # a value that is no longer an object is another difference
        is_object = False not in spot.their_certain and _may_be_object(certain[1])
        described = _members_of(mine) if is_object else {}
        for last, name in _members_to_follow(mine, theirs):
            route, way = (*spot.route, last), (*spot.way, name)
            if _is_refused(name, certain[0]):
                continue
            if name in described and (name not in known or _is_refused(name, certain[1])):
                yield _removal(described[name], route, way)
                continue
            places = [_Place(part, (*one.at, *at)) for one in mine for at, part in describe_member(one.schema, name)]
            if any(isinstance(one.schema, dict) and not _NAMING.isdisjoint(one.schema) for one in places):
                waiting.append(_Spot(route, way, places, *_below(theirs, certain, (MEMBER, name))))
        for place, at in _elements_of(mine):
            step = (ELEMENT, str(at))
            waiting.append(_Spot((*spot.route, step), (*spot.way, at), [place], *_below(theirs, certain, step)))


def _below(theirs: Iterable[Any], certain: Iterable[Iterable[Any]], step: Step) -> Iterator[list[Any]]:
    """Yield what the reader says where a step leads, and what writer and reader say of every value there."""
    yield [schema for one in theirs for schema in step_into(one, step)]
    for schemas in certain:
        yield [part for one in schemas for part in _certain_below(one, step)]


def _removal(place: _Place, route: Route, way: Way) -> SchemaDifference:
    name = str(way[-1])
    holder = SchemaShape("object", {"properties": {name: place.schema}}, place.at)
    nothing = SchemaShape("object", {}, ())
    return SchemaDifference(REMOVED, holder, nothing, place.at, None, route, member=name, way=way)


def _apply(document: Any, places: Iterable[_Place]) -> Iterator[_Place]:
    """Yield the places, and all that the schemas there apply to the same value, save as a condition."""
    seen: set[int] = set()
    waiting = deque(places)
    while waiting:
        one = waiting.popleft()
        if not isinstance(one.schema, dict) or id(one.schema) in seen:
            continue
        seen.add(id(one.schema))
        yield one
        schema = one.schema
        for word in _LISTS:
            waiting.extend(_Place(part, (*one.at, word, str(at))) for at, part in enumerate(schema.get(word, ())))
        waiting.extend(_Place(schema[word], (*one.at, word)) for word in _SINGLE if word in schema)
        for word in ("dependentSchemas", "dependencies"):
            waiting.extend(_Place(part, (*one.at, word, name)) for name, part in schema.get(word, {}).items())
        reference = schema.get("$ref", "")
        parts = split_reference(reference)
        if parts is not None:
            waiting.append(_Place(value_at(document, parts), parts))


def _members_of(places: Iterable[_Place]) -> dict[str, _Place]:
    """Return where each member that is sent is described first, by its name."""
    found: dict[str, _Place] = {}
    for one in places:
        for name, schema in one.schema.get("properties", {}).items():
            if schema is not False:
                found.setdefault(name, _Place(schema, (*one.at, "properties", name)))
    return found


def _members_to_follow(mine: Sequence[_Place], theirs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Step, str]]:
    """Yield the members that the writer describes, each as a step and by a name that it has in a message.

    What the writer says of members of any name is followed for each name that either side treats on its own, and for
    one name of each further kind that patterns distinguish.
    """
    described = dict.fromkeys(name for one in mine for name in one.schema.get("properties", ()))
    yield from (((MEMBER, name), name) for name in described)
    patterns = dict.fromkeys(key for one in mine for key in one.schema.get("patternProperties", ()))
    if not patterns and not any(isinstance(one.schema.get(word), dict) for one in mine for word in _OTHERS):
        return
    named = dict.fromkeys(name for one in (*(one.schema for one in mine), *theirs) for name in named_by(one))
    yield from (((MEMBER, name), name) for name in named if name not in described)
    all_patterns = [*dict.fromkeys((*patterns, *(key for one in theirs for key in one.get("patternProperties", ()))))]
    texts = names_beside(all_patterns, named)
    if texts is None:
        texts = [text for pattern in all_patterns for text in write_text(pattern)]
    kinds: dict[tuple[bool, ...], str] = {}
    for text in (ANY_NAME, *texts):
        if text not in named:
            kinds.setdefault(tuple(finds(pattern, text) for pattern in all_patterns), text)
    for text in kinds.values():
        yield (OTHER_MEMBER, next((pattern for pattern in patterns if finds(pattern, text)), "")), text


def _elements_of(places: Iterable[_Place]) -> Iterator[tuple[_Place, int]]:
    """Yield the schemas of elements, each with the number of the first element that it describes."""
    for one in places:
        schema = one.schema
        items = schema.get("items")
        word = "prefixItems" if "prefixItems" in schema else "items"
        first = schema[word] if isinstance(schema.get(word), list) else []
        for at, part in enumerate(first):
            yield _Place(part, (*one.at, word, str(at))), at
        rest = {"items": items, **{word: schema.get(word) for word in _REST}}
        for word, part in rest.items():
            if isinstance(part, dict):
                yield _Place(part, (*one.at, word)), len(first)


def _is_refused(name: str, schemas: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether any of the schemas, all of which apply, refuses every object with a member."""
    return any(
        one.get("properties", {}).get(name) is False
        or (
            one.get("additionalProperties") is False
            and name not in one.get("properties", {})
            and not one.get("patternProperties")
        )
        for one in schemas
    )


def _certain_below(schema: Mapping[str, Any], step: Step) -> list[Any]:
    """Return what a schema says of every value where a step leads, as far as that is plain to see."""
    kind, name = step
    if kind == MEMBER and name in schema.get("properties", {}):
        return [schema["properties"][name]]
    is_plain = kind == ELEMENT and "prefixItems" not in schema and isinstance(schema.get("items"), dict)
    return [schema["items"]] if is_plain else []


def _may_be_object(schemas: Iterable[Any]) -> bool:
    kinds = [one["type"] for one in schemas if "type" in one]
    return all(kind == "object" or (isinstance(kind, list) and "object" in kind) for kind in kinds)
