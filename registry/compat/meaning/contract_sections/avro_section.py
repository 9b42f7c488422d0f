"""Avro section: the reader schemas of records and the frames before them."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING
from cdc_contracts.registry.compat.meaning.contract_section import ContractSection, always, describe_whole

AVRO_WIRE: Final = CompatibilityRule(
    id="C351",
    name="avro-wire",
    severity=BREAKING,
    says="The Avro schemas that records are read by, or the frames that may stand before them, differ.",
    action="Keep every schema and frame that a topic may still hold.",
    good="framing: [bare, confluent] in both",
    bad="framing: [bare, confluent], then [bare]",
)


SECTION = ContractSection(name="avro", listed_at=2, tell=describe_whole, rule_of=always(AVRO_WIRE))
