"""Write modes: what all runs of a directory have to agree on, else some rows would be where nobody looks."""

from __future__ import annotations

from dataclasses import dataclass

from cdc_contracts.registry.common.errors import UnavailableError
from cdc_contracts.spark_checks.tables.table_formats import PARQUET


@dataclass(frozen=True)
class WriteMode:
    """How a run writes its typed tables: format, schema of a catalog or None, and whether current rows are kept."""

    table_format: str = PARQUET
    table_schema: str | None = None
    current: bool = False

    def check(self, wanted: WriteMode, run: str, directory: str) -> None:
        """Raise UnavailableError where a run is to write differently than this one, `run`, did."""
        if (self.table_format, self.table_schema) != (wanted.table_format, wanted.table_schema):
            raise UnavailableError(
                f"run {run} keeps its tables as {self.table_format} in {self.table_schema or 'the directory'}: "
                "rows of one table would be in two places",
                where=directory,
                hint=f"choose another directory, or continue with --table-format {self.table_format}",
            )
        if self.current and not wanted.current:
            raise UnavailableError(
                f"run {run} keeps the current rows of its tables: they would lack what is read now",
                where=directory,
                hint="choose another directory, or continue with --current",
            )
