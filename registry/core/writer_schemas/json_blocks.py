"""JSON blocks: a JSON Schema that a converter registered as the schema block of Kafka Connect for the same records.

`io.confluent.connect.json.JsonSchemaData` (schema-registry 7) turns one into the other: what JSON Schema has no word
for stands in `connect.*` keywords, semantic names in `title`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.writer_schemas.connect_blocks import MOST_DEPTH, MOST_FIELDS, NoBlock

_TYPES: Final[Mapping[str, str]] = MappingProxyType({
    "boolean": "boolean", "integer": "int64", "number": "double", "string": "string",
})  # fmt: skip
_SCALARS: Final[Mapping[str, str]] = MappingProxyType({
    **{name: name for name in ("int8", "int16", "int32", "int64", "bytes")}, "float32": "float", "float64": "double",
})  # fmt: skip
_LAST: Final = 2**31
"""Members whose place is not said come behind the others."""


def write_json_block(schema: Any, referred: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Return the block of a JSON Schema; `referred` are the schemas that it names by `$ref`. Raises NoBlock."""
    return _Blocks(referred).of(schema, schema, depth=0)


class _Blocks:
    """Blocks of the schemas of one document."""

    def __init__(self, referred: Mapping[str, Any]) -> None:
        self._referred = referred
        self._fields = 0

    def of(self, schema: Any, document: Any, *, depth: int) -> dict[str, Any]:
        if depth > MOST_DEPTH:
            raise NoBlock(f"types nested deeper than {MOST_DEPTH}, or within themselves")
        if not isinstance(schema, dict):
            raise NoBlock("a place where anything may stand")
        if isinstance(schema.get("$ref"), str):
            return self.of(*self._resolve(schema["$ref"], document), depth=depth + 1)
        branches = schema.get("oneOf", schema.get("anyOf"))
        if isinstance(branches, list):
            rest = [one for one in branches if one != {"type": "null"}]
            if len(rest) != 1:
                raise NoBlock("a choice of several types")
            return {**self.of(rest[0], document, depth=depth + 1), "optional": len(rest) < len(branches)}
        kinds = schema.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
        own = [kind for kind in kinds if kind != "null"] or (["string"] if "enum" in schema else [])
        if len(own) != 1:
            raise NoBlock("a choice of several types" if own else "a member without a type")
        if not isinstance(own[0], str):
            raise NoBlock("a type that is none")
        return {**self._typed(own[0], schema, document, depth), "optional": "null" in kinds, **_said(schema)}

    def _typed(self, kind: Any, schema: Mapping[str, Any], document: Any, depth: int) -> dict[str, Any]:
        stated = schema.get("connect.type")
        if isinstance(stated, str) and stated in _SCALARS and kind in _TYPES:
            return {"type": _SCALARS[stated]}
        if kind == "array" and stated != "map":
            return {"type": "array", "items": self.of(schema.get("items"), document, depth=depth + 1)}
        if kind == "object" and stated == "map":
            values = self.of(schema.get("additionalProperties"), document, depth=depth + 1)
            return {"type": "map", "keys": {"type": "string", "optional": False}, "values": values}
        if kind == "object" and isinstance(schema.get("properties"), dict):
            return {"type": "struct", "fields": self._fields_of(schema["properties"], document, depth)}
        if kind not in _TYPES:
            raise NoBlock(f"a type `{kind}` that says no members")
        return {"type": _TYPES[kind]}

    def _fields_of(self, members: Mapping[str, Any], document: Any, depth: int) -> list[dict[str, Any]]:
        found = []
        for name in sorted(members, key=lambda name: _place_of(members[name])):
            self._fields += 1
            if self._fields > MOST_FIELDS:
                raise NoBlock(f"more than {MOST_FIELDS:,} fields")
            found.append({**self.of(members[name], document, depth=depth + 1), "field": name})
        return found

    def _resolve(self, reference: str, document: Any) -> tuple[Any, Any]:
        """Return the schema of a `$ref`, and the document that it is in."""
        name, _, pointer = reference.partition("#")
        whole = self._referred.get(name) if name else document
        try:
            found = follow(whole, split_pointer(pointer))
        except ValueError:
            found = ABSENT
        if not isinstance(found, dict):
            raise NoBlock("a reference that leads nowhere")
        return found, whole


def _place_of(schema: Any) -> int:
    place = schema.get("connect.index") if isinstance(schema, dict) else None
    return place if isinstance(place, int) else _LAST


def _said(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a schema says of its values beside their type."""
    found: dict[str, Any] = {}
    for key, own, kind in (
        ("title", "name", str), ("connect.version", "version", int), ("description", "doc", str),
        ("default", "default", (str, int, float, bool)),
    ):  # fmt: skip
        if isinstance(schema.get(key), kind):
            found[own] = schema[key]
    parameters = schema.get("connect.parameters")
    if isinstance(parameters, dict) and parameters:
        found["parameters"] = {name: str(value) for name, value in parameters.items()}
    return found
