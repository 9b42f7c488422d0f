"""Transport section: whether messages are JSON or Avro."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING
from cdc_contracts.registry.compat.meaning.contract_section import NEW_VERSION, ContractSection, always, describe_whole

TRANSPORT: Final = CompatibilityRule(
    id="C350",
    name="transport",
    severity=BREAKING,
    says="Messages are bytes of another kind: JSON in one version, Avro in the other.",
    action=NEW_VERSION,
    good="transport: json in both",
    bad="transport: json, then avro",
)


SECTION = ContractSection(name="transport", listed_at=1, tell=describe_whole, rule_of=always(TRANSPORT))
