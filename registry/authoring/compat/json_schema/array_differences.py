"""Array differences: what a reader requires of the elements of an array that a writer does not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule
from cdc_contracts.registry.authoring.compat.json_schema.scalar_differences import (
    compare_bounds,
    validate_least,
    validate_most,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    ELEMENT,
    Route,
    SchemaDifference,
    Walking,
    as_key,
    differ,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import ANY, NEVER, Parts, SchemaShape

ELEMENT_COUNT: Final = JsonRule(
    id="C113", name="element-count-narrower", severity=BREAKING,
    says="The reader limits the length of an array more tightly, or requires distinct elements or a certain element.",
    action="Keep the limits at least as wide as they were.",
    good='"minItems": 1 becomes 0', bad='"minItems": 0 becomes 1',
    confluent="MIN_ITEMS_INCREASED",
    breaks=(
        "MAX_ITEMS_ADDED",
        "MAX_ITEMS_DECREASED",
        "MIN_ITEMS_ADDED",
        "MIN_ITEMS_INCREASED",
        "UNIQUE_ITEMS_ADDED",
        "MAX_CONTAINS_ADDED",
        "MAX_CONTAINS_DECREASED",
        "MIN_CONTAINS_ADDED",
        "MIN_CONTAINS_INCREASED",
    ),
    passed_over=("CONTAINS_CHANGED",),
)  # fmt: skip

ELEMENTS: Final = JsonRule(
    id="C114", name="elements-narrower", severity=BREAKING,
    says="The reader defines a schema for array elements that the elements the writer sends may not match.",
    action="Keep the elements as they were.",
    good='"items": {"type": "string"} is removed', bad='"items": {"type": "string"} is added',
    confluent="SCHEMA_ADDED",
    breaks=(
        "SCHEMA_ADDED",
        "ADDITIONAL_ITEMS_REMOVED",
        "ADDITIONAL_ITEMS_NARROWED",
        "UNEVALUATED_ITEMS_REMOVED",
        "UNEVALUATED_ITEMS_NARROWED",
        "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
        "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    ),
)  # fmt: skip


_COUNTS: Final = {
    "maxItems": ("MAX_ITEMS", validate_most),
    "minItems": ("MIN_ITEMS", validate_least),
    "maxContains": ("MAX_CONTAINS", validate_most),
    "minContains": ("MIN_CONTAINS", validate_least),
}


EVALUATING: Final = frozenset({
    "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "contains",
})  # fmt: skip
"""Keywords beside `unevaluatedItems` that may evaluate elements, so that it does not see them."""
_UNEVALUATED: Final = "unevaluatedItems"


@dataclass(frozen=True, slots=True)
class _Elements:
    """What an array's schema says of its elements: `first` ones by position, `every` one, and `others` after the first.

    The words are the keywords, which changed their meaning in draft 2020-12. `others` is True where nothing is said,
    and what `unevaluatedItems` says where nothing else does.
    """

    first_word: str
    first: list[Any]
    every_word: str
    every: Any
    others_word: str
    others: Any


def compare_arrays(walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield where a reader takes fewer arrays."""
    sent, taken = _elements_sent(writer), _elements_of(reader)
    yield from _compare_every(walk, writer, reader, route)
    count = max(len(sent.first), len(taken.first))
    for index in range(count):
        way = (*route, (ELEMENT, str(index)))
        yield from _compare_one(walk, writer, reader, way, index)
    yield from _compare_others(walk, writer, reader, (*route, (ELEMENT, str(count))))
    yield from compare_bounds(writer, reader, route, _COUNTS)
    if reader.schema.get("uniqueItems") is True and writer.schema.get("uniqueItems") is not True:
        yield differ("UNIQUE_ITEMS_ADDED", writer, reader, route, "uniqueItems")
    yield from _compare_contained(walk, writer, reader, route)


