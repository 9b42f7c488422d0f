"""The page of the walk, docs/reference/first-contact.md: each step of the walked pages, with its seconds by machine.

It is its own record: a walk of some pages or machines renews their figures, and keeps the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from page_blocks import Step, blocks_of
from walk_machines import MACHINES

DOCS: Final = Path(__file__).parent
PAGE: Final = DOCS / "reference/first-contact.md"
_GUIDES: Final = ("install", "unknown-topic", "first-contract", "ci", "test-a-consumer", "decode", "duckdb")
WALKED: Final = (
    DOCS.parent / "README.md",
    DOCS / "first-steps.md",
    *(DOCS / "how-to" / f"{name}.md" for name in _GUIDES),
)
"""The pages in the order in which a newcomer reads them."""
_WIDTH: Final = 96
_ROW: Final = re.compile(r"^\| `` (.*) `` \| (.*) \|$", re.MULTILINE)
_SECONDS: Final = re.compile(r"\d+\.\d")


@dataclass(frozen=True)
class Place:
    """A step of a page: what is typed, cut to one short line, and the how-manieth of this line it is, from 1."""

    page: str
    step: str
    number: int = 1


Figures = dict[tuple[Place, str], str]
"""By step and machine: seconds with one digit, or what the machine does not have."""


def name_of(page: Path) -> str:
    """Return the title of a page."""
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return page.stem if page.stem == "README" else title


def places_of(page: Path) -> list[Place]:
    """Return the steps of a page, from top to bottom."""
    return _number(page.stem, [shorten(step) for block in blocks_of(page) for step in block.steps])


def _number(page: str, steps: list[str]) -> list[Place]:
    """Return the places of the steps of a page, in their order."""
    return [Place(page, step, steps[: index + 1].count(step)) for index, step in enumerate(steps)]


def shorten(step: Step) -> str:
    """Return what is typed as one line: the first line that says something, cut to 96 characters."""
    lines = step.typed.splitlines()
    first = f"python: {lines[1]}" if step.typed.startswith("python - <<") else lines[0]
    line = re.sub(r"\s+(#.*|\\)$", "", first).strip()
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def read_figures() -> Figures:
    """Return the figures of the page as it is; none if there is no page."""
    if not PAGE.exists():
        return {}
    figures: Figures = {}
    titles = {name_of(page): page.stem for page in WALKED}
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        rows = _ROW.findall(section)
        places = _number(titles.get(title, title), [step.replace("\\|", "|") for step, _ in rows])
        for place, (_, cells) in zip(places, rows, strict=True):
            for machine, cell in zip(MACHINES, cells.split(" | "), strict=True):
                if cell != "-":
                    figures[place, machine.name] = cell.removeprefix("needs ")
    return figures


def write_page(figures: Mapping[tuple[Place, str], str]) -> None:
    """Write the page with the figures of those steps that the walked pages have."""
    load = f"{datetime.now(UTC).date()} on {os.cpu_count()} cores with a load of {os.getloadavg()[2]:.0f}"
    PAGE.write_text(page_text(figures, load), encoding="utf-8")


def page_text(figures: Mapping[tuple[Place, str], str], measured: str) -> str:
    """Return the page: the seconds of each walked page, then those of its steps. `measured` says when and where."""
    names = [machine.name for machine in MACHINES]
    head = [
        "# First contact, step by step",
        "",
        "Every command of the pages that a newcomer reads first, in their order, as `just walk` ran it: README, First",
        "steps and Install in a checkout, each guide in an empty folder with its own virtual environment. The machine",
        "with Python has no Java, no C compiler and no kcat; git is on both. The broker runs already, and package",
        "repositories are near. A dash marks a step that was not run since its page changed.",
        "",
        f"Seconds, last measured {measured}.",
        "",
    ]
    table = [f"| page | {' | '.join(names)} |", f"| --- |{' --: |' * len(names)}"]
    sections = []
    for page in WALKED:
        places = places_of(page)
        sums = [seconds_of(figures.get((place, name), "") for place in places) for name in names]
        table.append(f"| {_link(page)} | {' | '.join(f'{one:.0f}' if one else '-' for one in sums)} |")
        sections += ["", f"## {name_of(page)}", "", f"| step | {' | '.join(names)} |"]
        sections += [f"| --- |{' --- |' * len(names)}", *(_row(place, figures, names) for place in places)]
    return "\n".join([*head, *table, *sections, ""])


def seconds_of(cells: Iterable[str]) -> float:
    """Return the sum of the seconds among figures."""
    return sum(float(cell) for cell in cells if _SECONDS.fullmatch(cell))


def _row(place: Place, figures: Mapping[tuple[Place, str], str], names: list[str]) -> str:
    cells = [figures.get((place, name), "-") for name in names]
    told = [cell if _SECONDS.fullmatch(cell) or cell == "-" else f"needs {cell}" for cell in cells]
    step = place.step.replace("|", "\\|")
    return f"| `` {step} `` | {' | '.join(told)} |"


def _link(page: Path) -> str:
    return name_of(page) if page.stem == "README" else f"[{name_of(page)}](../{page.relative_to(DOCS)})"
