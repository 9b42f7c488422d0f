"""Lakehouse tables in Delta and Iceberg: a history per source table, and optionally its current rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs
from pyarrow import fs

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.tables.canonical.canonical_names import canonical_name
from cdc_contracts.registry.core.tables.canonical.reserved_names import names_in
from cdc_contracts.registry.core.tables.canonical.table_layouts import (
    FLAT,
    ColumnLayout,
    Layouts,
    TableLayout,
    TableName,
)
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace, table_folder
from cdc_contracts.spark_checks.files.folders import Folder
from cdc_contracts.spark_checks.files.part_files import read_part
from cdc_contracts.spark_checks.spark.arrow_schemas import arrow_type, spark_schema
from cdc_contracts.spark_checks.tables.lakehouse.current_rows import (
    CurrentTables,
    lacking_columns,
    ordered_contracts,
)
from cdc_contracts.spark_checks.tables.lakehouse.history_tables import Commit, open_history
from cdc_contracts.spark_checks.tables.lakehouse.spark_schemas import ensure_table
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import (
    HISTORY,
    CatalogSchema,
    DeltaDirectory,
    IcebergDirectory,
    TableIdentifiers,
    holding,
    parse_schema,
    quote,
)
from cdc_contracts.spark_checks.tables.parquet_tables import ParquetTables
from cdc_contracts.spark_checks.tables.typed_files import join_writes
from cdc_contracts.spark_checks.tables.typed_tables import TableCommit, TypedWrite, WriteOrder
from cdc_contracts.spark_checks.tasks.task_shares import hand_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


_NAME: Final = ("database", "schema", "table")
_BETWEEN: Final = "\0"
_NAMED: Final = pa.schema([CHANGES_SCHEMA.field(name) for name in (*_NAME, "primary_key")])
_TOLD: Final = pa.schema([pa.field(name, pa.string()) for name in (*_NAME, "key")])
STAGED: Final = "staged"
"""The folder of typed rows on their way into tables; nothing is in it between runs. Who locks it merges."""
_ROWS: Final = 10_000


def find_keys(
    session: SparkSession, place: SinkPlace, changes: Sequence[FilePart], layouts: Layouts, families: TableFamilies
) -> dict[TableName, tuple[str, ...]]:
    """Return the primary key of each table, in the order of its columns; none if it is not known.

    It is not known if the messages name none, or several, or columns that the table does not have.
    """
    named = {name: {layout.primary_key} for name, layout in layouts.items() if layout.primary_key}
    if len(named) < len(layouts):
        for source, result in _named_keys(session, place, changes):
            name = canonical_name(source, families)
            if name in layouts and not layouts[name].primary_key:
                named.setdefault(name, set()).add(result)
    keys = {}
    for name, layout in layouts.items():
        found = {frozenset(key) for key in named.get(name, ())}
        columns = [column.name for column in layout.columns]
        if len(found) == 1 and (key := found.pop()) <= set(columns):
            keys[name] = tuple(column for column in columns if column in key)
    return keys


def _named_keys(
    session: SparkSession, place: SinkPlace, changes: Sequence[FilePart]
) -> Iterator[tuple[TableName, tuple[str, ...]]]:
    """Yield the keys that messages name for source tables, with duplicates."""

    def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
        for number in numbers:
            for rows in read_part(place, changes[number], _NAMED):
                yield from _distinct(pa.Table.from_batches([rows])).to_batches()

    schema = ", ".join(f"`{name}` string" for name in _TOLD.names)
    for database, schema_name, table, key in hand_out(session, len(changes), work, schema).distinct().collect():
        yield TableName.of(database, schema_name, table), tuple(key.split(_BETWEEN))


def _distinct(rows: pa.Table) -> pa.Table:
    named = rows.filter(pc.greater(pc.list_value_length(rows["primary_key"]), 0))
    joined = named.set_column(len(_NAME), "key", pc.binary_join(named["primary_key"], _BETWEEN))
    return joined.group_by(_TOLD.names).aggregate([]).select(_TOLD.names).cast(_TOLD)


def open_lakehouse(
    table_format: str, directory: str, *, schema: str | None = None, catalogue: Catalogue | None = None,
    options: ReadingOptions | None = None,
) -> LakehouseTables:  # fmt: skip
    """Return the tables of a format below a directory, or in a schema `CATALOG.DB` that Spark's settings define.

    With a catalogue they maintain current rows as well; `options` are those that the changes were read with.
    Raises UsageError if the schema is written otherwise.
    """
    addresses: TableIdentifiers
    if schema is not None:
        addresses = parse_schema(schema, table_format)
    elif table_format == "delta":
        addresses = DeltaDirectory(directory)
    else:
        addresses = IcebergDirectory(directory)
    current = None
    if catalogue is not None:
        current = CurrentTables(
            addresses, ordered_contracts(catalogue), lacking_columns(catalogue, options or ReadingOptions())
        )
    return LakehouseTables(addresses, current)


open_delta = partial(open_lakehouse, "delta")
open_iceberg = partial(open_lakehouse, "iceberg")


@dataclass(frozen=True)
class LakehouseTables:
    """Tables of a versioned format; `current` maintains the current rows as well."""

    addresses: TableIdentifiers
    current: CurrentTables | None = None

    @property
    def name(self) -> str:
        return self.addresses.format

    @property
    def replaceable(self) -> bool:
        return False

    @property
    def schema(self) -> str | None:
        return self.addresses.text if isinstance(self.addresses, CatalogSchema) else None

    @property
    def typed_above(self) -> None:
        return None  # a table may hold more columns than any run knows

    @property
    def keeps_current(self) -> bool:
        return self.current is not None

    def prepare(self, engine: Engine) -> None:
        """Make the session know the tables' catalog. Raises UnavailableError if the user's settings lack it."""
        session = engine.session
        # Spark writes INT96 without a zone by default, which most readers get wrong before 1677.
        session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        # Names are used in SQL as in messages: ${env:HOME} is a name, not a variable.
        session.conf.set("spark.sql.variable.substitute", "false")
        self.addresses.prepare(session)

    def write(self, engine: Engine, order: WriteOrder) -> TypedWrite:
        """Write the rows of the changes files, typed, to the table of each layout.

        Raises UnavailableError if an existing table does not match its layout.
        """
        if not order.layouts:
            return TypedWrite()
        self.prepare(engine)
        session, place = engine.session, order.place
        opened = {name: self._open(session, layout) for name, layout in order.layouts.items()}
        keyed = self.current is not None and order.changes
        keys = find_keys(session, place, order.changes, opened, order.families) if keyed else {}
        above = f"{STAGED}/{place.run}"
        _remove(place, above)
        try:
            staged = ParquetTables(above).write(engine, replace(order, layouts=opened))
            written = [
                self._write_table(session, order, layout, staged, keys.get(name, ())) for name, layout in opened.items()
            ]
        finally:
            _remove(place, above)
        commits = {name: commit for one in written for name, commit in one.commits.items()}
        return replace(join_writes(written), raw=staged.raw, commits=commits)

    def _open(self, session: SparkSession, layout: TableLayout) -> TableLayout:
        """Make sure that a history exists; return the layout with the columns that other runs may have added."""
        found = ensure_table(
            session, self.addresses.find(HISTORY, layout.name), self.name, self._schema(layout),
            {"table": layout.name.text, "holds": holding(HISTORY, layout)},
        )  # fmt: skip
        known = {column.name for column in layout.columns}
        if layout.shape == FLAT:
            known = set(self._schema(layout).names)
            held = list(found)
        else:
            # A table without columns has no images.
            held = list(cast("StructType", found["after"].dataType)) if "after" in found.names else []
        more = [ColumnLayout(one.name, arrow_type(one.dataType), None, None) for one in held if one.name not in known]
        return replace(layout, columns=(*layout.columns, *more)) if more else layout

    def _write_table(
        self,
        session: SparkSession,
        order: WriteOrder,
        layout: TableLayout,
        staged: TypedWrite,
        columns: tuple[str, ...],
    ) -> TypedWrite:
        place, emptied = order.place, order.emptied.get(layout.name)
        name = layout.name.text
        history, names = self.addresses.find(HISTORY, layout.name), self._schema(layout).names
        folder = table_folder(layout.name, f"{STAGED}/{place.run}")
        mine = [part for part in staged.parts if part.path.startswith(f"{folder}/")]
        if not mine and (self.current is None or emptied is None or not emptied.new):
            return TypedWrite(rows={name: 0})
        if mine:
            rows = _read(session, place, mine, layout.arrow)
            commit = open_history(self.name).append(session, history, layout.name, rows.toDF(*names), order.key)
        else:
            rows, commit = session.createDataFrame([], spark_schema(layout.arrow)), Commit(None, 0)
        result = commit.version or TableCommit()
        if self.current is not None:
            whole = session.table(history).select(*map(quote, names)).toDF(*layout.arrow.names)
            # The table is read first and then overwritten: no other process may write in between.
            with Folder(place.directory).locked(STAGED):
                merged = self.current.merge(session, layout, columns, rows, whole, emptied)
            result = structs.replace(result, current=merged)
        return TypedWrite(
            rows={name: sum(part.rows for part in mine) if commit.rows is None else commit.rows}, commits={name: result}
        )

    def _schema(self, layout: TableLayout) -> pa.Schema:
        names = names_in(self.name, layout.arrow.names)
        return pa.schema([field.with_name(names[field.name]) for field in layout.arrow])


def _read(session: SparkSession, place: SinkPlace, parts: Sequence[FilePart], schema: pa.Schema) -> DataFrame:
    """Return the typed rows of some files, read with pyarrow, which wrote them."""

    def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
        return (rows for number in numbers for rows in read_part(place, parts[number], schema, most=_ROWS))

    return hand_out(session, len(parts), work, spark_schema(schema))


def _remove(place: SinkPlace, folder: str) -> None:
    filesystem, root = place.open()
    if filesystem.get_file_info(f"{root}/{folder}").type == fs.FileType.Directory:
        filesystem.delete_dir(f"{root}/{folder}")
