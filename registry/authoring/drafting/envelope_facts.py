"""Envelope facts: what a draft says of the envelope, what shows it, and what is not certain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, SampleMessage
from cdc_contracts.registry.core.common.pointers import split_pointer

_NAMES: Final = ("database_table", "database", "schema", "table")


@dataclass
class EnvelopePlace:
    """One fact of the envelope: what the contract says, what shows it, and what is not certain about it."""

    says: dict[str, Any]
    evidence: str
    question: str = ""


@dataclass
class EnvelopeFacts:
    """The facts of the envelope, by the names that a contract has for them, and what could not be expressed."""

    places: dict[str, EnvelopePlace] = field(default_factory=dict)
    ddl: EnvelopePlace | None = None
    questions: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """The members that these questions name, by pointer."""

    def names_of(self, message: SampleMessage) -> tuple[str, ...]:
        """Return what a message says of the table that it is of."""
        places = (place.says for name, place in self.places.items() if name in _NAMES)
        return tuple(str(message.at(split_pointer(says["at"]))) for says in places if "at" in says)


def evidence_of(members: Members, member: ObservedMember, what: str) -> str:
    """Return how many messages have a member, and where the first of them is."""
    return f"{what} in {member.held:,} of {len(members.messages):,} messages, first in {member.first}"
