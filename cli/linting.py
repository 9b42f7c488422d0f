"""`cdc-contracts lint`: whether contracts hold together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.annotating import Failing, FailOn, Form, Format, ReportFiles, check_reports, tell
from cdc_contracts.cli.options import ContractFolders, check_folders

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="A folder of contracts or one version of it, or a table contract. "
        "Without: ./contracts where it holds contracts, else those shipped.",
    ),
]


def lint(
    paths: Paths = None,
    form: Form = Format.TEXT,
    reports: ReportFiles = None,
    fail_on: Failing = FailOn.ERROR,
    contracts: ContractFolders = None,
) -> None:
    """Check that contracts hold together, and that their samples are judged as they should be."""
    from cdc_contracts.registry.annotations.linted import review_lint
    from cdc_contracts.registry.lint import lint as lint_paths

    targets = check_reports(reports)
    report = lint_paths(paths or [], beside=check_folders(contracts))
    review = review_lint(report)
    tell(review, form, targets, fail_on)
    if review.fails(fail_on) or not report.judged:
        raise typer.Exit(1)
