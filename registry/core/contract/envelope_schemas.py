"""Envelope schemas: the closed part of JSON Schema that contracts use, compiled to plain functions.

These accept exactly what `jsonschema` accepts, in a fraction of the time; a test compares the two. What is wrong with a
message that they refuse is found by `schema_violations.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.values import Number

KEYWORDS: Final = frozenset({
    "type", "properties", "required", "additionalProperties", "$schema", "$id", "title", "description", "examples",
    "items", "minItems", "maxItems", "enum", "const", "pattern", "minimum", "$defs", "$ref", "allOf", "if", "then",
    "contentMediaType",
})  # fmt: skip
_INSIDE: Final = KEYWORDS - {"$schema", "$id"}
"""What a schema inside another may say: under a name of its own, references would start from it."""
_TYPES: Final[Mapping[str, type]] = {
    "null": type(None), "boolean": bool, "number": Number, "integer": Number, "string": str, "array": list,
    "object": dict,
}  # fmt: skip
_INTEGER: Final = re.compile(r"-?\d+\Z", re.ASCII)
_DEFINITION: Final = re.compile(r"#/\$defs/([^/~%]+)\Z")

Check = Callable[[Any], bool]
_Checks = Mapping[type, Check]
"""What a schema takes: by the type of a parsed value, what else has to hold. A type that is not there is refused."""


def is_integer(value: Any) -> bool:
    """Return whether a parsed value is a JSON integer: a number without point and exponent."""
    return isinstance(value, Number) and bool(_INTEGER.match(value.token))


def show_code(text: str) -> str:
    """Return a code of a message fit to be shown: at most 40 characters, nothing unprintable."""
    shown = "".join(character if character.isprintable() else "\ufffd" for character in text[:41])
    return shown if len(shown) <= 40 else shown[:40] + "…"  # noqa: PLR2004


def compile_schema(schema: Any) -> Check | None:
    """Return what says whether a parsed value fits a schema; None if only `jsonschema` can say."""
    try:
        return _choose(_Compiler(schema).compile(schema))
    except _Uncompiled:
        return None


class SchemaParts:
    """The schemas inside one, each compiled when it is first asked for."""

    def __init__(self, whole: Any) -> None:
        self._compiler = _Compiler(whole)
        self._checks: dict[int, Check] = {}

    def take(self, schema: Any, value: Any) -> bool:
        """Return whether a schema inside the whole takes a value; False also where only `jsonschema` can say."""
        check = self._checks.get(id(schema))  # what is inside lives as long as the whole, which is held here
        if check is None:
            try:
                check = _choose(self._compiler.compile(schema))
            except _Uncompiled:
                check = _refuse
            self._checks[id(schema)] = check
        return check(value)


class _Uncompiled(Exception):
    """A schema uses something that only `jsonschema` can evaluate."""


class _Compiler:
    """Compiles one JSON Schema, and each of its definitions once."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self._definitions: dict[str, dict[type, Check]] = {}

    def compile(self, schema: Any) -> _Checks:
        """Return the checks of the whole schema or of one inside it. Raises _Uncompiled."""
        if isinstance(schema, bool):
            return dict.fromkeys(_TYPES.values(), _take) if schema else {}
        if not isinstance(schema, dict) or not schema.keys() <= (KEYWORDS if schema is self._whole else _INSIDE):
            raise _Uncompiled
        wanted = {type_: [check] for type_, check in _take_kinds(schema).items()}
        for asked in self._asked(schema):
            for type_ in wanted.keys() & asked.keys():
                wanted[type_].append(asked[type_])
        return {type_: _join([check for check in checks if check is not _take]) for type_, checks in wanted.items()}

    def _asked(self, schema: Mapping[str, Any]) -> Iterator[_Checks]:
        """Yield what each keyword but `type` asks of the types of values that it asks anything of."""
        for keyword, ask in _ASKED.items():
            if keyword in schema:
                yield ask(schema[keyword])
        if "items" in schema:
            yield {list: _take_items(self.compile(schema["items"]))}
        if schema.keys() & {"properties", "additionalProperties"}:
            members = {name: self.compile(below) for name, below in schema.get("properties", {}).items()}
            yield {dict: _take_members(members, self.compile(schema.get("additionalProperties", True)))}
        if "$ref" in schema:
            definition = self._definition(schema["$ref"])
            yield {type_: _take_later(definition, type_) for type_ in _TYPES.values()}
        for branch in schema.get("allOf", ()):
            checks = self.compile(branch)
            yield {type_: checks.get(type_, _refuse) for type_ in _TYPES.values()}
        if "if" in schema and "then" in schema:
            condition, then = self.compile(schema["if"]), self.compile(schema["then"])
            yield {type_: _branch(checks, then.get(type_, _refuse)) for type_, checks in condition.items()}

    def _definition(self, reference: str) -> _Checks:
        named = _DEFINITION.match(reference)
        if named is None or named[1] not in self._whole.get("$defs", {}):
            raise _Uncompiled
        if named[1] not in self._definitions:
            self._definitions[named[1]] = {}  # there before it is compiled: it may refer to itself
            self._definitions[named[1]].update(self.compile(self._whole["$defs"][named[1]]))
        return self._definitions[named[1]]


