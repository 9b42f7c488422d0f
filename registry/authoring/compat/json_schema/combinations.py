"""Combinations (`allOf`, `anyOf`, `oneOf`, `not`, `if`): what a reader requires that a writer does not promise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    Route,
    SchemaDifference,
    TooMuchToCompare,
    Walking,
    as_key,
    differ,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import ALL_OF, ANY_OF, ONE_OF, SchemaShape

ALTERNATIVE: Final = JsonRule(
    id="C115", name="alternative-missing", severity=BREAKING,
    says="The writer sends one of several alternatives, and the reader lacks one of them or cannot distinguish two "
    "of them.",
    action="Keep every alternative; make those of a oneOf mutually exclusive.",
    good='"anyOf": [A, B] becomes [A, B, C]', bad='"anyOf": [A, B] becomes [A]',
    confluent="SUM_TYPE_NARROWED",
    breaks=("COMBINED_TYPE_CHANGED", "SUM_TYPE_NARROWED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"),
    passed_over=("ALTERNATIVES_MAY_OVERLAP",),
)  # fmt: skip

CONDITION: Final = JsonRule(
    id="C116", name="condition-added", severity=BREAKING,
    says="The reader adds a condition: with allOf, not, or if.",
    action="Revert the condition, or publish a new subject.",
    good='"allOf": [A, B] becomes [A]', bad='"allOf": [A] becomes [A, B]',
    confluent="PRODUCT_TYPE_EXTENDED", breaks=("PRODUCT_TYPE_EXTENDED", "NOT_TYPE_EXTENDED"),
    passed_over=("CONDITION_CHANGED",),
)  # fmt: skip


_NUMBERS: Final = frozenset({"number", "integer"})
_MOST_PAIRS: Final = 2_500
_MOST_LISTED: Final = 20
_KINDS: Final = _NUMBERS | {"object", "array", "string", "boolean", "null"}


def compare_combinations(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    """Yield where a reader's combination accepts less: each part of the smaller side needs a counterpart of its own."""
    mine, theirs = _unlike(writer, walk.writer_parts(writer)), _unlike(reader, walk.reader_parts(reader))
    if not _may_become(writer.kind, len(mine), reader.kind, len(theirs)):
        yield differ("COMBINED_TYPE_CHANGED", writer, reader, route, *_word(reader))
        return
    if len(mine) < len(theirs) and reader.kind == ALL_OF:
        yield differ("PRODUCT_TYPE_EXTENDED", writer, reader, route, *_word(reader))
    if len(mine) > len(theirs) and writer.kind != ALL_OF:
        yield differ("SUM_TYPE_NARROWED", writer, reader, route, *_word(writer))
    pairs, apart = _pair_in_order(walk, mine, theirs, route)
    if apart:
        pairs = _pair_at_all(walk, mine, theirs, route)
    for inner in pairs:
        yield from inner
    if len(pairs) < min(len(mine), len(theirs)):
        changed = differ("COMBINED_TYPE_SUBSCHEMAS_CHANGED", writer, reader, route, *_word(reader))
        yield replace(changed, inside=tuple(apart))
    elif reader.kind == ONE_OF and not _are_apart(walk.reader_parts(reader)):
        before, after = walk.writer_parts(writer), walk.reader_parts(reader)
        same = (
            writer.kind == ONE_OF
            and len(before) == len(after)
            and all(walk.is_same(one.schema, other.schema) for one, other in zip(before, after, strict=True))
        )
        if not same or any(pairs):
            yield differ("ALTERNATIVES_MAY_OVERLAP", writer, reader, route, *_word(reader))


