"""Scalar differences: what a reader requires of texts, numbers and listed values that a writer does not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from cdc_contracts.registry.compat.json_schema.schema_differences import Route, SchemaDifference, as_key, differ
from cdc_contracts.registry.compat.json_schema.schema_shapes import SchemaShape

_Judge = Callable[[Any, Any], str | None]


def compare_texts(writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield where a reader takes fewer texts."""
    yield from compare_bounds(writer, reader, route, _OF_TEXTS)


def compare_numbers(writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield where a reader takes fewer numbers."""
    yield from compare_bounds(writer, reader, route, _OF_NUMBERS)
    if writer.kind == "number" and reader.kind == "integer":
        yield differ("TYPE_NARROWED", writer, reader, route, "type")


def compare_bounds(
    writer: SchemaShape, reader: SchemaShape, route: Route, keywords: Mapping[str, tuple[str, _Judge]]
) -> Iterator[SchemaDifference]:
    """Yield each keyword by which a reader takes fewer values, named as the keyword's row says."""
    for word, (name, judge) in keywords.items():
        if word in reader.schema:
            change = judge(writer.schema.get(word), reader.schema[word])
            if change is not None:
                yield differ(f"{name}_{change}", writer, reader, route, word)


def compare_codes(writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield where a reader lists fewer values: `enum` and `const`."""
    if writer.kind == "const":
        if as_key(writer.schema["const"]) != as_key(reader.schema["const"]):
            yield differ("ENUM_ARRAY_CHANGED", writer, reader, route, "const")
        return
    sent = {as_key(value) for value in writer.schema["enum"]}
    taken = {as_key(value) for value in reader.schema["enum"]}
    if not sent <= taken:
        yield differ("ENUM_ARRAY_NARROWED" if taken <= sent else "ENUM_ARRAY_CHANGED", writer, reader, route, "enum")


def judge_most(sent: Any, taken: Any) -> str | None:
    """Return how an upper limit became lower, None where it did not."""
    if sent is None:
        return "ADDED"
    return "DECREASED" if taken < sent else None


def judge_least(sent: Any, taken: Any) -> str | None:
    """Return how a lower limit became higher, None where it did not."""
    if sent is None:
        return "ADDED"
    return "INCREASED" if taken > sent else None


def _judge_open_most(sent: Any, taken: Any) -> str | None:
    return _judge_flag(sent, taken) if isinstance(taken, bool) else judge_most(_limit(sent), taken)


def _judge_open_least(sent: Any, taken: Any) -> str | None:
    return _judge_flag(sent, taken) if isinstance(taken, bool) else judge_least(_limit(sent), taken)


def _limit(sent: Any) -> Any:
    """Return a limit; a flag of draft 4 is none."""
    return None if isinstance(sent, bool) else sent


def _judge_flag(sent: Any, taken: Any) -> str | None:
    """Return how a flag was set; draft 4 says `exclusiveMaximum` so."""
    return "ADDED" if taken and sent is not True else None


def _judge_pattern(sent: Any, taken: Any) -> str | None:
    if sent is None:
        return "ADDED"
    return "CHANGED" if sent != taken else None


def _judge_factor(sent: Any, taken: Any) -> str | None:
    if sent is None:
        return "ADDED"
    mine, theirs = Fraction(str(sent)), Fraction(str(taken))
    if mine % theirs == 0:
        return None
    return "EXPANDED" if theirs % mine == 0 else "CHANGED"


_OF_TEXTS: Final[dict[str, tuple[str, _Judge]]] = {
    "maxLength": ("MAX_LENGTH", judge_most),
    "minLength": ("MIN_LENGTH", judge_least),
    "pattern": ("PATTERN", _judge_pattern),
}
_OF_NUMBERS: Final[dict[str, tuple[str, _Judge]]] = {
    "maximum": ("MAXIMUM", judge_most),
    "minimum": ("MINIMUM", judge_least),
    "exclusiveMaximum": ("EXCLUSIVE_MAXIMUM", _judge_open_most),
    "exclusiveMinimum": ("EXCLUSIVE_MINIMUM", _judge_open_least),
    "multipleOf": ("MULTIPLE_OF", _judge_factor),
}
