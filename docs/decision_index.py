"""The list of decisions, with the status that each states."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_HEAD: Final = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n(?:Date: (?P<date>[\d-]+) · )?Status: (?P<status>.+)\n"
)


def decision_index(folder: Path) -> str:
    """Return the page. Raises ValueError where a decision states no status."""
    lines = ["# Decisions", "", "What was decided and why, in the order of the decisions.", ""]
    lines += ["| | decision | date | status |", "| --- | --- | --- | --- |"]
    for path in sorted(folder.glob("[0-9]*.md")):
        head = _HEAD.match(path.read_text(encoding="utf-8"))
        if head is None:
            raise ValueError(f"{path.name} does not begin with a title and `Status: …`")
        lines.append(f"| {head['number']} | [{head['title']}]({path.name}) | {head['date'] or ''} | {head['status']} |")
    return "\n".join(lines) + "\n"
