"""Expansion of a schema: how many schemas validating one value evaluates, references followed.

References that lead to schemas of references multiply: twenty lines can cause a million evaluations of one value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.common.subschemas import REFERENCES, SAME_VALUE, subschemas
from cdc_contracts.registry.core.schema.json_schemas.schema_references import SchemaAddresses, Subschema
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

MAX_QUESTIONS: Final = 20_000
"""Schemas evaluated for one value."""
MAX_IN_PLACE: Final = 200
"""Schemas that refer to one another, all applied to the same value."""

_Links = Mapping[int, Sequence[Subschema]]
"""What each schema leads to, by its identity."""


def refuse_explosions(document: Any, addresses: SchemaAddresses) -> int:
    """Return how many schemas lie on the longest way that following a schema takes.

    Raises SchemaFault if a reference leads outside or to nothing, where schemas lead to one another without ever
    coming to a part of the value, and where there are too many of them about one value.
    """
    if not isinstance(document, dict):
        return 0
    root = Subschema(document, addresses.root, "")
    on_same, on_any = _link(root, addresses)
    questions: dict[int, int] = {}
    for place in [root, *(below for links in on_any.values() for below in links)]:
        _count_questions(place, on_same, questions)
    return _longest_way(root, on_any)


def _link(root: Subschema, addresses: SchemaAddresses) -> tuple[_Links, _Links]:
    """Return what each schema leads to: for the same value, and at all."""
    on_same: dict[int, list[Subschema]] = {}
    on_any: dict[int, list[Subschema]] = {}
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if id(place.schema) in on_any:
            continue
        links = list(_leads_to(place, addresses))
        on_same[id(place.schema)] = [below for same_value, below in links if same_value]
        on_any[id(place.schema)] = [below for _, below in links]
        waiting.extend(on_any[id(place.schema)])
    return on_same, on_any


def _leads_to(place: Subschema, addresses: SchemaAddresses) -> Iterator[tuple[bool, Subschema]]:
    base = addresses.base_of(place.schema, place.base)
    for key in REFERENCES:
        if key in place.schema:
            target = addresses.resolve(place.schema[key], place)
            if target is not None:
                yield True, target
    for keyword, pointer, schema in subschemas(place.schema):
        yield keyword in SAME_VALUE, Subschema(schema, base, place.pointer + pointer)


def _count_questions(start: Subschema, on_same: _Links, questions: dict[int, int]) -> None:
    """Count the schemas that are evaluated on the same value as `start`, itself included."""
    way: list[tuple[Subschema, Iterator[Subschema]]] = []
    open_: set[int] = set()

    def enter(place: Subschema) -> None:
        way.append((place, iter(on_same[id(place.schema)])))
        open_.add(id(place.schema))
        if len(way) > MAX_IN_PLACE:
            raise SchemaFault(
                f"more than {MAX_IN_PLACE} schemas refer to one another here for a single value",
                start.pointer,
                hint="Refer to the last of them directly.",
            )

    if id(start.schema) not in questions:
        enter(start)
    while way:
        place, links = way[-1]
        below = next(links, None)
        if below is None:
            way.pop()
            open_.discard(id(place.schema))
            _resolve(place, on_same, questions)
        elif id(below.schema) in open_:
            raise SchemaFault(
                "a schema refers to itself for the same value, an infinite loop",
                place.pointer,
                hint="Refer to it from `properties` or `items`, so that each step checks a part of the value.",
            )
        elif id(below.schema) not in questions:
            enter(below)


def _resolve(place: Subschema, on_same: _Links, questions: dict[int, int]) -> None:
    total = 1 + sum(questions[id(below.schema)] for below in on_same[id(place.schema)])
    if total > MAX_QUESTIONS:
        raise SchemaFault(
            f"more than {MAX_QUESTIONS:,} schemas apply to one value here, including references",
            place.pointer,
            hint="References to schemas with further references multiply: state each condition once.",
        )
    questions[id(place.schema)] = total


def _longest_way(root: Subschema, on_any: _Links) -> int:
    """Return the depth of a walk through all schemas that enters each once."""
    seen = {id(root.schema)}
    way = [iter(on_any[id(root.schema)])]
    longest = 1
    while way:
        below = next(way[-1], None)
        if below is None:
            way.pop()
        elif id(below.schema) not in seen:
            seen.add(id(below.schema))
            way.append(iter(on_any[id(below.schema)]))
            longest = max(longest, len(way))
    return longest
