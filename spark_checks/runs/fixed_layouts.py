"""Fixed layouts that a run writes tables by: what earlier runs fixed, and what this one adds."""

from __future__ import annotations

from cdc_contracts.registry.common.errors import UnavailableError
from cdc_contracts.registry.contract.table_contracts import TableContracts
from cdc_contracts.registry.tables.canonical.added_columns import added_columns
from cdc_contracts.registry.tables.canonical.layout_resolution import MESSAGES, resolve_layouts
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableLayout
from cdc_contracts.spark_checks.spark_tasks import TaskResult


def fix_layouts(known: Layouts, contracts: TableContracts, judged: TaskResult) -> Layouts:
    """Return the layouts of the tables that a run has rows of, or whose layout it changes.

    A table beyond the bound of the observed columns has no columns: all values of its rows are text in `_raw`.
    """
    columns = {name: [column.name for column in layout.columns] for name, layout in known.items()}
    for name in judged.sightings.tables():
        columns[name] = [*columns.get(name, ()), *judged.sightings.columns(name)]
    settled = resolve_layouts(known, contracts, judged.sightings, added_columns(judged.statements, columns))
    changed = {name: layout for name, layout in settled.items() if layout != known.get(name)}
    bare = {name: TableLayout(name, (), (), MESSAGES) for name in judged.rows if name not in settled}
    return {name: settled[name] for name in judged.rows if name in settled} | changed | bare


def check_settled(known: Layouts, settled: Layouts) -> None:
    """Make sure, before a run counts, that no other has resolved a type differently since this one began.

    Raises UnavailableError if one has.
    """
    for name, layout in settled.items():
        types = {column.name.casefold(): column.type for column in known[name].columns} if name in known else {}
        for column in layout.columns:
            settled_type = types.get(column.name.casefold(), column.type)
            if settled_type != column.type:
                raise UnavailableError(
                    f"another run has settled column {column.name} as {settled_type}, not {column.type}",
                    where=f"table {name.text}",
                    hint="run the command again: it then uses the settled type",
                )
