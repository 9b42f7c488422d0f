"""Lakehouse schemas: the columns of a canonical table in the JSON of Iceberg and of Delta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from cdc_contracts.registry.core.tables.canonical.column_types import INSTANT, WALL_CLOCK
from cdc_contracts.registry.core.tables.canonical.reserved_names import names_in
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.core.tables.schemas.decoded_table import DecodedColumn, decoded_table

_ICEBERG: Final[Mapping[pa.DataType, str]] = MappingProxyType({
    pa.string(): "string", pa.int64(): "long", pa.int32(): "int", pa.float64(): "double", pa.bool_(): "boolean",
    pa.binary(): "binary", pa.date32(): "date", INSTANT: "timestamptz", WALL_CLOCK: "timestamp",
})  # fmt: skip
_DELTA: Final[Mapping[pa.DataType, str]] = MappingProxyType({
    **_ICEBERG, pa.int32(): "integer", INSTANT: "timestamp", WALL_CLOCK: "timestamp_ntz",
})  # fmt: skip


def iceberg_schema(layout: TableLayout) -> dict[str, Any]:
    """Return the schema of a canonical table in the JSON of Iceberg; ids are given level by level, from 1."""
    ids = count(1)
    columns = decoded_table(layout).columns
    names = names_in("iceberg", (one.name for one in columns))
    return {
        "type": "struct", "schema-id": 0,
        "fields": list(_iceberg_fields(columns, names, ids)),
    }  # fmt: skip


def delta_schema(layout: TableLayout) -> dict[str, Any]:
    """Return the schema of a canonical table as `schemaString` of Delta, which is also the JSON of Spark's schemas."""
    return {"type": "struct", "fields": [_delta_field(one) for one in decoded_table(layout).columns]}


def _iceberg_fields(
    columns: Sequence[DecodedColumn], names: Mapping[str, str], ids: Iterator[int]
) -> Iterator[dict[str, Any]]:
    numbers = [next(ids) for _ in columns]
    for one, number in zip(columns, numbers, strict=True):
        about = {"doc": one.about} if one.about else {}
        kind = {"required": not one.nullable, "type": _iceberg_type(one, ids)}
        yield {"id": number, "name": names[one.name], **kind, **about}


def _iceberg_type(column: DecodedColumn, ids: Iterator[int]) -> Any:
    if column.members:
        names = {one.name: one.name for one in column.members}
        return {"type": "struct", "fields": list(_iceberg_fields(column.members, names, ids))}
    if pa.types.is_list(column.type):
        return {
            "type": "list", "element-id": next(ids), "element": _ICEBERG[column.type.value_type],
            "element-required": False,
        }  # fmt: skip
    if pa.types.is_map(column.type):
        return {
            "type": "map", "key-id": next(ids), "key": _ICEBERG[column.type.key_type], "value-id": next(ids),
            "value": _ICEBERG[column.type.item_type], "value-required": False,
        }  # fmt: skip
    return _decimal(column.type, ", ") or _ICEBERG[column.type]


def _delta_field(column: DecodedColumn) -> dict[str, Any]:
    about = {"comment": column.about} if column.about else {}
    return {"name": column.name, "type": _delta_type(column), "nullable": column.nullable, "metadata": about}


def _delta_type(column: DecodedColumn) -> Any:
    if column.members:
        return {"type": "struct", "fields": [_delta_field(one) for one in column.members]}
    if pa.types.is_list(column.type):
        return {"type": "array", "elementType": _DELTA[column.type.value_type], "containsNull": True}
    if pa.types.is_map(column.type):
        return {
            "type": "map", "keyType": _DELTA[column.type.key_type], "valueType": _DELTA[column.type.item_type],
            "valueContainsNull": True,
        }  # fmt: skip
    return _decimal(column.type, ",") or _DELTA[column.type]


def _decimal(type_: pa.DataType, between: str) -> str | None:
    return f"decimal({type_.precision}{between}{type_.scale})" if pa.types.is_decimal(type_) else None
