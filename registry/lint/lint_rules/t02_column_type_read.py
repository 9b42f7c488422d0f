"""Lint rule T02: column-type-read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.findings import WARNING
from cdc_contracts.registry.lint.lint_rule import LintFault, LintRule
from cdc_contracts.registry.lint.lint_tables import is_read, typed_mappings
from cdc_contracts.registry.values.type_ranges import read_range

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.lint_run import LintRun


def types_are_read(draft: LintRun) -> Iterator[LintFault]:
    """Some value mapping of the catalogue reads every type that there is."""
    mappings = typed_mappings(draft, draft.mappings)
    for file, contract in draft.tables:
        for name, result in contract.types.items():
            if not is_read(result, mappings) and read_range(result) is not None:
                yield LintFault(file, "a type that some value mapping reads", result, ("columns", name, "type"))


RULE = LintRule(
    id="T02",
    name="column-type-read",
    severity=WARNING,
    says="Checks that some value mapping of the catalogue reads every type of a table contract.",
    why="No document says how such a value is written: messages with one drift, whatever their dialect.",
    good="doc: {type: CLOB}",
    bad="doc: {type: LONG RAW}",
    check=types_are_read,
)
