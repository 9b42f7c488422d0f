"""Patterns section: the pattern that a member is written by."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING
from cdc_contracts.registry.compat.meaning.contract_section import (
    NEW_VERSION,
    ROWS,
    ContractSection,
    FactDifference,
    Question,
    Versions,
    always,
    describe_members,
)

MEMBER_PATTERN: Final = CompatibilityRule(
    id="C364",
    name="member-pattern",
    severity=BREAKING,
    says="A member is written by another pattern: one version refuses what the other takes.",
    action=NEW_VERSION,
    good="patterns: {/pos: ^[0-9]+$} in both",
    bad="patterns: {/pos: ^[0-9]+$}, then ^[0-9]+@[0-9]+$",
)


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with another text there."""
    at = difference.key[1]
    return Question(ROWS, (at,), rules=frozenset({"D09.position-matches"}), members=(at,))


SECTION = ContractSection(name="patterns", listed_at=13, tell=describe_members, rule_of=always(MEMBER_PATTERN), ask=ask)
