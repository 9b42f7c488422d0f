"""Schema validator: `jsonschema` for parsed messages, whose numbers keep their digits, made to skip what is valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.contract.envelope_schemas import SchemaParts, is_integer
from cdc_contracts.registry.core.values import Number

_CHECKED: Final = frozenset({"type", "enum", "const", "pattern", "minimum"})
_PLAIN: Final = _CHECKED | {"title", "description", "examples"}
_ITEMS: Final = Draft202012Validator.VALIDATORS["items"]
_PARTS: Final[ContextVar[SchemaParts | None]] = ContextVar("parts of the schema that is looked at", default=None)
"""What is valid inside a message that is not need not be walked through."""


class SchemaValidator:
    """Finds where messages break one JSON Schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._validator = open_validator(schema)

    def is_valid(self, value: Any) -> bool:
        """Return whether the value conforms to the schema."""
        return bool(self._validator.is_valid(value))

    def errors(self, value: Any) -> list[ValidationError]:
        """Return every error of the value, as `jsonschema` words it."""
        before = _PARTS.set(self._parts)
        try:
            return list(self._validator.iter_errors(value))
        finally:
            _PARTS.reset(before)

    @cached_property
    def _parts(self) -> SchemaParts:
        return SchemaParts(self._schema)


def open_validator(schema: Mapping[str, Any]) -> Any:
    """Return the `jsonschema` validator of a schema. Nothing is fetched from a `$ref`."""
    return _Validator(schema, registry=_no_retrieval())


def _required(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in wanted:
            if name not in instance:
                yield ValidationError(name)


def _additional(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    extras = [name for name in instance if name not in schema.get("properties", {})]
    if wanted is False:
        if extras:
            named = [ValidationError(name, instance=instance[name]) for name in extras]
            yield ValidationError("unknown members", context=named)
    elif isinstance(wanted, dict):
        for name in extras:
            if not _fits(validator, instance[name], wanted):
                yield from validator.descend(instance[name], wanted, path=name)


def _properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name, below in wanted.items():
            if name in instance and not _fits(validator, instance[name], below):
                yield from validator.descend(instance[name], below, path=name)


def _items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if "prefixItems" in schema:
        yield from _ITEMS(validator, wanted, instance, schema)
    elif isinstance(instance, list):
        for index, one in enumerate(instance):
            if not _fits(validator, one, wanted):
                yield from validator.descend(one, wanted, path=index)


def _all_of(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    for index, branch in enumerate(wanted):
        if not _fits(validator, instance, branch):
            yield from validator.descend(instance, branch, schema_path=index)


def _fits(validator: Any, value: Any, schema: Any) -> bool:
    """Return whether a subschema accepts a value; False if only descending can decide."""
    parts = _PARTS.get()
    if parts is not None and parts.take(schema, value):
        return True
    return _plainly_fits(validator, value, schema)


def _plainly_fits(validator: Any, value: Any, schema: Any) -> bool:
    """Return whether a schema without subschemas accepts a value; descending costs ten times as much."""
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN:
        return False
    checks = ((validator.VALIDATORS[keyword], wanted) for keyword, wanted in schema.items() if keyword in _CHECKED)
    return not any(any(True for _ in check(validator, wanted, value, schema)) for check, wanted in checks)


def _pattern(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not compile_pattern(wanted)(instance):
        yield ValidationError("pattern")


def _minimum(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, Number) and instance < wanted:
        yield ValidationError("minimum")


def _no_retrieval() -> Any:
    from referencing import Registry
    from referencing.exceptions import NoSuchResource

    def refuse(uri: str) -> Any:
        raise NoSuchResource(ref=uri)  # type: ignore[call-arg]

    return Registry(retrieve=refuse)  # type: ignore[call-arg]


_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    validators={
        "allOf": _all_of,
        "items": _items,
        "properties": _properties,
        "required": _required,
        "additionalProperties": _additional,
        "pattern": _pattern,
        "minimum": _minimum,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": lambda _, value: isinstance(value, Number), "integer": lambda _, value: is_integer(value)}
    ),
)
