"""Undocumented section: what the vendor's document does not specify."""

from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    COLUMN_FIELDS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    describe_names,
)

UNDOCUMENTED_FORM: Final = CompatibilityRule(
    id="C308", name="undocumented-form", severity=BREAKING,
    says="Value forms are documented in one version only: the other keeps text that this one rejects.",
    action="Keep `undocumented` as long as the document does not define them; a reader must expect any text there.",
    good="undocumented: [value-forms] in both", bad="undocumented: [value-forms], then nothing",
)  # fmt: skip

UNDOCUMENTED: Final = CompatibilityRule(
    id="C372", name="undocumented", severity=NOTE,
    says="What counts as undocumented differs. It is read in the same way and marked in reports.",
    action="Nothing: no reader is affected.",
    good="undocumented: [insert-images] in both", bad="undocumented: [insert-images], then none",
)  # fmt: skip


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return whether value forms are concerned: those decide how a value is read."""
    return UNDOCUMENTED_FORM if key[1].startswith("value-forms") else UNDOCUMENTED


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with values."""
    return Question(("insert", "snapshot"), fields=COLUMN_FIELDS, column="")


SECTION = ContractSection(name="undocumented", listed_at=15, list_facts=describe_names, rule_of=rule_of, ask=ask)
