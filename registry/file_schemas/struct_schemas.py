"""Struct schemas: JSON Schemas of documents that are written and read as `msgspec` structs.

A member is required if documents of the version in force always have it; what it means is the docstring below its
field, or, of an object without one, that of its class.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from cdc_contracts.registry.common.written_models import SINCE
from cdc_contracts.registry.file_schemas.key_descriptions import docstrings

_TYPES: Final = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def struct_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a struct, with those of the structs in it in their places."""
    hints, told = get_type_hints(kind, include_extras=True), docstrings(kind)
    fields = msgspec.structs.fields(kind)
    schema = {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "properties": {one.encode_name: _described(_shape(hints[one.name]), told.get(one.name)) for one in fields},
        "required": [one.encode_name for one in fields if _is_required(one, hints[one.name])],
    }
    return schema | ({"additionalProperties": False} if kind.__struct_config__.forbid_unknown_fields else {})


def _is_required(field: msgspec.structs.FieldInfo, hint: Any) -> bool:
    return field.default is not msgspec.UNSET or any(SINCE in (one.extra or {}) for one in _told_beside(hint))


def _told_beside(hint: Any) -> list[msgspec.Meta]:
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
            for one in _told_beside(hint)
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
