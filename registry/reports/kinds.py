"""The kinds of report, by the ending of the file they go to, and how they get there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.errors import UnavailableError, UsageError, refused
from cdc_contracts.registry.reports.junit import render_junit
from cdc_contracts.registry.reports.markdown import render_markdown
from cdc_contracts.registry.reports.page import render_page
from cdc_contracts.registry.reports.wording import Document

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def render_json(report: Document) -> str:
    """Return the report as the JSON document that its schema describes."""
    text = json.dumps(report, indent=2, ensure_ascii=False)
    # half a pair of surrogates has no UTF-8, but JSON can still say it
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


KINDS: Final[Mapping[str, Callable[[Document], str]]] = MappingProxyType(
    {".json": render_json, ".html": render_page, ".md": render_markdown, ".xml": render_junit}
)


def check_targets(targets: Sequence[Path], *, kept: Sequence[Path] = ()) -> None:
    """Make sure, before any work is done, that reports can be written, and none over a file that is kept.

    Raises UsageError where a file is of no known kind, stands twice or is a folder, UnavailableError where it cannot
    be written.
    """
    seen: set[Path] = set()
    for target in targets:
        if target.suffix not in KINDS:
            raise UsageError(
                f"`{target.suffix or target.name}` is not a kind of report",
                where=str(target),
                mend="the file ends in .json, .html, .md or .xml (JUnit)",
            )
        place = _place_of(target)
        if place in seen:
            raise UsageError("two reports would go to one file", where=str(target))
        seen.add(place)
        check_place(target, kept=kept)


def check_place(given: Path, *, kept: Sequence[Path] = ()) -> None:
    """Make sure that a file can be put there, and that it is none that is kept.

    Raises UsageError or UnavailableError where it cannot.
    """
    place = _place_of(given)
    if place in map(_place_of, kept):
        raise UsageError("this file has another part in the run", where=str(given), mend="name another to write to")
    if place.is_dir():
        raise UsageError("this is a folder, not a file", where=str(given))
    if place.exists() and not place.is_file():
        raise UsageError("this is a pipe or a device, not a file", where=str(given))
    if not place.parent.is_dir():
        raise UsageError("there is no such folder", where=str(given.parent), mend="make it first")
    try:
        _aside(place).touch()
        _aside(place).unlink()
    except OSError as error:
        raise _cannot_write(given, error) from error


def write_reports(report: Document, targets: Sequence[Path]) -> None:
    """Write the report to each file in the kind that its ending asks for; a file is there whole or not at all.

    Raises UnavailableError where one cannot be written, after the others.
    """
    failures = []
    for target in targets:
        try:
            write_whole(target, KINDS[target.suffix](report))
        except UnavailableError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def check_folder(given: Path) -> None:
    """Make sure that files can be put into a folder, which need not be there yet. Raises UnavailableError otherwise."""
    try:
        place = next(one for one in (given.absolute(), *given.absolute().parents) if one.exists())
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise refused(error, str(given), what="nothing can be written there") from error


def write_whole(target: Path, content: str | bytes) -> None:
    """Write a file aside and put it in place at once. Raises UnavailableError where that fails."""
    with put_whole(target) as aside:
        if isinstance(content, bytes):
            aside.write_bytes(content)
        else:
            aside.write_text(content, encoding="utf-8", newline="\n")


@contextmanager
def put_whole(target: Path) -> Iterator[Path]:
    """What the block writes aside is put in place at its end, or is not there. Raises UnavailableError."""
    place = target.resolve()
    aside = _aside(place)
    try:
        yield aside
        aside.replace(place)
    except BaseException as error:
        with suppress(OSError):  # what went wrong first is what a person has to see
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _cannot_write(target, error) from error
        raise


def _place_of(given: Path) -> Path:
    """Return where a file stands, links followed. Raises UnavailableError where they lead nowhere."""
    try:
        return given.resolve()
    except (OSError, RuntimeError) as error:  # a link to itself is the second to some Pythons
        raise UnavailableError(f"where it leads cannot be told: {error}", where=str(given)) from error


def _aside(place: Path) -> Path:
    return place.with_name(f".{place.name}.{os.getpid()}.part")


def _cannot_write(target: Path, error: OSError) -> UnavailableError:
    return refused(error, str(target), what="it cannot be written")
