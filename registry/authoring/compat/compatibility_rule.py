"""Compatibility rule: what is compared between two versions, and the solution for a break."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from cdc_contracts.registry.core.common.rule_modules import COMPATIBILITY_RULES, find_records, refuse_duplicates

BREAKING: Final = "breaking"
UNDECIDED: Final = "undecided"
NOTE: Final = "note"
SEVERITIES: Final = (BREAKING, UNDECIDED, NOTE)
"""In the order in which findings are listed."""
_FAMILIES: Final = {
    "C1": "json-schema", "C2": "avro", "C3": "meaning", "C4": "publication", "T2": "table-versions",
}  # fmt: skip
IGNORABLE: Final = frozenset({"publication", "table-versions"})
"""The families whose findings a comment may ignore up to a day."""


@dataclass(frozen=True, slots=True)
class CompatibilityRule:
    """One way in which two versions differ, in the file that finds it.

    `id` never changes; `confluent` is Confluent's name, if any.
    """

    id: str
    name: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    confluent: str | None = None


def family_of(rule: str) -> str:
    """Return what the rules with ids of this family compare."""
    return _FAMILIES[rule[:2]]


@cache
def compatibility_rules() -> tuple[CompatibilityRule, ...]:
    """Return every rule in the order of the ids; all that compares is imported.

    Some are used in another package than theirs. Raises ValueError if two have one id.
    """
    found = (rule for package in COMPATIBILITY_RULES for rule in find_records(package, CompatibilityRule))
    return tuple(sorted(refuse_duplicates(found), key=lambda rule: rule.id))
