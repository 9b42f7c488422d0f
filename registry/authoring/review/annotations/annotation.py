"""Annotation: a finding of lint or of the comparison of versions, as the common input of all formats."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import ERROR, INFO, WARNING

ORDER: Final = {ERROR: 0, WARNING: 1, INFO: 2}


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding is ignored, until when, and where that is said."""

    reason: str
    until: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Annotation:
    """One finding on one line of one file.

    `file` is relative to the working directory where it lies below that. `line` and `column` count from 1 and are None
    where the file as a whole is meant. `message` is one line, `help` what to do, `proof` the lines that show it and say
    what to do. `data` is further data for programs.
    """

    rule: str
    name: str
    severity: str
    file: str
    message: str
    help: str
    line: int | None = None
    column: int | None = None
    path: str = ""
    proof: tuple[str, ...] = ()
    suppression: Suppression | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines that are shown to a person."""
        return (self.message, *(self.proof or (self.help,)))


@dataclass(frozen=True, slots=True)
class Review:
    """The result of a command: its annotations by file and line, how much was checked, and what has to be said.

    `notes` say what was compared, or left out and why.
    """

    command: str
    annotations: tuple[Annotation, ...]
    checked: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def reported(self) -> tuple[Annotation, ...]:
        """The annotations that are not ignored."""
        return tuple(one for one in self.annotations if one.suppression is None)

    @property
    def ignored(self) -> tuple[Annotation, ...]:
        return tuple(one for one in self.annotations if one.suppression is not None)

    def fails(self, fail_on: str) -> bool:
        """Return whether an annotation that is not ignored is as severe as `fail_on`."""
        return any(ORDER[one.severity] <= ORDER[fail_on] for one in self.reported)


def arrange(annotations: list[Annotation]) -> tuple[Annotation, ...]:
    """Return annotations by file and line."""
    return tuple(sorted(annotations, key=lambda one: (one.file, one.line or 0, one.rule, one.path, one.message)))


def most_severe_first(review: Review) -> list[Annotation]:
    """Return the annotations that are not ignored as they should be read where not all can be shown.

    Within a severity, incompatible changes come first, then incomplete documents, then failing samples.
    """
    return sorted(review.reported, key=lambda one: (ORDER[one.severity], one.rule))


def relative_to_here(file: str) -> str:
    """Return the path of a file relative to the working directory, unchanged if it is not below that."""
    return _below(file, Path.cwd()) or file


def relative_to_repository(file: str) -> str:
    """Return the path of a file relative to the top of the repository, as code hosts need it."""
    return _below(file, repository_root()) or PurePath(file).as_posix()


def repository_root() -> Path:
    """Return the folder that holds the repository of the working directory; that directory where there is none."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _below(file: str, folder: Path) -> str | None:
    whole = os.path.normpath(Path.cwd() / file)
    inside = whole == str(folder) or whole.startswith(f"{folder}{os.sep}")
    return PurePath(os.path.relpath(whole, folder)).as_posix() if inside else None
