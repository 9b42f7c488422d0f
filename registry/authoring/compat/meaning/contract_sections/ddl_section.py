"""DDL section: where a message of DDL has its statement and its type."""

from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    NEW_VERSION,
    ContractSection,
    FactDifference,
    Question,
    Versions,
    always,
    describe_place_words,
    each_member,
    parts_of,
    values_of,
)

DDL_PLACE: Final = CompatibilityRule(
    id="C334", name="ddl-place", severity=BREAKING,
    says="The text or the code of a DDL statement is in another member.",
    action=NEW_VERSION,
    good="ddl: {text: {at: /sql}} in both", bad="ddl: {text: {at: /sql}}, then {text: {at: /ddl}}",
)  # fmt: skip


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages of DDL."""
    places = parts_of(values_of(difference))
    return Question(("ddl",), places, members=places, fields=frozenset({f"ddl_{difference.key[1]}"}))


SECTION = ContractSection(
    name="ddl", listed_at=8, list_facts=each_member(describe_place_words), rule_of=always(DDL_PLACE), ask=ask
)
