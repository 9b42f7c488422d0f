"""Object differences: what a reader requires of the members of an object that a writer does not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds
from cdc_contracts.registry.authoring.compat.json_schema.scalar_differences import (
    compare_bounds,
    validate_least,
    validate_most,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    MEMBER,
    OTHER_MEMBER,
    Route,
    SchemaDifference,
    Walking,
    differ,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import ANY, NEVER, Parts, SchemaShape

REQUIRED: Final = JsonRule(
    id="C104", name="member-required", severity=BREAKING,
    says="The reader requires a member that the writer may omit. Validators never fill in a default.",
    action="Keep the member optional.",
    good='"required": ["id"] stays, "note" is added to properties only',
    bad='"required": ["id"] becomes "required": ["id", "note"]',
    confluent="REQUIRED_ATTRIBUTE_ADDED",
    breaks=(
        "REQUIRED_ATTRIBUTE_ADDED",
        "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
        "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
    ),
    breaks_strictly=("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",),
    passed_over=("REQUIRED_NAME_ADDED",),
    tolerated=("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL"),
)  # fmt: skip

CONSTRAINED: Final = JsonRule(
    id="C105", name="open-member-constrained", severity=BREAKING,
    says="The reader defines a schema for a member that the writer's open content model allows to hold any value.",
    action='Close the content model ("additionalProperties": false) in the previous version, or use the policy cdc, '
           "which assumes that a producer sends only the members its schema names.",
    good="a member is added to a closed model", bad="a typed member is added to an open model",
    confluent="PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    breaks_strictly=(
        "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    ),
    tolerated_leniently=("MEMBER_OF_OPEN_MODEL_CONSTRAINED",),
)  # fmt: skip

MEMBER_REFUSED: Final = JsonRule(
    id="C106", name="member-refused", severity=BREAKING,
    says="The reader's schema is closed and does not name a member that the writer sends.",
    action="Keep the member in properties.",
    good='the member stays, as "note": true',
    bad='the member is removed from a schema with "additionalProperties": false',
    confluent="PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    breaks_strictly=(
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    ),
)  # fmt: skip

OTHERS_REFUSED: Final = JsonRule(
    id="C107", name="other-members-refused", severity=BREAKING,
    says="The reader accepts fewer additional members than the writer's schema allows.",
    action="Keep the schema as open as it was.",
    good='"additionalProperties" stays absent', bad='"additionalProperties": false is added',
    confluent="ADDITIONAL_PROPERTIES_REMOVED",
    breaks_strictly=(
        "ADDITIONAL_PROPERTIES_REMOVED",
        "ADDITIONAL_PROPERTIES_NARROWED",
        "UNEVALUATED_PROPERTIES_REMOVED",
        "UNEVALUATED_PROPERTIES_NARROWED",
    ),
    passed_over=("PATTERN_PROPERTIES_CHANGED", "PROPERTY_NAMES_CHANGED"),
)  # fmt: skip

DEPENDENCY: Final = JsonRule(
    id="C112", name="dependency-added", severity=BREAKING,
    says="The reader requires more when a certain member is present.",
    action="Revert the dependency, or publish a new subject.",
    good='"dependentRequired": {"card": ["name"]} is removed',
    bad='"dependentRequired": {"card": ["name"]} is added',
    confluent="DEPENDENCY_ARRAY_ADDED",
    breaks=(
        "DEPENDENCY_ARRAY_ADDED",
        "DEPENDENCY_ARRAY_EXTENDED",
        "DEPENDENCY_ARRAY_CHANGED",
        "DEPENDENCY_SCHEMA_ADDED",
    ),
)  # fmt: skip


EVALUATING: Final = frozenset({
    "additionalProperties", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if",
    "dependentSchemas",
})  # fmt: skip
"""Keywords beside `unevaluatedProperties` that may evaluate members, so that it does not see them."""
_PATTERNS: Final = "patternProperties"
_OTHERS: Final = "additionalProperties"
_COUNTS: Final = {
    "maxProperties": ("MAX_PROPERTIES", validate_most),
    "minProperties": ("MIN_PROPERTIES", validate_least),
}


def compare_objects(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    """Yield where a reader takes fewer objects."""
    yield from _compare_required(writer, reader, route)
    yield from _compare_properties(walk, writer, reader, route)
    yield from _compare_patterns(walk, writer, reader, route)
    yield from _compare_others(walk, writer, reader, route)
    yield from _compare_dependencies(walk, writer, reader, route)
    yield from compare_bounds(writer, reader, route, _COUNTS)
    yield from _compare_rest(walk, writer, reader, route)


def _compare_required(writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    sent, taken = members_of(writer), members_of(reader)
    constrained = set(required_of(writer))
    for name in required_of(reader):
        if name in constrained:
            continue
        default = "_WITH_DEFAULT" if has_default(taken.get(name)) else ""
        if name in sent and name in taken:
            kind = f"REQUIRED_ATTRIBUTE{default}_ADDED"
        elif name in taken:
            kind = f"REQUIRED_PROPERTY{default}_ADDED_TO_{'OPEN' if is_open(writer) else 'UNOPEN'}_CONTENT_MODEL"
            if is_open(writer) and taken[name] in (True, {}):
                kind = "REQUIRED_NAME_ADDED"
        else:
            kind = "REQUIRED_NAME_ADDED"
        yield differ(kind, writer, reader, route, "required", member=name)


def _compare_properties(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    sent, taken = members_of(writer), members_of(reader)
    for name, schema in taken.items():
        if name not in sent:
            yield from _compare_added(walk, writer, reader, (*route, (MEMBER, name)), name)
        elif not walk.is_same(sent[name], schema):
            mine = walk.read_writer(sent[name], (*writer.at, "properties", name))
            theirs = walk.read_reader(schema, (*reader.at, "properties", name))
            yield from walk.compare(mine, theirs, (*route, (MEMBER, name)))
    for name in sent:
        if name not in taken:
            yield from _compare_removed(walk, writer, reader, (*route, (MEMBER, name)), name)


def _compare_added(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route, name: str
) -> Iterator[SchemaDifference]:
    theirs = walk.read_reader(reader.schema["properties"][name], (*reader.at, "properties", name))
    if is_open(writer):
        if theirs.kind != ANY and name not in required_of(reader):
            yield differ("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", writer, reader, route, "properties", name)
        elif theirs.kind != ANY:
            # the missing member is one difference, the value that the writer may send under its name another
            yield differ("MEMBER_OF_OPEN_MODEL_CONSTRAINED", writer, reader, route, "properties", name)
        return
    mine = _other_member(walk.read_writer, writer, name)
    if mine is not None:
        inner = walk.compare(mine, theirs, route)
        yield from inner
        if walk.breaks(inner):
            kind = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            yield differ(kind, writer, reader, route, "properties", name)
    elif not _is_closed(writer) and theirs.kind != ANY:
        yield differ("MEMBER_OF_OPEN_MODEL_CONSTRAINED", writer, reader, route, "properties", name)


def _compare_removed(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route, name: str
) -> Iterator[SchemaDifference]:
    if is_open(reader):
        return
    mine = walk.read_writer(writer.schema["properties"][name], (*writer.at, "properties", name))
    theirs = _other_member(walk.read_reader, reader, name)
    if theirs is not None:
        inner = walk.compare(mine, theirs, route)
        yield from inner
        if walk.breaks(inner):
            kind = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            yield differ(kind, writer, reader, route, "properties", name)
    elif mine.kind != NEVER and _is_closed(reader):
        yield differ("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", writer, reader, route, "properties", name)


def _compare_patterns(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    sent, taken = writer.schema.get(_PATTERNS, {}), reader.schema.get(_PATTERNS, {})
    if sent == taken == {}:
        return
    for pattern in sorted(sent.keys() | taken.keys()):
        way = (*route, (OTHER_MEMBER, pattern))
        if pattern not in taken:
            word = others_word_of(reader)
            theirs = walk.read_reader(reader.schema.get(word, True), (*reader.at, word))
        else:
            theirs = walk.read_reader(taken[pattern], (*reader.at, _PATTERNS, pattern))
        if any(walk.breaks(walk.compare(mine, theirs, way)) for mine in _matching(walk, writer, pattern)):
            yield differ("PATTERN_PROPERTIES_CHANGED", writer, reader, way, _PATTERNS, pattern)


def _matching(walk: Walking, writer: SchemaShape, pattern: str) -> Iterator[SchemaShape]:
    """Yield what a writer says of members whose names match a pattern: all that may be said of any of them."""
    sent = writer.schema.get(_PATTERNS, {})
    if pattern in sent:
        yield walk.read_writer(sent[pattern], (*writer.at, _PATTERNS, pattern))
        return
    for name, schema in members_of(writer).items():
        if finds(pattern, name):
            yield walk.read_writer(schema, (*writer.at, "properties", name))
    for other, schema in sent.items():
        yield walk.read_writer(schema, (*writer.at, _PATTERNS, other))
    if _is_closed(writer):
        return
    word = others_word_of(writer)
    yield walk.read_writer(writer.schema.get(word, True), (*writer.at, word))


def _compare_others(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    way = (*route, (OTHER_MEMBER, ""))
    for word, name in (("additionalProperties", "ADDITIONAL"), ("unevaluatedProperties", "UNEVALUATED")):
        sent = writer.schema.get(word, True) if name == "ADDITIONAL" else _unevaluated_of(writer)
        taken = reader.schema.get(word, True)
        if taken in (True, {}) or sent is False:
            continue
        if taken is False:
            yield differ(f"{name}_PROPERTIES_REMOVED", writer, reader, way, word)
        elif sent is True:
            yield differ(f"{name}_PROPERTIES_NARROWED", writer, reader, way, word)
        elif sent is not taken:
            mine, theirs = walk.read_writer(sent, (*writer.at, word)), walk.read_reader(taken, (*reader.at, word))
            yield from walk.compare(mine, theirs, way)


def _compare_dependencies(
    walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route
) -> Iterator[SchemaDifference]:
    for word in ("dependencies", "dependentRequired", "dependentSchemas"):
        sent, taken = writer.schema.get(word, {}), reader.schema.get(word, {})
        for name, asked in taken.items():
            constrained = sent.get(name)
            if isinstance(asked, list):
                if isinstance(constrained, list) and set(asked) <= set(constrained):
                    continue
                more = isinstance(constrained, list) and set(constrained) <= set(asked)
                change = "EXTENDED" if more else "CHANGED" if isinstance(constrained, list) else "ADDED"
                yield differ(f"DEPENDENCY_ARRAY_{change}", writer, reader, route, word, name)
            elif constrained is None or isinstance(constrained, list):
                yield differ("DEPENDENCY_SCHEMA_ADDED", writer, reader, route, word, name)
            else:
                mine, theirs = (
                    walk.read_writer(constrained, (*writer.at, word, name)),
                    walk.read_reader(asked, (*reader.at, word, name)),
                )
                yield from walk.compare(mine, theirs, route)


def _compare_rest(walk: Walking, writer: SchemaShape, reader: SchemaShape, route: Route) -> Iterator[SchemaDifference]:
    """Yield differences that the Confluent protocol has no name for."""
    taken = reader.schema.get("propertyNames", True)
    if taken not in (True, {}):
        sent = writer.schema.get("propertyNames", True)
        mine = walk.read_writer(sent, (*writer.at, "propertyNames"))
        theirs = walk.read_reader(taken, (*reader.at, "propertyNames"))
        if sent in (True, {}) or walk.breaks(walk.compare(mine, theirs, route)):
            yield differ("PROPERTY_NAMES_CHANGED", writer, reader, (*route, (OTHER_MEMBER, "")), "propertyNames")


def members_of(shape: SchemaShape) -> Mapping[str, Any]:
    """Return the members that an object's schema names."""
    found: Mapping[str, Any] = shape.schema.get("properties", {})
    return found


