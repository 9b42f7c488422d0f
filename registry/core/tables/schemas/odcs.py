"""ODCS, the Open Data Contract Standard: a table's rows in a version as a document of ODCS 3.1.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import yaml

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import schema_id
from cdc_contracts.registry.core.tables.canonical.column_types import INSTANT, WALL_CLOCK, write_type
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, NESTED, ColumnLayout, TableLayout
from cdc_contracts.registry.core.tables.schemas.decoded_table import DecodedColumn, decoded_table
from cdc_contracts.registry.core.values.type_bounds import bound_of

_API: Final = "v3.1.0"
_LOGICAL: Final[Mapping[pa.DataType, str]] = MappingProxyType({
    pa.string(): "string", pa.int64(): "integer", pa.int32(): "integer", pa.float64(): "number",
    pa.bool_(): "boolean", pa.date32(): "date", INSTANT: "timestamp", WALL_CLOCK: "timestamp",
})  # fmt: skip
"""Bytes have no logical type in the standard: they say their physical one alone."""
_PHYSICAL: Final[Mapping[pa.DataType, str]] = MappingProxyType({
    pa.bool_(): "boolean", pa.float64(): "double", pa.date32(): "date", INSTANT: "timestamp_tz",
    WALL_CLOCK: "timestamp_ntz",
})  # fmt: skip
"""The words of types that `datacontract test` knows where they are not those of Arrow."""
_BEYOND: Final = 2**63
"""Checkers compare with integers of 64 bits: a bound that needs more is left to the type."""
_LIMITATIONS: Final[Mapping[str, str]] = MappingProxyType({
    NESTED: "A row is a change: `before` and `after` are images of the row, NULL where the operation has none. What a "
    "column cannot hold exactly is NULL and text in `_raw`; `_absent` tells a column that the message lacks from one "
    "that is NULL.",
    FLAT: "A row is a change: its columns are those of the row after it, or before it where there is no other, as of a "
    "deletion. What a column cannot hold exactly is NULL and text in `_raw`; `_columns` tells a column that the "
    "message lacks from one that is NULL.",
})  # fmt: skip
_STATUS: Final = {"current": "active", "legacy": "deprecated"}


def odcs_document(version: Version, table: TableContract, layout: TableLayout) -> str:
    """Return a contract document in YAML: the table that decode writes, and the source type of each column."""
    document = {
        "apiVersion": _API,
        "kind": "DataContract",
        "id": f"{schema_id(version)}:table:{table.table}",
        "name": f"{table.table} by {version.reference}",
        "version": f"{table.version or 1}.0.0",
        "status": _STATUS[version.resolved["status"]],
        "servers": [
            {
                "server": "decoded",
                "type": "local",
                "format": "parquet",
                "path": f"tables/{table.table}/*/*.parquet",
                "description": "The folder of `decode --to`; the path is below it.",
            }
        ],
        "description": {
            "purpose": f"Rows of {table.table}, decoded from messages of {version.reference}.",
            "limitations": _LIMITATIONS[layout.shape],
        },
        "schema": [
            {
                "name": table.table.rpartition(".")[2],
                "logicalType": "object",
                "physicalType": "table",
                **({"description": table.comment} if table.comment else {}),
                "properties": [_property(table, one) for one in decoded_table(layout, table).columns],
            }
        ],
        "customProperties": [
            {"property": "contract", "value": version.reference},
            {"property": "table", "value": table.table},
        ],
    }
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text


def _property(table: TableContract, column: DecodedColumn) -> dict[str, Any]:
    """Return a column of the table that decode writes: of the source, an image of such columns, or metadata."""
    if column.source is not None:
        return _column(table, column.name, column.source)
    result: dict[str, Any] = {
        "name": column.name, "description": column.about, **_typed(column.type), "required": not column.nullable,
    }  # fmt: skip
    if column.members:
        result["properties"] = [_property(table, one) for one in column.members]
    return result


def _column(table: TableContract, name: str, column: ColumnLayout) -> dict[str, Any]:
    declared = table.columns[column.name]
    result: dict[str, Any] = {
        "name": name,
        **({"description": declared.comment} if declared.comment else {}),
        **_typed(column.type),
    }
    options = _typed(column.type).get("logicalTypeOptions", {}) | dict(_bounds(declared.type, column))
    if options:
        result["logicalTypeOptions"] = options
    key = [{"property": "primaryKeyPosition", "value": table.primary_key.index(column.name) + 1}
           for _ in [column] if column.name in table.primary_key]  # fmt: skip
    result["customProperties"] = [
        {"property": "sourceType", "value": declared.type}, {"property": "canonicalKind", "value": column.kind},
        {"property": "nullable", "value": table.may_be_null(column.name)}, *key,
    ]  # fmt: skip
    return result


def _typed(type_: pa.DataType) -> dict[str, Any]:
    """Return the logical type, the physical one of the files, and the zone of a moment."""
    if pa.types.is_list(type_):
        return {"logicalType": "array", "physicalType": "array", "items": {"name": "item", **_typed(type_.value_type)}}
    if pa.types.is_struct(type_) or pa.types.is_map(type_):
        return {"logicalType": "object", "physicalType": "struct" if pa.types.is_struct(type_) else "map"}
    logical = "number" if pa.types.is_decimal(type_) else _LOGICAL.get(type_)
    physical = _PHYSICAL.get(type_, write_type(type_))
    result: dict[str, Any] = {**({"logicalType": logical} if logical else {}), "physicalType": physical}
    if type_ == INSTANT:
        result["logicalTypeOptions"] = {"timezone": True, "defaultTimezone": "UTC"}
    elif type_ == WALL_CLOCK:
        result["logicalTypeOptions"] = {"timezone": False}
    return result


def _bounds(declared: str, column: ColumnLayout) -> Iterator[tuple[str, int]]:
    """Yield between which whole numbers the values of a column lie, by its source type."""
    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale == 0)
    bound = bound_of(declared, column.kind) if whole and column.kind is not None else None
    if bound is None or bound.least is None or bound.most is None:
        return
    limits = {"minimum": bound.least, "maximum": bound.most}
    yield from ((name, limit) for name, limit in limits.items() if -_BEYOND <= limit < _BEYOND)
