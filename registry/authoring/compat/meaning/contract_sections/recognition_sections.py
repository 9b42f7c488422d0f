"""Recognition sections: discriminators of one message, and evidence over many."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import NOTE, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    ContractFact,
    ContractSection,
    Key,
    always,
    describe_names,
    describe_whole,
)
from cdc_contracts.registry.core.contract.phrases import describe_evidence, describe_test

RECOGNITION: Final = CompatibilityRule(
    id="C370", name="recognition", severity=NOTE,
    says="The contract is detected differently: by other discriminators, other evidence, or other inseparable "
    "subjects. Rows are read in the same way.",
    action="Run `detect` on messages of the topic.",
    good="the same discriminators in both", bad="[{present: /id}], then [{present: /id}, {absent: /gtid}]",
)  # fmt: skip


def list_discriminator_facts(section: list[Mapping[str, Any]]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield each test on a message."""
    for test in section:
        yield (describe_test(test),), ContractFact(test, describe_test(test))


def list_evidence_facts(section: list[Mapping[str, Any]]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield each evidence over many messages."""
    for entry in section:
        yield (describe_evidence(entry),), ContractFact(entry, describe_evidence(entry))


DISCRIMINATORS = ContractSection(
    name="discriminators", listed_at=16, list_facts=list_discriminator_facts, rule_of=always(RECOGNITION)
)

CLAIM = ContractSection(name="claim", listed_at=17, list_facts=describe_whole, rule_of=always(RECOGNITION))

NOT_SEPARABLE_FROM = ContractSection(
    name="not_separable_from", listed_at=18, list_facts=describe_names, rule_of=always(RECOGNITION)
)

CONTROL_OF = ContractSection(name="control_of", listed_at=18, list_facts=describe_names, rule_of=always(RECOGNITION))

VERSION_EVIDENCE = ContractSection(
    name="version_evidence", listed_at=19, list_facts=list_evidence_facts, rule_of=always(RECOGNITION)
)
