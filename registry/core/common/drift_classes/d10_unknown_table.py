from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.core.common.drift_class import DriftClass, EventStream
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import WARNING

_TABLE: Final = "returns"


def refuse(stream: EventStream) -> None:
    """Raise UsageError if every table is known, or messages do not name theirs."""
    if not stream.lists_tables:
        raise UsageError(
            "no table contracts are given, so no table can be unknown",
            where="--drift",
            hint="List tables with --tables.",
        )
    if not stream.names_table:
        raise UsageError(f"messages of {stream.version} do not name their table", where="--drift unknown-table")


def drifts(stream: EventStream, event: Any, wanted: bool) -> Any:  # noqa: FBT001
    """Have the event happen in a table that is not listed."""
    if event.table is None or not wanted:
        return None
    table = stream.tables.setdefault(event.table, replace(event.table, name=_TABLE))
    return replace(event, table=table)


CLASS = DriftClass(
    id="D10", name="unknown-table", severity=WARNING,
    says="The topic carries a table that the table contracts do not list.",
    action="Add a contract for the table, or exclude it.",
    good="shop.orders with a contract for shop.orders", bad="shop.returns without one",
    drifts=drifts, refuse=refuse,
)  # fmt: skip
