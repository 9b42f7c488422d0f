"""Rules section: the rules across fields that hold."""

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.compat.meaning.contract_section import (
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    describe_names,
)
from cdc_contracts.registry.validate.drift_rule import drift_rules

RULE_ADDED: Final = CompatibilityRule(
    id="C360", name="rule-added", severity=BREAKING,
    says="A rule across fields holds that did not: messages that break it were read before and are refused now. "
    "A rule that only warns is a note.",
    action="Check the rule against an audit of the topic before readers take the new version.",
    good="rules: [columns-typed] in both", bad="rules: [], then [columns-typed]",
)  # fmt: skip

RULE_REMOVED: Final = CompatibilityRule(
    id="C361", name="rule-removed", severity=BREAKING,
    says="A rule across fields holds no more: the new version reads messages that readers of the old one refuse. "
    "A rule that only warns is a note.",
    action="Keep the rule where messages have not changed.",
    good="rules: [columns-typed] in both", bad="rules: [columns-typed], then []",
)  # fmt: skip


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return whether a rule is new or gone."""
    return RULE_ADDED if old is None else RULE_REMOVED


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages that are altered where the rule looks."""
    rule = drift_rules()[difference.key[1]]
    places = rule.places([version.meaning for version in versions])
    return Question((*ROWS, "ddl"), tuple(dict.fromkeys(places)), rules=frozenset({rule.id}))


SECTION = ContractSection(name="rules", listed_at=10, tell=describe_names, rule_of=rule_of, ask=ask)
