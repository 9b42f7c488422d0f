"""Lint rule T10: database-named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.findings import WARNING
from cdc_contracts.registry.lint.lint_rule import LintFault, LintRule

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.lint_run import LintRun


def tables_name_their_database(draft: LintRun) -> Iterator[LintFault]:
    """A table is named with the database that messages name it with."""
    for file, contract in draft.tables:
        parts = contract.table.split(".")
        if not all(part.strip() == part and part for part in parts):
            yield LintFault(file, "DATABASE.TABLE", contract.table or "nothing", ("table",))
        elif len(parts) == 1:
            yield LintFault(file, "DATABASE.TABLE", contract.table, ("table",))


RULE = LintRule(
    id="T10",
    name="database-named",
    severity=WARNING,
    says="Checks that a table contract names the database of its table.",
    why="Messages mostly name both: the contract of `orders` is not found for shop.orders.",
    good="table: shop.orders",
    bad="table: orders",
    check=tables_name_their_database,
)
