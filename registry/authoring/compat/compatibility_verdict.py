"""Compatibility verdict of comparing two versions: its findings, and the message that proves each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, UNDECIDED, CompatibilityRule
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument

REFUSED_BY_NEW: Final = "refused-by-new"
"""The old version accepts the message and the new one refuses it."""
REFUSED_BY_OLD: Final = "refused-by-old"
"""The new version accepts the message and the old one refuses it."""
READ_DIFFERENTLY: Final = "read-differently"
"""Both accept the message and read it differently."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The place of a value: a JSON Pointer into a document, with line and column from 1 if there is a file."""

    pointer: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class CompatibilityProof:
    """One message that shows a finding. It is shown only after the real validator confirmed it.

    `message` is the JSON value of the message (for Avro: the datum in Avro's JSON form; for bytes that are no JSON:
    text). `old` and `new` are what each version says of it: "accepted", the validator's refusal, or what it decodes to.
    """

    kind: str
    message: Any
    old: Any
    new: Any
    checked_by: str


@dataclass(frozen=True, slots=True)
class CompatibilityFinding:
    """One difference between two versions.

    `old` and `new` are the JSON values that differ, or what contracts say in words; None if one is absent, and its
    place then None, or where it would stand. `path` is the JSON Pointer of the message member, the schema keyword or
    the contract key, as the rule says. `also` names findings that say the same: rule and pointer.
    """

    rule: str
    name: str
    severity: str
    direction: str
    path: str
    old: Any
    new: Any
    old_version: str
    new_version: str
    old_place: TextPlace | None
    new_place: TextPlace | None
    says: str
    action: str
    confluent_rule: str | None = None
    proof: CompatibilityProof | None = None
    also: tuple[str, ...] = ()


def report_whole(
    rule: CompatibilityRule, old: SchemaDocument, new: SchemaDocument, direction: str, says: str, *, values: Any = None
) -> CompatibilityFinding:
    """Return the finding of a rule on two schemas as wholes; `values` are what differs, if anything can be named."""
    before, after = values or (None, None)
    return CompatibilityFinding(
        rule=rule.id, name=rule.name, severity=rule.severity, direction=direction, path="", old=before, new=after,
        old_version=old.name, old_place=TextPlace("", old.file), new_version=new.name,
        new_place=TextPlace("", new.file), says=says, action=rule.action,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompatibilityVerdict:
    """Whether two versions are compatible: True, False, or None if that could not be decided."""

    compatible: bool | None
    level: Level
    policy: Policy
    findings: tuple[CompatibilityFinding, ...] = ()


def conclude(level: Level, policy: Policy, findings: tuple[CompatibilityFinding, ...]) -> CompatibilityVerdict:
    """Return the verdict of findings."""
    return CompatibilityVerdict(decide(findings), level, policy, findings)


def decide(findings: Iterable[CompatibilityFinding]) -> bool | None:
    """Return whether versions are compatible: a finding that breaks decides; an undecided one leaves it open."""
    severities = {finding.severity for finding in findings}
    return False if BREAKING in severities else None if UNDECIDED in severities else True
