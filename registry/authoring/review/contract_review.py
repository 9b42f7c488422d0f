"""Contract review of a change: whether contracts are consistent, and whether published ones changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdc_contracts.registry.authoring.lint import open_lint_run, run_lint
from cdc_contracts.registry.authoring.review.annotations.annotation import Review, arrange
from cdc_contracts.registry.authoring.review.annotations.comparison_annotations import review_comparison, verdict_of
from cdc_contracts.registry.authoring.review.annotations.lint_annotations import review_lint
from cdc_contracts.registry.authoring.review.revisions.revision_comparison import compare_contracts, root_to_compare
from cdc_contracts.registry.authoring.review.revisions.revision_inputs import open_base
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES


@dataclass(frozen=True)
class ReviewedChange:
    """The result of reviewing a change. `error` says why nothing was compared, where that is so."""

    review: Review
    validated: bool
    error: CdcContractsError | None

    def exit_code(self, fail_on: str) -> int:
        """Return 1 for findings, else the code of what prevented the comparison, else that of the comparison.

        What could not be compared never passes.
        """
        if self.review.fails(fail_on) or not self.validated:
            return EXIT_CODES[DRIFT]
        return self.error.exit_code if self.error else verdict_of(self.review)


def review_change(
    paths: Sequence[Path], base: str | None, *, beside: Sequence[Path], environment: Mapping[str, str]
) -> ReviewedChange:
    """Lint contracts, and compare them with what they were where the change began.

    Raises UsageError if the paths name nothing to lint.
    """
    run = open_lint_run(paths, beside=beside)
    report = run_lint(run)
    linted = review_lint(report)
    try:
        _, root = root_to_compare(run)
        compared = review_comparison(compare_contracts(run, open_base(base, root, environment)))
    except CdcContractsError as error:
        result = f"nothing was compared: {error.what}"
        return ReviewedChange(
            Review("ci", linted.annotations, linted.checked, (*linted.notes, result)), report.validated, error
        )
    return ReviewedChange(
        Review(
            "ci",
            arrange([*linted.annotations, *compared.annotations]),
            {**linted.checked, "published": compared.checked["contracts"]},
            (*linted.notes, *compared.notes),
        ),
        report.validated,
        None,
    )
