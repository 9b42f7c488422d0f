"""Exempted schemas: a reader's schema without what a policy allows, to see if anything else refuses a message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.compat.json_schema.schema_differences import SchemaDifference
from cdc_contracts.registry.compat.json_schema.schema_shapes import value_at


def pardon(document: Any, pardoned: Iterable[SchemaDifference]) -> Any:
    """Return the document with the places of the differences asking nothing."""
    relaxed = clone(document)
    for one in pardoned:
        schema = value_at(relaxed, one.reader.at)
        if not isinstance(schema, dict):
            continue
        if "REQUIRED" in one.name:
            schema["required"] = [name for name in schema.get("required", []) if name != one.member]
        if one.name.startswith(("ADDITIONAL", "UNEVALUATED")):
            schema.pop("additionalProperties", None)
            schema.pop("unevaluatedProperties", None)
        elif "CONTENT_MODEL" in one.name or one.name == "MEMBER_OF_OPEN_MODEL_CONSTRAINED":
            schema.setdefault("properties", {})[one.member] = {}
    return relaxed
