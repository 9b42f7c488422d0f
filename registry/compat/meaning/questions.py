"""Questions: what a message has to show for a difference between two contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdc_contracts.registry.compat.meaning.contract_facts import VALUES, contract_sections
from cdc_contracts.registry.compat.meaning.contract_section import Question, ask_anything
from cdc_contracts.registry.compat.meaning.mapping_differences import ask_value

if TYPE_CHECKING:
    from cdc_contracts.registry.compat.meaning.contract_section import FactDifference
    from cdc_contracts.registry.contract.catalogue import Version


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
