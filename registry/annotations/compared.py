"""What comparing published contracts found, as annotations of the files as they are now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.annotations.annotation import Annotation, Review, arrange, relative_to_here
from cdc_contracts.registry.annotations.linted import annotate, excuse_of
from cdc_contracts.registry.compatibility.verdict import BREAKING, NOTE, UNDECIDED, CompatibilityFinding
from cdc_contracts.registry.exits import DRIFT, EXIT_CODES, INCONCLUSIVE, PASS
from cdc_contracts.registry.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.lint.excuses import tell_idle
from cdc_contracts.registry.lint.rule import report_fault
from cdc_contracts.registry.lint.rules import IGNORE_NEEDED

if TYPE_CHECKING:
    from cdc_contracts.registry.ignores import Ignore
    from cdc_contracts.registry.revisions.comparison import Comparison

_SEVERITIES: Final = {BREAKING: ERROR, UNDECIDED: WARNING, NOTE: INFO}
_SHOWN: Final = 3
_LONGEST: Final = 200


def review_comparison(comparison: Comparison) -> Review:
    """Return what a person has to see of a comparison: what several contracts share is told once."""
    told: dict[tuple[Any, ...], list[CompatibilityFinding]] = {}
    for finding in comparison.findings:
        key = (finding.rule, finding.severity, comparison.place_of(finding), repr(finding.old), repr(finding.new))
        told.setdefault(key, []).append(finding)
    annotations = [_annotate(findings, comparison) for findings in told.values()]
    used = {ignore for finding in comparison.findings if (ignore := comparison.ignore_of(finding))}
    annotations += [_annotate_idle(ignore) for ignore in comparison.new_ignores() if ignore not in used]
    return Review("breaking", arrange(annotations), comparison.checked, comparison.notes)


def verdict_of(review: Review, *, is_whole: bool = True) -> int:
    """Return the exit code of a comparison: a break decides, else what could not be decided or had leaves it open."""
    verdicts = {one.data.get("verdict") for one in review.told} | (set() if is_whole else {UNDECIDED})
    return EXIT_CODES[DRIFT if BREAKING in verdicts else INCONCLUSIVE if UNDECIDED in verdicts else PASS]


def _annotate(findings: Sequence[CompatibilityFinding], comparison: Comparison) -> Annotation:
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
        excuse=excuse_of(ignore) if ignore else None,
        data=_data(finding, contracts),
    )


def _annotate_idle(ignore: Ignore) -> Annotation:
    return annotate(report_fault(IGNORE_NEEDED, tell_idle(ignore)))


def _data(finding: CompatibilityFinding, contracts: list[str]) -> dict[str, Any]:
    told = asdict(finding)
    return {"contracts": contracts, "verdict": told.pop("severity"), **told}


def _shortened(contracts: Sequence[str]) -> str:
    more = len(contracts) - _SHOWN
    return ", ".join(contracts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _change(finding: CompatibilityFinding) -> str:
    """Return what was and what is, where there are both and they can be said in a few words."""
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
    told = {"contracts": _shortened(contracts), "why": finding.says}
    if finding.old_place is not None and finding.old_place.file is not None:
        at = (finding.old_place.file, finding.old_place.line, finding.old_place.column)
        told["was at"] = ":".join(str(part) for part in at if part is not None)
    if finding.proof is not None:
        told["message"] = _json(finding.proof.message)
        told[old if old != new else "published"] = _words(finding.proof.old)
        told[new if old != new else "now"] = _words(finding.proof.new)
    told["do"] = finding.action
    width = max(map(len, told))
    yield from (f"{title:<{width}}  {text}" for title, text in told.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
