"""The canonical table that decode writes of a table in a version: its layout, before any message was read."""

from __future__ import annotations

from cdc_contracts.registry.canonical.layouts import TableLayout
from cdc_contracts.registry.canonical.settlement import settle
from cdc_contracts.registry.canonical.sightings import Sighting, Sightings, TableName
from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.forms import FORMS
from cdc_contracts.registry.message_schemas.table_columns import table_mappings
from cdc_contracts.registry.message_schemas.table_examples import table_in
from cdc_contracts.registry.tables import TableContract, TableContracts
from cdc_contracts.registry.terms import Terms


def canonical_table(version: Version, table: TableContract, terms: Terms) -> TableLayout:
    """Return the layout of the rows of a table whose messages have every column that the table contract lists.

    A column that decode keeps as text beside the others (its name differs from another in case alone) is not in it.
    Raises UsageError where the version cannot carry a type of the table.
    """
    told = table_in(version, table)
    name, sightings = TableName.of(told.database, told.schema, told.name), Sightings()
    for one in table_mappings(version, table, terms):
        shape = (Sighting(column, type_, FORMS[one.forms[column]].kind) for column, type_ in table.types.items())
        sightings.add(name, tuple(shape))
    return settle({}, TableContracts([table]), sightings, {})[name]
