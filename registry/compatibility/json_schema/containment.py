"""Whether every message of one schema is a message of another: yes, no, or not decided."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs
from jsonschema_rs.canonical import CanonicalizationError, Containment

from cdc_contracts.registry.compatibility.levels import BACKWARD, Level, Policy
from cdc_contracts.registry.compatibility.verdict import BREAKING, UNDECIDED, CompatibilityFinding, Place
from cdc_contracts.registry.errors import UsageError
from cdc_contracts.registry.schema_documents import SchemaDocument

_DRAFTS: Final = {
    "draft-04": jsonschema_rs.Draft4,
    "draft-06": jsonschema_rs.Draft6,
    "draft-07": jsonschema_rs.Draft7,
    "draft/2019-09": jsonschema_rs.Draft201909,
}


def find_refusals(
    old: SchemaDocument, new: SchemaDocument, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return one finding for each direction in which messages are refused, or may be."""
    sides = {"old": _canonicalize(old), "new": _canonicalize(new)}
    findings = []
    for direction in policy.directions(level):
        writer, reader = ("old", "new") if direction == BACKWARD else ("new", "old")
        try:
            covered = sides[reader].covers(sides[writer])
        except CanonicalizationError:
            covered = Containment.UNKNOWN
        if covered is not Containment.YES:
            findings.append(_report(old, new, direction, BREAKING if covered is Containment.NO else UNDECIDED))
    return tuple(findings)


def _canonicalize(schema: SchemaDocument) -> jsonschema_rs.CanonicalSchema:
    try:
        return jsonschema_rs.canonicalize(schema.document, draft=_draft_of(schema.document), offline=True)
    except (jsonschema_rs.ValidationError, CanonicalizationError, ValueError) as error:
        raise UsageError(f"{schema.name} is no JSON Schema: {str(error).splitlines()[0]}") from error


def _draft_of(document: Any) -> int:
    named = document.get("$schema", "") if isinstance(document, dict) else ""
    found = [number for part, number in _DRAFTS.items() if isinstance(named, str) and part in named]
    return found[0] if found else jsonschema_rs.Draft202012


def _report(old: SchemaDocument, new: SchemaDocument, direction: str, severity: str) -> CompatibilityFinding:
    writer, reader = (old.name, new.name) if direction == BACKWARD else (new.name, old.name)
    refuses = "refuses" if severity == BREAKING else "may refuse"
    return CompatibilityFinding(
        rule="C100",
        name="messages-refused",
        severity=severity,
        direction=direction,
        path="",
        old=old.document,
        new=new.document,
        old_version=old.name,
        new_version=new.name,
        old_place=Place("", old.file),
        new_place=Place("", new.file),
        says=f"{reader} {refuses} messages of {writer}",
        action="Accept what the other version sends, or publish the change as a new subject.",
    )
