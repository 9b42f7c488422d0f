"""Tolerated ops section: codes that are read although the document does not have them."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import NOTE
from cdc_contracts.registry.compat.meaning.contract_section import ContractSection, always, describe_names

OP_TOLERATED: Final = CompatibilityRule(
    id="C315",
    name="op-tolerated",
    severity=NOTE,
    says="A code is accepted with a note in one version only; it is read alike in both.",
    action="Nothing: no reader is concerned.",
    good="tolerated_ops: [UPDATE_BEFORE] in both",
    bad="tolerated_ops: [UPDATE_BEFORE], then none",
)


SECTION = ContractSection(name="tolerated_ops", listed_at=4, tell=describe_names, rule_of=always(OP_TOLERATED))
