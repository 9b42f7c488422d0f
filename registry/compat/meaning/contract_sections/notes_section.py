"""Notes section: what is only noted about messages."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import NOTE
from cdc_contracts.registry.compat.meaning.contract_section import ContractSection, always, describe_names

NOTE_CHANGED: Final = CompatibilityRule(
    id="C362",
    name="note-changed",
    severity=NOTE,
    says="What is only noted about messages differs.",
    action="Nothing: no reader is concerned.",
    good="notes: [event-time-whole-seconds] in both",
    bad="notes: [event-time-whole-seconds], then none",
)


SECTION = ContractSection(name="notes", listed_at=11, tell=describe_names, rule_of=always(NOTE_CHANGED))
