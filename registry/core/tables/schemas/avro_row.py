"""Avro rows: the record of a canonical table, with logical types where they are exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from cdc_contracts.registry.core.common.identifiers import distinct_names, plain_name
from cdc_contracts.registry.core.tables.canonical.column_types import INSTANT, WALL_CLOCK
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.core.tables.schemas.decoded_table import DecodedColumn, decoded_table

NAMESPACE: Final = "cdc_contracts.rows"
COLUMN: Final = "column"
"""The attribute of a field that has a column's own name, where Avro does not take it."""
_PLAIN: Final[Mapping[pa.DataType, Any]] = MappingProxyType({
    pa.string(): "string", pa.int64(): "long", pa.int32(): "int", pa.float64(): "double", pa.bool_(): "boolean",
    pa.binary(): "bytes", pa.date32(): {"type": "int", "logicalType": "date"},
    INSTANT: {"type": "long", "logicalType": "timestamp-micros"},
    WALL_CLOCK: {"type": "long", "logicalType": "local-timestamp-micros"},
})  # fmt: skip


def avro_row_schema(layout: TableLayout) -> dict[str, Any]:
    """Return the Avro schema of the rows of a canonical table."""
    return {
        "type": "record",
        "name": plain_name(layout.name.text),
        "namespace": NAMESPACE,
        "doc": f"A change of {layout.name.text} as decode writes it.",
        "fields": list(_fields(decoded_table(layout).columns)),
    }


def _fields(columns: Sequence[DecodedColumn]) -> Iterator[dict[str, Any]]:
    names = distinct_names(one.name for one in columns)
    image = False
    for one in columns:
        name, type_ = names[one.name], "Image" if one.members and image else _column_type(one)
        image = image or bool(one.members)
        source = one.source.source_type if one.source else None
        about = f"{one.name}: {source}" if source else one.about if one.members else ""
        result = {"doc": about} if about else {}
        own = {} if name == one.name else {COLUMN: one.name}
        optional = {"type": ["null", type_], "default": None} if one.nullable else {"type": type_}
        yield {"name": name, **result, **optional, **own}


def _column_type(column: DecodedColumn) -> Any:
    if not column.members:
        return _type(column.type)
    return {
        "type": "record", "name": "Image", "doc": "The row on one side of the change.",
        "fields": list(_fields(column.members)),
    }  # fmt: skip


def _type(type_: pa.DataType) -> Any:
    if pa.types.is_decimal(type_):
        return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale}
    if pa.types.is_list(type_):
        return {"type": "array", "items": _type(type_.value_type)}
    if pa.types.is_map(type_):
        return {"type": "map", "values": ["null", _type(type_.item_type)]}
    return _PLAIN[type_]
