"""Compatibility rulebook: every rule of compatibility that is found by comparing."""

from __future__ import annotations

from functools import cache

from cdc_contracts.registry.common.rule_modules import COMPATIBILITY_RULES, find_records
from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule


@cache
def compatibility_rules() -> tuple[CompatibilityRule, ...]:
    """Return every rule in the order of the ids; all that compares is imported."""
    found = (rule for package in COMPATIBILITY_RULES for rule in find_records(package, CompatibilityRule))
    once = dict.fromkeys(found)  # some are used in another package than theirs
    return tuple(sorted(once, key=lambda rule: rule.id))
