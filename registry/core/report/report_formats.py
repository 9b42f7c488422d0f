"""Report formats, by the extension of the file they are written to, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.common.atomic_files import check_place, place_of, write_whole
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.report.report_model import Report


KINDS: Final[Mapping[str, str]] = MappingProxyType({
    ".json": "stored_reports:render_report",
    ".html": "html_page:render_page",
    ".md": "report_markdown:render_markdown",
    ".xml": "report_junit:render_junit",
})  # fmt: skip
"""What renders a report by the ending of its file; a run without report files imports none of it."""


def render(report: Report, kind: str) -> str:
    """Return the report as one of KINDS."""
    module, _, name = KINDS[kind].partition(":")
    text: str = getattr(import_module(f"cdc_contracts.registry.core.report.{module}"), name)(report)
    return text


def check_targets(targets: Sequence[Path], *, kept: Sequence[Path] = ()) -> None:
    """Check, before any work is done, that reports can be written, and none over a file that must be kept.

    Raises UsageError if a file is of no known kind, occurs twice or is a folder, UnavailableError if it cannot
    be written.
    """
    seen: set[Path] = set()
    for target in targets:
        if target.suffix not in KINDS:
            raise UsageError(
                f"`{target.suffix or target.name}` is not a report format",
                where=str(target),
                hint="Use .json, .html, .md or .xml (JUnit).",
            )
        place = place_of(target)
        if place in seen:
            raise UsageError("two reports would be written to the same file", where=str(target))
        seen.add(place)
        check_place(target, kept=kept)


def write_reports(report: Report, targets: Sequence[Path]) -> None:
    """Write the report to each file in the kind that its ending asks for; files are written atomically.

    Raises UnavailableError if one cannot be written, after the others.
    """
    failures = []
    for target in targets:
        try:
            write_whole(target, render(report, target.suffix))
        except UnavailableError as error:
            failures.append(error)
    if failures:
        raise failures[0]
