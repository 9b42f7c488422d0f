"""Lint rule T07: table-once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_rule import LintFault, LintRule

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from cdc_contracts.registry.lint.lint_run import LintRun


def tables_have_one_contract(draft: LintRun) -> Iterator[LintFault]:
    """No table has a contract in two files that are read together; L25 reports those in one folder."""
    seen: dict[str, Traversable] = {}
    for file, contract in draft.tables:
        before = seen.setdefault(contract.table, file)
        if before is not file and Path(str(before)).parent != Path(str(file)).parent:
            yield LintFault(file, f"one contract for {contract.table}", f"another is {before}", ("table",))


RULE = LintRule(
    id="T07",
    name="table-once",
    severity=ERROR,
    says="Checks that no table has contracts in two folders that are read together.",
    why="A run that is given both does not begin.",
    good="shop.orders.yaml",
    bad="shop.orders.yaml and old/shop.orders.yaml, both of shop.orders",
    check=tables_have_one_contract,
)
