"""Lint annotations: what lint found, as annotations of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.review.annotations.annotation import (
    Annotation,
    Review,
    Suppression,
    arrange,
    relative_to_here,
)

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.ignore_comments import Ignore
    from cdc_contracts.registry.authoring.lint.lint_rule import LintFinding, LintReport

UNJUDGED: Final = "samples were not validated, because some contracts have errors"
SHIPPED: Final = "linted the shipped contracts, because there are none in ./contracts"


def review_lint(report: LintReport) -> Review:
    """Return the annotations of a lint report."""
    result = [annotate(finding) for finding in report.findings]
    result += [annotate(finding, ignore) for finding, ignore in report.ignored]
    notes = ((UNJUDGED, not report.validated), (SHIPPED, report.shipped))
    return Review("lint", arrange(result), report.checked, tuple(note for note, holds in notes if holds))


def annotate(finding: LintFinding, ignore: Ignore | None = None) -> Annotation:
    """Return the annotation of a finding, and of the comment that ignores it."""
    return Annotation(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        file=relative_to_here(finding.file),
        line=finding.line,
        column=finding.column,
        path=finding.path,
        message=f"expected {finding.expected}; found {finding.observed}",
        help=f"`cdc-contracts rules show {finding.rule}` explains it",
        suppression=suppression_of(ignore) if ignore else None,
        data={"expected": finding.expected, "observed": finding.observed},
    )


def suppression_of(ignore: Ignore) -> Suppression:
    """Return what a comment that ignores a finding says about it."""
    return Suppression(ignore.reason, str(ignore.until), relative_to_here(str(ignore.file)), ignore.line)
