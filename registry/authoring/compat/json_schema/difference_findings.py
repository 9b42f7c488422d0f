"""Difference findings: outcomes as findings, with places, values, proofs and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, UNDECIDED
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    READ_DIFFERENTLY,
    REFUSED_BY_NEW,
    REFUSED_BY_OLD,
    CompatibilityFinding,
    CompatibilityProof,
    TextPlace,
)
from cdc_contracts.registry.authoring.compat.json_schema.json_comparison import (
    HARMLESS,
    NOT_SHOWN,
    PROVEN,
    SENDS_NOTHING,
    TOLERATED_BY_POLICY,
    ComparisonOutcome,
)
from cdc_contracts.registry.authoring.compat.json_schema.json_proofs import CHECKED_BY
from cdc_contracts.registry.authoring.compat.json_schema.json_rule import JsonRule, rules_by_difference
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import ELEMENT, MEMBER, Route
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import Parts, value_at
from cdc_contracts.registry.authoring.compat.levels import BACKWARD, Policy
from cdc_contracts.registry.authoring.compat.text_places import find_lines
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument

REFUSED: Final = JsonRule(
    id="C117", name="message-refused", severity=BREAKING,
    says="The reader rejects messages that the writer may send, and no single keyword is the cause.",
    action="Look at the example message, and revert what rejects it.",
    good="every message of one version is valid in the other",
    bad="two changes that are harmless on their own together reject a message",
)  # fmt: skip

NOT_DECIDED: Final = JsonRule(
    id="C118", name="not-decided", severity=UNDECIDED,
    says="It could not be decided whether the reader accepts everything that the writer sends. The change does not "
    "count as compatible.",
    action="Compare the two places by hand, or express the same with simpler keywords.",
    good="both versions write the same condition in the same way",
    bad="a pattern is replaced by another one that may or may not mean the same",
    passed_over=("REFERENCE_UNFOLLOWED", "EVALUATION_CHANGED", "RECURSION_BROKEN"),
)  # fmt: skip


ACCEPTED: Final = "accepted"

DirectedOutcome = tuple[str, ComparisonOutcome]
"""A direction and an outcome in it."""


def report_outcomes(
    old: SchemaDocument, new: SchemaDocument, policy: Policy, outcomes: Sequence[DirectedOutcome]
) -> tuple[CompatibilityFinding, ...]:
    """Return the findings of outcomes, each with its places in both files."""
    sides = [_sides_of(direction, outcome) for direction, outcome in outcomes]
    old_places = _place_all(old, [mine for mine, _ in sides])
    new_places = _place_all(new, [theirs for _, theirs in sides])
    return tuple(
        _report(old, new, policy, direction, outcome, (mine, theirs), (old_place, new_place))
        for (direction, outcome), (mine, theirs), old_place, new_place in zip(
            outcomes, sides, old_places, new_places, strict=True
        )
    )


def _report(
    old: SchemaDocument,
    new: SchemaDocument,
    policy: Policy,
    direction: str,
    outcome: ComparisonOutcome,
    sides: tuple[Parts | None, Parts | None],
    places: tuple[TextPlace | None, TextPlace | None],
) -> CompatibilityFinding:
    difference = outcome.difference
    rule = REFUSED if difference is None else rules_by_difference()[difference.name]
    if outcome.severity == UNDECIDED:
        rule = NOT_DECIDED
    at = next((parts for parts in (sides if direction != BACKWARD else sides[::-1]) if parts is not None), ())
    return CompatibilityFinding(
        rule=rule.id,
        name=rule.name,
        severity=outcome.severity,
        direction=direction,
        path=join_pointer(*at),
        old=value_at(old.document, sides[0]) if sides[0] else None,
        new=value_at(new.document, sides[1]) if sides[1] else None,
        old_version=old.name,
        new_version=new.name,
        old_place=places[0],
        new_place=places[1],
        says=_say(old, new, policy, direction, outcome, rule.says),
        action=rule.action,
        confluent_rule=outcome.confluent_name,
        proof=_prove(direction, outcome),
    )


def _say(
    old: SchemaDocument, new: SchemaDocument, policy: Policy, direction: str, outcome: ComparisonOutcome, says: str
) -> str:
    writer, reader = (old.name, new.name) if direction == BACKWARD else (new.name, old.name)
    if outcome.difference is not None and outcome.removes:
        gone = _describe_route(outcome.difference.route)
        if outcome.shown == SENDS_NOTHING:
            return f"{reader} accepts no message with {gone}, so none shows whether consumers miss it in {writer}."
        unshown = " No message was found that shows it." if outcome.shown == NOT_SHOWN else ""
        return f"{writer} no longer sends {gone}, which consumers of {reader} may read.{unshown}"
    if outcome.shown == SENDS_NOTHING:
        return f"{writer} accepts no message, so none shows whether {reader} reads what {writer} sends."
    said = [f"{reader} reads what {writer} sends"]
    if outcome.difference is not None:
        where = _describe_route(outcome.difference.route)
        member = outcome.difference.member
        named = f", member `{member}`" if member and not where.endswith(f"/{member}") else ""
        said[0] += f", at {where or 'the message'}{named}"
    said[0] += f": {says[0].lower()}{says[1:]}"
    if outcome.shown == HARMLESS:
        said.append(f"No message shows it: {policy} rejects a change that no reader would notice.")
    elif outcome.shown == NOT_SHOWN and outcome.severity != UNDECIDED:
        said.append("No message was found that shows it.")
    elif outcome.shown == TOLERATED_BY_POLICY:
        said.append(f"{policy} lets it pass.")
    elif policy is not Policy.CDC and outcome.severity != UNDECIDED and _is_unnamed(outcome):
        said.append("Confluent's registry has no rule for it and lets it pass; the message shows that it breaks.")
    return " ".join(said)


def _prove(direction: str, outcome: ComparisonOutcome) -> CompatibilityProof | None:
    if outcome.shown != PROVEN:
        return None
    if outcome.refusal is None:
        member = outcome.difference.member if outcome.difference else ""
        return CompatibilityProof(
            READ_DIFFERENTLY,
            outcome.message,
            f"accepted, and reads the member `{member}`",
            f"accepted, and knows no member `{member}`",
            CHECKED_BY,
        )
    if direction == BACKWARD or outcome.removes:
        return CompatibilityProof(REFUSED_BY_NEW, outcome.message, ACCEPTED, outcome.refusal, CHECKED_BY)
    return CompatibilityProof(REFUSED_BY_OLD, outcome.message, outcome.refusal, ACCEPTED, CHECKED_BY)


def _sides_of(direction: str, outcome: ComparisonOutcome) -> tuple[Parts | None, Parts | None]:
    """Return where a difference stands in the old and in the new document."""
    if outcome.difference is None:
        return (), ()
    writer_at, reader_at = outcome.difference.writer_at, outcome.difference.reader_at
    return (writer_at, reader_at) if direction == BACKWARD or outcome.removes else (reader_at, writer_at)


def _place_all(schema: SchemaDocument, sides: Sequence[Parts | None]) -> list[TextPlace | None]:
    """Return the place of each side in the schema's text, which is read once."""
    places = [
        None
        if parts is None or (parts and value_at(schema.document, parts) is None)
        else TextPlace(join_pointer(*parts), schema.file)
        for parts in sides
    ]
    return find_lines(schema.file, schema.text, places)


def _is_unnamed(outcome: ComparisonOutcome) -> bool:
    return outcome.confluent_name is None


def _describe_route(route: Route) -> str:
    return "".join(f"/{name}" if kind in {MEMBER, ELEMENT} else f"/<{name or 'any other'}>" for kind, name in route)
