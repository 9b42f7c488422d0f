"""Lint rulebook: every rule of lint, first those of contracts, then those of table contracts, by their ids."""

from __future__ import annotations

from cdc_contracts.registry.common.rule_modules import LINT_RULES, find_records
from cdc_contracts.registry.lint.lint_rule import LintRule


def lint_rules() -> tuple[LintRule, ...]:
    """Return every rule of lint in the order of the ids."""
    return find_records(LINT_RULES, LintRule)
