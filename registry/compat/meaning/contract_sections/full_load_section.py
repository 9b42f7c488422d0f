"""Full load section: whether rows of a full load can be told from changes."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import NOTE
from cdc_contracts.registry.compat.meaning.contract_section import ContractSection, always, describe_whole

FULL_LOAD: Final = CompatibilityRule(
    id="C371",
    name="full-load",
    severity=NOTE,
    says="Whether rows of a full load can be told from changes is said otherwise. The op map decides what is read.",
    action="Look whether a reader treats the full load apart.",
    good="full_load: own-op in both",
    bad="full_load: as-insert, then own-op",
)


SECTION = ContractSection(name="full_load", listed_at=20, tell=describe_whole, rule_of=always(FULL_LOAD))
