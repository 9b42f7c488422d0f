"""Canonical table that decode writes for a table in a version: its layout, before any message was read."""

from __future__ import annotations

from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.contract.table_contracts import TableContract, TableContracts
from cdc_contracts.registry.schema.message_schemas.table_columns import table_mappings
from cdc_contracts.registry.schema.message_schemas.table_examples import table_in
from cdc_contracts.registry.stats.observed_columns import ObservedColumn, ObservedColumns, TableName
from cdc_contracts.registry.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.values import FORMS


def canonical_table(version: Version, table: TableContract, reading_options: ReadingOptions) -> TableLayout:
    """Return the layout of the rows of a table whose messages have every column that the table contract lists.

    A column that decode keeps as text beside the others (its name differs from another in case alone) is not in it.
    Raises UsageError if the version cannot carry a type of the table.
    """
    result = table_in(version, table)
    name, sightings = TableName.of(result.database, result.schema, result.name), ObservedColumns()
    for one in table_mappings(version, table, reading_options):
        shape = (ObservedColumn(column, type_, FORMS[one.forms[column]].kind) for column, type_ in table.types.items())
        sightings.add(name, tuple(shape))
    return resolve_layouts({}, TableContracts([table]), sightings, {})[name]
