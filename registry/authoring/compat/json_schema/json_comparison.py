"""JSON comparison of two schemas: the differences that a policy counts, each with a message that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

from jsonschema_rs.canonical.schema import clone

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, UNDECIDED
from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.closing import close_schema, is_closed_exactly
from cdc_contracts.registry.authoring.compat.json_schema.containment import (
    NO,
    UNKNOWN,
    YES,
    ContainmentDecider,
    find_impossible,
    is_contained,
    may_have,
)
from cdc_contracts.registry.authoring.compat.json_schema.inlining import inline_references
from cdc_contracts.registry.authoring.compat.json_schema.json_proofs import JsonProver
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import (
    confluent_name_of,
    counted_differences,
    harmful_differences,
    tolerated_differences,
)
from cdc_contracts.registry.authoring.compat.json_schema.opening import open_both_ways
from cdc_contracts.registry.authoring.compat.json_schema.removals import find_removals
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    SchemaDifference,
    TooMuchToCompare,
    is_same,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import Parts, ShapeReader, value_at
from cdc_contracts.registry.authoring.compat.json_schema.schema_walk import Walk
from cdc_contracts.registry.authoring.compat.levels import Policy

PROVEN: Final = "proven"
"""A message shows it."""
NOT_SHOWN: Final = "not-shown"
"""No message was found that shows it."""
HARMLESS: Final = "harmless"
"""No message can show it: the reader takes all that the writer sends."""
SENDS_NOTHING: Final = "sends-nothing"
"""The writer's schema accepts no message, or none with the member that is gone, so that none shows it."""
TOLERATED_BY_POLICY: Final = "tolerated"
"""A message may be refused, and the policy accepts that."""


@dataclass(frozen=True, slots=True)
class ComparisonOutcome:
    """The outcome of one difference; None stands for the schemas as wholes.

    `removes` is True if the new version no longer sends a member: the writer is the old version then too.
    `confluent_difference` is the difference that Confluent's registry would report, where this one lies inside of it.
    """

    difference: SchemaDifference | None
    severity: str
    shown: str
    message: Any = None
    refusal: str | None = None
    removes: bool = False
    confluent_difference: str = ""

    @property
    def confluent_name(self) -> str | None:
        """What Confluent's registry calls it."""
        return confluent_name_of(self.confluent_difference or (self.difference.name if self.difference else ""))


@dataclass(frozen=True)
class Pair:
    """One direction of a comparison: what the writer sends, and what the reader takes, as the policy reads them.

    `taken` is what the reader certainly takes, `may_take` what it may take: only what is no part of that is refused.
    `is_exact` says that what it may take is what it takes, written without references.
    """

    writer: BundledSchema
    reader: BundledSchema
    sent: BundledSchema
    taken: BundledSchema
    may_take: BundledSchema
    is_exact: bool = False

    @cached_property
    def shapes(self) -> tuple[ShapeReader, ShapeReader]:
        """What is sent and what is taken, as shapes."""
        return ShapeReader(self.sent), ShapeReader(self.taken)

    @property
    def length(self) -> int:
        """How many characters both schemas have."""
        return len(self.sent.text) + len(self.taken.text)

    @cached_property
    def prover(self) -> JsonProver:
        """The search for messages that the reader refuses."""
        return JsonProver(self.writer, self.reader, self.sent, self.may_take, self.length)

    @cached_property
    def containment(self) -> str:
        """Whether the reader takes all that the writer sends."""
        found = _contains(self.sent, self.taken)
        if found == YES or self.may_take is self.taken:
            return found
        refused = _contains(self.sent, self.may_take)
        return refused if self.is_exact or refused == NO else UNKNOWN

    @property
    def is_certainly_refused(self) -> bool:
        """Whether the reader refuses something that is sent: what schemas apply in place leaves that open for cdc."""
        return self.containment == NO and (self.sent is self.writer or is_closed_exactly(self.writer))

    def walk(self, counted: frozenset[str], decider: ContainmentDecider | None = None) -> list[SchemaDifference]:
        """Return the differences. Raises TooMuchToCompare."""
        return Walk(*self.shapes, counted, decider).walk()


def _read_by_meaning(writer: BundledSchema, reader: BundledSchema) -> Pair:
    """Return what is sent and taken by the policy cdc."""
    sent, (taken, may_take) = close_schema(writer), open_both_ways(reader)
    if may_take is taken:
        return Pair(writer, reader, sent, taken, taken)
    inlined = inline_references(reader)
    exact, may_take = open_both_ways(inlined) if inlined is not None else (None, may_take)
    return Pair(writer, reader, sent, taken, may_take, is_exact=exact is may_take)


