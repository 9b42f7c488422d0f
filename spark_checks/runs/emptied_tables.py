"""Emptied tables: source statements that removed all rows of known tables, and those that were not applied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from msgspec import structs

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.report.audit_report import Spans
from cdc_contracts.registry.core.tables.canonical.canonical_names import table_in_statement
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset, meant_tables
from cdc_contracts.spark_checks.runs.finished_runs import PastRun
from cdc_contracts.spark_checks.runs.run_records import RunRecord
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings, Merged, TableCommit

MOST_EXAMPLES: Final = 5


def finalize_resets(
    found: Iterable[TableReset], names: Collection[TableName], families: TableFamilies
) -> tuple[TableReset, ...]:
    """Return the table resets that a run has found for its record.

    An ambiguous statement resets no table, and neither does one about a shard: other shards keep their rows.
    """

    def resets_one(reset: TableReset) -> bool:
        shard = table_in_statement((reset.database, reset.schema), reset.table, families) is not None
        return not shard and len(meant_tables(reset, names, families)) <= 1

    return tuple(structs.replace(one, emptied=False) if one.emptied and not resets_one(one) else one for one in found)


def find_emptied(
    statements: Iterable[TableReset], spans: Spans, past: Iterable[PastRun], names: Collection[TableName],
    families: TableFamilies,
) -> dict[TableName, Emptyings]:  # fmt: skip
    """Return the statements that emptied each table: those of a run over `spans`, and those of earlier runs."""
    new: dict[TableName, list[TableReset]] = {}
    old: dict[TableName, list[tuple[TableReset, Spans]]] = {}
    for name, statement in _pairs(statements, names, families):
        new.setdefault(name, []).append(statement)
    for run in past:
        for name, statement in _pairs(run.resets, names, families):
            old.setdefault(name, []).append((statement, run.spans))
    return {name: Emptyings(tuple(new.get(name, ())), spans, tuple(old.get(name, ()))) for name in {**new, **old}}


def _pairs(
    statements: Iterable[TableReset], names: Collection[TableName], families: TableFamilies
) -> Iterator[tuple[TableName, TableReset]]:
    for statement in statements:
        meant = meant_tables(statement, names, families) if statement.emptied else ()
        if len(meant) == 1:
            yield meant[0], statement


def describe_unfollowed(record: RunRecord | None) -> Iterator[str]:
    """Yield, for people, the statements in the record of a run that its current rows do not reflect."""
    if record is None or not record.current:
        return
    unfollowed = [one.text for one in record.upheavals if not one.emptied]
    for text in unfollowed[:MOST_EXAMPLES]:
        yield f"not applied to current rows: {text}"
    if len(unfollowed) > MOST_EXAMPLES:
        more = len(unfollowed) - MOST_EXAMPLES
        yield f"{more:,} more were not applied to current rows: see `upheavals` in the run record"
    for one in record.tables:
        merged, table = (one.commit or TableCommit()).current or Merged(), visible(one.table)
        if merged.untold:
            result = f"it is unknown whether {merged.untold:,} rows from other partitions are older, so they stay"
            yield f"{table} was emptied, and {result}"
        if merged.reloaded:
            rows = f"{merged.reloaded:,} rows of a full load"
            yield f"{table} was emptied before, and {rows} arrived since: a row that was only sent again is back"
