"""Open schemas: those of shipped contracts, made to demand less, as drafts and contracts of users do."""

from __future__ import annotations

from typing import Any

_SCALARS = {"null", "boolean", "number", "string"}


def with_optional_members(schema: Any) -> Any:
    """Return a schema that requires no member and takes null for each."""
    if isinstance(schema, list):
        return [with_optional_members(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: with_optional_members(one) for name, one in schema.items() if name not in ("required", "minItems")}
    if isinstance(found.get("type"), str | list):
        found["type"] = sorted({"null", *([found["type"]] if isinstance(found["type"], str) else found["type"])})
    if isinstance(found.get("enum"), list):
        found["enum"] = [*found["enum"], None]
    return found


def with_any_values(schema: Any) -> Any:
    """Return a schema whose objects of scalars may hold anything."""
    if isinstance(schema, list):
        return [with_any_values(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: with_any_values(one) for name, one in schema.items()}
    values = found.get("additionalProperties")
    if isinstance(values, dict) and {*values.get("type", ())} == _SCALARS:
        found["additionalProperties"] = True
    return found
