"""Two JSON Schemas compared: the differences that a policy counts, each with a message that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.compatibility.json_schema.closing import close_schema, open_schema
from cdc_contracts.registry.compatibility.json_schema.containment import NO, UNKNOWN, YES, Settler, is_contained
from cdc_contracts.registry.compatibility.json_schema.descriptions import name_members, schemas_along
from cdc_contracts.registry.compatibility.json_schema.difference import Difference, as_key
from cdc_contracts.registry.compatibility.json_schema.drafts import draft_of
from cdc_contracts.registry.compatibility.json_schema.pardons import pardon
from cdc_contracts.registry.compatibility.json_schema.proofs import Prover
from cdc_contracts.registry.compatibility.json_schema.rules import COUNTED, HARMFUL, PARDONED
from cdc_contracts.registry.compatibility.json_schema.shapes import ShapeReader, value_at
from cdc_contracts.registry.compatibility.json_schema.walk import TooMuchToCompare, Walk
from cdc_contracts.registry.compatibility.levels import Policy
from cdc_contracts.registry.compatibility.verdict import BREAKING, NOTE, UNDECIDED

PROVEN: Final = "proven"
"""A message shows it."""
NOT_SHOWN: Final = "not-shown"
"""No message was found that shows it."""
HARMLESS: Final = "harmless"
"""No message can show it: the reader takes all that the writer sends."""
PARDONED_BY_POLICY: Final = "pardoned"
"""A message may be refused, and the policy lets it pass."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one difference; None stands for the schemas as wholes."""

    difference: Difference | None
    severity: str
    shown: str
    message: Any = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """One direction of a comparison: what the writer sends, and what the reader takes, as the policy reads them."""

    writer: Any
    reader: Any
    sent: Any
    taken: Any

    @property
    def draft(self) -> int | None:
        """The draft of both; None where they differ."""
        draft = draft_of(self.sent)
        return draft if draft == draft_of(self.taken) else None

    def is_contained(self) -> str:
        """Return whether the reader takes all that the writer sends."""
        return UNKNOWN if self.draft is None else is_contained(self.sent, self.taken, self.draft)


def look_one_way(writer: Any, reader: Any, policy: Policy) -> list[Outcome]:
    """Return what a reader's document refuses of what a writer's promises, by a policy."""
    if as_key(writer) == as_key(reader):
        return []
    if policy is Policy.CDC:
        return _look_for_harm(Pair(writer, reader, close_schema(writer), open_schema(reader)), policy)
    pair = Pair(writer, reader, writer, reader)
    try:
        named = [one for one in _walk(pair, COUNTED[policy]) if one.name in COUNTED[policy]]
    except TooMuchToCompare:
        return _look_at_wholes(pair)
    if not named:
        return _look_for_harm(pair, policy)
    prover = Prover(writer, reader, writer, reader)
    contained = None
    outcomes = []
    for one in named:
        proof = prover.prove(one)
        if proof is not None:
            outcomes.append(Outcome(one, BREAKING, PROVEN, *proof))
            continue
        contained = pair.is_contained() if contained is None else contained
        outcomes.append(Outcome(one, BREAKING, HARMLESS if contained == YES else NOT_SHOWN))
    return outcomes


def find_removals(old: Any, new: Any) -> list[Difference]:
    """Return the members that the old schema names and the new one nowhere does: a consumer may read them."""
    sent = close_schema(old)
    try:
        found = _walk(Pair(old, new, sent, open_schema(new)), HARMFUL)
    except TooMuchToCompare:
        return []
    return [one for one in found if one.name == "PROPERTY_REMOVED" and _is_gone(old, new, one)]


def show_removal(old: Any, new: Any, removal: Difference) -> Outcome:
    """Return the outcome of a removed member: a message that the new schema refuses, or reads without the member."""
    prover = Prover(old, new, old, new)
    proof = prover.prove(removal)
    if proof is not None:
        return Outcome(removal, BREAKING, PROVEN, *proof)
    message = prover.find_accepted(removal)
    return Outcome(removal, BREAKING, NOT_SHOWN if message is None else PROVEN, message)


def _look_for_harm(pair: Pair, policy: Policy) -> list[Outcome]:
    """Return the differences for which the reader may refuse a message, and whether it does."""
    settler = Settler(pair.sent, pair.taken)
    try:
        found = _walk(pair, HARMFUL, settler)
    except TooMuchToCompare:
        return _look_at_wholes(pair)
    suspects = [one for one in found if one.name in HARMFUL - PARDONED[policy]]
    pardoned = [one for one in found if one.name in PARDONED[policy]]
    notes = [Outcome(one, NOTE, PARDONED_BY_POLICY) for one in pardoned]
    if not suspects:
        return notes
    if pardoned:
        pair = Pair(pair.writer, pair.reader, pair.sent, pardon(pair.taken, pardoned))
    prover = Prover(pair.writer, pair.reader, pair.sent, pair.taken)
    proven = {one: proof for one in suspects if (proof := prover.prove(one)) is not None}
    outcomes = [Outcome(one, BREAKING, PROVEN, *proof) for one, proof in proven.items()]
    left = [one for one in suspects if one not in proven]
    if left:
        outcomes += list(_judge_the_rest(pair, prover, left, settler, is_known_broken=bool(proven)))
    return [*outcomes, *notes]


def _judge_the_rest(
    pair: Pair, prover: Prover, left: list[Difference], settler: Settler, *, is_known_broken: bool
) -> Iterator[Outcome]:
    """Yield what becomes of suspects that no message was found for."""
    contained = pair.is_contained()
    if contained == YES:
        return
    if not is_known_broken:
        proof = prover.prove_any()
        if proof is not None:
            alone = left[0] if len(left) == 1 else None
            yield Outcome(alone, BREAKING, PROVEN, *proof)
            return
        if contained == NO:
            yield Outcome(left[0] if len(left) == 1 else None, BREAKING, NOT_SHOWN)
            return
    for one in left:
        certain = settler.is_certainly_refused(one.writer, one.reader)
        yield Outcome(one, BREAKING if certain else UNDECIDED, NOT_SHOWN)


def _look_at_wholes(pair: Pair) -> list[Outcome]:
    """Return the verdict on schemas that are too much for a walk."""
    contained = pair.is_contained()
    if contained == YES:
        return []
    proof = Prover(pair.writer, pair.reader, pair.sent, pair.taken).prove_any()
    if proof is not None:
        return [Outcome(None, BREAKING, PROVEN, *proof)]
    return [Outcome(None, BREAKING if contained == NO else UNDECIDED, NOT_SHOWN)]


def _walk(pair: Pair, counted: frozenset[str], settler: Settler | None = None) -> list[Difference]:
    return Walk(ShapeReader(pair.sent), ShapeReader(pair.taken), counted, settler).walk()


def _is_gone(old: Any, new: Any, removal: Difference) -> bool:
    """Say whether a member that one place no longer names is named by none that describes the same object."""
    if removal.writer_at is None or value_at(old, removal.writer_at) in (None, False):
        return False
    return removal.member not in name_members(new, schemas_along(new, removal.route[:-1]))
