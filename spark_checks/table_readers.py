"""Table readers: the typed rows of finished runs; other files in the directory are ignored."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout, read_layout
from cdc_contracts.spark_checks.files.file_sinks import check_whole
from cdc_contracts.spark_checks.files.folders import Folder, escape_pattern
from cdc_contracts.spark_checks.runs.finished_runs import grown_layouts
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.runs.run_records import RecordedTable, RunRecord
from cdc_contracts.spark_checks.spark.arrow_schemas import spark_schema
from cdc_contracts.spark_checks.tables.parquet_tables import ParquetTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TableFile(NamedTuple):
    """A file of a typed table: its path, its numbers of rows and bytes."""

    table: str
    path: str
    rows: int
    size: int


def list_tables(directory: str) -> list[str]:
    """Return the names of the typed tables of a directory. Raises UnavailableError if no run has finished there."""
    return sorted({one.table for one, _ in _tables(directory)})


def table_files(directory: str, table: str | None = None) -> list[TableFile]:
    """Return the files with the rows of a typed table, or of all, for any reader of Parquet.

    Files of a table with the most columns come first: many readers take the columns of all files from the first.
    Raises UnavailableError if no run has finished there or a file is lost, UsageError if there is no such table
    or it is not stored as files.
    """
    folder = Folder(directory)
    found = []
    tables = (one for one, _ in _of_table(directory, table))
    for one in sorted(tables, key=lambda one: (one.table, -len(one.layout.columns))):
        for part in one.files:
            where = f"{directory}/{part.path}"
            check_whole(folder, part.path, part.size, where=where, whose="its run")
            found.append(TableFile(one.table, f"{directory.rstrip('/')}/{part.path}", part.rows, part.size))
    return found


def table_layout(directory: str, table: str) -> TableLayout:
    """Return the current layout of a typed table. Raises as `table_files` does."""
    layouts = grown_layouts(read_layout(one.layout, record.shape) for one, record in _of_table(directory, table))
    return next(iter(layouts.values()))


def read_table(session: SparkSession, directory: str, table: str) -> DataFrame:
    """Return the rows of a typed table; columns added later are null in earlier rows. Raises as `table_files`."""
    paths = [escape_pattern(one.path) for one in table_files(directory, table)]
    schema = spark_schema(table_layout(directory, table).arrow)
    # A run without rows of a table has no file for it.
    return session.read.schema(schema).parquet(*paths) if paths else session.createDataFrame([], schema)


def _of_table(directory: str, table: str | None) -> list[tuple[RecordedTable, RunRecord]]:
    """Return the run records' entries for a table, or for all, each with its record."""
    known = list(_tables(directory))
    found = [(one, record) for one, record in known if table is None or one.table == table]
    if table is not None and not found:
        near = difflib.get_close_matches(table, sorted({one.table for one, _ in known}), 3, 0)
        raise UsageError(f"there is no table {table}", where=directory, hint=f"Tables: {', '.join(near) or 'none'}.")
    kept = {record.table_format for _, record in found} - {ParquetTables.name}
    if kept:
        raise UsageError(
            f"its tables are kept as {', '.join(sorted(kept))}, a format that tracks its own files",
            where=directory,
            hint=f"Read {directory}/tables with a reader of that format.",
        )
    return found


def _tables(directory: str) -> Iterator[tuple[RecordedTable, RunRecord]]:
    """Yield the entries for typed tables in the records of finished runs, each with its record."""
    for record in RunDirectory(directory).records():
        for one in record.tables:
            yield one, record
