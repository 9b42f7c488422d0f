"""Primary keys of tables: by their contracts, else as messages name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableName
from cdc_contracts.spark_checks.file_sinks import FilePart, SinkPlace
from cdc_contracts.spark_checks.tables.part_files import read_part
from cdc_contracts.spark_checks.task_shares import hand_out

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME: Final = ("database", "schema", "table")
_BETWEEN: Final = "\0"
_NAMED: Final = pa.schema([CHANGES_SCHEMA.field(name) for name in (*_NAME, "primary_key")])
_TOLD: Final = pa.schema([pa.field(name, pa.string()) for name in (*_NAME, "key")])


def find_keys(
    session: SparkSession, place: SinkPlace, changes: Sequence[FilePart], layouts: Layouts
) -> dict[TableName, tuple[str, ...]]:
    """Return the primary key of each table, in the order of its columns; none if it is not known.

    It is not known where the messages name none, or several, or columns that the table has not.
    """
    named = {name: {layout.primary_key} for name, layout in layouts.items() if layout.primary_key}
    if len(named) < len(layouts):
        for name, result in _told(session, place, changes):
            if name in layouts and not layouts[name].primary_key:
                named.setdefault(name, set()).add(result)
    keys = {}
    for name, layout in layouts.items():
        found = {frozenset(key) for key in named.get(name, ())}
        columns = [column.name for column in layout.columns]
        if len(found) == 1 and (key := found.pop()) <= set(columns):
            keys[name] = tuple(column for column in columns if column in key)
    return keys


def _told(
    session: SparkSession, place: SinkPlace, changes: Sequence[FilePart]
) -> Iterator[tuple[TableName, tuple[str, ...]]]:
    """The keys that messages name, once or more often each."""

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
