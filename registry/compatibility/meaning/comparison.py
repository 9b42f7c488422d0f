"""What two contracts mean, compared: every fact that differs, where it stands, how heavy it weighs, and its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.compatibility.levels import BACKWARD, FORWARD, MEANING
from cdc_contracts.registry.compatibility.meaning.facts import VALUES, Difference, Fact, differences_of, facts_of
from cdc_contracts.registry.compatibility.meaning.places import place_of_key, place_of_type
from cdc_contracts.registry.compatibility.meaning.proofs import Trial
from cdc_contracts.registry.compatibility.meaning.questions import ask, reachable_ops
from cdc_contracts.registry.compatibility.meaning.rules import RULE_OF
from cdc_contracts.registry.compatibility.meaning.values import MappingPair, value_differences
from cdc_contracts.registry.compatibility.verdict import BREAKING, NOTE, UNDECIDED, CompatibilityFinding, Place

if TYPE_CHECKING:
    from cdc_contracts.registry.catalogue import Version

REFUSING: Final = frozenset({
    "image-present-for-op", "columns-typed", "codes-match-types", "images-match-fields", "ddl-flag-agrees",
    "position-matches",
})  # fmt: skip
"""Rules across fields whose breach refuses a message; the others only warn, or are about a stream."""
_NARROWER: Final = frozenset({"op-code-removed", "source-type-removed", "rule-added"})
_WIDER: Final = frozenset({"op-code-added", "source-type-added", "rule-removed"})
_UNSHOWN: Final = " No message that was tried shows it: look yourself."


@dataclass(frozen=True, slots=True)
class Misreading:
    """A finding of meaning, and the members of messages that it is about."""

    finding: CompatibilityFinding
    members: tuple[str, ...]


def compare_meaning(old: Version, new: Version) -> tuple[CompatibilityFinding, ...]:
    """Return what two contracts understand differently: value forms first, then in the order of the contract.

    A difference is `breaking` where a message shows it, `undecided` where none that was tried does, and a `note` where
    no reader is concerned. Raises ContractError where a contract does not hold together.
    """
    return tuple(one.finding for one in find_misreadings(old, new))


def find_misreadings(old: Version, new: Version) -> tuple[Misreading, ...]:
    """Return the findings of `compare_meaning`, each with the members that it is about."""
    trial = Trial(old, new)
    found = [one for one in differences_of(facts_of(old), facts_of(new)) if not _follows(one, old, new)]
    told: list[tuple[Difference, MappingPair | None]] = [*value_differences(old, new)]
    told += [(one, None) for one in _together(found)]
    return tuple(Misreading(_finding(trial, one, pair), ask(one, old, new).targets) for one, pair in told)


def _follows(difference: Difference, old: Version, new: Version) -> bool:
    """Say whether a difference follows from another: images of an op that is new, schemas of another transport."""
    section, *rest = difference.key
    if section == "avro":
        return old.meaning.transport != new.meaning.transport
    if section != "images" or rest[0] == "container":
        return False
    return any(rest[0] not in reachable_ops(version) for version in (old, new))


def _together(differences: Sequence[Difference]) -> Iterator[Difference]:
    """Yield the differences, those in what a contract is known by as one for each section."""
    known_by: dict[str, list[Difference]] = {}
    for one in differences:
        if one.rule == "recognition":
            known_by.setdefault(one.key[0], []).append(one)
        else:
            yield one
    for section, group in known_by.items():
        sides = [[fact for one in group if (fact := getattr(one, side)) is not None] for side in ("old", "new")]
        old, new = (
            Fact([fact.value for fact in side], "; ".join(fact.words for fact in side)) if side else None
            for side in sides
        )
        yield Difference("recognition", (section,), old, new)


def _finding(trial: Trial, difference: Difference, pair: MappingPair | None) -> CompatibilityFinding:
    rule, old, new = RULE_OF[difference.rule], trial.old, trial.new
    severity, proof, says = rule.severity, None, rule.says
    if severity == BREAKING and not _only_warns(difference):
        proof = trial.prove(difference, pair)
        if proof is None:
            severity, says = UNDECIDED, says + _UNSHOWN
    elif severity == BREAKING:
        severity = NOTE
    narrower, wider = difference.rule in _NARROWER, difference.rule in _WIDER
    places = _places(old, new, difference, pair)
    return CompatibilityFinding(
        rule=rule.id,
        name=rule.name,
        severity=severity,
        direction=BACKWARD if narrower else FORWARD if wider else MEANING,
        path=difference.path,
        old=difference.old.words if difference.old else None,
        new=difference.new.words if difference.new else None,
        old_version=old.reference,
        new_version=new.reference,
        old_place=places[0],
        new_place=places[1],
        says=says,
        action=rule.action,
        proof=proof,
    )


def _only_warns(difference: Difference) -> bool:
    return difference.rule in ("rule-added", "rule-removed") and difference.key[1] not in REFUSING


def _places(
    old: Version, new: Version, difference: Difference, pair: MappingPair | None
) -> tuple[Place | None, Place | None]:
    if pair is None or difference.key == (VALUES, "mapping"):
        return place_of_key(old, difference.key), place_of_key(new, difference.key)
    name = difference.key[1]
    return place_of_type(old.catalogue, pair.old, name), place_of_type(new.catalogue, pair.new, name)
