"""The list of decisions, with the status that each states."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_HEAD: Final = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n(?:Date: (?P<date>[\d-]+) · )?Status: (?P<status>.+)\n"
)

_INTRODUCTION: Final = """What was decided and why, in the order of the decisions. A decision describes the state of its
day; one that was changed names the later one. Terms that older decisions use differently are listed in
[decision 41](0041-rooms-in-a-strict-order.md)."""


def decision_index(folder: Path) -> str:
    """Return the page. Raises ValueError where a decision states no status."""
    lines = ["# Decisions", "", _INTRODUCTION, ""]
    lines += ["| | decision | date | status |", "| --- | --- | --- | --- |"]
    for path in sorted(folder.glob("[0-9]*.md")):
        head = _HEAD.match(path.read_text(encoding="utf-8"))
        if head is None:
            raise ValueError(f"{path.name} does not begin with a title and `Status: …`")
        lines.append(f"| {head['number']} | [{head['title']}]({path.name}) | {head['date'] or ''} | {head['status']} |")
    return "\n".join(lines) + "\n"