def _contains(sent: BundledSchema, taken: BundledSchema) -> str:
    return is_contained(sent.text, taken.text, sent.draft) if sent.draft == taken.draft else UNKNOWN


def look_one_way(
    writer: BundledSchema,
    reader: BundledSchema,
    policy: Policy,
    *,
    with_removals: bool = False,
    most: int | None = None,
) -> list[ComparisonOutcome]:
    """Return what a reader's document refuses of what a writer's promises, by a policy.

    `with_removals` adds the members that the reader no longer knows. `most` is how many outcomes are enough, if one
    breaks: each costs a search for a message.
    """
    if is_same(writer.value, reader.value):
        return []
    if policy is Policy.CDC:
        return _look_by_meaning(_read_by_meaning(writer, reader), with_removals=with_removals, most=most)
    pair = Pair(writer, reader, writer, reader, reader)
    try:
        counted = counted_differences(policy)
        named = [one for one in pair.walk(counted) if one.name in counted]
    except TooMuchToCompare:
        return _look_at_wholes(pair)
    if not named:
        return _look_for_harm(pair, policy, most)
    outcomes: list[ComparisonOutcome] = []
    for one in named:
        if most is not None and len(outcomes) >= most:
            break
        shown = _show(pair, one)
        outcomes += shown or [ComparisonOutcome(one, BREAKING, HARMLESS if pair.containment == YES else NOT_SHOWN)]
    if all(one.shown == NOT_SHOWN for one in outcomes):
        # what no single keyword shows, the schemas as wholes may
        proof = pair.prover.prove_by_examples() or pair.prover.prove_any()
        outcomes += [] if proof is None else [ComparisonOutcome(None, BREAKING, PROVEN, *proof)]
    return outcomes


def _look_by_meaning(pair: Pair, *, with_removals: bool, most: int | None) -> list[ComparisonOutcome]:
    """Return what a reader refuses and misses by the policy cdc."""
    if "" in find_impossible(pair.sent):
        return [ComparisonOutcome(None, UNDECIDED, SENDS_NOTHING)]
    found = list(_look_for_removals(pair, most)) if with_removals else []
    if most is None:
        return [*found, *_look_for_harm(pair, Policy.CDC)]
    if sum(one.severity == BREAKING for one in found) < most:
        found += _look_for_harm(pair, Policy.CDC, most)
    return sorted(found, key=lambda one: one.severity != BREAKING)[:most]


def _show(pair: Pair, difference: SchemaDifference) -> list[ComparisonOutcome]:
    """Return what messages show of a difference: those inside it first, which say more exactly what it is."""
    found = [
        replace(one, confluent_difference=difference.name) for inner in difference.inside for one in _show(pair, inner)
    ]
    proof = None if found else pair.prover.prove(difference)
    return found if proof is None else [ComparisonOutcome(difference, BREAKING, PROVEN, *proof)]


def _look_for_harm(pair: Pair, policy: Policy, most: int | None = None) -> list[ComparisonOutcome]:
    """Return the differences for which the reader may refuse a message, and whether it does."""
    decider = ContainmentDecider(*pair.shapes)
    try:
        found = pair.walk(harmful_differences(), decider)
    except TooMuchToCompare:
        return _look_at_wholes(pair)
    let_pass = tolerated_differences(policy)
    suspects = [one for one in found if one.name in harmful_differences() - let_pass]
    tolerated = [one for one in found if one.name in let_pass]
    outcomes = [ComparisonOutcome(one, NOTE, TOLERATED_BY_POLICY) for one in tolerated]
    if tolerated and suspects:
        relaxed = BundledSchema(_without_constraints(pair.taken.value, tolerated))
        pair = Pair(pair.writer, pair.reader, pair.sent, relaxed, relaxed)
    left: list[SchemaDifference] = []
    breaks: list[ComparisonOutcome] = []
    for one in suspects:
        shown = _show(pair, one)
        breaks += shown
        left += [] if shown else [one]
        if most is not None and len(breaks) >= most:
            return [*breaks, *outcomes]
    if left:
        rest = _validate_the_rest(pair, left, decider, is_known_broken=bool(breaks))
        breaks += islice(rest, None if most is None or not breaks else most - len(breaks))
    return [*outcomes, *breaks] if most is None else [*breaks, *outcomes]


