"""Annotations as lines of text: `FILE:LINE:COLUMN: severity RULE name path: message`, and its proof below."""

from __future__ import annotations

from collections.abc import Iterator

from cdc_contracts.registry.authoring.review.annotations.annotation import Annotation, Review
from cdc_contracts.registry.core.common.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.core.common.safe_text import visible


def render_lines(review: Review) -> str:
    """Return a line for each annotation that is not ignored, with its proof indented below."""
    return "".join(f"{line}\n" for one in review.reported for line in _lines(one))


def summarise(review: Review) -> str:
    """Return a one-line summary: what was checked, and the number of findings."""
    counts = [(name, sum(one.severity == name for one in review.reported)) for name in (ERROR, WARNING, INFO)]
    result = ", ".join(f"{count} {_plural(name, count)}" for name, count in counts if count) or "no findings"
    looked = (
        ", ".join(
            f"{count} {name.removesuffix('s') if count == 1 else name}"
            for name, count in review.checked.items()
            if count
        )
        or "nothing"
    )
    ignored = f", {len(review.ignored)} ignored" if review.ignored else ""
    return f"{looked}: {result}{ignored}"


def place_of(one: Annotation, file: str | None = None) -> str:
    """Return the place of an annotation as editors and terminals understand it."""
    return ":".join(str(part) for part in (file or one.file, one.line, one.column) if part is not None)


def _lines(one: Annotation) -> Iterator[str]:
    path = f" {visible(one.path)}" if one.path else ""
    yield f"{visible(place_of(one), most=None)}: {one.severity} {one.rule} {one.name}{path}: {_whole(one.message)}"
    yield from (f"    {_whole(line)}" for line in one.proof)


def _whole(text: str) -> str:
    return visible(text, most=None)


def _plural(severity: str, count: int) -> str:
    name = "note" if severity == INFO else severity
    return name if count == 1 else f"{name}s"