def _compare_contained(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    asked, constrained = reader.schema.get("contains"), writer.schema.get("contains")
    if asked is None:
        return
    mine = None if constrained is None else walk.read_writer(constrained, (*writer.at, "contains"))
    theirs = walk.read_reader(asked, (*reader.at, "contains"))
    if (
        mine is None
        or as_key(asked) != as_key(constrained)
        or walk.breaks(walk.compare(mine, theirs, (*route, (ELEMENT, "0"))))
        or ("minContains" not in reader.schema and writer.schema.get("minContains", 1) < 1)  # absent, it is 1
    ):
        yield differ("CONTAINS_CHANGED", writer, reader, route, "contains")


def _compare_every(walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    sent, taken = _elements_sent(writer), _elements_of(reader)
    if taken.every is None:
        return
    way = (*route, (ELEMENT, str(len(sent.first))))
    if sent.every is None:
        if taken.every not in (True, {}) or isinstance(taken.every, dict):
            yield differ("SCHEMA_ADDED", writer, reader, way, taken.every_word)
        return
    mine = walk.read_writer(sent.every, (*writer.at, sent.every_word))
    theirs = walk.read_reader(taken.every, (*reader.at, taken.every_word))
    yield from walk.compare(mine, theirs, way)


def _compare_one(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route, index: int
) -> Iterator[SchemaDifference]:
    sent, taken = _elements_sent(writer), _elements_of(reader)
    mine = _element(walk.read_writer, writer, sent, index)
    theirs = _element(walk.read_reader, reader, taken, index)
    if index < len(sent.first) and index < len(taken.first):
        yield from walk.compare(mine, theirs, route)
        return
    if theirs.kind == ANY or mine.kind == NEVER:
        return
    was_added = index >= len(sent.first)
    words = (taken.first_word if was_added else sent.first_word, str(index))
    if was_added and sent.others in (True, {}):
        yield differ("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", writer, reader, route, *words)
    elif not was_added and theirs.kind == NEVER:
        yield differ("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", writer, reader, route, *words)
    else:
        inner = walk.compare(mine, theirs, route)
        yield from inner
        if walk.breaks(inner):
            change = "ADDED" if was_added else "REMOVED"
            name = f"ITEM_{change}_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            yield differ(name, writer, reader, route, *words)


def _compare_others(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    taken = _elements_of(reader)
    sent = _elements_sent(writer) if taken.first else _elements_of(writer)
    if taken.others_word != _UNEVALUATED:
        yield from _compare_rest(walk, writer, reader, route, sent, taken)
    if _UNEVALUATED in reader.schema and _UNEVALUATED not in writer.schema:
        asked = reader.schema[_UNEVALUATED]
        if asked not in (True, {}):
            change = "REMOVED" if asked is False else "NARROWED"
            yield differ(f"UNEVALUATED_ITEMS_{change}", writer, reader, route, _UNEVALUATED)
    elif taken.others_word == _UNEVALUATED and not writer.schema.keys() & EVALUATING:
        yield from _compare_rest(walk, writer, reader, route, sent, taken)


def _compare_rest(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route, sent: _Elements, taken: _Elements
) -> Iterator[SchemaDifference]:
    if taken.others in (True, {}) or sent.others is False:
        return
    name = "UNEVALUATED" if taken.others_word == _UNEVALUATED else "ADDITIONAL"
    if taken.others is False:
        yield differ(f"{name}_ITEMS_REMOVED", writer, reader, route, taken.others_word)
    elif sent.others is True:
        yield differ(f"{name}_ITEMS_NARROWED", writer, reader, route, taken.others_word)
    else:
        mine = walk.read_writer(sent.others, (*writer.at, sent.others_word))
        theirs = walk.read_reader(taken.others, (*reader.at, taken.others_word))
        yield from walk.compare(mine, theirs, route)


def _elements_of(shape: SchemaShape) -> _Elements:
    schema = shape.schema
    items = schema.get("items")
    every, first, first_word, others_word = None, [], "items", "additionalItems"
    if "prefixItems" in schema:
        first, first_word, others_word = schema["prefixItems"], "prefixItems", "items"
    elif isinstance(items, list):
        first = items
    else:
        every = items
    if every is None and others_word not in schema and _UNEVALUATED in schema and not schema.keys() & EVALUATING:
        others_word = _UNEVALUATED
    return _Elements(first_word, first, "items", every, others_word, schema.get(others_word, True))


def _elements_sent(shape: SchemaShape) -> _Elements:
    """Return what a writer's schema says: without a list of first elements, `additionalItems` is not heeded."""
    elements = _elements_of(shape)
    return elements if elements.first or elements.others_word == _UNEVALUATED else replace(elements, others=True)


def _element(
    read: Callable[[Any, Parts], SchemaShape], shape: SchemaShape, elements: _Elements, index: int
) -> SchemaShape:
    """Return the shape of the element at a position, as far as the first ones and the others say."""
    if index < len(elements.first):
        return read(elements.first[index], (*shape.at, elements.first_word, str(index)))
    return read(elements.others, (*shape.at, elements.others_word))
