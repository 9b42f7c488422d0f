"""Annotations as Markdown, for the summary of a step or a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.common.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.common.safe_text import visible
from cdc_contracts.registry.report.report_markdown import join_parts, literal
from cdc_contracts.registry.review.annotations.annotation import (
    ORDER,
    Annotation,
    Review,
    heaviest_first,
    relative_to_repository,
)
from cdc_contracts.registry.review.annotations.annotation_lines import place_of, summarise

_MOST: Final = 20
_MARKS: Final = {ERROR: "❌", WARNING: "⚠️", INFO: "💬"}


def render_digest(review: Review) -> str:
    """Return the review as GitHub-flavoured Markdown, short enough for a comment."""
    heaviest = min((one.severity for one in review.told), key=ORDER.__getitem__, default=None)
    head = f"### {_MARKS[heaviest] if heaviest else '✅'} cdc-contracts {review.command}: {literal(summarise(review))}"
    parts = [head, *(f"> {literal(note)}" for note in review.notes)]
    parts += [_told(one) for one in heaviest_first(review)[:_MOST]]
    if len(review.told) > _MOST:
        parts.append(f"… and {len(review.told) - _MOST} more, in the log of the run")
    if review.ignored:
        parts.append("\n".join(["<details><summary>Ignored</summary>\n", *_suppressed(review), "\n</details>"]))
    return join_parts(parts, "… and more, in the JSON report")


def _told(one: Annotation) -> str:
    place = literal(place_of(one, relative_to_repository(one.file)))
    title = literal(f"{one.rule} {one.name} {one.path}".rstrip())
    lines = [f"{_MARKS[one.severity]} **{title}** {place}", f"{literal(one.message)}"]
    if one.proof:
        return "\n".join([*lines, "", *(f"    {visible(line, most=None)}" for line in one.proof)])
    return "\n".join([*lines, literal(one.help)])


def _suppressed(review: Review) -> Iterator[str]:
    for one in review.ignored:
        if one.excuse is not None:
            place = literal(place_of(one, relative_to_repository(one.file)))
            yield f"- {one.rule} {one.name} {place}, until {one.excuse.until}: {literal(one.excuse.reason)}"