def _validate_the_rest(
    pair: Pair, left: list[SchemaDifference], decider: ContainmentDecider, *, is_known_broken: bool
) -> Iterator[ComparisonOutcome]:
    """Yield the outcomes of possible breaks for which no message was found."""
    if pair.containment == YES:
        return
    alone = left[0] if len(left) == 1 else None
    if not is_known_broken:
        proof = pair.prover.prove_by_examples() or pair.prover.prove_any() or pair.prover.prove_anywhere()
        if proof is not None:
            yield ComparisonOutcome(alone, BREAKING, PROVEN, *proof)
            return
        if pair.is_certainly_refused:
            yield ComparisonOutcome(alone, BREAKING, NOT_SHOWN)
            return
    for one in left:
        # whether a message reaches the place is not known: alone it breaks nothing
        certain = is_known_broken and decider.is_certainly_refused(one.writer, one.reader)
        yield ComparisonOutcome(one, BREAKING if certain else UNDECIDED, NOT_SHOWN)


def _look_at_wholes(pair: Pair) -> list[ComparisonOutcome]:
    """Return the outcome for schemas that are too large for a walk."""
    proof = pair.prover.prove_by_examples()
    if proof is None and pair.containment == YES:
        return []
    proof = proof or pair.prover.prove_any()
    if proof is not None:
        return [ComparisonOutcome(None, BREAKING, PROVEN, *proof)]
    return [ComparisonOutcome(None, BREAKING if pair.is_certainly_refused else UNDECIDED, NOT_SHOWN)]


def _look_for_removals(pair: Pair, most: int | None) -> Iterator[ComparisonOutcome]:
    """Yield the members that the writer names and the reader does not: consumers of the writer may read them.

    A member that the writer's schema accepts in no message is not missed. Ends after `most` that break.
    """
    prover = JsonProver(pair.writer, pair.reader, pair.sent, pair.reader, pair.length)
    shown: set[Parts | None] = set()
    left: dict[Parts | None, list[SchemaDifference]] = {}
    is_complete = True
    try:
        for one in find_removals(pair.writer.value, pair.reader.value, pair.length):
            if one.writer_at in shown:
                continue
            outcome = _show_removal(prover, one)
            if outcome is None:
                left.setdefault(one.writer_at, []).append(one)
                continue
            shown.add(one.writer_at)
            yield outcome
            if most is not None and len(shown) >= most:
                return
    except TooMuchToCompare:
        is_complete = False
    broken = len(shown)
    for several in (several for at, several in left.items() if at not in shown):
        outcome = _judge_unshown(pair, several, is_known_broken=broken > 0)
        if outcome is not None:
            broken += outcome.severity == BREAKING
            yield outcome
        if most is not None and broken >= most:
            return
    if not is_complete:
        yield ComparisonOutcome(None, UNDECIDED, NOT_SHOWN)


def _show_removal(prover: JsonProver, one: SchemaDifference) -> ComparisonOutcome | None:
    proof = prover.prove(one)
    if proof is not None:
        return ComparisonOutcome(one, BREAKING, PROVEN, *proof, removes=True)
    message = prover.find_accepted(one)
    return None if message is None else ComparisonOutcome(one, BREAKING, PROVEN, message, removes=True)


def _judge_unshown(
    pair: Pair, several: Sequence[SchemaDifference], *, is_known_broken: bool
) -> ComparisonOutcome | None:
    """Return the outcome of a removal that no message shows, by the places where it may lie; None if there are none."""
    possible = [one for one in several if may_have(pair.writer, one.route) is not False]
    if not possible:
        return None
    answers = [may_have(pair.sent, one.route) for one in possible]
    shown = SENDS_NOTHING if all(one is False for one in answers) else NOT_SHOWN
    certain = any(answers) or (None in answers and is_known_broken)
    return ComparisonOutcome(possible[0], BREAKING if certain else UNDECIDED, shown, removes=True)


def _without_constraints(document: Any, tolerated: Iterable[SchemaDifference]) -> Any:
    """Return the document without constraints at the differences, to see if anything else refuses a message."""
    relaxed = clone(document)
    for one in tolerated:
        schema = value_at(relaxed, one.reader.at)
        if not isinstance(schema, dict):
            continue
        if "REQUIRED" in one.name:
            schema["required"] = [name for name in schema.get("required", []) if name != one.member]
        if one.name.startswith(("ADDITIONAL", "UNEVALUATED")):
            schema.pop("additionalProperties", None)
            schema.pop("unevaluatedProperties", None)
        elif "CONTENT_MODEL" in one.name or one.name == "MEMBER_OF_OPEN_MODEL_CONSTRAINED":
            schema.setdefault("properties", {})[one.member] = {}
    return relaxed
