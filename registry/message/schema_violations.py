"""Schema violations: where a message breaks its schema, as `jsonschema` finds it, slowly and reliably.

Most messages fit, and the compiled schema says so at once; `jsonschema` looks at those that it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from cdc_contracts.registry.common.json_messages import kind_of
from cdc_contracts.registry.common.linear_patterns import compile_pattern
from cdc_contracts.registry.common.pointers import join_pointer
from cdc_contracts.registry.contract.envelope_schemas import Check, SchemaParts, compile_schema, is_integer, show_code
from cdc_contracts.registry.values import Number, describe_shape

_CHECKED: Final = frozenset({"type", "enum", "const", "pattern", "minimum"})
_PLAIN: Final = _CHECKED | {"title", "description", "examples"}
_KINDS: Final = {"integer": "number"}
_ITEMS: Final = Draft202012Validator.VALIDATORS["items"]
_PARTS: Final[ContextVar[SchemaParts | None]] = ContextVar("parts of the schema that is looked at", default=None)
"""What is valid inside a message that is not need not be walked through."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a message breaks its schema.

    `cause` is one of `unknown`, `missing`, `kind`, `enum`, or the keyword that was broken.
    """

    cause: str
    parts: tuple[str, ...]
    expected: str
    observed: str

    @property
    def path(self) -> str:
        return join_pointer(*self.parts)


class SchemaJudge:
    """Validates parsed messages against one JSON Schema. Nothing is fetched from a `$ref`."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    @cached_property
    def fits(self) -> Check:
        """The function that says whether a value conforms to the schema."""
        return compile_schema(self._schema) or self._validator.is_valid

    def violations(self, value: Any) -> list[Violation]:
        """Return every place where the value breaks the schema, each once."""
        if self.fits(value):
            return []
        found: dict[tuple[str, tuple[str, ...]], Violation] = {}
        before = _PARTS.set(self._parts)
        try:
            for error in self._validator.iter_errors(value):
                for violation in _describe(error):
                    found.setdefault((violation.cause, violation.parts), violation)
        finally:
            _PARTS.reset(before)
        kinds = {parts for cause, parts in found if cause == "kind"}
        return [entry for (cause, parts), entry in found.items() if cause == "kind" or parts not in kinds]

    @cached_property
    def _validator(self) -> Any:
        return open_validator(self._schema)

    @cached_property
    def _parts(self) -> SchemaParts:
        return SchemaParts(self._schema)


def open_validator(schema: Mapping[str, Any]) -> Any:
    """Return the `jsonschema` validator of a schema."""
    return _Validator(schema, registry=_no_retrieval())


def _describe(error: ValidationError) -> Iterator[Violation]:
    parts = tuple("0" if isinstance(part, int) else str(part) for part in error.absolute_path)
    result: Any = error  # the type stubs have a place holder where an error not yet raised has nothing
    keyword, wanted, instance = result.validator, result.validator_value, result.instance
    if keyword == "required":
        yield Violation("missing", (*parts, error.message), "present", "absent")
    elif keyword == "additionalProperties":
        for name in error.context or ():
            yield Violation("unknown", (*parts, name.message), "no such member", kind_of(name.instance))
    elif keyword == "type":
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        observed = kind_of(instance)
        if observed == "number" and "integer" in kinds:
            yield Violation("integer", parts, "an integer", describe_shape(instance))
        else:
            names = list(dict.fromkeys(_KINDS.get(kind, kind) for kind in kinds if kind != "null")) or ["null"]
            yield Violation("kind", parts, " or ".join(names), observed)
    elif keyword in ("enum", "const"):
        codes = wanted if keyword == "enum" else [wanted]
        yield Violation("enum", parts, "one of " + ", ".join(_code(code) for code in codes), _code(instance))
    elif keyword in ("minItems", "maxItems"):
        bound = "at least" if keyword == "minItems" else "at most"
        yield Violation(keyword, parts, f"{bound} {wanted} rows", f"{len(instance)} rows")
    else:
        yield Violation(str(keyword), parts, str(wanted), describe_shape(_unsigned_zero(instance)))


def _unsigned_zero(value: Any) -> Any:
    """Return a value as the fast path reads it: an integer has no sign of its own at zero."""
    return Number("0") if isinstance(value, Number) and value.token == "-0" else value  # noqa: S105  no password


def _code(value: Any) -> str:
    return show_code(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


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
    """Say of a schema inside the whole whether it accepts a value; where False, descending decides."""
    parts = _PARTS.get()
    if parts is not None and parts.take(schema, value):
        return True
    return _plainly_fits(validator, value, schema)


def _plainly_fits(validator: Any, value: Any, schema: Any) -> bool:
    """Say of a schema that looks at one value alone whether it takes it; descending costs ten times as much."""
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
