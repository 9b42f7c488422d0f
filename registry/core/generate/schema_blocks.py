"""Schema blocks of messages that are made: the types of a table's columns as a Kafka Connect schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from cdc_contracts.registry.core.contract.value_mappings import ValueMapping, drop_parameters
from cdc_contracts.registry.core.message.schema_block_types import LENGTH, PRECISION, SCALE
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.core.values.form_schemas import TEXT
from cdc_contracts.registry.core.values.source_types import ARRAY, parse_source_type

_BYTES: Final = frozenset({"bytes", "bit", "decimal"})
"""The kinds of values that are bytes to Kafka Connect where they are text in JSON."""
_PRIMITIVES: Final = {"text": "string", "number": "int64", "boolean": "boolean", "object": "struct", "array": "array"}
"""The primitive type of a field by what its values are in JSON."""


def write_block(
    types: Mapping[str, str], mapping: ValueMapping, rows: Collection[str], members: Mapping[str, Any],
    parameter: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the block of an object with some members, of which `rows` hold columns of these types.

    Without `rows` the object is the row itself, and has the members beside its columns. `types` are names as messages
    have them, which the mapping reads; a `parameter` of each field says them if the contract names one.
    """
    columns = [{**_schema(type_, mapping, parameter), "field": name} for name, type_ in types.items()]
    row = {"type": "struct", "fields": columns, "optional": True}
    described = [{**(row if name in rows else _describe(value)), "field": name} for name, value in members.items()]
    return {"type": "struct", "fields": described if rows else columns + described, "optional": False}


def _describe(value: Any) -> dict[str, Any]:
    """Return the schema of a member that holds no row, by a value of it."""
    if isinstance(value, dict):
        fields = [{**_describe(one), "field": name} for name, one in value.items()]
        return {"type": "struct", "fields": fields, "optional": True}
    if isinstance(value, list):
        return {"type": "array", "items": _describe(value[0] if value else ""), "optional": True}
    primitive = "boolean" if isinstance(value, bool) else "int64" if isinstance(value, int) else "string"
    return {"type": primitive, "optional": True}


def _schema(type_: str, mapping: ValueMapping, parameter: str | None) -> dict[str, Any]:
    if type_.endswith(ARRAY):
        return {"type": "array", "items": _schema(type_.removesuffix(ARRAY), mapping, None), "optional": True}
    name = drop_parameters(type_)
    if parameter is not None:
        said = {
            parameter: name.rpartition(".")[2].upper() if "." in name else name,
            **_parameters(type_).get("parameters", {}),
        }
        return {**(_schema(type_, mapping, None) if "." in name else {}), "type": _primitive(type_, mapping),
                "optional": True, "parameters": said}  # fmt: skip
    if "." not in name:
        return {"type": name, "optional": True}
    return {"type": _primitive(type_, mapping), "optional": True, "name": name, "version": 1, **_parameters(type_)}


def _primitive(type_: str, mapping: ValueMapping) -> str:
    form = FORMS[mapping.form_of(type_) or "text"]
    if form.kind in _BYTES and form.wire >= TEXT and (form.kind != "decimal" or form.type_parameters):
        return "bytes"
    return "double" if form.kind == "float" else _PRIMITIVES[min(form.wire)]


def _parameters(type_: str) -> dict[str, Any]:
    said = parse_source_type(type_)
    if said.length is not None:
        return {"parameters": {LENGTH: str(said.length)}}
    if said.scale is None or not said.parameters:
        return {}
    precision = {} if said.parameters[0] is None else {PRECISION: str(said.parameters[0])}
    return {"parameters": {SCALE: str(said.scale), **precision}}
