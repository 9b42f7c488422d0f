"""Decoded rows of a table: messages of a version as the typed rows of its canonical table."""

from __future__ import annotations

import pyarrow as pa
from output_rows import records_of

from cdc_contracts.registry.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.carrying import carries
from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.message_schemas.table_examples import table_in, table_renderer
from cdc_contracts.registry.outputs import CHANGES_SCHEMA
from cdc_contracts.registry.scope import open_scope
from cdc_contracts.registry.streams import row_stream
from cdc_contracts.registry.table_schemas.canonical_table import canonical_table
from cdc_contracts.registry.tables import TableContracts
from cdc_contracts.registry.terms import Terms


def decoded_rows(version, table, count=40):
    """Return the layout of a table in a version, and rows in it that decode made of rendered messages."""
    zones = {name: "+08:00" for name in version.meaning.parameters if name == "timestamp_zone"}
    terms = Terms(parameters=zones, tables=TableContracts([table]), table=table.table)
    renderer, can = table_renderer(version, table, terms), carries(version, terms).ops
    events = row_stream(5, 2 * count, table=table_in(version, table), snapshot=4)
    messages = [renderer.render(event) for event in events if event.op in can][:count]
    layout, changes = canonical_table(version, table, terms), []
    for written in Kernel(open_scope(version.catalogue, version.reference, terms)).decode(records_of(messages)):
        changes += pa.Table.from_batches([written.changes]).to_batches()
    whole = pa.Table.from_batches(changes, CHANGES_SCHEMA).combine_chunks().to_batches()[0]
    ((_, rows),) = split_by_table(whole)
    typed, left = type_rows(rows, layout)
    assert typed.num_rows == count
    assert left == {}
    return layout, typed
