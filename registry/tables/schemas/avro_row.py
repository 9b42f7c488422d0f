"""Avro rows: the record of a canonical table, with logical types where they are exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from cdc_contracts.registry.common.identifiers import distinct_names, plain_name
from cdc_contracts.registry.tables.canonical.column_types import INSTANT, WALL_CLOCK
from cdc_contracts.registry.tables.canonical.table_layouts import METADATA, TableLayout

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
    source = {one.name: one.source_type for one in layout.columns}
    image = {
        "type": "record", "name": "Image", "doc": "The row on one side of the change.",
        "fields": list(_fields(layout.image, source)),
    }  # fmt: skip
    images = [
        {"name": "before", "doc": "The row before the change.", "type": ["null", image], "default": None},
        {"name": "after", "doc": "The row after the change.", "type": ["null", "Image"], "default": None},
    ]
    return {
        "type": "record",
        "name": plain_name(layout.name.text),
        "namespace": NAMESPACE,
        "doc": f"A change of {layout.name.text} as decode writes it.",
        "fields": [*_fields(METADATA, {}), *(images if layout.columns else [])],
    }


def _fields(fields: Iterable[pa.Field], source: Mapping[str, str | None]) -> Iterator[dict[str, Any]]:
    every = list(fields)
    names = distinct_names(one.name for one in every)
    for one in every:
        name, type_ = names[one.name], _type(one.type)
        result = {"doc": f"{one.name}: {source[one.name]}"} if source.get(one.name) else {}
        own = {} if name == one.name else {COLUMN: one.name}
        optional = {"type": ["null", type_], "default": None} if one.nullable else {"type": type_}
        yield {"name": name, **result, **optional, **own}


def _type(type_: pa.DataType) -> Any:
    if pa.types.is_decimal(type_):
        return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale}
    if pa.types.is_list(type_):
        return {"type": "array", "items": _type(type_.value_type)}
    if pa.types.is_map(type_):
        return {"type": "map", "values": ["null", _type(type_.item_type)]}
    return _PLAIN[type_]
