"""What a reader asks of the elements of an array that a writer does not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from cdc_contracts.registry.compatibility.json_schema.difference import (
    ELEMENT,
    Difference,
    Route,
    Walking,
    as_key,
    differ,
)
from cdc_contracts.registry.compatibility.json_schema.scalars import compare_bounds, judge_least, judge_most
from cdc_contracts.registry.compatibility.json_schema.shapes import ANY, NEVER, Parts, Shape

_COUNTS: Final = {
    "maxItems": ("MAX_ITEMS", judge_most),
    "minItems": ("MIN_ITEMS", judge_least),
    "maxContains": ("MAX_CONTAINS", judge_most),
    "minContains": ("MIN_CONTAINS", judge_least),
}


@dataclass(frozen=True, slots=True)
class _Elements:
    """What an array's schema says of its elements: `first` ones by position, `every` one, and `others` after the first.

    The words are the keywords, which changed their meaning in draft 2020-12. `others` is True where nothing is said.
    """

    first_word: str
    first: list[Any]
    every_word: str
    every: Any
    others_word: str
    others: Any


def compare_arrays(walk: Walking, writer: Shape, reader: Shape, route: Route) -> Iterator[Difference]:
    """Yield where a reader takes fewer arrays."""
    sent, taken = _elements_sent(writer), _elements_of(reader)
    yield from _compare_every(walk, writer, reader, route)
    for index in range(max(len(sent.first), len(taken.first))):
        way = (*route, (ELEMENT, str(index)))
        yield from _compare_one(walk, writer, reader, way, index)
    yield from _compare_others(walk, writer, reader, (*route, (ELEMENT, str(len(sent.first)))))
    yield from compare_bounds(writer, reader, route, _COUNTS)
    if reader.schema.get("uniqueItems") is True and writer.schema.get("uniqueItems") is not True:
        yield differ("UNIQUE_ITEMS_ADDED", writer, reader, route, "uniqueItems")
    asked, promised = reader.schema.get("contains"), writer.schema.get("contains")
    if asked is not None and asked is not promised:
        mine = None if promised is None else walk.read_writer(promised, (*writer.at, "contains"))
        theirs = walk.read_reader(asked, (*reader.at, "contains"))
        if (
            mine is None
            or as_key(asked) != as_key(promised)
            or walk.breaks(walk.compare(mine, theirs, (*route, (ELEMENT, "0"))))
        ):
            yield differ("CONTAINS_CHANGED", writer, reader, route, "contains")


def _compare_every(walk: Walking, writer: Shape, reader: Shape, route: Route) -> Iterator[Difference]:
    sent, taken = _elements_sent(writer), _elements_of(reader)
    if taken.every is None:
        return
    way = (*route, (ELEMENT, "0"))
    if sent.every is None:
        if taken.every not in (True, {}) or isinstance(taken.every, dict):
            yield differ("SCHEMA_ADDED", writer, reader, way, taken.every_word)
        return
    mine = walk.read_writer(sent.every, (*writer.at, sent.every_word))
    theirs = walk.read_reader(taken.every, (*reader.at, taken.every_word))
    yield from walk.compare(mine, theirs, way)


def _compare_one(walk: Walking, writer: Shape, reader: Shape, route: Route, index: int) -> Iterator[Difference]:
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


def _compare_others(walk: Walking, writer: Shape, reader: Shape, route: Route) -> Iterator[Difference]:
    sent, taken = _elements_sent(writer), _elements_of(reader)
    pairs = (
        ("ADDITIONAL", sent.others, taken.others, sent.others_word, taken.others_word),
        (
            "UNEVALUATED",
            writer.schema.get("unevaluatedItems", True),
            reader.schema.get("unevaluatedItems", True),
            "unevaluatedItems",
            "unevaluatedItems",
        ),
    )
    for name, mine, theirs, mine_word, theirs_word in pairs:
        if theirs in (True, {}) or mine is False:
            continue
        if theirs is False:
            yield differ(f"{name}_ITEMS_REMOVED", writer, reader, route, theirs_word)
        elif mine is True:
            yield differ(f"{name}_ITEMS_NARROWED", writer, reader, route, theirs_word)
        else:
            old = walk.read_writer(mine, (*writer.at, mine_word))
            new = walk.read_reader(theirs, (*reader.at, theirs_word))
            yield from walk.compare(old, new, route)


def _elements_of(shape: Shape) -> _Elements:
    schema = shape.schema
    items = schema.get("items")
    if "prefixItems" in schema:
        others = True if items is None else items
        return _Elements("prefixItems", schema["prefixItems"], "items", None, "items", others)
    if isinstance(items, list):
        others = schema.get("additionalItems", True)
        return _Elements("items", items, "items", None, "additionalItems", others)
    return _Elements("items", [], "items", items, "additionalItems", schema.get("additionalItems", True))


def _elements_sent(shape: Shape) -> _Elements:
    """Return what a writer's schema says: without a list of first elements, `additionalItems` is not heeded."""
    elements = _elements_of(shape)
    return elements if elements.first else replace(elements, others=True)


def _element(read: Callable[[Any, Parts], Shape], shape: Shape, elements: _Elements, index: int) -> Shape:
    """Return the shape of the element at a position, as far as the first ones and the others say."""
    if index < len(elements.first):
        return read(elements.first[index], (*shape.at, elements.first_word, str(index)))
    return read(elements.others, (*shape.at, elements.others_word))
