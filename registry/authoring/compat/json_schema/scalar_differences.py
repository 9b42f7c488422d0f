"""Scalar differences: what a reader requires of texts, numbers and listed values that a writer does not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    Route,
    SchemaDifference,
    as_key,
    differ,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import SchemaShape

TYPE_NARROWED: Final = JsonRule(
    id="C103", name="type-narrower", severity=BREAKING,
    says="The reader accepts only some of the types that the writer sends.",
    action="Keep every type that may still be sent, including null.",
    good='"type": "integer" becomes "type": "number"', bad='"type": "number" becomes "type": "integer"',
    confluent="TYPE_NARROWED", breaks=("TYPE_NARROWED",), passed_over=("TYPE_ADDED",),
)  # fmt: skip

NOT_LISTED: Final = JsonRule(
    id="C108", name="value-not-listed", severity=BREAKING,
    says="The reader's enum lacks a value that the writer sends.",
    action="Keep every value that may still be sent; upgrade consumers before a new value is sent.",
    good='"enum": ["a", "b"] becomes ["a", "b", "c"] for the reader', bad='"enum": ["a", "b"] becomes ["a"]',
    confluent="ENUM_ARRAY_NARROWED", breaks=("ENUM_ARRAY_NARROWED", "ENUM_ARRAY_CHANGED"),
)  # fmt: skip

TEXT: Final = JsonRule(
    id="C109", name="text-narrower", severity=BREAKING,
    says="The reader accepts fewer strings: a smaller maximum length, a larger minimum length, or a different pattern.",
    action="Keep the limits at least as wide as they were.",
    good='"maxLength": 20 becomes 40', bad='"maxLength": 20 becomes 10',
    confluent="MAX_LENGTH_DECREASED",
    breaks=(
        "MAX_LENGTH_ADDED",
        "MAX_LENGTH_DECREASED",
        "MIN_LENGTH_ADDED",
        "MIN_LENGTH_INCREASED",
        "PATTERN_ADDED",
        "PATTERN_CHANGED",
    ),
)  # fmt: skip

NUMBER: Final = JsonRule(
    id="C110", name="number-narrower", severity=BREAKING,
    says="The reader accepts fewer numbers: a limit became tighter, or multipleOf changed.",
    action="Keep the limits at least as wide as they were.",
    good='"maximum": 99 becomes 999', bad='"maximum": 99 becomes 9',
    confluent="MAXIMUM_DECREASED",
    breaks=(
        "MAXIMUM_ADDED",
        "MAXIMUM_DECREASED",
        "MINIMUM_ADDED",
        "MINIMUM_INCREASED",
        "EXCLUSIVE_MAXIMUM_ADDED",
        "EXCLUSIVE_MAXIMUM_DECREASED",
        "EXCLUSIVE_MINIMUM_ADDED",
        "EXCLUSIVE_MINIMUM_INCREASED",
        "MULTIPLE_OF_ADDED",
        "MULTIPLE_OF_EXPANDED",
        "MULTIPLE_OF_CHANGED",
    ),
)  # fmt: skip

MEMBER_COUNT: Final = JsonRule(
    id="C111", name="member-count-narrower", severity=BREAKING,
    says="The reader limits the number of members of an object more tightly.",
    action="Keep the limits at least as wide as they were.",
    good='"maxProperties": 5 becomes 9', bad='"maxProperties": 5 becomes 3',
    confluent="MAX_PROPERTIES_DECREASED",
    breaks=("MAX_PROPERTIES_ADDED", "MAX_PROPERTIES_DECREASED", "MIN_PROPERTIES_ADDED", "MIN_PROPERTIES_INCREASED"),
)  # fmt: skip


_Validator = Callable[[Any, Any], str | None]


def compare_texts(writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield where a reader takes fewer texts."""
    yield from compare_bounds(writer, reader, route, _OF_TEXTS)


def compare_numbers(writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield where a reader takes fewer numbers."""
    yield from compare_bounds(writer, reader, route, _OF_NUMBERS)
    if writer.kind == "number" and reader.kind == "integer":
        yield differ("TYPE_NARROWED", writer, reader, route, "type")


def compare_bounds(
    writer: SchemaShape, reader: SchemaShape, route: Route, keywords: Mapping[str, tuple[str, _Validator]]
) -> Iterator[SchemaDifference]:
    """Yield each keyword by which a reader takes fewer values, named as the keyword's row says."""
    for word, (name, validate) in keywords.items():
        if word in reader.schema:
            change = validate(writer.schema.get(word), reader.schema[word])
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


def validate_most(sent: Any, taken: Any) -> str | None:
    """Return how an upper limit became lower, None if it did not."""
    if sent is None:
        return "ADDED"
    return "DECREASED" if taken < sent else None


def validate_least(sent: Any, taken: Any) -> str | None:
    """Return how a lower limit became higher, None if it did not."""
    if sent is None:
        return "ADDED"
    return "INCREASED" if taken > sent else None


def _validate_open_most(sent: Any, taken: Any) -> str | None:
    return _verdict_flag(sent, taken) if isinstance(taken, bool) else validate_most(_limit(sent), taken)


def _validate_open_least(sent: Any, taken: Any) -> str | None:
    return _verdict_flag(sent, taken) if isinstance(taken, bool) else validate_least(_limit(sent), taken)


def _limit(sent: Any) -> Any:
    """Return a limit; a flag of draft 4 is none."""
    return None if isinstance(sent, bool) else sent


def _verdict_flag(sent: Any, taken: Any) -> str | None:
    """Return how a flag was set; draft 4 says `exclusiveMaximum` so."""
    return "ADDED" if taken and sent is not True else None


def _validate_pattern(sent: Any, taken: Any) -> str | None:
    if sent is None:
        return "ADDED"
    return "CHANGED" if sent != taken else None


def _validate_factor(sent: Any, taken: Any) -> str | None:
    if sent is None:
        return "ADDED"
    mine, theirs = Fraction(str(sent)), Fraction(str(taken))
    if mine % theirs == 0:
        return None
    return "EXPANDED" if theirs % mine == 0 else "CHANGED"


_OF_TEXTS: Final[dict[str, tuple[str, _Validator]]] = {
    "maxLength": ("MAX_LENGTH", validate_most),
    "minLength": ("MIN_LENGTH", validate_least),
    "pattern": ("PATTERN", _validate_pattern),
}
_OF_NUMBERS: Final[dict[str, tuple[str, _Validator]]] = {
    "maximum": ("MAXIMUM", validate_most),
    "minimum": ("MINIMUM", validate_least),
    "exclusiveMaximum": ("EXCLUSIVE_MAXIMUM", _validate_open_most),
    "exclusiveMinimum": ("EXCLUSIVE_MINIMUM", _validate_open_least),
    "multipleOf": ("MULTIPLE_OF", _validate_factor),
}
