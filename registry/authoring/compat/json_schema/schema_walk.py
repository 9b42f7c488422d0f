"""Schema walk over two schemas at once: requirements of the reader's that the writer's does not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.json_schema.array_differences import EVALUATING as EVALUATING_ELEMENTS
from cdc_contracts.registry.authoring.compat.json_schema.array_differences import compare_arrays
from cdc_contracts.registry.authoring.compat.json_schema.combinations import (
    compare_combinations,
    compare_conditions,
    compare_refusals,
    compare_with_alternatives,
    compare_with_conditions,
)
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule
from cdc_contracts.registry.authoring.compat.json_schema.object_differences import EVALUATING as EVALUATING_MEMBERS
from cdc_contracts.registry.authoring.compat.json_schema.object_differences import compare_objects
from cdc_contracts.registry.authoring.compat.json_schema.scalar_differences import (
    compare_codes,
    compare_numbers,
    compare_texts,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    Route,
    SchemaDifference,
    TooMuchToCompare,
    Walking,
    as_key,
    differ,
    is_same,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import (
    ANY,
    COMBINED,
    NEVER,
    UNKNOWN,
    Parts,
    SchemaShape,
    ShapeReader,
)

TYPE_CHANGED: Final = JsonRule(
    id="C102", name="type-changed", severity=BREAKING,
    says="The reader accepts a different type of value than the writer sends.",
    action="Add the new member under a new name and keep the old one, or accept both types.",
    good='"type": "string" becomes "type": ["string", "integer"]', bad='"type": "string" becomes "type": "integer"',
    confluent="TYPE_CHANGED", breaks=("TYPE_CHANGED", "KEYWORD_CHANGED"), harmless=("KEYWORD_CHANGED",),
)  # fmt: skip


Decide = Callable[[SchemaShape, SchemaShape], bool]
"""Says whether it is known, other than by walking, that a reader's shape takes all that a writer's does."""

_LIMIT: Final = 20_000
"""Pairs of shapes that are compared: combinations inside combinations multiply."""
_CHARACTERS_OF_A_SCHEMA: Final = 16
_PASSES: Final = 8
_BROKEN: Final = "RECURSION_BROKEN"
_SEEN: Final = "COMPARED_BEFORE"
"""Two notes that stand for the differences of a pair that is compared elsewhere."""
_DEPTH: Final = 40
"""How deeply pairs are nested before the comparison of the next is postponed."""
_EVALUATING: Final = {"unevaluatedProperties": EVALUATING_MEMBERS, "unevaluatedItems": EVALUATING_ELEMENTS}

_Pair = tuple[SchemaShape, SchemaShape]
_Compare = Callable[[Walking, SchemaShape, SchemaShape, Route], Iterator[SchemaDifference]]


class Walk:
    """Walks two documents. `counted` are the names of differences that decide whether one shape takes another.

    Schemas that lead back to themselves: a pair that is being compared, or waits because the way to it is long, is
    taken to have no difference; where it turns out to have one, everything is compared again with that known, until
    nothing new turns up.
    """

    def __init__(
        self, writer: ShapeReader, reader: ShapeReader, counted: frozenset[str], decide: Decide | None = None
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._counted = counted
        self._settle = decide
        self._done: dict[_Pair, tuple[list[SchemaDifference], int]] = {}
        self._open: dict[_Pair, int] = {}
        self._waiting: dict[_Pair, Route] = {}
        self._leaned_on: set[_Pair] = set()
        self._broken: set[_Pair] = set()
        self._steps = 0
        self._limit = _LIMIT + (len(writer.text) + len(reader.text)) // _CHARACTERS_OF_A_SCHEMA
        self._back: Walk | None = None
        same_draft = writer.draft == reader.draft
        self._is_plain = same_draft and not (writer.has_references or reader.has_references)
        """Whether every schema says all of itself, in the same language."""
        self._is_one_document = same_draft and is_same(writer.document, reader.document)

    def walk(self) -> list[SchemaDifference]:
        """Return the differences of the two documents, each once. Raises TooMuchToCompare."""
        for _ in range(_PASSES):
            found = self.compare(self._writer.read_root(), self._reader.read_root(), ())
            walks = [self, *([self._back] if self._back else [])]
            for one in walks:
                one.catch_up()
            learned = [one.learn() for one in walks]
            if not any(learned):
                result: dict[tuple[object, ...], SchemaDifference] = {}
                for difference in self._spell_out(found):
                    known = result.setdefault(_key_of(difference), difference)
                    if len(difference.route) < len(known.route):  # a shorter way to it
                        result[_key_of(difference)] = difference
                return list(result.values())
            for one in walks:
                one.forget()
        raise TooMuchToCompare

    def catch_up(self) -> None:
        """Compare the pairs that were postponed."""
        while self._waiting:
            (writer, reader), route = self._waiting.popitem()
            self.compare(writer, reader, route)

    def learn(self) -> bool:
        """Record the pairs that turned out to differ after they were assumed equal; return whether there are any."""
        broken = {pair for pair in self._leaned_on if self.breaks(self._done[pair][0])} - self._broken
        self._broken |= broken
        return bool(broken)

    def forget(self) -> None:
        """Start again, keeping what was recorded."""
        self._done.clear()
        self._leaned_on.clear()

    def compare(self, writer: SchemaShape, reader: SchemaShape, route: Route) -> list[SchemaDifference]:
        pair = (writer, reader)
        if pair in self._done:
            known = self._done[pair][0]
            return [differ(_BROKEN if self.breaks(known) else _SEEN, writer, reader, route)] if known else []
        first = next(iter(self._open.values()), 0)
        put_off = len(self._open) >= _DEPTH and len(route) > first
        if pair in self._open or put_off:
            if pair in self._open and len(route) <= self._open[pair]:
                return [differ("REFERENCE_UNFOLLOWED", writer, reader, route)]
            if pair not in self._open:
                self._waiting.setdefault(pair, route)
            self._leaned_on.add(pair)
            return [differ(_BROKEN, writer, reader, route)] if pair in self._broken else []
        self._steps += 1
        if self._steps > self._limit or len(self._open) > 2 * _DEPTH:
            raise TooMuchToCompare
        self._open[pair] = len(route)
        same = writer.kind == reader.kind and self.is_same(writer.schema, reader.schema)
        found = [] if same else self._differences(writer, reader, route)
        del self._open[pair]
        if self._settle and self.breaks(found) and self._settle(writer, reader):
            found = [one for one in found if one.name not in self._counted]
        found = list({_key_of(one): one for one in found}.values())
        self._done[pair] = (found, len(route))
        return found

    def _repeat(self, pair: _Pair, route: Route) -> list[SchemaDifference]:
        """Return the known differences of a pair, as they lie on another route."""
        known, steps = self._done[pair]
        return [replace(one, route=(*route, *one.route[steps:])) for one in known]

    def _spell_out(self, found: list[SchemaDifference]) -> list[SchemaDifference]:
        """Return the differences, with those of a pair in place of the note that it is broken."""
        result, waiting = [], list(found)
        seen: set[_Pair] = set()
        while waiting:
            one = waiting.pop(0)
            pair = (one.writer, one.reader)
            if one.name not in {_BROKEN, _SEEN}:
                result.append(one)
            elif pair in self._done and pair not in seen:
                seen.add(pair)
                waiting += self._repeat(pair, one.route)
        return result

    def compare_back(self, writer: SchemaShape, reader: SchemaShape, route: Route) -> list[SchemaDifference]:
        if self._back is None:
            self._back = Walk(self._reader, self._writer, self._counted)
            self._back._back = self  # noqa: SLF001  what stands under two `not` is this walk again
        return [one for one in self._back.compare(writer, reader, route) if self.breaks([one])]

    def breaks(self, differences: Iterable[SchemaDifference]) -> bool:
        return any(one.name in self._counted or one.name == _BROKEN for one in differences)

    def read_writer(self, schema: Any, at: Parts) -> SchemaShape:
        return self._writer.read(schema, at)

    def read_reader(self, schema: Any, at: Parts) -> SchemaShape:
        return self._reader.read(schema, at)

    def writer_parts(self, shape: SchemaShape) -> tuple[SchemaShape, ...]:
        return self._writer.read_parts(shape)

    def reader_parts(self, shape: SchemaShape) -> tuple[SchemaShape, ...]:
        return self._reader.read_parts(shape)

    def is_same(self, mine: Any, theirs: Any) -> bool:
        if not is_same(mine, theirs):
            return False
        return self._is_plain or self._is_one_document

    def _differences(self, writer: SchemaShape, reader: SchemaShape, route: Route) -> list[SchemaDifference]:
        if reader.kind == ANY or writer.kind == NEVER:
            return []
        if UNKNOWN in {writer.kind, reader.kind}:
            return [differ("REFERENCE_UNFOLLOWED", writer, reader, route)]
        found: list[SchemaDifference] | None = None
        if reader.kind in COMBINED and writer.kind not in COMBINED:
            found = compare_with_alternatives(self, writer, reader, route)
        elif writer.kind in COMBINED and reader.kind not in COMBINED:
            found = compare_with_conditions(self, writer, reader, route)
        if found is not None:
            return found
        if _class_of(writer) != _class_of(reader):
            return [_describe_kinds_apart(writer, reader, route)]
        found = list(_COMPARED.get(_class_of(reader), _compare_nothing)(self, writer, reader, route))
        if reader.typed and not writer.typed:
            found.append(differ("TYPE_ADDED", writer, reader, route, "type"))
        if isinstance(reader.schema, dict) and _depends_on_others(writer.schema, reader.schema):
            found.append(differ("EVALUATION_CHANGED", writer, reader, route))
        return found


def _depends_on_others(writer: Any, reader: Any) -> bool:
    """Return whether what a reader leaves unevaluated depends on more than the members and elements in both schemas."""
    return any(
        reader.get(word, True) not in (True, {}) and not evaluating.isdisjoint(writer.keys() | reader.keys())
        for word, evaluating in _EVALUATING.items()
    )


def _key_of(difference: SchemaDifference) -> tuple[object, ...]:
    return difference.name, difference.writer_at, difference.reader_at, difference.member


def _class_of(shape: SchemaShape) -> str:
    if shape.kind in COMBINED:
        return "combined"
    return "number" if shape.kind == "integer" else shape.kind


def _describe_kinds_apart(writer: SchemaShape, reader: SchemaShape, route: Route) -> SchemaDifference:
    words = (reader.keyword,) if reader.keyword else ()
    if (writer.kind, reader.kind) == ("const", "enum"):
        listed = {as_key(value) for value in reader.schema["enum"]}
        if as_key(writer.schema["const"]) in listed:
            return differ("KEYWORD_CHANGED", writer, reader, route, "enum")
    at_word = isinstance(writer.schema, dict) and words and words[0] in writer.schema
    writer_at = (*writer.at, *words) if at_word else writer.at
    return SchemaDifference("TYPE_CHANGED", writer, reader, writer_at, (*reader.at, *words), route)


def _compare_nothing(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    yield from ()


_COMPARED: Final[dict[str, _Compare]] = {
    "object": compare_objects,
    "array": compare_arrays,
    "combined": compare_combinations,
    "not": compare_refusals,
    "conditional": compare_conditions,
    "string": lambda walk, writer, reader, route: compare_texts(writer, reader, route),
    "number": lambda walk, writer, reader, route: compare_numbers(writer, reader, route),
    "enum": lambda walk, writer, reader, route: compare_codes(writer, reader, route),
    "const": lambda walk, writer, reader, route: compare_codes(writer, reader, route),
}
