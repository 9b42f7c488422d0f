"""Table formats: the formats of typed tables by name; one is loaded where it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from cdc_contracts.spark_checks.tables.typed_tables import TypedTables

PARQUET: Final = "parquet"
_MAKERS: Final[Mapping[str, str]] = {
    PARQUET: "cdc_contracts.spark_checks.tables.parquet_tables:ParquetTables",
    "delta": "cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables:open_delta",
    "iceberg": "cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables:open_iceberg",
}
FORMATS: Final = tuple(_MAKERS)


def open_tables(table_format: str = PARQUET, **options: Any) -> TypedTables:
    """Return the tables of a format, made with what options it takes."""
    module, _, name = _MAKERS[table_format].partition(":")
    tables: TypedTables = getattr(import_module(module), name)(**options)
    return tables
