"""Publication: what is published stays; two catalogues compared version by version.

A published version may change only in prose, samples and provenance. A new version is compared with the one before it
and reported, never failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding, TextPlace
from cdc_contracts.registry.authoring.compat.contract_comparison import compare_contracts, compare_shapes, without_prose
from cdc_contracts.registry.authoring.compat.levels import MEANING, Level, Policy
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, CANONICAL, ENVELOPE, describe_range
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version

_NEW_VERSION: Final = "Revert the change and make it in a new version."

MEANING_CHANGED: Final = CompatibilityRule(
    id="C401", name="published-meaning", severity=BREAKING,
    says="The meaning of a published version changed: consumers that pinned it now read the same messages differently.",
    action=_NEW_VERSION,
    good="a change of provenance in dts/canal@2", bad="another value form of a type in dts/canal@2",
)  # fmt: skip
SHAPE_CHANGED: Final = CompatibilityRule(
    id="C402", name="published-shape", severity=BREAKING,
    says="The JSON Schema or Avro schema of a published version accepts other messages than before.",
    action=_NEW_VERSION,
    good="another title in envelope.schema.json", bad="another required member in envelope.schema.json",
)  # fmt: skip
VERSION_REMOVED: Final = CompatibilityRule(
    id="C403", name="version-removed", severity=BREAKING,
    says="A published version was removed: references to it no longer resolve, and a later version could reuse its "
    "number.",
    action="Restore it; use `status: legacy` to discourage new use.",
    good="dts/canal@1 with `status: legacy`", bad="dts/canal/v1 deleted",
)  # fmt: skip
SUBJECT_REMOVED: Final = CompatibilityRule(
    id="C404", name="subject-removed", severity=BREAKING,
    says="A published subject was removed with all its versions: topics bound to it have no contract.",
    action="Restore it; use `status: legacy` to discourage new use.",
    good="dts/canal with `status: legacy`", bad="dts/canal deleted",
)  # fmt: skip
SUBJECT_RENAMED: Final = CompatibilityRule(
    id="C405", name="subject-renamed", severity=BREAKING,
    says="A published subject was renamed: references and bindings to the old name no longer resolve.",
    action="Keep the old name; a subject with the new name may be `based_on` it.",
    good="acme/plain stays, and acme/flat is based on it", bad="acme/plain becomes acme/flat",
)  # fmt: skip
RANGE_MOVED: Final = CompatibilityRule(
    id="C406", name="range-moved", severity=BREAKING,
    says="A published version applies to other releases or dates: references by date resolve to another version.",
    action="Revert it; only an open range may be closed, when a successor starts where it ends.",
    good='until: "3.3.0" in both', bad='until: "3.3.0", then until: "3.4.0"',
)  # fmt: skip
RANGE_CLOSED: Final = CompatibilityRule(
    id="C407", name="range-closed", severity=NOTE,
    says="A published version is superseded: its open range has an end now, or it counts as legacy.",
    action="Nothing: this is how a successor is announced.",
    good="nothing, then status: legacy", bad="an end at which no successor starts",
)  # fmt: skip
VERSION_ADDED: Final = CompatibilityRule(
    id="C408", name="version-added", severity=NOTE,
    says="A version is new. It is compared with the previous one, and the differences are listed as notes.",
    action="Inform the readers of the subject about the changes before such messages arrive.",
    good="dts/canal@3 beside dts/canal@2", bad="dts/canal@2 changed in place",
)  # fmt: skip
SUBJECT_ADDED: Final = CompatibilityRule(
    id="C409", name="subject-added", severity=NOTE,
    says="A subject is new.",
    action="Nothing: there are no references to it yet.",
    good="acme/plain is new", bad="acme/plain takes the folder of another subject",
)  # fmt: skip
SHAPE_REWRITTEN: Final = CompatibilityRule(
    id="C410", name="shape-rewritten", severity=NOTE,
    says="A schema of a published version is written differently, but no message was found that shows a different "
    "result.",
    action="Check whether the change is intended.",
    good="members in another order", bad="a pattern that only a rare message violates",
)  # fmt: skip
_UNREAD: Final = frozenset({"contract", "title", "provenance", "applies", "status"})
_POLICIES: Final = (Policy.CDC, Policy.CONFLUENT_STRICT)
"""The policies under which a change of shape is compared: each finds what the other accepts."""


def compare_published(old: Catalogue, new: Catalogue) -> tuple[CompatibilityFinding, ...]:
    """Return what became of the published contracts of `old` in `new`, by reference.

    Findings of severity `breaking` are changes that no published version may undergo; those of severity `note` list new
    versions and their changes. Raises ContractError if a contract is inconsistent.
    """
    before, after = _subjects(old), _subjects(new)
    added = [subject for subject in after if subject not in before]
    renamed = _renamed([subject for subject in before if subject not in after], added, before, after)
    found: list[CompatibilityFinding] = []
    for subject, versions in before.items():
        if subject in renamed:
            found.append(_report_renamed(versions[-1], after[renamed[subject]][-1]))
        elif subject not in after:
            found.append(_report(SUBJECT_REMOVED, versions[-1], None, "", old=subject, new=None))
        else:
            found += _compare_subject(versions, after[subject])
    for subject in added:
        if subject not in renamed.values():
            found.append(_report(SUBJECT_ADDED, None, after[subject][-1], "", old=None, new=subject))
    return tuple(_reported_once(found))


def _reported_once(findings: list[CompatibilityFinding]) -> Iterator[CompatibilityFinding]:
    """Yield the findings; one line that many versions inherit is reported once, and names the others."""
    result: dict[str, CompatibilityFinding] = {}
    for number, one in enumerate(findings):
        is_placed = one.old_place is not None or one.new_place is not None
        key = repr((one.rule, one.path, one.old, one.new, one.old_place, one.new_place)) if is_placed else str(number)
        first = result.setdefault(key, one)
        if first is not one:
            result[key] = replace(first, also=(*first.also, one.new_version))
    yield from result.values()


def _subjects(catalogue: Catalogue) -> dict[str, list[Version]]:
    """Return the versions of every subject; the canonical change is one that a folder may lack."""
    found = {subject: catalogue.versions(subject) for subject in catalogue.subjects()}
    try:
        found[CANONICAL] = catalogue.versions(CANONICAL)
    except UsageError:
        return found
    return found


def _compare_subject(before: list[Version], after: list[Version]) -> Iterator[CompatibilityFinding]:
    now = {version.number: version for version in after}
    for version in before:
        if version.number in now:
            yield from _compare_version(version, now[version.number])
        else:
            yield _report(VERSION_REMOVED, version, None, "", old=version.reference, new=None)
    known = {version.number for version in before}
    for place, version in enumerate(after):
        if version.number not in known:
            yield from _describe_new(version, after[place - 1] if place else None)


def _compare_version(old: Version, new: Version) -> Iterator[CompatibilityFinding]:
    """Yield what changed in a version that is published."""
    if old.fingerprint == new.fingerprint and _wire_files(old) == _wire_files(new):
        return
    yield from _compare_ranges(old, new)
    if old.subject != CANONICAL:
        from cdc_contracts.registry.authoring.compat.meaning.meaning_comparison import compare_meaning

        for finding in compare_meaning(old, new):
            yield _as_published(MEANING_CHANGED, finding)
    for language in (JSON, AVRO):
        yield from _compare_published_shapes(old, new, language)


def _compare_published_shapes(old: Version, new: Version, language: str) -> Iterator[CompatibilityFinding]:
    documents = [one.schema if language == JSON else one.avro_schema for one in (old, new)]
    if without_prose(documents[0]) == without_prose(documents[1]):
        return
    result: dict[str, CompatibilityFinding] = {}
    for policy in _POLICIES:
        for finding in compare_shapes(old, new, language, level=Level.FULL, policy=policy):
            if finding.path not in result or result[finding.path].proof is None:
                result[finding.path] = finding
    for finding in result.values():
        yield _as_published(SHAPE_CHANGED, finding)
    if not result:
        name = ENVELOPE if language == JSON else AVRO_ENVELOPE
        yield _report(SHAPE_REWRITTEN, old, new, "", old=name, new=name, file=name)


def _compare_ranges(old: Version, new: Version) -> Iterator[CompatibilityFinding]:
    before, after = ({**one.resolved.get("applies", {})} for one in (old, new))
    closed = {key: value for key, value in after.items() if key != "until" or "until" in before}
    if before != after:
        rule = RANGE_CLOSED if closed == before else RANGE_MOVED
        yield _report(rule, old, new, "/applies", old=describe_range(before), new=describe_range(after))
    statuses = [one.resolved.get("status") for one in (old, new)]
    if statuses[0] != statuses[1]:
        yield _report(RANGE_CLOSED, old, new, "/status", old=statuses[0], new=statuses[1])


def _describe_new(version: Version, before: Version | None) -> Iterator[CompatibilityFinding]:
    """Yield notes that a version is new, and what differs from the one before it."""
    if before is None:
        yield _report(VERSION_ADDED, None, version, "", old=None, new=version.reference)
        return
    verdict = compare_contracts(before, version)
    found = _report(VERSION_ADDED, before, version, "", old=before.reference, new=version.reference)
    breaking = sum(one.severity == BREAKING for one in verdict.findings)
    outcome = {True: "nothing breaks", None: "not all could be decided"}.get(verdict.compatible, f"{breaking} break")
    others = len(verdict.findings)
    yield replace(found, says=f"{version} is new. Of {others} differences from {before}, {outcome}.")
    yield from (replace(finding, severity=NOTE) for finding in verdict.findings)


def _renamed(
    removed: list[str], added: list[str], before: dict[str, list[Version]], after: dict[str, list[Version]]
) -> dict[str, str]:
    """Return the renamed subjects by the old name: all their versions are equal."""
    renamed: dict[str, str] = {}
    for subject in removed:
        said = [_content(version) for version in before[subject]]
        for name in added:
            if name not in renamed.values() and [_content(version) for version in after[name]] == said:
                renamed[subject] = name
                break
    return renamed


def _content(version: Version) -> Any:
    """Return what a version says, but for its name and where it comes from."""
    meaning = {key: value for key, value in version.resolved.items() if key not in _UNREAD}
    return [version.number, meaning, without_prose(version.schema), without_prose(version.avro_schema)]


def _wire_files(version: Version) -> list[str]:
    """Return the reader schemas beside `envelope.avsc`, which the fingerprint does not know."""
    named = version.resolved.get("avro", {}).get("schemas", ())
    files = [version.file(name) for name in named]
    return [file.read_text(encoding="utf-8") for file in files if file is not None]


def _as_published(rule: CompatibilityRule, finding: CompatibilityFinding) -> CompatibilityFinding:
    """Return a finding as one about a published version: whatever differs there breaks the promise."""
    return replace(
        finding, rule=rule.id, name=rule.name, severity=rule.severity, action=rule.action,
        says=f"{rule.says} {finding.says}", also=(f"{finding.rule} {finding.name}", *finding.also),
    )  # fmt: skip


def _report_renamed(old: Version, new: Version) -> CompatibilityFinding:
    return _report(SUBJECT_RENAMED, old, new, "", old=old.subject, new=new.subject)


def _report(
    rule: CompatibilityRule, before: Version | None, after: Version | None, path: str, *, old: Any, new: Any,
    file: str = "contract.yaml",
) -> CompatibilityFinding:  # fmt: skip
    shown = before or after
    name = shown.reference if shown is not None else ""
    return CompatibilityFinding(
        rule=rule.id, name=rule.name, severity=rule.severity, direction=MEANING, path=path, old=old, new=new,
        old_version=before.reference if before else name, new_version=after.reference if after else name,
        old_place=_place(before, path, file), new_place=_place(after, path, file), says=rule.says, action=rule.action,
    )  # fmt: skip


def _place(version: Version | None, path: str, file: str) -> TextPlace | None:
    from cdc_contracts.registry.authoring.compat.meaning.fact_places import place_of_key

    if version is None:
        return None
    if file == "contract.yaml":
        return place_of_key(version, (path[1:],) if path.startswith("/") else ("contract",))
    found = version.file(file)
    return None if found is None else TextPlace("", str(found), 1, 1)
