"""Meaning comparison of two contracts: every fact that differs, its place, its severity, and its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, UNDECIDED, CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    CompatibilityFinding,
    CompatibilityProof,
    TextPlace,
)
from cdc_contracts.registry.authoring.compat.levels import BACKWARD, FORWARD, MEANING
from cdc_contracts.registry.authoring.compat.meaning.contract_facts import (
    VALUES,
    ask,
    differences_of,
    facts_of,
    reachable_ops,
)
from cdc_contracts.registry.authoring.compat.meaning.contract_section import ContractFact, FactDifference
from cdc_contracts.registry.authoring.compat.meaning.contract_sections.recognition_sections import RECOGNITION
from cdc_contracts.registry.authoring.compat.meaning.fact_places import place_of_key, place_of_type
from cdc_contracts.registry.authoring.compat.meaning.mapping_differences import MappingPair, value_differences
from cdc_contracts.registry.authoring.compat.meaning.meaning_proofs import Trial
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.image_model import HOW_WRITTEN
from cdc_contracts.registry.core.validate.drift_rule import drift_rules, no_edits

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version

ANOTHER_DIALECT: Final = CompatibilityRule(
    id="C300", name="another-dialect", severity=BREAKING,
    says="No message of one contract conforms to the other: they are two dialects, not two versions. All other "
    "differences are reported as notes.",
    action="Make it a separate subject.",
    good="dts/canal@1 and dts/canal@2", bad="dts/canal@2 and oms/default@1",
)  # fmt: skip
_NARROWER: Final = frozenset({"op-code-removed", "source-type-removed", "rule-added"})
_WIDER: Final = frozenset({"op-code-added", "source-type-added", "rule-removed"})
_MOST_OF_A_DIALECT: Final = 12
"""Differences that two versions of one dialect may have; with more, it is tested whether they share any message."""
_UNSHOWN: Final = " No message that was tried shows it: look yourself."


@dataclass(frozen=True, slots=True)
class Misreading:
    """A finding of meaning, and the members of messages that it is about."""

    finding: CompatibilityFinding
    members: tuple[str, ...]


def refusing_rules() -> frozenset[str]:
    """Return the rules across fields whose breach refuses a message; the others only warn, or are about a stream."""
    return frozenset(one.name for one in drift_rules().values() if one.severity == ERROR and one.breaks is not no_edits)


def compare_meaning(old: Version, new: Version) -> tuple[CompatibilityFinding, ...]:
    """Return what two contracts understand differently: value forms first, then in the order of the contract.

    A difference is `breaking` where a message shows it, `undecided` where none that was tried does, and a `note` where
    no reader is concerned. Raises ContractError if a contract is inconsistent.
    """
    return tuple(one.finding for one in find_misreadings(old, new))


def find_misreadings(old: Version, new: Version) -> tuple[Misreading, ...]:
    """Return the findings of `compare_meaning`, each with the members that it is about."""
    trial = Trial(old, new)
    found = [one for one in differences_of(facts_of(old), facts_of(new)) if not _follows(one, old, new)]
    result: list[tuple[FactDifference, MappingPair | None]] = [*value_differences(old, new)]
    result += [(one, None) for one in _together(found)]
    apart = trial.refuse_each_other() if len(result) > _MOST_OF_A_DIALECT else None
    if apart is not None:
        return (_report_apart(old, new, apart), *(_as_note(trial, one, pair) for one, pair in result))
    trial.share_tries(len(result))
    return tuple(Misreading(_finding(trial, one, pair), ask(one, old, new).targets) for one, pair in result)


def _report_apart(old: Version, new: Version, proof: CompatibilityProof) -> Misreading:
    """Return the finding that two contracts have no message in common."""
    whole = FactDifference(ANOTHER_DIALECT, (), ContractFact(None, old.reference), ContractFact(None, new.reference))
    finding = replace(_finding_of(old, new, whole, None), proof=proof)
    return Misreading(finding, ("",))


def _as_note(trial: Trial, difference: FactDifference, pair: MappingPair | None) -> Misreading:
    return Misreading(replace(_finding_of(trial.old, trial.new, difference, pair), severity=NOTE), ())


def _follows(difference: FactDifference, old: Version, new: Version) -> bool:
    """Return whether a difference follows from another: facts of an op that is new, schemas of another transport."""
    section, *rest = difference.key
    if section == "avro":
        return old.meaning.transport != new.meaning.transport
    if section == "ddl":
        return not all("ddl" in reachable_ops(version) for version in (old, new))
    if section != "images" or rest[0] in HOW_WRITTEN:
        return False
    return any(rest[0] not in reachable_ops(version) for version in (old, new))


def _together(differences: Sequence[FactDifference]) -> Iterator[FactDifference]:
    """Yield the differences, those in what a contract is known by as one for each section."""
    known_by: dict[str, list[FactDifference]] = {}
    for one in differences:
        if one.rule is RECOGNITION:
            known_by.setdefault(one.key[0], []).append(one)
        else:
            yield one
    for section, group in known_by.items():
        sides = [[fact for one in group if (fact := getattr(one, side)) is not None] for side in ("old", "new")]
        old, new = (
            ContractFact([fact.value for fact in side], "; ".join(fact.words for fact in side)) if side else None
            for side in sides
        )
        yield FactDifference(RECOGNITION, (section,), old, new)


def _finding(trial: Trial, difference: FactDifference, pair: MappingPair | None) -> CompatibilityFinding:
    """Return the finding of a difference, with the severity that a message shows."""
    found = _finding_of(trial.old, trial.new, difference, pair)
    if found.severity != BREAKING:
        return found
    if _only_warns(difference):
        return replace(found, severity=NOTE)
    proof = trial.prove(difference, pair)
    return replace(found, proof=proof) if proof else replace(found, severity=UNDECIDED, says=found.says + _UNSHOWN)


def _finding_of(
    old: Version, new: Version, difference: FactDifference, pair: MappingPair | None
) -> CompatibilityFinding:
    """Return the finding of a difference as its rule has it, without a proof."""
    rule = difference.rule
    places = _places(old, new, difference, pair)
    return CompatibilityFinding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        direction=BACKWARD if rule.name in _NARROWER else FORWARD if rule.name in _WIDER else MEANING,
        path=difference.path,
        old=difference.old.words if difference.old else None,
        new=difference.new.words if difference.new else None,
        old_version=old.reference,
        new_version=new.reference,
        old_place=places[0],
        new_place=places[1],
        says=rule.says,
        action=rule.action,
    )


def _only_warns(difference: FactDifference) -> bool:
    return difference.rule.name in ("rule-added", "rule-removed") and difference.key[1] not in refusing_rules()


def _places(
    old: Version, new: Version, difference: FactDifference, pair: MappingPair | None
) -> tuple[TextPlace | None, TextPlace | None]:
    if pair is None or difference.key == (VALUES, "mapping"):
        return place_of_key(old, difference.key), place_of_key(new, difference.key)
    name = difference.key[1]
    return place_of_type(old.catalogue, pair.old, name), place_of_type(new.catalogue, pair.new, name)
