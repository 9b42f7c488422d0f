"""Contract facts: what a contract says, fact by fact: each a key of the contract, its value, and the value in words.

Every section of a contract is either compared (`contract_sections/`, or `values`), or named as prose. A test holds that
against the model, so that a section that is added cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    ask_anything,
)
from cdc_contracts.registry.authoring.compat.meaning.mapping_differences import ask_value
from cdc_contracts.registry.core.common.rule_modules import CONTRACT_SECTIONS, find_records
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version


PROSE: Final = frozenset({"contract", "title", "applies", "status", "provenance", "losses"})
"""Sections that do not affect how a message is read."""
VALUES: Final = "values"
"""The section that `mapping_differences.py` compares."""
Facts = dict[Key, ContractFact]


@cache
def contract_sections() -> Mapping[str, ContractSection]:
    """Return the compared sections of contracts by key, in the order in which they are reported."""
    found = find_records(CONTRACT_SECTIONS, ContractSection)
    return MappingProxyType({one.name: one for one in sorted(found, key=lambda one: (one.listed_at, one.name))})


def facts_of(version: Version) -> Facts:
    """Return everything that a contract says but its prose and its value forms.

    Raises ContractError if it is inconsistent.
    """
    document = version.meaning.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    facts: Facts = {}
    for section in contract_sections().values():
        if section.name in document:
            for key, fact in section.list_facts(document[section.name]):
                facts[section.name, *key] = fact
    if version.meaning.avro is not None:
        facts["avro",] = _with_schemas(version, facts["avro",])
    return facts


def differences_of(old: Facts, new: Facts) -> Iterator[FactDifference]:
    """Yield every fact that differs, in the order of the sections, with the rule that is concerned."""
    for section in contract_sections().values():
        for key in dict.fromkeys([*old, *new]):
            here, there = old.get(key), new.get(key)
            if key[0] == section.name and (here is None or there is None or here.value != there.value):
                yield FactDifference(section.rule_of(key, here, there), key, here, there)


def _with_schemas(version: Version, fact: ContractFact) -> ContractFact:
    """Return the fact of the Avro wire with the reader schemas that are files beside `envelope.avsc`."""
    schemas = {}
    for name in fact.value["schemas"]:
        if name != AVRO_ENVELOPE and version.file(name) is not None:
            schemas[name] = version.read_json(name)
    return ContractFact({**fact.value, "documents": schemas}, fact.words)


def ask(difference: FactDifference, old: Version, new: Version) -> Question:
    """Return what a message has to show for a difference between two contracts."""
    name = difference.key[0]
    if name == VALUES:
        return ask_value(difference, (old, new))
    section = contract_sections().get(name)
    return (section.ask if section else ask_anything)(difference, (old, new))


def reachable_ops(version: Version) -> frozenset[str]:
    """Return the canonical ops that messages of a version may have."""
    return frozenset({*version.meaning.ops.values(), *(flag.means for flag in version.meaning.envelope.op.flags)})
