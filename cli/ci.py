"""`cdc-contracts ci`: all checks of a change to contracts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.finding_formats import (
    AsJson,
    Failing,
    FailOn,
    FindingFormat,
    ReportFiles,
    check_reports,
    choose_form,
    print_findings,
)
from cdc_contracts.cli.options.shared_options import ContractFolders, check_folders
from cdc_contracts.cli.output import console

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.review.annotations.annotation import Review


def check_change(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A folder of contracts or a part of it.", show_default="contracts"),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="BRANCH", help="The target branch.", show_default="as CI says, or main"),
    ] = None,
    form: Annotated[
        FindingFormat | None,
        typer.Option("--format", "-f", help="How findings are written.", show_default="text; on GitHub github"),
    ] = None,
    as_json: AsJson = False,
    reports: ReportFiles = None,
    fail_on: Failing = FailOn.ERROR,
    contracts: ContractFolders = None,
) -> None:
    """Lint contracts, validate their samples, and compare what is published with the target branch."""
    from cdc_contracts.registry.authoring.review.contract_review import review_change

    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    usual = FindingFormat.GITHUB if on_github else FindingFormat.TEXT
    chosen = choose_form(form, as_json=as_json, otherwise=usual)
    targets = check_reports(reports)
    change = review_change([path] if path else [], base, beside=check_folders(contracts), environment=os.environ)
    print_findings(change.review, chosen, targets, fail_on)
    if change.error is not None:
        console.say(f"error: {change.error}")
    if os.environ.get("GITHUB_STEP_SUMMARY"):
        _append_summary(change.review, Path(os.environ["GITHUB_STEP_SUMMARY"]))
    raise typer.Exit(change.exit_code(fail_on))


def _append_summary(review: Review, file: Path) -> None:
    """Append the findings to the summary of the GitHub run, to which other steps write as well."""
    from cdc_contracts.registry.authoring.review.annotations.annotation_formats import render_digest

    try:
        with file.open("a", encoding="utf-8") as summary:
            summary.write(render_digest(review))
    except OSError as error:
        console.say(f"the summary cannot be written to {file}: {error.strerror}")
