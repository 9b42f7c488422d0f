"""Finding explanations: what the contract says at the place of a finding, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.explain.annotated_messages import AnnotatedMessage
from cdc_contracts.registry.authoring.explain.contract_explanations import describe_members
from cdc_contracts.registry.authoring.explain.rulebook import RuleEntry, cross_field_rules
from cdc_contracts.registry.core.common.findings import CLASSES, Finding
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.errata import Erratum, read_errata
from cdc_contracts.registry.core.contract.phrases import describe_side, describe_test
from cdc_contracts.registry.core.contract.source_documents import describe_source
from cdc_contracts.registry.core.values import FORMS

_MOST_ERRATA: Final = 2


@dataclass(frozen=True, slots=True)
class Remark:
    """One finding on one message. `says` is what the contract says there, `errata` the decisions on contradictions."""

    rule: str
    name: str
    severity: str
    path: str
    expected: str
    observed: str
    means: str
    says: tuple[str, ...]
    document: str | None
    errata: tuple[str, ...]
    action: str


def explain_findings(
    findings: Sequence[Finding],
    version: Version | None,
    annotated: AnnotatedMessage | None,
    *,
    fits: Sequence[Version] = (),
) -> tuple[Remark, ...]:
    """Return findings explained by the version they were validated under; `fits` are the versions the message fits.

    Raises ContractError if the errata cannot be read.
    """
    across = {rule.id: rule for rule in cross_field_rules()}
    errata = _cited(version) if findings and version else []
    return tuple(_explain(one, across.get(one.rule), version, annotated, errata, fits) for one in findings)


def _explain(
    finding: Finding,
    rule: RuleEntry | None,
    version: Version | None,
    annotated: AnnotatedMessage | None,
    errata: Sequence[Erratum],
    fits: Sequence[Version],
) -> Remark:
    op = annotated.op if annotated is not None else None
    return Remark(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        path=finding.path,
        expected=finding.expected,
        observed=finding.observed,
        means=rule.says if rule else CLASSES[finding.name].says,
        says=tuple(dict.fromkeys(_statements(finding, version, op, fits))) if version else (),
        document=_source(version, annotated) if version and finding.name != "malformed" else None,
        errata=tuple(_decisions(finding, version, annotated, errata)) if version and annotated else (),
        action=rule.action if rule else CLASSES[finding.name].action,
    )


def _source(version: Version, annotated: AnnotatedMessage | None) -> str | None:
    """Return the document about messages from the kind of source database that the message names."""
    kinds = () if annotated is None or annotated.source_kind is None else (annotated.source_kind,)
    return describe_source(version.resolved.get("provenance", {}), version.catalogue.source_documents, kinds)


def _statements(finding: Finding, version: Version, op: str | None, fits: Sequence[Version]) -> Iterator[str]:
    """Yield what the contract says about the place and the kind of a finding."""
    if finding.name == "malformed":
        return
    if finding.name == "other-dialect":
        marks = "; ".join(describe_test(test) for test in version.resolved["discriminators"])
        yield f"{version.reference} is recognised by: {marks}"
        return
    if finding.name in ("other-version", "ambiguous") or finding.rule.endswith("image-present-for-op"):
        for one in dict.fromkeys([version, *fits]):
            yield from _describe_images(one, op)
    if finding.name == "ambiguous":
        return
    for form in (finding.expected, finding.observed):
        if form in FORMS and finding.name in ("value-form", "other-version"):
            yield f"{form}: {FORMS[form].says}"
    result = {member.at: member.meaning for member in describe_members(version.schema)}
    parts = split_pointer(finding.path)
    for end in range(len(parts), 0, -1):
        at = join_pointer(*parts[:end])
        if result.get(at):
            yield f"{at}: {result[at]}"
            return


def _describe_images(version: Version, op: str | None) -> Iterator[str]:
    sides: dict[str, Any] = version.resolved["images"].get(op, {}) if op else {}
    result = [f"row {side}: {describe_side(sides[side])}" for side in ("before", "after") if side in sides]
    if result:
        yield f"{version.reference}, {op}: {'; '.join(result)}"


def _cited(version: Version) -> list[Erratum]:
    known = read_errata(version.catalogue)
    return [known[one] for one in version.resolved.get("provenance", {}).get("errata", ()) if one in known]


def _decisions(
    finding: Finding, version: Version, annotated: AnnotatedMessage, errata: Sequence[Erratum]
) -> Iterator[str]:
    """Yield the first few errata decisions on the matter of a finding."""
    words = [re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in _topics(finding, version, annotated)]
    found = [one for one in errata if any(word.search(f"{one.says} {one.shows}") for word in words)]
    for one in found[:_MOST_ERRATA]:
        yield f"{one.id} ({one.decision}): {one.says} {one.shows} {one.why}"


def _topics(finding: Finding, version: Version, annotated: AnnotatedMessage) -> list[str]:
    """Return words that an erratum on the matter of a finding would contain: a member, an image, a source type."""
    if finding.name in ("malformed", "other-dialect", "unknown-field"):
        return []
    if finding.name == "ambiguous" or finding.rule.endswith("images"):
        sides: Mapping[str, Any] = version.resolved["images"].get(annotated.op, {})
        return [".".join(split_pointer(side["at"])) for side in sides.values() if side["at"]]
    parts = split_pointer(finding.path)
    for image in annotated.images:
        if finding.path.startswith(f"{image.at}/") and finding.path != image.at:
            typed = [column.source_type for column in image.columns if column.name == parts[-1]]
            return [one.partition("(")[0].upper() for one in typed if one]
    return [".".join(parts)] if parts else []