def _take_kinds(schema: Mapping[str, Any]) -> dict[type, Check]:
    kinds = schema.get("type", list(_TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if any(kind not in _TYPES for kind in kinds):
        raise _Uncompiled
    checks: dict[type, Check] = dict.fromkeys((_TYPES[kind] for kind in kinds), _take)
    if "integer" in kinds and "number" not in kinds:
        checks[Number] = is_integer
    return checks


def _take(value: Any) -> bool:
    return True


def _refuse(value: Any) -> bool:
    return False


def _choose(checks: _Checks) -> Check:
    """Return the check of a value that may be a whole message, and then of a class of its own."""
    return lambda value: checks.get(dict if isinstance(value, dict) else type(value), _refuse)(value)


def _join(checks: Sequence[Check]) -> Check:
    if not checks:
        return _take
    first, rest = checks[0], _join(checks[1:])
    return first if rest is _take else lambda value: first(value) and rest(value)


def _take_later(checks: _Checks, type_: type) -> Check:
    """Return the check of a type by checks that may not all be there yet."""
    return lambda value: checks.get(type_, _refuse)(value)  # noqa: PLW0108  looked up when asked


def _branch(condition: Check, then: Check) -> Check:
    if then is _take:
        return _take
    return then if condition is _take else lambda value: not condition(value) or then(value)


def _take_items(checks: _Checks) -> Check:
    plain = _plain_types(checks)
    return lambda rows: plain.issuperset(map(type, rows)) or all(checks.get(type(row), _refuse)(row) for row in rows)


def _plain_types(checks: _Checks) -> frozenset[type]:
    """Return the types of which nothing else is asked."""
    return frozenset(type_ for type_, check in checks.items() if check is _take)


def _take_members(members: Mapping[str, _Checks], others: _Checks) -> Check:
    if not members:
        items = _take_items(others)
        return lambda value: items(value.values())

    def check(value: Any) -> bool:
        for name, below in value.items():
            inner = members.get(name, others).get(type(below), _refuse)
            if inner is not _take and not inner(below):
                return False
        return True

    return check


def _take_codes(codes: Sequence[Any]) -> _Checks:
    """Return the checks of `enum` and `const`: true is not 1, but 1.0 is."""
    if any(isinstance(code, dict | list) for code in codes):
        raise _Uncompiled
    literals = frozenset(code for code in codes if code is None or isinstance(code, bool))
    texts = frozenset(code for code in codes if isinstance(code, str))
    numbers = [code for code in codes if not (code is None or isinstance(code, bool | str))]
    return {
        type(None): literals.__contains__, bool: literals.__contains__, str: texts.__contains__,
        Number: numbers.__contains__, list: _refuse, dict: _refuse,
    }  # fmt: skip


def _take_names(names: Sequence[str]) -> _Checks:
    """Return the check of `required`."""
    needed = frozenset(names)
    return {dict: lambda value: value.keys() >= needed}


_ASKED: Final[Mapping[str, Callable[[Any], _Checks]]] = {
    "enum": _take_codes,
    "const": lambda code: _take_codes([code]),
    "pattern": lambda pattern: {str: compile_pattern(pattern)},
    "minimum": lambda least: {Number: lambda number: number >= least},
    "minItems": lambda least: {list: lambda rows: len(rows) >= least},
    "maxItems": lambda most: {list: lambda rows: len(rows) <= most},
    "required": _take_names,
}
"""What the keywords ask that hold no schema."""
