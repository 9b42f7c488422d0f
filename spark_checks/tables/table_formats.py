"""Table formats: the formats of typed tables by name, imported on use, and the write mode of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED
from cdc_contracts.spark_checks.tables.typed_tables import TypedTables

PARQUET: Final = "parquet"
_MAKERS: Final[Mapping[str, str]] = {
    PARQUET: "cdc_contracts.spark_checks.tables.parquet_tables:ParquetTables",
    "delta": "cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables:open_delta",
    "iceberg": "cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables:open_iceberg",
}
FORMATS: Final = tuple(_MAKERS)


@dataclass(frozen=True)
class WriteMode:
    """How a run writes: table format, catalog schema or None, and whether it maintains current rows.

    `changes` says whether it keeps `changes/` beside the tables; `shape` is that of their rows.

    All runs of a directory have to agree on it, otherwise rows would be spread over different tables.
    """

    table_format: str = PARQUET
    table_schema: str | None = None
    current: bool = False
    changes: bool = True
    shape: str = NESTED

    def check(self, wanted: WriteMode, run: str, directory: str) -> None:
        """Raise UnavailableError if another run would write differently from this one, `run`."""
        if (self.table_format, self.table_schema) != (wanted.table_format, wanted.table_schema):
            raise UnavailableError(
                f"run {run} keeps its tables as {self.table_format} in {self.table_schema or 'the directory'}: "
                "rows of one table would be in two places",
                where=directory,
                hint=f"Choose another directory, or continue with --table-format {self.table_format}.",
            )
        if self.current and not wanted.current:
            raise UnavailableError(
                f"run {run} keeps the current rows of its tables: they would lack what is read now",
                where=directory,
                hint="Choose another directory, or continue with --current.",
            )
        if self.shape != wanted.shape:
            raise UnavailableError(
                f"run {run} was decoded with --layout {self.shape}: rows of one table would have different columns",
                where=directory,
                hint=f"Choose another directory, or continue with --layout {self.shape}.",
            )
        if self.changes != wanted.changes:
            outputs = "changes,tables" if self.changes else "tables"
            raise UnavailableError(
                f"run {run} was decoded with --outputs {outputs}: some rows would be in changes/ and others not",
                where=directory,
                hint=f"Choose another directory, or continue with --outputs {outputs}.",
            )


def open_tables(table_format: str = PARQUET, **options: Any) -> TypedTables:
    """Return the tables of a format, made with the options it accepts."""
    module, _, name = _MAKERS[table_format].partition(":")
    tables: TypedTables = getattr(import_module(module), name)(**options)
    return tables
