"""Decoded rows of a table: messages of a version as the typed rows of its canonical table."""

from __future__ import annotations

import pyarrow as pa
from output_rows import records_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.schema.message_schemas.table_examples import table_in, table_renderer
from cdc_contracts.registry.core.tables.canonical.layout_resolution import canonical_table
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED
from cdc_contracts.registry.core.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.validation_context import open_validation


def decoded_rows(version, table, count=40, zone="+08:00", shape=NESTED):
    """Return the layout of a table in a version, and rows in it that decode made of rendered messages."""
    zones = {name: zone for name in version.meaning.parameters if zone is not None and name == "timestamp_zone"}
    reading_options = ReadingOptions(parameters=zones, tables=TableContracts([table]), table=table.table)
    renderer, can = table_renderer(version, table, reading_options), capabilities_of(version, reading_options).ops
    events = row_stream(5, 2 * count, table=table_in(version, table), snapshot=4)
    messages = [renderer.render(event) for event in events if event.op in can][:count]
    layout, changes = canonical_table(version, table, reading_options, shape), []
    for written in Kernel(open_validation(version.catalogue, version.reference, reading_options)).decode(
        records_of(messages)
    ):
        changes += pa.Table.from_batches([written.changes]).to_batches()
    whole = pa.Table.from_batches(changes, CHANGES_SCHEMA).combine_chunks().to_batches()[0]
    ((_, rows),) = split_by_table(whole)
    typed, left = type_rows(rows, layout)
    assert typed.num_rows == count
    assert left == {}
    return layout, typed