def compare_with_alternatives(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> list[SchemaDifference] | None:
    """Return how a shape differs from the part of a combination that takes it; None if no part does."""
    parts = walk.reader_parts(reader)
    if reader.kind == ALL_OF and len(parts) > 1:
        return None
    for part in parts:
        inner = walk.compare(writer, part, route)
        if not walk.breaks(inner):
            if reader.kind == ONE_OF and len(parts) > 1 and not _are_apart(parts):
                inner = [*inner, differ("ALTERNATIVES_MAY_OVERLAP", writer, reader, route, *_word(reader))]
            return inner
    return None


def compare_with_conditions(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> list[SchemaDifference] | None:
    """Return how the part of a combination that a shape takes differs from it; None if it takes no part."""
    parts = walk.writer_parts(writer)
    if writer.kind != ALL_OF and len(parts) > 1:
        return None
    for part in parts:
        inner = walk.compare(part, reader, route)
        if not walk.breaks(inner):
            return inner
    return None


def compare_refusals(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    """Yield where a reader's `not` refuses more."""
    mine = walk.read_writer(writer.schema["not"], (*writer.at, "not"))
    theirs = walk.read_reader(reader.schema["not"], (*reader.at, "not"))
    if walk.compare_back(theirs, mine, route):
        yield differ("NOT_TYPE_EXTENDED", writer, reader, route, "not")


def compare_conditions(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    """Yield where a condition is another one, or asks for more."""
    if as_key(writer.schema["if"]) != as_key(reader.schema["if"]):
        yield differ("CONDITION_CHANGED", writer, reader, route, "if")
        return
    mine, theirs = (
        walk.read_writer(writer.schema["if"], (*writer.at, "if")),
        walk.read_reader(reader.schema["if"], (*reader.at, "if")),
    )
    if walk.breaks(walk.compare(mine, theirs, route)) or walk.compare_back(theirs, mine, route):
        yield differ("CONDITION_CHANGED", writer, reader, route, "if")
    for word in ("then", "else"):
        old, new = writer.schema.get(word, True), reader.schema.get(word, True)
        if old is not new:
            asked = walk.read_reader(new, (*reader.at, word))
            yield from walk.compare(walk.read_writer(old, (*writer.at, word)), asked, route)


def _may_become(mine: str, mine_count: int, theirs: str, theirs_count: int) -> bool:
    """Return whether one kind of combination can take the messages of another at all."""
    if theirs in {mine, ANY_OF} or mine_count == theirs_count == 1:
        return True
    return (mine_count == 1 and theirs == ONE_OF) or (theirs_count == 1 and mine == ALL_OF)


def _are_apart(parts: Sequence[SchemaShape]) -> bool:
    """Return whether no value fits two of the parts; False if that cannot be seen at once."""
    if len(parts) > 64:  # noqa: PLR2004  pairs of them
        return False
    return all(_differ_in_kind(one, other) for one, other in combinations(parts, 2))


def _differ_in_kind(one: SchemaShape, other: SchemaShape) -> bool:
    mine, theirs = kinds_of(one), kinds_of(other)
    if mine is None or theirs is None:
        return False
    mine = mine | _NUMBERS if mine & _NUMBERS else mine
    if not mine & theirs:
        return True
    if mine != {"object"} or theirs != {"object"}:
        return False
    codes, others = _codes_of(one), _codes_of(other)
    return any(not values & others[name] for name, values in codes.items() if name in others)


def kinds_of(shape: SchemaShape) -> frozenset[str] | None:
    """Return the kinds of values that pass, as far as `type` says; None if it does not."""
    if shape.piece:
        return frozenset({shape.kind}) if shape.kind in _KINDS and shape.typed else None
    types = shape.schema.get("type") if isinstance(shape.schema, dict) else None
    if isinstance(types, str):
        return frozenset({types})
    return frozenset(types) if isinstance(types, list) else None


def _codes_of(shape: SchemaShape) -> dict[str, set[str]]:
    """Return the values that a required member may have, by its name, where they are listed."""
    required, members = shape.schema.get("required", ()), shape.schema.get("properties", {})
    found = {}
    for name, schema in members.items():
        if name in required and isinstance(schema, dict) and ("const" in schema or "enum" in schema):
            values = [schema["const"]] if "const" in schema else schema["enum"]
            found[name] = {as_key(value) for value in values}
    return found


def _unlike(whole: SchemaShape, parts: Sequence[SchemaShape]) -> list[SchemaShape]:
    """Return the parts without those that are written like an earlier one."""
    if whole.made_of:
        return list(parts)
    written = whole.schema[whole.keyword]
    return list({as_key(text): part for text, part in reversed(list(zip(written, parts, strict=True)))}.values())[::-1]


def _word(shape: SchemaShape) -> tuple[str, ...]:
    return (shape.keyword,) if shape.keyword else ()


def _pair_in_order(
    walk: Walking, mine: Sequence[SchemaShape], theirs: Sequence[SchemaShape], route: Route
) -> tuple[list[list[SchemaDifference]], list[SchemaDifference]]:
    """Return the differences inside the parts at the same positions, and those of the ones that are apart."""
    found, apart = [], []
    for part, other in zip(mine, theirs, strict=False):
        inner = walk.compare(part, other, route)
        found.append(inner)
        if walk.breaks(inner):
            apart += [one for one in inner if walk.breaks([one])]
            if len(apart) > _MOST_LISTED:
                break
    return found, apart


def _pair_at_all(
    walk: Walking, mine: Sequence[SchemaShape], theirs: Sequence[SchemaShape], route: Route
) -> list[list[SchemaDifference]]:
    """Return the differences inside the largest set of pairs in which no part has two partners.

    Raises TooMuchToCompare.
    """
    if len(mine) * len(theirs) > _MOST_PAIRS:
        raise TooMuchToCompare
    partners = []
    for part in mine:
        found = {number: walk.compare(part, other, route) for number, other in enumerate(theirs)}
        partners.append({number: inner for number, inner in found.items() if not walk.breaks(inner)})
    return [partners[number][partner] for number, partner in _match(partners).items()]


def _match(partners: Sequence[dict[int, list[SchemaDifference]]]) -> dict[int, int]:
    """Return the largest set of pairs in which no one has two partners; those without differences first."""
    taken: dict[int, int] = {}

    def find(number: int, tried: set[int]) -> bool:
        for partner in sorted(partners[number], key=lambda one: len(partners[number][one])):
            if partner not in tried:
                tried.add(partner)
                if partner not in taken or find(taken[partner], tried):
                    taken[partner] = number
                    return True
        return False

    for number in range(len(partners)):
        find(number, set())
    return {number: partner for partner, number in taken.items()}
