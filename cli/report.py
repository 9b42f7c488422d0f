"""`cdc-contracts report`: a stored report in another format, without running anything again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.output import report_output

app = typer.Typer(help="Show a stored report, or convert its format.", no_args_is_help=True)


@app.command("render", short_help="Write a stored report as HTML, Markdown or JUnit XML.")
def render(
    path: Annotated[Path, typer.Argument(metavar="REPORT.json", help="A JSON report of an audit.")],
    targets: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", metavar="FILE", help="FILE.html, .md, .xml (JUnit) or .json. Repeatable."),
    ] = None,
    baseline: report_output.KnownFindings = None,
    new_baseline: report_output.NewBaseline = None,
) -> None:
    """Write a stored report as HTML, Markdown or JUnit XML; without -o print its summary."""
    from cdc_contracts.registry.core.report.report_formats import write_reports
    from cdc_contracts.registry.core.report.stored_reports import read_report

    report_output.check_targets(targets, new_baseline=new_baseline, known=baseline, kept=[path])
    known = report_output.open_baseline(baseline)
    report = report_output.compare_with(read_report(path), known, new_baseline)
    if targets:
        write_reports(report, targets)
    else:
        from cdc_contracts.cli.output.summary import summarise

        summarise(report)
