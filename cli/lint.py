"""`cdc-contracts lint`: whether contracts are consistent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.options.finding_formats import (
    AsJson,
    Failing,
    FailOn,
    FindingFormat,
    Form,
    ReportFiles,
    check_reports,
    choose_form,
    print_findings,
)
from cdc_contracts.cli.options.shared_options import ContractFolders, check_folders

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="A folder of contracts or one version of it, or a table contract. "
        "Default: ./contracts if it holds contracts, else those shipped.",
    ),
]


def lint(
    paths: Paths = None,
    form: Form = None,
    as_json: AsJson = False,
    reports: ReportFiles = None,
    fail_on: Failing = FailOn.ERROR,
    contracts: ContractFolders = None,
) -> None:
    """Check that contracts are consistent and that their samples validate as expected."""
    from cdc_contracts.registry.authoring.lint import lint as lint_paths
    from cdc_contracts.registry.authoring.review.annotations.lint_annotations import review_lint

    chosen = choose_form(form, as_json=as_json, otherwise=FindingFormat.TEXT)
    targets = check_reports(reports)
    report = lint_paths(paths or [], beside=check_folders(contracts))
    review = review_lint(report)
    print_findings(review, chosen, targets, fail_on)
    if review.fails(fail_on) or not report.validated:
        raise typer.Exit(1)
