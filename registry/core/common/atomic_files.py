"""Atomic files: written completely or not at all; whether they can be written is checked before any work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError, refused


def check_place(given: Path, *, kept: Sequence[Path] = ()) -> None:
    """Check that a file can be written there and that no existing one has to be kept.

    Raises UsageError or UnavailableError if it cannot.
    """
    place = place_of(given)
    if place in map(place_of, kept):
        raise UsageError(
            "this file is already used for something else in this run",
            where=str(given),
            hint="Name another file to write to.",
        )
    if place.is_dir():
        raise UsageError("this is a folder, not a file", where=str(given))
    if place.exists() and not place.is_file():
        raise UsageError("this is a pipe or a device, not a file", where=str(given))
    if not place.parent.is_dir():
        raise UsageError("there is no such folder", where=str(given.parent), hint="Create it first.")
    try:
        _aside(place).touch()
        _aside(place).unlink()
    except OSError as error:
        raise _cannot_write(given, error) from error


def check_new_place(given: Path, *, kept: Sequence[Path] = (), replace: bool) -> None:
    """Check as `check_place`, and that there is no file yet unless it is to be replaced."""
    check_place(given, kept=kept)
    if given.exists() and not replace:
        raise UsageError("the file exists already", where=str(given), hint="Choose another name, or give --replace.")


def check_folder(given: Path) -> None:
    """Check that files can be written to a folder, which need not exist yet. Raises UnavailableError otherwise."""
    try:
        place = next(one for one in (given.absolute(), *given.absolute().parents) if one.exists())
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise refused(error, str(given), what="nothing can be written there") from error


def make_folder(folder: Path) -> None:
    """Create a folder and its parents. Raises UnavailableError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(error, str(folder), what="it cannot be created") from error


def write_whole(target: Path, content: str | bytes) -> None:
    """Write a temporary file and move it into place. Raises UnavailableError if that fails."""
    with put_whole(target) as aside:
        if isinstance(content, bytes):
            aside.write_bytes(content)
        else:
            aside.write_text(content, encoding="utf-8", newline="\n")


@contextmanager
def put_whole(target: Path) -> Iterator[Path]:
    """The temporary file that the block writes is moved into place at its end, or removed. Raises UnavailableError."""
    place = target.resolve()
    aside = _aside(place)
    try:
        yield aside
        if place.exists():
            shutil.copymode(place, aside)
        aside.replace(place)
    except BaseException as error:
        with suppress(OSError):  # what went wrong first is what a person has to see
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _cannot_write(target, error) from error
        raise


def place_of(given: Path) -> Path:
    """Return the path of a file with links resolved. Raises UnavailableError if they are broken."""
    try:
        return given.resolve()
    except (OSError, RuntimeError) as error:  # a link to itself is the second to some Pythons
        raise UnavailableError(f"the link cannot be resolved: {error}", where=str(given)) from error


def _aside(place: Path) -> Path:
    return place.with_name(f".{place.name}.{os.getpid()}.part")


def _cannot_write(target: Path, error: OSError) -> UnavailableError:
    return refused(error, str(target), what="it cannot be written")
