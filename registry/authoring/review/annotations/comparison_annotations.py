"""Comparison annotations: findings of the comparison with published contracts, as annotations of the current files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, UNDECIDED
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding
from cdc_contracts.registry.authoring.lint.lint_rule import report_fault
from cdc_contracts.registry.authoring.lint.lint_rules.l28_ignore_needed import RULE as IGNORE_NEEDED
from cdc_contracts.registry.authoring.lint.suppressions import describe_unused
from cdc_contracts.registry.authoring.review.annotations.annotation import Annotation, Review, arrange, relative_to_here
from cdc_contracts.registry.authoring.review.annotations.lint_annotations import annotate, suppression_of
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES, INCONCLUSIVE, PASS
from cdc_contracts.registry.core.common.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.core.common.safe_text import list_first

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.ignore_comments import Ignore
    from cdc_contracts.registry.authoring.review.revisions.revision_comparison import RevisionComparison

_SEVERITIES: Final = {BREAKING: ERROR, UNDECIDED: WARNING, NOTE: INFO}
_SHOWN: Final = 3
_LONGEST: Final = 200


def review_comparison(comparison: RevisionComparison) -> Review:
    """Return the annotations of a comparison: a finding that several contracts share is shown once."""
    result: dict[tuple[Any, ...], list[CompatibilityFinding]] = {}
    for finding in comparison.findings:
        key = (finding.rule, finding.severity, comparison.place_of(finding), repr(finding.old), repr(finding.new))
        result.setdefault(key, []).append(finding)
    annotations = [_annotate(findings, comparison) for findings in result.values()]
    used = {ignore for finding in comparison.findings if (ignore := comparison.ignore_of(finding))}
    annotations += [_annotate_unused(ignore) for ignore in comparison.new_ignores() if ignore not in used]
    return Review("breaking", arrange(annotations), comparison.checked, comparison.notes)


def verdict_of(review: Review, *, is_whole: bool = True) -> int:
    """Return the exit code of a comparison: a break decides, else anything undecided or missing makes it undecided."""
    verdicts = {one.data.get("verdict") for one in review.reported} | (set() if is_whole else {UNDECIDED})
    return EXIT_CODES[DRIFT if BREAKING in verdicts else INCONCLUSIVE if UNDECIDED in verdicts else PASS]


def _annotate(findings: Sequence[CompatibilityFinding], comparison: RevisionComparison) -> Annotation:
    finding = next((one for one in findings if one.proof), findings[0])
    place, ignore = comparison.place_of(finding), comparison.ignore_of(finding)
    named = (name for one in findings for name in (one.new_version or one.old_version, *one.also) if "@" in name)
    contracts = list(dict.fromkeys(named))
    return Annotation(
        rule=finding.rule,
        name=finding.name,
        severity=_SEVERITIES[finding.severity],
        file=relative_to_here(place.file or ""),
        line=place.line,
        column=place.column,
        path=finding.path,
        message=_change(finding) or finding.says,
        help=finding.action,
        proof=tuple(_proof(finding, contracts)),
        suppression=suppression_of(ignore) if ignore else None,
        data=_data(finding, contracts),
    )


def _annotate_unused(ignore: Ignore) -> Annotation:
    return annotate(report_fault(IGNORE_NEEDED, describe_unused(ignore)))


def _data(finding: CompatibilityFinding, contracts: list[str]) -> dict[str, Any]:
    result = asdict(finding)
    return {"contracts": contracts, "verdict": result.pop("severity"), **result}


def _change(finding: CompatibilityFinding) -> str:
    """Return the old and the new value, if there are both and they are short."""
    if finding.old is None or finding.new is None or (finding.old, finding.new) == _versions(finding):
        return ""
    was, now = _words(finding.old), _words(finding.new)
    return f"`{was}` became `{now}`" if len(was) + len(now) <= _LONGEST else ""


def _words(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _versions(finding: CompatibilityFinding) -> tuple[str, str]:
    return finding.old_version, finding.new_version


def _proof(finding: CompatibilityFinding, contracts: Sequence[str]) -> Iterator[str]:
    """Yield the lines that show a finding: whom it is about, one message, and what each of both versions says of it."""
    old, new = _versions(finding)
    result = {"contracts": list_first(contracts, _SHOWN)} if contracts else {}
    if _change(finding):  # else this is the message
        result["why"] = finding.says
    if finding.old_place is not None and finding.old_place.file is not None:
        at = (finding.old_place.file, finding.old_place.line, finding.old_place.column)
        result["was at"] = ":".join(str(part) for part in at if part is not None)
    if finding.proof is not None:
        result["message"] = _json(finding.proof.message)
        result[old if old != new else "published"] = _words(finding.proof.old)
        result[new if old != new else "now"] = _words(finding.proof.new)
    result["fix"] = finding.action
    width = max(map(len, result))
    yield from (f"{title:<{width}}  {text}" for title, text in result.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
