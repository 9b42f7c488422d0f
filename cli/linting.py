"""`cdc-contracts lint`: whether contracts hold together."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli import console
from cdc_contracts.cli.options import ContractFolders, check_folders

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.rule import LintFinding, LintReport


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"


class FailOn(StrEnum):
    """The lightest severity that fails the run."""

    ERROR = "error"
    WARNING = "warning"


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="A folder of contracts or one version of it, or a table contract. "
            "Without: ./contracts where it holds contracts, else those shipped.",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How findings are written.")] = Format.TEXT,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="The lightest severity that fails.")] = FailOn.ERROR,
    contracts: ContractFolders = None,
) -> None:
    """Check that contracts hold together, and that their samples are judged as they should be."""
    from cdc_contracts.registry.lint import lint as lint_paths

    report = lint_paths(paths or [], beside=check_folders(contracts))
    if form == Format.JSON:
        console.print_json(asdict(report))
    else:
        for finding in report.findings:
            console.print_line(_line(finding))
    console.say(_summary(report))
    failing = ("error",) if fail_on == FailOn.ERROR else ("error", "warning")
    if any(finding.severity in failing for finding in report.findings):
        raise typer.Exit(1)


def _line(finding: LintFinding) -> str:
    at = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    path = f" {finding.path}" if finding.path else ""
    rule = f"{finding.rule} {finding.name}"
    return f"{at}: {finding.severity} {rule}{path}: expected {finding.expected}; found {finding.observed}"


def _summary(report: LintReport) -> str:
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    looked = ", ".join(f"{count} {name}" for name, count in report.checked.items() if count) or "nothing"
    told = f"{errors} errors, {warnings} warnings" if report.findings else "no findings"
    left_out = "" if report.judged else "; samples were not judged, because not every contract holds together"
    return f"{looked}: {told}{left_out}"
