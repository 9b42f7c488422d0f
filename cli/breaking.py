"""`cdc-contracts breaking`: what published contracts have become."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.annotating import Form, Format, ReportFiles, check_reports, tell
from cdc_contracts.cli.options import ContractFolders, check_folders

Against = Annotated[
    str,
    typer.Option(
        "--against",
        metavar="REF",
        help="What is published: a git ref (main, v1.2, HEAD~1), PATH.git#branch=B,subdir=D (or tag=, commit=), "
        "or a folder.",
    ),
]


def breaking(
    against: Against,
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="A folder of contracts or a part of it.")] = None,
    form: Form = Format.TEXT,
    reports: ReportFiles = None,
    contracts: ContractFolders = None,
) -> None:
    """Find changes to published contracts by which a reader would fail or read something else, each with a proof."""
    from cdc_contracts.registry.annotations.compared import review_comparison, verdict_of
    from cdc_contracts.registry.lint import open_draft
    from cdc_contracts.registry.revisions.comparison import compare_contracts, root_to_compare
    from cdc_contracts.registry.revisions.inputs import open_revision

    targets = check_reports(reports)
    draft = open_draft([path] if path else [], beside=check_folders(contracts))
    _, root = root_to_compare(draft)
    review = review_comparison(compare_contracts(draft, open_revision(against, root)))
    tell(review, form, targets)
    raise typer.Exit(verdict_of(review))
