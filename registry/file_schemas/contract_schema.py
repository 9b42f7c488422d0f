"""Contract schema, of `contract.yaml`, and the schema of value mappings.

A contract that is `based_on` another may leave out keys, and null removes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.subschemas import every_schema
from cdc_contracts.registry.core.contract.catalogue import CANONICAL
from cdc_contracts.registry.core.contract.column_model import MappingDocument
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.file_schemas.model_schemas import allow_nulls, in_lists, shape_of

_BASE: Final = "The {} that this one states its differences to; what is not said here is as it says it."
_HEADS: Final = ("present", "absent", "unset", "alone", "equals", "in", "not-in", "prefix-of", "not-prefix-of",
                 "avro-decodes", "any")  # fmt: skip
"""The keys of which a test on one message has exactly one."""
_IN_CANONICAL: Final = ("contract", "status", "provenance")


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema of `contract.yaml`."""
    schema = shape_of(Meaning, "cdc-contracts contract")
    defs = schema["$defs"]
    defs["Test"]["oneOf"] = [{"required": [head]} for head in _HEADS]
    defs["Place"]["anyOf"] = [{"required": ["at"]}, {"required": ["from"]}]
    whole = _as_a_patch(schema, keep=("contract",))
    schema["properties"] = {
        "contract": schema["properties"]["contract"],
        "based_on": {"type": "string", "description": _BASE.format("version, as SYSTEM/DIALECT@N,")},
        **schema["properties"],
    }
    canonical = {"properties": {"contract": {"pattern": f"^{CANONICAL}@"}}, "required": ["contract"]}
    partial = {"required": ["based_on"]}
    schema["if"] = {"not": {"anyOf": [partial, canonical]}}
    schema["then"] = whole
    schema["else"] = {"if": canonical, "then": {"required": list(_IN_CANONICAL)}}
    return schema


def mapping_schema() -> dict[str, Any]:
    """Return the JSON Schema of a value mapping, a file of `types/`."""
    schema = shape_of(MappingDocument, "cdc-contracts value mapping")
    schema["properties"] |= {"based_on": {"type": "string", "description": _BASE.format("value mapping")}}
    properties = schema["properties"]
    result = {form.name: f"{form.says} Kind: {form.kind}." for form in FORMS.values()}
    for key in ("forms", "invalid"):
        of_form = properties[key].pop("additionalProperties")
        properties[key] |= {
            "properties": {name: {**of_form, "description": says} for name, says in result.items()},
            "additionalProperties": False,
        }
    for value in (properties["default"], properties["untyped"]["additionalProperties"],
                  properties["images"]["additionalProperties"]):  # fmt: skip
        _allow_only(value, list(result))
    allow_nulls(schema)
    return schema


def _allow_only(schema: dict[str, Any], values: list[str]) -> None:
    for one in every_schema(schema):
        if one.get("type") == "string":
            one["enum"] = values


def _as_a_patch(schema: dict[str, Any], *, keep: tuple[str, ...]) -> dict[str, Any]:
    """Let a schema take a part of a document; return what a whole one must have, as a schema of its own.

    Lists replace one another as wholes, so that their items are always complete.
    """
    defs = schema["$defs"]
    demands = _demands(schema, defs)
    listed = {id(one) for one in in_lists(schema)}
    allow_nulls(schema, required=True)
    for one in every_schema(schema):
        if id(one) not in listed and one is not schema:
            one.pop("required", None)
            if "properties" in one:
                one.pop("anyOf", None)
    schema["required"] = list(keep)
    schema["properties"]["contract"] = {
        "type": "string",
        "description": schema["properties"]["contract"]["description"],
    }
    return demands


def _demands(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the required members of an object, and of the objects in it if these are present."""
    result: dict[str, Any] = {}
    if schema.get("required"):
        result["required"] = list(schema["required"])
    if "properties" in schema and "anyOf" in schema:
        result["anyOf"] = schema["anyOf"]
    below: dict[str, Any] = {}
    for key, one in schema.get("properties", {}).items():
        asked: dict[str, Any] = {"not": {"type": "null"}} if key in schema.get("required", ()) else {}
        for choice in (one, *one.get("anyOf", ())):
            if "$ref" in choice:
                asked |= _demands(defs[choice["$ref"].removeprefix("#/$defs/")], defs)
        if asked:
            below[key] = asked
    return result | ({"properties": below} if below else {})
