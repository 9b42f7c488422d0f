"""Recognition sections: discriminators of one message, and evidence over many."""

from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import NOTE, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    ContractSection,
    always,
    describe_names,
    describe_whole,
    each_entry,
)
from cdc_contracts.registry.core.contract.phrases import describe_evidence, describe_test

RECOGNITION: Final = CompatibilityRule(
    id="C370", name="recognition", severity=NOTE,
    says="The contract is detected differently: by other discriminators, other evidence, or other inseparable "
    "subjects. Rows are read in the same way.",
    action="Run `detect` on messages of the topic.",
    good="the same discriminators in both", bad="[{present: /id}], then [{present: /id}, {absent: /gtid}]",
)  # fmt: skip


DISCRIMINATORS = ContractSection(
    name="discriminators", listed_at=16, list_facts=each_entry(describe_test), rule_of=always(RECOGNITION)
)

CLAIM = ContractSection(name="claim", listed_at=17, list_facts=describe_whole, rule_of=always(RECOGNITION))

NOT_SEPARABLE_FROM = ContractSection(
    name="not_separable_from", listed_at=18, list_facts=describe_names, rule_of=always(RECOGNITION)
)

CONTROL_OF = ContractSection(name="control_of", listed_at=18, list_facts=describe_names, rule_of=always(RECOGNITION))

VERSION_EVIDENCE = ContractSection(
    name="version_evidence", listed_at=19, list_facts=each_entry(describe_evidence), rule_of=always(RECOGNITION)
)
