"""Columns section: where messages have the types and type codes of columns."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    NEW_VERSION,
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    values_of,
)
from cdc_contracts.registry.core.contract.phrases import describe_types, text_of
from cdc_contracts.registry.core.validate.rule_inputs import places_of_types

COLUMN_TYPES_PLACE: Final = CompatibilityRule(
    id="C340", name="column-types-place", severity=BREAKING,
    says="The source types of columns are in another place or format: a reader of the other version reads values "
    "without them.",
    action=NEW_VERSION,
    good="types: {at: /mysqlType} in both", bad="types: {at: /mysqlType}, then none",
)  # fmt: skip

COLUMN_CODES: Final = CompatibilityRule(
    id="C341", name="column-codes", severity=BREAKING,
    says="The numeric type codes are in another place, or are checked against another table: one version rejects them.",
    action="Check codes against a table that both versions share, or against `any`.",
    good="codes: {table: any} in both", bad="codes: {table: any}, then java.sql.Types",
)  # fmt: skip

SCHEMA_BLOCK: Final = CompatibilityRule(
    id="C342", name="schema-block", severity=NOTE,
    says="The schema block of messages is described differently. It is never used to read a row.",
    action="Nothing: no reader is affected.",
    good="schema_block: {at: /schema} in both", bad="schema_block: {at: /schema}, then none",
)  # fmt: skip


def list_facts(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield where types, codes and the schema block are.

    That types stand without parameters is no fact of its own: the rule that warns of others is one.
    """
    for name, value in section.items():
        if name == "types" and value != "none":
            more = [f"{part}: {text_of(value[part])}" for part in ("as", "name", "type", "table") if part in value]
            read = {part: held for part, held in value.items() if part != "without_parameters"}
            yield (name,), ContractFact(read, ", ".join([describe_types(section), *more]))
        else:
            yield (name,), ContractFact(value, describe_types(section) if name == "types" else text_of(value))


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return which of the three is concerned."""
    return {"types": COLUMN_TYPES_PLACE, "codes": COLUMN_CODES, "schema_block": SCHEMA_BLOCK}[key[1]]


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with rows, and whether types and codes are refused."""
    result = [value for value in values_of(difference) if isinstance(value, Mapping)]
    meanings = [version.meaning for version in versions]
    places = tuple(at for value in result for at in places_of_types(value, meanings))
    fields = frozenset({"column_types", "types_from", "before", "after"})
    rules = frozenset({"D09.codes-match-types" if difference.key[1] == "codes" else "D09.columns-typed"})
    return Question(ROWS, places, rules=rules, members=places, fields=fields)


SECTION = ContractSection(name="columns", listed_at=9, list_facts=list_facts, rule_of=rule_of, ask=ask)
