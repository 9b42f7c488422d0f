"""DDL section: where a message of DDL has its statement and its type."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    NEW_VERSION,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    always,
    describe_place_words,
    parts_of,
    values_of,
)

DDL_PLACE: Final = CompatibilityRule(
    id="C334", name="ddl-place", severity=BREAKING,
    says="The text or the code of a DDL statement is in another member.",
    action=NEW_VERSION,
    good="ddl: {text: {at: /sql}} in both", bad="ddl: {text: {at: /sql}}, then {text: {at: /ddl}}",
)  # fmt: skip


def list_facts(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield both places."""
    for name, place in section.items():
        yield (name,), ContractFact(place, describe_place_words(place))


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages of DDL."""
    places = parts_of(values_of(difference))
    return Question(("ddl",), places, members=places, fields=frozenset({f"ddl_{difference.key[1]}"}))


SECTION = ContractSection(name="ddl", listed_at=8, list_facts=list_facts, rule_of=always(DDL_PLACE), ask=ask)
