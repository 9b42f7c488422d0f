"""Report formats, by the extension of the file they are written to, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.common.atomic_files import check_place, place_of, write_whole
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.report.report_model import Report


def render_report(report: Report) -> str:
    """Return the report as the JSON document that its schema describes."""
    from cdc_contracts.registry.core.report.json_documents import render_json
    from cdc_contracts.registry.core.report.stored_reports import write_document

    return render_json(write_document(report))


def _render_page(report: Report) -> str:
    from cdc_contracts.registry.core.report.html_page import render_page

    return render_page(report)


def _render_markdown(report: Report) -> str:
    from cdc_contracts.registry.core.report.report_markdown import render_markdown

    return render_markdown(report)


def _render_junit(report: Report) -> str:
    from cdc_contracts.registry.core.report.report_junit import render_junit

    return render_junit(report)


KINDS: Final[Mapping[str, Callable[[Report], str]]] = MappingProxyType(
    {".json": render_report, ".html": _render_page, ".md": _render_markdown, ".xml": _render_junit}
)
"""What renders a report by the ending of its file; a run without report files imports none of it."""


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
            write_whole(target, KINDS[target.suffix](report))
        except UnavailableError as error:
            failures.append(error)
    if failures:
        raise failures[0]
