"""Message outlines: the facts of an event in their places, and other members as the JSON Schema requires."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.message.schema_violations import SchemaCheck
from cdc_contracts.registry.core.values import Number

_OMITTED: Final = object()
_TEXTS: Final = ("", "0", "a", "1.0.0", "2020-11-25 04:01:02", "2020-11-25T04:01:02", "2020-11-25T04:01:02Z")


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is the same in every message of the outline."""

    value: Any


@dataclass(frozen=True, slots=True)
class RowMembers:
    """The columns of a row whose object has other members too: written without the braces around them."""

    write: Callable[[Any], str]

    def __call__(self, event: Any) -> str:
        return self.write(event)


Fact = Literal | RowMembers | Callable[[Any], str]
Filled = dict[str, Fact]
"""The facts of an event by JSON Pointer: a fixed value, or a function that writes the event's own value as JSON."""


def complete_message(schema: Mapping[str, Any], facts: Filled, tests: Iterable[Test]) -> list[Any]:
    """Return the message as fixed texts and functions, in the order of the schema's members.

    Members without a fact are null if allowed, else left out if allowed, else the simplest value that the schema
    accepts. Beside the columns of a row, those that may be left out are. So are members that a discriminator requires
    to be absent.
    """
    tests = tuple(tests)
    facts = dict(facts)
    for test in tests:
        if test.equals is not None:
            facts.setdefault(test.equals, Literal(test.value))
        elif test.within is not None and test.values:
            facts.setdefault(test.within, Literal(test.values[0]))
    unwanted = {split_pointer(test.absent) for test in tests if test.absent is not None}
    placed = {split_pointer(at): fact for at, fact in facts.items()}
    outline = _Outline(
        facts={path: fact for path, fact in placed.items() if not any(path[: len(no)] == no for no in unwanted)},
        unwanted=unwanted,
        wanted={split_pointer(test.present) for test in tests if test.present is not None},
        definitions=schema.get("$defs", {}),
    )
    parts: list[Any] = []
    outline.write(narrow_to(schema, outline.plain()), (), required=True, into=parts)
    return _joined(parts)


@dataclass(frozen=True)
class _Outline:
    facts: dict[tuple[str, ...], Fact]
    unwanted: set[tuple[str, ...]]
    wanted: set[tuple[str, ...]]
    definitions: Mapping[str, Any]

    @cached_property
    def _above(self) -> set[tuple[str, ...]]:
        """The paths of all members that hold facts deeper down."""
        return {place[:depth] for place in self.facts for depth in range(len(place))}

    def plain(self) -> dict[str, Any]:
        """Return the fixed facts as a message, which decides the branches of the schema that apply."""
        message: dict[str, Any] = {}
        for path, fact in self.facts.items():
            if path and isinstance(fact, Literal):
                below = message
                for part in path[:-1]:
                    below = below.setdefault(part, {})
                is_number = isinstance(fact.value, int) and not isinstance(fact.value, bool)
                below[path[-1]] = Number(str(fact.value)) if is_number else fact.value
        return message

    def write(self, schema: Mapping[str, Any], path: tuple[str, ...], *, required: bool, into: list[Any]) -> bool:
        """Append a member's JSON and return True, or return False if it is left out."""
        fact = self.facts.get(path)
        below = path in self._above or isinstance(fact, RowMembers)
        if fact is not None and not below:
            into.append(write_json(fact.value) if isinstance(fact, Literal) else fact)
            return True
        is_beside_columns = bool(path) and path[:-1] in self.facts
        if not below and (path in self.unwanted or (is_beside_columns and not required and path not in self.wanted)):
            return False
        schema = self._resolved(schema)
        if below or (required and "null" not in _kinds(schema) and _kinds(schema) == ["object"]):
            self._write_object(schema, path, fact, into)
            return True
        value = self.default(schema, required=required, present=path in self.wanted)
        if value is _OMITTED:
            return False
        into.append(write_json(value))
        return True

    def _write_object(
        self, schema: Mapping[str, Any], path: tuple[str, ...], fact: Fact | None, into: list[Any]
    ) -> None:
        properties, depth = schema.get("properties", {}), len(path)
        named = [place[depth] for place in self.facts if place[:depth] == path and len(place) > depth]
        into.append("{")
        first = True
        if fact is not None:  # the columns of a row come first
            into.append(fact)
            first = False
        for name in dict.fromkeys([*properties, *named]):
            member: list[Any] = []
            required = name in schema.get("required", ())
            if self.write(properties.get(name, {}), (*path, name), required=required, into=member):
                into += ["" if first else ",", write_json(name), ":", *member]
                first = False
        into.append("}")

    def default(self, schema: Mapping[str, Any], *, required: bool, present: bool = False) -> Any:
        """Return the simplest value that a schema accepts, or _OMITTED where none is needed and null is refused."""
        schema = self._resolved(schema)
        kinds = _kinds(schema)
        if not present and "null" in kinds:
            return None
        if not present and not required:
            return _OMITTED
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if "boolean" in kinds:
            return False
        if "integer" in kinds or "number" in kinds:
            return max(0, schema.get("minimum", 0))
        if "string" in kinds:
            return _matching_text(schema.get("pattern"))
        if "array" in kinds:
            return [self.default(schema.get("items", {}), required=True) for _ in range(schema.get("minItems", 0))]
        if "object" in kinds:
            inner = schema.get("properties", {})
            return {name: self.default(inner.get(name, {}), required=True) for name in schema.get("required", ())}
        return None

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            schema = self.definitions[schema["$ref"].rpartition("/")[2]]
        return schema


def narrow_to(schema: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the branches that hold for the message merged in."""
    merged = dict(schema)
    for branch in merged.pop("allOf", ()):
        if _condition(json.dumps(branch["if"])).fits(message):
            merged = _narrow(merged, branch.get("then", {}))
    return merged


@lru_cache(1024)
def _condition(schema: str) -> SchemaCheck:
    """Return the validator of a branch's condition: each outline asks the same few."""
    return SchemaCheck(json.loads(schema))


def _narrow(schema: Mapping[str, Any], by: Mapping[str, Any]) -> dict[str, Any]:
    narrowed = {**schema, **by}
    if "type" in schema and "type" in by:
        narrowed["type"] = [kind for kind in _kinds(by) if kind in _kinds(schema)]
    if "required" in schema and "required" in by:
        narrowed["required"] = list(dict.fromkeys([*schema["required"], *by["required"]]))
    if "properties" in schema and "properties" in by:
        narrowed["properties"] = dict(schema["properties"])
        for name, below in by["properties"].items():
            narrowed["properties"][name] = _narrow(schema["properties"].get(name, {}), below)
    return narrowed


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", ["null"] if not {"const", "enum"} & schema.keys() else [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _matching_text(pattern: str | None) -> str:
    if pattern is None:
        return ""
    finds = compile_pattern(pattern)
    return next((text for text in _TEXTS if finds(text)), "")


def _joined(parts: list[Any]) -> list[Any]:
    """Join neighbouring fixed texts."""
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return joined
