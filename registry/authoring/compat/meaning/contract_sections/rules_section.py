"""Rules section: the rules across fields that hold."""

from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    describe_names,
)
from cdc_contracts.registry.core.validate.drift_rule import drift_rules

RULE_ADDED: Final = CompatibilityRule(
    id="C360", name="rule-added", severity=BREAKING,
    says="A cross-field rule was added: messages that violate it were accepted before and are rejected now. If the "
    "rule only warns, this is a note.",
    action="Audit the topic with the rule before readers upgrade to the new version.",
    good="rules: [columns-typed] in both", bad="rules: [], then [columns-typed]",
)  # fmt: skip

RULE_REMOVED: Final = CompatibilityRule(
    id="C361", name="rule-removed", severity=BREAKING,
    says="A cross-field rule was removed: the new version accepts messages that readers of the old one reject. If "
    "the rule only warns, this is a note.",
    action="Keep the rule if messages have not changed.",
    good="rules: [columns-typed] in both", bad="rules: [columns-typed], then []",
)  # fmt: skip


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return the rule for a rule that is new or removed."""
    return RULE_ADDED if old is None else RULE_REMOVED


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages that are altered where the rule looks."""
    rule = drift_rules()[difference.key[1]]
    places = rule.places([version.meaning for version in versions])
    return Question((*ROWS, "ddl"), tuple(dict.fromkeys(places)), rules=frozenset({rule.id}))


SECTION = ContractSection(name="rules", listed_at=10, list_facts=describe_names, rule_of=rule_of, ask=ask)
