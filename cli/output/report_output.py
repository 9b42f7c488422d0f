"""Report output at the end of a run: on stdout, in report files of every format, and as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES, INCONCLUSIVE, PASS

if TYPE_CHECKING:
    from cdc_contracts.registry.core.report.baseline import Baseline
    from cdc_contracts.registry.core.report.profile_baseline import ProfileBaseline
    from cdc_contracts.registry.core.report.report_model import Report

ReportFiles = Annotated[
    list[Path] | None,
    typer.Option("--report", metavar="FILE", help="Also write FILE.json, .html, .md or .xml (JUnit). Repeatable."),
]
KnownFindings = Annotated[
    Path | None, typer.Option("--baseline", metavar="FILE", help="Omit the findings that this file contains.")
]
NewBaseline = Annotated[
    Path | None, typer.Option("--write-baseline", metavar="FILE", help="Write the findings of this run to a file.")
]


def check_targets(
    targets: Sequence[Path] | None,
    *,
    new_baseline: Path | None = None,
    known: Path | None = None,
    kept: Sequence[Path | None] = (),
) -> None:
    """Make sure, before any work, that the output files of a run can be written, and are none of its input files.

    Only the `known` baseline may be overwritten by a new one.
    Raises UsageError or UnavailableError if one cannot be written.
    """
    from cdc_contracts.registry.core.common.atomic_files import check_place
    from cdc_contracts.registry.core.report import report_formats

    others = [path for path in kept if path is not None]
    baselines = [path for path in (new_baseline, known) if path is not None]
    report_formats.check_targets(targets or (), kept=[*others, *baselines])
    if new_baseline is not None:
        check_place(new_baseline, kept=others)


def open_baseline(path: Path | None) -> Baseline | None:
    """Return the known findings. Raises UsageError if the file cannot be read."""
    from cdc_contracts.registry.core.report.baseline import read_baseline

    return read_baseline(path) if path is not None else None


@dataclass(frozen=True)
class Ending:
    """What is done with the report at the end of a run, and of a stream after each batch."""

    fail_on: str
    as_json: bool
    targets: Sequence[Path] | None
    known: Baseline | None = None
    new_baseline: Path | None = None
    against: ProfileBaseline | None = None
    allow_empty: bool = False

    def compare(self, report: Report, new_baseline: Path | None = None) -> Report:
        """Return a report with changes of its profile and without known findings; write a baseline if requested."""
        return compare_with(report, self.known, new_baseline, self.against)


def compare_with(
    report: Report, known: Baseline | None, new_baseline: Path | None, against: ProfileBaseline | None = None
) -> Report:
    """Return the report with the changes of its profile, if one is compared, and without known findings.

    The findings are written as a baseline if requested.
    """
    from cdc_contracts.registry.core.common.atomic_files import write_whole
    from cdc_contracts.registry.core.report.baseline import leave_out_known, render_baseline

    if against is not None:
        from cdc_contracts.registry.core.report.profile_baseline import add_profile_changes

        report = add_profile_changes(report, against)
    if new_baseline is not None:
        write_whole(new_baseline, render_baseline(report))
        console.say(f"{new_baseline} has the findings of this run: {len(report.findings):,}")
    return leave_out_known(report, known) if known is not None else report


def print_report(report: Report, *, as_json: bool, targets: Sequence[Path] | None) -> None:
    """Write the report, or its summary, to stdout, and the report files.

    Findings are printed even if a file cannot be written: the run may have taken an hour.
    Raises UnavailableError if one cannot be written.
    """
    from cdc_contracts.registry.core.report.report_formats import write_reports
    from cdc_contracts.registry.core.report.stored_reports import write_document

    try:
        write_reports(report, targets or ())
    finally:
        if as_json:
            console.print_json(write_document(report))
        else:
            from cdc_contracts.cli.output.summary import summarise

            summarise(report)


def code_of(report: Report, *, allow_empty: bool = False) -> int:
    """Return the exit code of a report's verdict: 0 as well where the range held no record and that is allowed."""
    from cdc_contracts.registry.core.report.report_wording import was_empty

    allowed = allow_empty and report.verdict == INCONCLUSIVE and was_empty(report)
    return EXIT_CODES[PASS if allowed else report.verdict]