def required_of(shape: SchemaShape) -> list[str]:
    """Return the members that an object must have; draft 3 wrote a flag there, which asks nothing since."""
    found = shape.schema.get("required", [])
    return found if isinstance(found, list) else []


def has_default(schema: Any) -> bool:
    """Return whether a member's schema has a default, which no validator ever fills in."""
    return isinstance(schema, dict) and "default" in schema


def is_open(shape: SchemaShape) -> bool:
    """Return whether an object's schema takes any further member."""
    schema = shape.schema
    return (
        not schema.get("patternProperties")
        and schema.get("additionalProperties", True) is True
        and _unevaluated_of(shape) in (True, {})
    )


def _is_closed(shape: SchemaShape) -> bool:
    return False in (shape.schema.get("additionalProperties", True), _unevaluated_of(shape))


def others_word_of(shape: SchemaShape) -> str:
    """Return the keyword that says what members have to be that no name and no pattern describes."""
    beside = shape.schema.keys() & EVALUATING
    return "unevaluatedProperties" if "unevaluatedProperties" in shape.schema and not beside else _OTHERS


def _unevaluated_of(shape: SchemaShape) -> Any:
    """Return what is asked of unevaluated members; True where what stands beside may have evaluated any."""
    return True if shape.schema.keys() & EVALUATING else shape.schema.get("unevaluatedProperties", True)


def _other_member(read: Callable[[Any, Parts], SchemaShape], shape: SchemaShape, name: str) -> SchemaShape | None:
    """Return the schema of a member that has no name in a partly open object."""
    for pattern, schema in shape.schema.get("patternProperties", {}).items():
        if finds(pattern, name):
            return read(schema, (*shape.at, "patternProperties", pattern))
    for word in ("additionalProperties", "unevaluatedProperties"):
        schema = shape.schema.get(word, True)
        if isinstance(schema, dict):
            return read(schema, (*shape.at, word))
    return None
