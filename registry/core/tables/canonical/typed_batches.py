"""Typed batches: the rows of `changes/` that were decoded in memory, as rows of canonical tables."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import pyarrow as pa

from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns, TableName
from cdc_contracts.registry.core.tables.canonical.added_columns import DdlStatement
from cdc_contracts.registry.core.tables.canonical.canonical_names import count_canonical, observed_canonical
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_run_layouts
from cdc_contracts.registry.core.tables.canonical.typed_rows import count_by_table, split_by_table, type_rows


def type_batches(
    changes: Sequence[pa.RecordBatch],
    observed: ObservedColumns,
    statements: AbstractSet[DdlStatement],
    tables: TableContracts,
) -> dict[TableName, pa.Table]:
    """Return the rows of each table, in the layout that follows from all these rows and the table contracts.

    Raises UsageError if a table has the name of a family whose shard it is not.
    """
    parts: dict[TableName, list[pa.RecordBatch]] = {}
    for batch in changes:
        if tables.families:
            count_canonical(count_by_table(batch), tables.families)  # refuses a table with the name of a family
        for name, rows in split_by_table(batch, tables.families):
            parts.setdefault(name, []).append(rows)
    layouts = resolve_run_layouts({}, tables, observed_canonical(observed, tables.families), statements, parts.keys())
    return {
        name: pa.Table.from_batches([type_rows(rows, layouts[name])[0] for rows in parts[name]], layouts[name].arrow)
        for name in sorted(parts, key=lambda name: name.text)
    }
