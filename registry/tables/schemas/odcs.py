"""ODCS, the Open Data Contract Standard: a table's rows in a version as a document of ODCS 3.1.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import yaml

from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.table_contracts import TableContract
from cdc_contracts.registry.schema.message_schemas.message_json_schema import schema_id
from cdc_contracts.registry.tables.canonical.column_types import INSTANT, WALL_CLOCK, write_type
from cdc_contracts.registry.tables.canonical.table_layouts import TableLayout

_API: Final = "v3.1.0"
_LOGICAL: Final[Mapping[pa.DataType, str]] = MappingProxyType({
    pa.string(): "string", pa.int64(): "integer", pa.int32(): "integer", pa.float64(): "number",
    pa.bool_(): "boolean", pa.date32(): "date", INSTANT: "timestamp", WALL_CLOCK: "timestamp",
})  # fmt: skip
"""Bytes have no logical type in the standard: they say their physical one alone."""
_STATUS: Final = {"current": "active", "legacy": "deprecated"}


def odcs_document(version: Version, table: TableContract, layout: TableLayout) -> str:
    """Return a contract document in YAML: each column with its canonical type, and the source type it comes from."""
    columns = [_column(table, layout, place) for place in range(len(layout.columns))]
    document = {
        "apiVersion": _API,
        "kind": "DataContract",
        "id": f"{schema_id(version)}:table:{table.table}",
        "name": f"{table.table} by {version.reference}",
        "version": f"{table.version or 1}.0.0",
        "status": _STATUS[version.resolved["status"]],
        "description": {
            "purpose": f"Rows of {table.table}, decoded from messages of {version.reference}.",
            "limitations": "The columns of `before` and `after` in the tables that decode writes; what a column cannot "
            "hold exactly is NULL there and text in `_raw`.",
        },
        "schema": [
            {
                "name": table.table.rpartition(".")[2],
                "physicalName": table.table,
                "logicalType": "object",
                "physicalType": "table",
                **({"description": table.comment} if table.comment else {}),
                "properties": columns,
            }
        ],
        "customProperties": [{"property": "contract", "value": version.reference}],
    }
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text


def _column(table: TableContract, layout: TableLayout, place: int) -> dict[str, Any]:
    column = layout.columns[place]
    declared = table.columns[column.name]
    logical = "number" if pa.types.is_decimal(column.type) else _LOGICAL.get(column.type)
    result: dict[str, Any] = {
        "name": column.name,
        **({"description": declared.comment} if declared.comment else {}),
        **({"logicalType": logical} if logical else {}),
        "physicalType": write_type(column.type),
        "required": not table.may_be_null(column.name),
    }
    if column.name in table.primary_key:
        result |= {"primaryKey": True, "primaryKeyPosition": table.primary_key.index(column.name) + 1}
    options = dict(_options(column.type))
    if options:
        result["logicalTypeOptions"] = options
    result["customProperties"] = [
        {"property": "sourceType", "value": declared.type}, {"property": "canonicalKind", "value": column.kind},
    ]  # fmt: skip
    return result


def _options(type_: pa.DataType) -> Iterator[tuple[str, Any]]:
    """Yield what the standard says of a type: the zone of a moment, and between which numbers it lies."""
    if type_ == INSTANT:
        yield from (("timezone", True), ("defaultTimezone", "UTC"))
    elif type_ == WALL_CLOCK:
        yield "timezone", False
    elif pa.types.is_decimal(type_) and type_.scale == 0:
        yield from (("minimum", 1 - 10**type_.precision), ("maximum", 10**type_.precision - 1))
