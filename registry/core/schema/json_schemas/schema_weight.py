"""Schema weight: whether a schema is simple enough for set algebra, which works from all alternatives of schemas.

The alternatives of one value multiply: eight `oneOf` of two under one `allOf` make 256 cases, each with its negation.
Measured with jsonschema-rs 0.60; other schemas are compared in a process with limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final

from cdc_contracts.registry.core.common.subschemas import REFERENCES, holds_any, subschemas
from cdc_contracts.registry.core.schema.json_schemas.expansion import refuse_explosions
from cdc_contracts.registry.core.schema.json_schemas.schema_references import (
    SchemaAddresses,
    Subschema,
    all_inside,
)
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

MAX_CASES: Final = 250
MAX_BRANCHES: Final = 100
MAX_VALUES: Final = 500
MAX_WAY: Final = 200

_DEMANDING: Final = frozenset({
    "enum", "pattern", "patternProperties", "dependencies", "dependentRequired", "dependentSchemas", "allOf", "anyOf",
    "oneOf", "not", "if", "$ref", "$dynamicRef", "$recursiveRef",
})  # fmt: skip
"""Keywords that multiply alternatives, or are slow by themselves."""

_MANY: Final = 10**6
_RISKY: Final = re.compile(r"\)[*+{]|\\[1-9kK]|\(\?[=!<]")
_UNBOUNDED: Final = re.compile(r"(?<!\\)[*+]|,\}")
_MAX_UNBOUNDED: Final = 2


def is_light(document: Any, references: Mapping[str, Any]) -> bool:
    """Return whether containment of a schema can be computed quickly, as far as its structure shows."""
    if not any(holds_any(one, _DEMANDING) for one in (document, *references.values())):
        return True
    try:
        addresses = SchemaAddresses(document, references)
        if holds_any(document, REFERENCES) and refuse_explosions(document, addresses) > MAX_WAY:
            return False
        cases = _Cases(addresses)
        demanding = (
            place for place in _all(document, references, addresses) if not _DEMANDING.isdisjoint(place.schema)
        )
        return all(_is_light(place.schema) and cases.of(place) <= MAX_CASES for place in demanding)
    except (SchemaFault, RecursionError):
        return False


def _all(document: Any, references: Mapping[str, Any], addresses: SchemaAddresses) -> Iterator[Subschema]:
    for name, one in {**references, addresses.root: document}.items():
        yield from all_inside(one, addresses.draft, name)


def _is_light(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema is light in what it says itself: values, branches, patterns."""
    values = schema.get("enum")
    if isinstance(values, list) and len(values) > MAX_VALUES:
        return False
    if any(isinstance(schema.get(key), list) and len(schema[key]) > MAX_BRANCHES for key in ("anyOf", "oneOf")):
        return False
    keyed = schema.get("patternProperties")
    patterns = [schema.get("pattern"), *(keyed if isinstance(keyed, dict) else ())]
    return not any(isinstance(pattern, str) and _is_risky(pattern) for pattern in patterns)


def _is_risky(pattern: str) -> bool:
    return bool(_RISKY.search(pattern)) or len(_UNBOUNDED.findall(pattern)) > _MAX_UNBOUNDED


class _Cases:
    """Counts the alternatives that a schema has for one value, and those of its negation."""

    def __init__(self, addresses: SchemaAddresses) -> None:
        self._addresses = addresses
        self._known: dict[int, int] = {}

    def of(self, place: Subschema) -> int:
        if _DEMANDING.isdisjoint(place.schema):
            return 1
        key = id(place.schema)
        if key not in self._known:
            self._known[key] = min(self._count(place), _MANY)
        return self._known[key]

    def _count(self, place: Subschema) -> int:
        groups: dict[str, list[Subschema]] = {}
        for (keyword, _, _), below in zip(subschemas(place.schema), self._addresses.inside(place), strict=True):
            groups.setdefault(keyword, []).append(below)
        total = prod(self.of(below) for below in groups.get("allOf", ()))
        target = self._addresses.resolve(place.schema.get("$ref"), place)
        total *= self.of(target) if target else 1
        for keyword in ("anyOf", "oneOf"):
            total *= max(1, sum(self.of(below) for below in groups.get(keyword, ())))
        for below in groups.get("not", ()):
            total *= _negated(below.schema)
        for below in groups.get("if", ()):
            then, other = (max(1, sum(map(self.of, groups.get(key, ())))) for key in ("then", "else"))
            total *= self.of(below) * then + _negated(below.schema) * other
        for keyword in ("dependentSchemas", "dependencies"):
            total *= prod(1 + self.of(below) for below in groups.get(keyword, ()))
        required = place.schema.get("dependentRequired")
        return total << min(len(required) if isinstance(required, dict) else 0, 20)


def _negated(schema: Mapping[str, Any]) -> int:
    """Return in how many ways a value can fail a schema: one for each thing that the schema asks."""
    asked = 0
    for keyword, value in schema.items():
        asked += len(value) if keyword in {"properties", "required", "allOf"} else 1
    return max(1, asked)
