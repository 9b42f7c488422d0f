"""Model schemas as editors need them: no invented titles, and null wherever a key may be removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel

from cdc_contracts.registry.file_schemas.key_descriptions import describe

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NULL: Final = {"type": "null"}
_BY_NAME: Final = ("$defs", "properties", "patternProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf")
_SINGLE: Final = ("items", "additionalProperties", "propertyNames")


def shape_of(kind: type[BaseModel], title: str) -> dict[str, Any]:
    """Return the JSON Schema of a model under a title, with what each key means."""
    schema = kind.model_json_schema(by_alias=True)
    for one in subschemas(schema):
        one.pop("title", None)
        if one.get("default", True) in (None, [], {}, ""):
            del one["default"]
    describe(kind, schema)
    return {"$schema": DIALECT, "title": title, **schema}


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema in it."""
    if isinstance(schema, dict):
        yield schema
        for keyword in _BY_NAME:
            for below in list(schema.get(keyword, {}).values()):
                yield from subschemas(below)
        for keyword in _LISTS:
            for below in list(schema.get(keyword, ())):
                yield from subschemas(below)
        for keyword in _SINGLE:
            yield from subschemas(schema.get(keyword))


def rename_definition(schema: dict[str, Any], before: str, after: str) -> None:
    """Publish a model under another name than its class has."""
    schema["$defs"] = {after if name == before else name: shape for name, shape in schema["$defs"].items()}
    for one in subschemas(schema):
        if one.get("$ref") == f"#/$defs/{before}":
            one["$ref"] = f"#/$defs/{after}"


def allow_nulls(schema: dict[str, Any], *, required: bool = False) -> None:
    """Let null stand for a key that is not there, as readers of these files do; entries of lists keep what they are.

    Keys that are required stay so, unless `required` says that they may be taken back as well.
    """
    listed = {id(one) for one in in_lists(schema)}
    for one in reversed(
        list(subschemas(schema))
    ):  # what is below first: a key that may be null gets a schema of its own
        if id(one) in listed:
            continue
        for key, below in one.get("properties", {}).items():
            if required or key not in one.get("required", ()):
                one["properties"][key] = _or_null(below)
        for pattern, below in one.get("patternProperties", {}).items():
            one["patternProperties"][pattern] = _or_null(below)
            one["additionalProperties"] = False
        if isinstance(one.get("additionalProperties"), dict):
            one["additionalProperties"] = _or_null(one["additionalProperties"])


def in_lists(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every schema of what stands, at any depth, in a list."""
    defs = schema.get("$defs", {})
    waiting = [one["items"] for one in subschemas(schema) if "items" in one]
    found: list[dict[str, Any]] = []
    while waiting:
        for one in subschemas(waiting.pop()):
            if not any(one is known for known in found):
                found.append(one)
                if "$ref" in one:
                    waiting.append(defs[one["$ref"].removeprefix("#/$defs/")])
    return found


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if _NULL in schema.get("anyOf", ()):
        return schema
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], _NULL]}
    aside: dict[str, Any] = {key: schema[key] for key in ("description", "default") if key in schema}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in aside}, _NULL], **aside}
