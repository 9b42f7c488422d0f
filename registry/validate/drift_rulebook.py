"""Drift rulebook: every rule across fields, and those that a contract names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from cdc_contracts.registry.common.rule_modules import DRIFT_NOTES, DRIFT_RULES, find_records, refuse_twins
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.validate.drift_rule import DriftRule
from cdc_contracts.registry.validate.rule_inputs import Reads, join_reads


@cache
def drift_rules() -> Mapping[str, DriftRule]:
    """Return every rule across fields by its name, in the order of lists."""
    found = refuse_twins(rule for package in (DRIFT_RULES, DRIFT_NOTES) for rule in find_records(package, DriftRule))
    return MappingProxyType({rule.name: rule for rule in sorted(found, key=lambda rule: (rule.listed_at, rule.id))})


def rules_of(meaning: Meaning) -> tuple[DriftRule, ...]:
    """Return the rules and notes of a contract, in the order of lists."""
    named = {*meaning.rules, *meaning.notes}
    return tuple(rule for rule in drift_rules().values() if rule.name in named)


def reads_of(meaning: Meaning) -> Reads:
    """Return what the rules and notes of a contract read between them."""
    return join_reads(drift_rules()[name].reads(meaning) for name in (*meaning.rules, *meaning.notes))
