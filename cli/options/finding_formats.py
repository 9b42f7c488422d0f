"""Finding formats: options of commands whose findings have file and line, and printing of such findings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.review.annotations.annotation import Review


class FindingFormat(StrEnum):
    """How findings are written to stdout."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


class FailOn(StrEnum):
    """The lowest severity that fails the run."""

    ERROR = "error"
    WARNING = "warning"


Form = Annotated[
    FindingFormat | None,
    typer.Option("--format", "-f", help="How findings are written to stdout.", show_default="text"),
]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
Failing = Annotated[FailOn, typer.Option("--fail-on", help="The lowest severity that fails.")]
ReportFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--report", metavar="FILE", help="Also write FILE.sarif, .json, .xml (JUnit), .md or .txt. Repeatable."
    ),
]


def choose_form(form: FindingFormat | None, *, as_json: bool, otherwise: FindingFormat) -> FindingFormat:
    """Return the format that was chosen. Raises UsageError if two were."""
    if as_json and form not in (None, FindingFormat.JSON):
        raise UsageError(f"--json and --format {form} exclude each other", hint="Give one of them.")
    return FindingFormat.JSON if as_json else form or otherwise


def check_reports(reports: Sequence[Path] | None) -> list[Path]:
    """Return the files to write. Raises UsageError or UnavailableError, before any work, if one cannot be written."""
    from cdc_contracts.registry.authoring.review.annotations.annotation_formats import check_targets

    check_targets(reports or ())
    return list(reports or ())


def print_findings(
    review: Review, form: FindingFormat, reports: Sequence[Path], fail_on: FailOn = FailOn.ERROR
) -> None:
    """Write the findings to stdout and to each report file, and the summary to stderr."""
    from cdc_contracts.registry.authoring.review.annotations.annotation_formats import render_review, write_reports
    from cdc_contracts.registry.authoring.review.annotations.annotation_lines import summarise

    console.write(render_review(review, form, fail_on=fail_on))
    write_reports(review, reports, fail_on=fail_on)
    console.say("; ".join([summarise(review), *review.notes]))
