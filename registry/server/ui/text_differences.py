"""Differences of two texts side by side, with a few lines of context."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.html_markup import Markup, element, join, row

_AROUND: Final = 3
_MOST_LINES: Final = 2_000
"""Longer texts are not compared: the time grows faster than their length, and the result would be unreadable."""
_LONGEST_LINE: Final = 400

_Line = tuple[int, str] | None


def pretty(document: Any) -> list[str]:
    """Return a JSON document as lines."""
    return json.dumps(document, indent=2, ensure_ascii=False).split("\n")


def side_by_side(left: Sequence[str], right: Sequence[str], names: tuple[str, str]) -> Markup:
    """Return the changed lines of two texts in two columns, the old one left."""
    if max(len(left), len(right)) > _MOST_LINES:
        return element(
            "p", f"The schemas are too long to compare here: more than {_MOST_LINES:,} lines.", class_="none"
        )
    if list(left) == list(right):
        return element("p", "The schemas are identical, line by line.", class_="none")
    groups = [
        join(_rows(group, left, right), "\n")
        for group in SequenceMatcher(None, left, right).get_grouped_opcodes(_AROUND)
    ]
    head = element("thead", row(*(element("th", name, scope="col", colspan=2, role="columnheader") for name in names)))
    bodies = [element("tbody", group, role="rowgroup") for group in groups]
    widths = element("colgroup", *(element("col", class_=kind) for kind in ("line", None) * 2))
    return element(
        "table",
        widths,
        head,
        *bodies,
        class_="sides",
        role="table",
        aria_label=f"{names[0]} and {names[1]} side by side",
    )


def whole_text(lines: Sequence[str]) -> Markup:
    """Return a text unchanged."""
    shown = [visible(line, most=_LONGEST_LINE) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"… {len(lines) - _MOST_LINES:,} more lines")
    return element("pre", element("code", join(shown, "\n")), tabindex=0)


def _rows(
    group: Sequence[tuple[str, int, int, int, int]], left: Sequence[str], right: Sequence[str]
) -> Iterator[Markup]:
    for kind, start, end, other_start, other_end in group:
        for index in range(max(end - start, other_end - other_start)):
            old = (start + index, left[start + index]) if start + index < end else None
            new = (other_start + index, right[other_start + index]) if other_start + index < other_end else None
            yield row(*_side(old, kind, "old"), *_side(new, kind, "new"), kind="same" if kind == "equal" else "changed")


def _side(line: _Line, kind: str, side: str) -> tuple[Markup, Markup]:
    if line is None:
        return element("td", class_=f"line {side} none", role="cell"), element("td", class_=f"{side} none", role="cell")
    number, text = line
    mark = "  " if kind == "equal" else "- " if side == "old" else "+ "
    return (
        element("td", str(number + 1), class_=f"line {side}", role="cell"),
        element("td", element("code", mark + visible(text, most=_LONGEST_LINE)), class_=side, role="cell"),
    )
