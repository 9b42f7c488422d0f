"""Halves section: how both messages of a split update are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.compat.meaning.contract_section import (
    NEW_VERSION,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    always,
)

HALVES: Final = CompatibilityRule(
    id="C322", name="halves", severity=BREAKING,
    says="What joins the two halves of an update differs: halves go together that do not belong together, or none do.",
    action=NEW_VERSION,
    good="pair_by: [position, table] in both", bad="pair_by: [position, table], then [transaction]",
)  # fmt: skip


def tell(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield by what they are joined."""
    yield (), ContractFact(section, f"joined by {', '.join(section['pair_by'])}")


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages of split updates."""
    return Question(("update-before", "update-after"), fields=frozenset({"pair_id"}))


SECTION = ContractSection(name="halves", listed_at=6, tell=tell, rule_of=always(HALVES), ask=ask)
