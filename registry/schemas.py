"""`message.schema.json`: the closed part of JSON Schema that contracts use, and the slow, sure judge of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from cdc_contracts.registry.forms import Number, describe_shape
from cdc_contracts.registry.messages import kind_of
from cdc_contracts.registry.pointers import join_pointer

KEYWORDS: Final = frozenset({
    "type", "properties", "required", "additionalProperties", "$schema", "$id", "title", "description", "items",
    "minItems", "maxItems", "enum", "const", "pattern", "minimum", "$defs", "$ref", "allOf", "if", "then",
})  # fmt: skip
_CHECKED: Final = frozenset({"type", "enum", "const", "pattern", "minimum"})
_PLAIN: Final = _CHECKED | {"title", "description"}
_KINDS: Final = {"integer": "number"}
_INTEGER = re.compile(r"-?\d+\Z", re.ASCII)


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


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a JSON Schema pattern as ECMAScript means it: digits are ASCII and `$` is the very end."""
    ends = re.sub(r"(?<!\\)((?:\\\\)*)\$", r"\1\\Z", pattern)
    return re.compile(ends, re.ASCII)


class SchemaJudge:
    """Judges parsed messages by one JSON Schema. Nothing is fetched from a `$ref`."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._validator = _Validator(schema, registry=_no_retrieval())

    def violations(self, value: Any) -> list[Violation]:
        """Return every place where the value breaks the schema, each once."""
        found: dict[tuple[str, tuple[str, ...]], Violation] = {}
        for error in self._validator.iter_errors(value):
            for violation in _describe(error):
                found.setdefault((violation.cause, violation.parts), violation)
        kinds = {parts for cause, parts in found if cause == "kind"}
        return [entry for (cause, parts), entry in found.items() if cause == "kind" or parts not in kinds]


def unsupported_keywords(schema: Any) -> Iterator[str]:
    """Yield what a contract's schema says with keywords outside the closed list, as `pointer: keyword`."""
    yield from _unsupported(schema, "", top=True)


def _unsupported(schema: Any, at: str, *, top: bool) -> Iterator[str]:  # noqa: C901  one question per keyword
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{at or '/'}: not a schema"
        return
    for keyword, value in schema.items():
        where = f"{at}/{keyword}"
        if keyword not in KEYWORDS:
            yield f"{where}: keyword outside the closed list"
        elif keyword == "allOf" and not top:
            yield f"{where}: allOf stands only at the top, for branches by op or flag"
        elif keyword == "$ref" and not str(value).startswith("#/"):
            yield f"{where}: only references within the file are followed"
        elif keyword in ("properties", "$defs"):
            for name, below in value.items():
                yield from _unsupported(below, f"{where}/{name}", top=False)
        elif keyword in ("items", "if", "then") or (keyword == "additionalProperties" and not isinstance(value, bool)):
            yield from _unsupported(value, where, top=False)
        elif keyword == "allOf":
            for index, below in enumerate(value):
                if set(below) - {"if", "then", "description", "title"}:
                    yield f"{where}/{index}: a branch has `if` and `then` only"
                yield from _unsupported(below, f"{where}/{index}", top=False)


def _describe(error: ValidationError) -> Iterator[Violation]:
    parts = tuple("0" if isinstance(part, int) else str(part) for part in error.absolute_path)
    told: Any = error  # the type stubs have a place holder where an error not yet raised has nothing
    keyword, wanted, instance = told.validator, told.validator_value, told.instance
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
        yield Violation(str(keyword), parts, str(wanted), describe_shape(instance))


def _code(value: Any) -> str:
    return show_code(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def show_code(text: str) -> str:
    """Return a code of a message fit to be shown: at most 40 characters, nothing unprintable."""
    shown = "".join(character if character.isprintable() else "\ufffd" for character in text[:41])
    return shown if len(shown) <= 40 else shown[:40] + "…"  # noqa: PLR2004


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
            if not _plainly_fits(validator, instance[name], wanted):
                yield from validator.descend(instance[name], wanted, path=name)


def _properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name, below in wanted.items():
            if name in instance and not _plainly_fits(validator, instance[name], below):
                yield from validator.descend(instance[name], below, path=name)


def _plainly_fits(validator: Any, value: Any, schema: Any) -> bool:
    """Say of a schema that looks at one value alone whether it takes it; descending costs ten times as much."""
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN:
        return False
    checks = ((validator.VALIDATORS[keyword], wanted) for keyword, wanted in schema.items() if keyword in _CHECKED)
    return not any(any(True for _ in check(validator, wanted, value, schema)) for check, wanted in checks)


def _pattern(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not compile_pattern(wanted).search(instance):
        yield ValidationError("pattern")


def _minimum(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, Number) and instance < wanted:
        yield ValidationError("minimum")


def is_integer(value: Any) -> bool:
    """Say whether a parsed value is a JSON integer: a number without point and exponent."""
    return isinstance(value, Number) and bool(_INTEGER.match(value.token))


def _no_retrieval() -> Any:
    from referencing import Registry
    from referencing.exceptions import NoSuchResource

    def refuse(uri: str) -> Any:
        raise NoSuchResource(ref=uri)  # type: ignore[call-arg]

    return Registry(retrieve=refuse)  # type: ignore[call-arg]


_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    validators={
        "properties": _properties,
        "required": _required,
        "additionalProperties": _additional,
        "pattern": _pattern,
        "minimum": _minimum,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "number": lambda _, value: isinstance(value, Number),
            "integer": lambda _, value: is_integer(value),
        }
    ),
)
