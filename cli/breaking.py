"""`cdc-contracts breaking`: breaking changes to published contracts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.finding_formats import (
    AsJson,
    FindingFormat,
    Form,
    ReportFiles,
    check_reports,
    choose_form,
    print_findings,
)
from cdc_contracts.cli.options.remote_options import Remote, open_remote
from cdc_contracts.cli.options.shared_options import ContractFolders, check_folders

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.authoring.review.revisions.revision_inputs import Revision

Against = Annotated[
    str,
    typer.Option(
        "--against",
        metavar="REF",
        help="What is published: a git ref (main, v1.2, HEAD~1), PATH.git#branch=B,subdir=D (or tag=, commit=), "
        "a folder, or the URL of a registry.",
    ),
]


def breaking(
    against: Against,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A folder of contracts or a part of it.", show_default="contracts"),
    ] = None,
    form: Form = None,
    as_json: AsJson = False,
    reports: ReportFiles = None,
    contracts: ContractFolders = None,
) -> None:
    """Find changes to published contracts that make a reader fail or misread, each with a proof."""
    from cdc_contracts.registry.authoring.lint import open_lint_run
    from cdc_contracts.registry.authoring.review.annotations.comparison_annotations import review_comparison, verdict_of
    from cdc_contracts.registry.authoring.review.revisions.revision_comparison import compare_contracts

    chosen = choose_form(form, as_json=as_json, otherwise=FindingFormat.TEXT)
    targets = check_reports(reports)
    run = open_lint_run([path] if path else [], beside=check_folders(contracts))
    comparison = compare_contracts(run, _open(against, run))
    review = review_comparison(comparison)
    print_findings(review, chosen, targets)
    raise typer.Exit(verdict_of(review, is_whole=not comparison.revision.missing))


def _open(against: str, run: LintRun) -> Revision:
    from cdc_contracts.registry.authoring.review.revisions.revision_comparison import root_to_compare
    from cdc_contracts.registry.authoring.review.revisions.revision_inputs import (
        is_registry,
        open_registry,
        open_revision,
    )

    _, root = root_to_compare(run)
    if not is_registry(against):
        return open_revision(against, root)
    with open_remote(Remote(against)) as client:
        return open_registry(client, run.versions)
