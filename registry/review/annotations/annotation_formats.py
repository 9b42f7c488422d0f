"""Annotation formats of a review: by name for stdout, by file extension for reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.common.atomic_files import check_place, write_whole
from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.review.annotations.annotation import Review
from cdc_contracts.registry.review.annotations.annotation_json import render_document
from cdc_contracts.registry.review.annotations.annotation_junit import render_junit
from cdc_contracts.registry.review.annotations.annotation_lines import render_lines
from cdc_contracts.registry.review.annotations.annotation_markdown import render_digest
from cdc_contracts.registry.review.annotations.github_workflow import render_workflow
from cdc_contracts.registry.review.annotations.sarif import render_sarif

_PLAIN: Final[Mapping[str, Callable[[Review], str]]] = MappingProxyType({
    "text": render_lines, "json": render_document, "sarif": render_sarif, "github": render_workflow,
    "markdown": render_digest,
})  # fmt: skip
_ENDINGS: Final = MappingProxyType({
    ".txt": "text", ".json": "json", ".xml": "junit", ".sarif": "sarif", ".md": "markdown",
})  # fmt: skip


def render_review(review: Review, form: str, *, fail_on: str = ERROR) -> str:
    """Return the review in the format of a name."""
    return render_junit(review, fail_on=fail_on) if form == "junit" else _PLAIN[form](review)


def check_targets(targets: Sequence[Path]) -> None:
    """Make sure, before any work is done, that reports can be written.

    Raises UsageError if a file is of no known kind, occurs twice or is a folder, UnavailableError if it cannot
    be written.
    """
    for target in targets:
        if target.suffix not in _ENDINGS:
            raise UsageError(
                f"`{target.suffix or target.name}` is not a kind of report",
                where=str(target),
                hint="the file ends in .sarif, .json, .xml (JUnit), .md or .txt",
            )
        check_place(target, kept=[other for other in targets if other is not target])


def write_reports(review: Review, targets: Sequence[Path], *, fail_on: str = ERROR) -> None:
    """Write the review to each file in the kind of its ending; a file is there whole or not at all.

    Raises UnavailableError if one cannot be written, after the others.
    """
    failures = []
    for target in targets:
        try:
            write_whole(target, render_review(review, _ENDINGS[target.suffix], fail_on=fail_on))
        except UnavailableError as error:
            failures.append(error)
    if failures:
        raise failures[0]
