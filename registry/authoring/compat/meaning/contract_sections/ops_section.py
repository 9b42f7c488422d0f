"""Ops section: what the codes of ops mean."""

from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    ANY,
    NEW_VERSION,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    describe_members,
    values_of,
)

OP_CODE_MEANING: Final = CompatibilityRule(
    id="C310", name="op-code-meaning", severity=BREAKING,
    says="An op code stands for another op: a reader of the other version handles the row incorrectly.",
    action=NEW_VERSION,
    good="ROW: snapshot in both", bad="ROW: snapshot, then ROW: insert",
)  # fmt: skip

OP_CODE_REMOVED: Final = CompatibilityRule(
    id="C311", name="op-code-removed", severity=BREAKING,
    says="An op code was removed: the new version rejects its messages.",
    action="Keep the code as long as a topic may hold messages with it.",
    good="{INSERT: insert, INIT: snapshot} in both", bad="{INSERT: insert, INIT: snapshot}, then {INSERT: insert}",
)  # fmt: skip

OP_CODE_ADDED: Final = CompatibilityRule(
    id="C312", name="op-code-added", severity=BREAKING,
    says="An op code is new: readers of the old version reject its messages.",
    action="Upgrade readers to the new version before the producer sends the code.",
    good="{INSERT: insert} in both", bad="{INSERT: insert}, then {INSERT: insert, INIT: snapshot}",
)  # fmt: skip


_OF_CODES: Final = frozenset({"D08.op"})
_OF_OPS: Final = _OF_CODES | {"D09.image-present-for-op", "D09.ddl-flag-agrees", "D09.ddl-text-only-if-ddl"}
"""Rules that ask for something else where a code stands for another op."""


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return the rule for a code that is new, removed, or has another meaning."""
    return OP_CODE_ADDED if old is None else OP_CODE_REMOVED if new is None else OP_CODE_MEANING


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with the code."""
    code, places = difference.key[1], tuple(dict.fromkeys(version.meaning.envelope.op.at for version in versions))
    codes = tuple((place, code) for place in places)
    rules = _OF_OPS if difference.rule is OP_CODE_MEANING else _OF_CODES
    return Question(tuple(values_of(difference)), places, codes, rules, places, ANY)


SECTION = ContractSection(name="ops", listed_at=3, list_facts=describe_members, rule_of=rule_of, ask=ask)
