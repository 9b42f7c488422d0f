"""Parameters section: what a user has to say besides the messages."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import NOTE
from cdc_contracts.registry.compat.meaning.contract_section import ContractSection, always, describe_names

PARAMETER: Final = CompatibilityRule(
    id="C365",
    name="parameter",
    severity=NOTE,
    says="What a user must or may say besides the messages differs. By itself it reads no message otherwise.",
    action="Look whether runs give the parameter.",
    good="parameters: [time_zone] in both",
    bad="parameters: [time_zone], then none",
)


SECTION = ContractSection(name="parameters", listed_at=14, tell=describe_names, rule_of=always(PARAMETER))
