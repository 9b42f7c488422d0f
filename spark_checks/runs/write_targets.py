"""Write targets: where decodes write, and on what conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.tables.parquet_tables import ParquetTables
from cdc_contracts.spark_checks.tables.table_formats import WriteMode
from cdc_contracts.spark_checks.tables.typed_tables import TypedTables


@dataclass(frozen=True)
class Output:
    """Where runs write, in which format of tables, and on what conditions.

    With `replace` a run replaces others that read the same records, and itself. With `trust_contract`
    it is published although a record proves another version. With `drop_duplicates` rows that repeat others stay out of
    the typed tables, with `redact` the quarantine keeps shapes only.
    """

    directory: str
    tables: TypedTables = field(default_factory=ParquetTables)
    replace: bool = False
    trust_contract: bool = False
    redact: bool = False
    drop_duplicates: bool = False

    @property
    def write_mode(self) -> WriteMode:
        """How the typed tables are written."""
        return WriteMode(self.tables.name, self.tables.schema, self.tables.keeps_current)

    @cached_property
    def runs(self) -> RunDirectory:
        return RunDirectory(self.directory)
