"""Enums section: the codes that a member may hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING
from cdc_contracts.registry.compat.meaning.contract_section import (
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    always,
    values_of,
)

MEMBER_CODES: Final = CompatibilityRule(
    id="C363",
    name="member-codes",
    severity=BREAKING,
    says="A member may hold other codes: one version refuses what the other takes.",
    action="Let readers take the new version first where codes are added; keep codes that topics may hold.",
    good='enums: {/version: ["1"]} in both',
    bad='enums: {/version: ["1"]}, then ["1", "2"]',
)


def tell(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield the codes of each member."""
    for pointer, codes in section.items():
        yield (pointer,), ContractFact(sorted(codes), "one of " + ", ".join(codes))


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with each of the codes."""
    at, codes = difference.key[1], sorted({code for value in values_of(difference) for code in value})
    return Question((*ROWS, "ddl", "heartbeat"), (at,), tuple((at, code) for code in codes), members=(at,))


SECTION = ContractSection(name="enums", listed_at=12, tell=tell, rule_of=always(MEMBER_CODES), ask=ask)
