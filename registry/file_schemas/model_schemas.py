"""Model schemas: JSON Schemas of models as editors need them: no invented titles, null where a key may be removed."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel

from cdc_contracts.registry.core.common.subschemas import every_schema
from cdc_contracts.registry.core.common.written_models import SINCE
from cdc_contracts.registry.file_schemas.key_descriptions import describe, docstrings

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NULL: Final = {"type": "null"}
_TYPES: Final = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def shape_of(kind: type[BaseModel], title: str) -> dict[str, Any]:
    """Return the JSON Schema of a model under a title, with what each key means."""
    schema = kind.model_json_schema(by_alias=True)
    for one in every_schema(schema):
        one.pop("title", None)
        if one.get("default", True) in (None, [], {}, ""):
            del one["default"]
    describe(kind, schema)
    return {"$schema": DIALECT, "title": title, **schema}


def rename_definition(schema: dict[str, Any], before: str, after: str) -> None:
    """Publish a model under another name than its class has."""
    schema["$defs"] = {after if name == before else name: shape for name, shape in schema["$defs"].items()}
    for one in every_schema(schema):
        if one.get("$ref") == f"#/$defs/{before}":
            one["$ref"] = f"#/$defs/{after}"


def allow_nulls(schema: dict[str, Any], *, required: bool = False) -> None:
    """Allow null for a missing key, as readers of these files do; items of lists stay unchanged.

    Required keys stay so, unless `required` says that they may be removed as well.
    """
    listed = {id(one) for one in in_lists(schema)}
    below_first = reversed([*every_schema(schema)])  # a key that may be null gets a schema of its own
    for one in below_first:
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
    waiting = [one["items"] for one in every_schema(schema) if "items" in one]
    found: list[dict[str, Any]] = []
    while waiting:
        for one in every_schema(waiting.pop()):
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


def struct_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a `msgspec` struct, with those of the structs in it in their places.

    A member is required if documents of the version in force always have it; what it means is the docstring below its
    field, or, of an object without one, that of its class.
    """
    hints, descriptions = get_type_hints(kind, include_extras=True), docstrings(kind)
    fields = msgspec.structs.fields(kind)
    schema = {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "properties": {
            one.encode_name: _described(_shape(hints[one.name]), descriptions.get(one.name)) for one in fields
        },
        "required": [one.encode_name for one in fields if _is_required(one, hints[one.name])],
    }
    return schema | ({"additionalProperties": False} if kind.__struct_config__.forbid_unknown_fields else {})


def _is_required(field: msgspec.structs.FieldInfo, hint: Any) -> bool:
    return field.default is not msgspec.UNSET or any(SINCE in (one.extra or {}) for one in _annotations_of(hint))


def _annotations_of(hint: Any) -> list[msgspec.Meta]:
    """Return what an annotation says beside the type, outermost only."""
    return [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, msgspec.Meta)]


def _described(shape: dict[str, Any], text: str | None) -> dict[str, Any]:
    """Return a schema with what it means behind its type."""
    if text is None:
        return shape
    (first, *_), rest = shape, {key: value for key, value in shape.items() if key != "description"}
    return {first: rest.pop(first), "description": text, **rest}


def _shape(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type. Raises KeyError for one that no model has yet."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds = {
            keyword: value
            for one in _annotations_of(hint)
            for keyword, value in (("minimum", one.ge), ("pattern", one.pattern))
            if value is not None
        }
        return _shape(arguments[0]) | bounds
    if origin in (Union, UnionType):
        return _joined([_shape(one) for one in arguments if one is not msgspec.UnsetType])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _shape(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _shape(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return struct_schema(hint)
    return {"type": _TYPES[hint]}


def _joined(shapes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one schema for values of any of some types, which differ in the type alone or are listed."""
    listed = [value for one in shapes for value in one.get("enum", ())]
    if listed:
        return {"enum": [*listed, *(None for one in shapes if one.get("type") == "null")]}
    types = [one["type"] for one in shapes]
    types = [one for one in types if one != "integer" or "number" not in types]
    found = {key: value for one in shapes for key, value in one.items()}
    return {**found, "type": types[0] if len(types) == 1 else types}
