"""Contract comparison of two whole contracts: what they mean, and the shapes of their messages in JSON Schema and Avro.

One change usually shows in all three. It is reported once, where it is most specific: a finding of meaning includes
those of the schemas about the same members, and the schema of the wire those of the schema derived from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import NOTE, SEVERITIES, family_of
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    READ_DIFFERENTLY,
    CompatibilityFinding,
    CompatibilityVerdict,
    conclude,
)
from cdc_contracts.registry.authoring.compat.levels import MEANING, Level, Policy
from cdc_contracts.registry.authoring.compat.op_branches import compare_branches, member_of
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, CANONICAL, ENVELOPE
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON, SchemaDocument

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.compat.meaning.meaning_comparison import Misreading
    from cdc_contracts.registry.core.contract.catalogue import Version

_FILES: Final[Mapping[str, str]] = {JSON: ENVELOPE, AVRO: AVRO_ENVELOPE}
_PROSE: Final = frozenset({"$id", "$comment", "title", "description", "doc", "namespace", "examples"})
_NAMED: Final = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})
_Reported = list[tuple[CompatibilityFinding, tuple[str, ...]]]


def compare_contracts(
    old: Version, new: Version, *, level: Level = Level.FULL, policy: Policy = Policy.CDC
) -> CompatibilityVerdict:
    """Return whether readers of one contract read the messages of the other correctly.

    Meaning is compared under every policy, shapes as the policy decides; the policy `cdc` ignores the level.
    Raises ContractError if a contract is inconsistent.
    """
    directions = policy.directions(level)
    if not directions:
        return CompatibilityVerdict(compatible=True, level=level, policy=policy)
    meaning = [one for one in _misreadings(old, new) if one.finding.direction in (*directions, MEANING)]
    result: _Reported = [(one.finding, one.members) for one in meaning]
    languages = (JSON, AVRO) if new.subject == CANONICAL or new.meaning.transport == "json" else (AVRO, JSON)
    for language in languages if not any(one.finding.name == "another-dialect" for one in meaning) else ():
        for finding in compare_shapes(old, new, language, level=level, policy=policy):
            _take_in(result, finding)
    findings = tuple(sorted((finding for finding, _ in result), key=_weight))
    return conclude(level, policy, findings)


def compare_shapes(
    old: Version, new: Version, language: str, *, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return what differs between the JSON Schemas or the Avro schemas of two contracts; titles do not count."""
    olds, news = document_of(old, language), document_of(new, language)
    if without_prose(olds.document) == without_prose(news.document):
        return ()
    if policy is Policy.CDC and language == JSON:
        return compare_branches(old, new)
    level = Level.FULL if policy is Policy.CDC else level
    return compare_schemas([olds], news, level=level, policy=policy).findings


def without_prose(schema: Any) -> Any:
    """Return a schema without what validation ignores: titles, descriptions, ids, the namespace of its names."""
    return _stripped(schema, names=False)


def _stripped(schema: Any, *, names: bool) -> Any:
    """Return a schema without prose; `names` says that its keys are names of members."""
    if isinstance(schema, list):
        return [_stripped(one, names=False) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _stripped(one, names=not names and key in _NAMED)
        for key, one in schema.items()
        if names or key not in _PROSE or not isinstance(one, str | list)
    }


def _weight(finding: CompatibilityFinding) -> tuple[int, bool]:
    """Return the sort key of findings: breaking ones first, among them those that are misread without an error."""
    silent = finding.proof is not None and finding.proof.kind == READ_DIFFERENTLY
    return SEVERITIES.index(finding.severity), not silent


def _misreadings(old: Version, new: Version) -> tuple[Misreading, ...]:
    from cdc_contracts.registry.authoring.compat.meaning.meaning_comparison import find_misreadings

    return () if CANONICAL in (old.subject, new.subject) else find_misreadings(old, new)


def document_of(version: Version, language: str) -> SchemaDocument:
    """Return a schema of a contract as it is compared; its Avro names are in one namespace, whatever the subject."""
    document = version.schema if language == JSON else version.avro_schema
    file = version.file(_FILES[language])
    if language == AVRO and isinstance(document, dict) and version.subject != CANONICAL:
        document = {key: one for key, one in document.items() if key != "namespace"}
    text = file.read_text(encoding="utf-8") if file is not None else ""
    return SchemaDocument(language, version.reference, document, text, str(file) if file else None)


def _take_in(reported: _Reported, finding: CompatibilityFinding) -> None:
    """Add a finding of a schema, or note it at one that says the same: of the same members and severity."""
    members = tuple(_members_of(finding))
    for place, (one, about) in enumerate(reported):
        if (
            one.severity != NOTE
            and one.rule != finding.rule
            and any(_is_below(member, other) or _is_below(other, member) for member in members for other in about)
        ):
            also = f"{finding.rule} {finding.name} {finding.path}".rstrip()
            if also not in one.also:
                reported[place] = (replace(one, also=(*one.also, also)), about)
            return
    reported.append((finding, members))


def _is_below(member: str, other: str) -> bool:
    return member == other or (other != "" and member.startswith(other + "/"))


def _members_of(finding: CompatibilityFinding) -> Iterator[str]:
    """Yield the members of messages that a finding of a schema is about."""
    if family_of(finding.rule) == "avro":
        yield finding.path
        return
    pointers = [finding.path, *(place.pointer for place in (finding.old_place, finding.new_place) if place)]
    members = [member_of(pointer) or "" for pointer in pointers]
    if finding.path.endswith("/required") and isinstance(finding.old, list) and isinstance(finding.new, list):
        names = set(finding.old) ^ set(finding.new)
        members = [member + join_pointer(name) for member in members for name in sorted(names)]
    yield from dict.fromkeys(member for member in members if member)
