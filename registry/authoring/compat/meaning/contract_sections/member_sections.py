"""Member sections: which codes a member may hold, and the pattern that one is written by."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    NEW_VERSION,
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    always,
    describe_members,
    values_of,
)

MEMBER_CODES: Final = CompatibilityRule(
    id="C363", name="member-codes", severity=BREAKING,
    says="A member has other allowed codes: one version rejects what the other accepts.",
    action="If codes are added, upgrade readers to the new version first; keep codes that topics may still hold.",
    good='enums: {/version: ["1"]} in both', bad='enums: {/version: ["1"]}, then ["1", "2"]',
)  # fmt: skip
MEMBER_PATTERN: Final = CompatibilityRule(
    id="C364", name="member-pattern", severity=BREAKING,
    says="A member has another pattern: one version rejects what the other accepts.",
    action=NEW_VERSION,
    good="patterns: {/pos: ^[0-9]+$} in both", bad="patterns: {/pos: ^[0-9]+$}, then ^[0-9]+@[0-9]+$",
)  # fmt: skip


def list_enum_facts(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield the codes of each member."""
    for pointer, codes in section.items():
        yield (pointer,), ContractFact(sorted(codes), "one of " + ", ".join(codes))


def ask_codes(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with each of the codes."""
    at, codes = difference.key[1], sorted({code for value in values_of(difference) for code in value})
    return Question((*ROWS, "ddl", "heartbeat"), (at,), tuple((at, code) for code in codes), members=(at,))


def ask_pattern(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with another text there."""
    at = difference.key[1]
    return Question(ROWS, (at,), rules=frozenset({"D09.position-matches"}), members=(at,))


ENUMS = ContractSection(
    name="enums", listed_at=12, list_facts=list_enum_facts, rule_of=always(MEMBER_CODES), ask=ask_codes
)
PATTERNS = ContractSection(
    name="patterns", listed_at=13, list_facts=describe_members, rule_of=always(MEMBER_PATTERN), ask=ask_pattern
)
