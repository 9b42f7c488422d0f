"""Schema violations: where a message breaks its schema, as `jsonschema` finds it, slowly and reliably.

Most messages fit, and the compiled schema says so at once; `jsonschema` looks at those that it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import Check, compile_schema, show_code
from cdc_contracts.registry.core.values import Number, describe_shape

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

    from cdc_contracts.registry.core.message.schema_validator import SchemaValidator

_KINDS: Final = {"integer": "number"}


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


class SchemaCheck:
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
        for error in self._validator.errors(value):
            for violation in _describe(error):
                found.setdefault((violation.cause, violation.parts), violation)
        kinds = {parts for cause, parts in found if cause == "kind"}
        return [entry for (cause, parts), entry in found.items() if cause == "kind" or parts not in kinds]

    @cached_property
    def _validator(self) -> SchemaValidator:
        # imported here, as jsonschema is slow to import and most messages fit
        from cdc_contracts.registry.core.message.schema_validator import SchemaValidator

        return SchemaValidator(self._schema)


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
        texts = dict.fromkeys(_code(code) for code in codes)  # true and "true" are one text
        yield Violation("enum", parts, "one of " + ", ".join(texts), _code(instance))
    elif keyword in ("minItems", "maxItems"):
        bound = "at least" if keyword == "minItems" else "at most"
        yield Violation(keyword, parts, f"{bound} {wanted} rows", f"{len(instance)} rows")
    else:
        yield Violation(str(keyword), parts, str(wanted), describe_shape(_unsigned_zero(instance)))


def _unsigned_zero(value: Any) -> Any:
    """Return a value as the fast path reads it: an integer has no sign of its own at zero."""
    return Number("0") if isinstance(value, Number) and value.token == "-0" else value  # noqa: S105  no password


def _code(value: Any) -> str:
    if value is None:
        return "null"
    return show_code(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
