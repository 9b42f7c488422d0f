"""Ignore comments, which suppress a finding for a while: `# cdc-contracts: ignore L21 until 2027-01-31 because REASON`.

A comment applies to its own line, or if it is alone on it, to the next one. For files without comments, and for
folders, it names the place: `ignore L13 at envelope.schema.json#/properties/x until …`, relative to its own folder. A
finding that has no line is looked for on the first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import yaml

FORM: Final = "ignore RULE until YYYY-MM-DD because REASON"
_MARK: Final = "cdc-contracts:"
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#\s*cdc-contracts:\s*(?P<says>.*?)\s*$")
_SAYS: Final = re.compile(
    r"ignore\s+(?P<rule>(?!at\b|until\b|because\b)\S+)(?:\s+at\s+(?P<at>\S+))?"
    r"(?:\s+until\s+(?P<until>\S+))?(?:\s+because(?:\s+(?P<reason>.*))?)?\Z"
)


@dataclass(frozen=True, slots=True, eq=False)
class Ignore:
    """One comment.

    `problem` is what is wrong with an invalid one. `target` is the line it applies to; `place` and `pointer` what it
    names with `at` instead.
    """

    file: Traversable
    line: int
    column: int
    rule: str = ""
    until: date | None = None
    reason: str = ""
    target: int | None = None
    is_first: bool = False
    place: str | None = None
    pointer: str | None = None
    problem: str = ""
    text: str = ""

    def covers(self, rule: str, file: str, line: int | None, path: str) -> bool:
        """Return whether the comment applies to a finding."""
        if self.problem or rule != self.rule:
            return False
        if self.place is not None:
            return _lies_in(os.path.normpath(file), self.place) and _lies_in(path, self.pointer or path)
        here = os.path.normpath(file) == os.path.normpath(str(self.file))
        return here and (line == self.target if line is not None else self.is_first)

    def is_over(self, today: date) -> bool:
        """Return whether its last day has passed."""
        return self.until is not None and self.until < today


def read_ignores(file: Traversable) -> Iterator[Ignore]:
    """Yield every such comment of a YAML file; an unreadable file has none, which is a finding of its own."""
    try:
        text = file.read_text(encoding="utf-8")
        if _MARK not in text:
            return
        spans = _scalars(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return
    lines = text.split("\n")
    content = [
        number for number, line in enumerate(lines, 1) if not line.lstrip().startswith(("#", "---")) and line.strip()
    ]
    for number, line in enumerate(lines, 1):
        found = _COMMENT.search(line)
        if found is None or any(start <= (number, found.start()) < end for start, end in spans):
            continue
        alone = not line[: found.start()].strip()
        target = next((one for one in content if one > number), None) if alone else number
        yield _parse(file, number, found, target, is_first=target in content[:1])


def _parse(file: Traversable, line: int, comment: re.Match[str], target: int | None, *, is_first: bool) -> Ignore:
    column, said = comment.start() + 1, _SAYS.match(comment["says"])
    if said is None:
        return Ignore(file, line, column, problem=comment["says"] or "nothing")
    until = _day(said["until"])
    problem = (
        "no date" if said["until"] is None else
        f"{said['until']}, which is no date" if until is None else
        "no reason" if not said["reason"] else ""
    )  # fmt: skip
    place = pointer = None
    if said["at"] is not None:
        name, _, pointer = said["at"].partition("#")
        folder = Path(str(file)).parent
        place = os.path.normpath(folder / name)
        if not _lies_in(place, os.path.normpath(folder)):
            problem = f"{said['at']}, outside the folder of the comment"
    return Ignore(
        file, line, column, said["rule"], until, said["reason"] or "", target, is_first, place, pointer, problem,
        comment[0].strip(),
    )  # fmt: skip


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text and re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
    except ValueError:
        return None


def _lies_in(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def _scalars(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where each value of a YAML text begins and ends, by line and column: a # in there is no comment."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [
        ((token.start_mark.line + 1, token.start_mark.column), (token.end_mark.line + 1, token.end_mark.column))
        for token in yaml.scan(text, Loader=loader)
        if isinstance(token, yaml.ScalarToken)
    ]
