"""Reproduce commands in a report: commands that show a finding again, or detect the contract."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Final

from cdc_contracts.registry.core.records.file_forms import LINES, PACKED, ROWS
from cdc_contracts.registry.core.report.report_model import ReportSource

_PROGRAM: Final = "cdc-contracts"
_STDIN: Final = "-"


def why_command(source: ReportSource, topic: str, partition: int, offset: int, contract: str | None) -> str | None:
    """Return the command that explains one record of a source; None if it cannot be read again by itself.

    A record that no contract was found for (its bytes are no message) is explained without one.
    """
    words = None
    if source.kind == "kafka":
        words = ["topic", topic, "-b", source.bootstrap or "", *_at(partition, offset)]
    elif source.kind == "file":
        words = _in_file(list(source.paths or ()), topic, partition, offset)
    return None if words is None else _join(["why", *words, *_read_by(source, contract)])


def audit_command(source: ReportSource, topic: str, contract: str | None) -> str | None:
    """Return the command that audits the range of a topic again, or the files; None if they cannot be read again.

    Reading the range again is the only way to a finding that depends on many records.
    """
    ranges = source.ranges or {}
    words = None
    if source.kind == "kafka":
        words = ["topic", topic, "-b", source.bootstrap or ""]
    elif source.kind == "file" and _STDIN not in (source.paths or ()):
        words = ["file", *map(_as_path, source.paths or ())]
    if words is None:
        return None
    if topic in ranges and (source.kind == "kafka" or len(ranges) == 1):
        words += ["--from", ranges[topic].start, "--until", ranges[topic].end]
    return _join(["audit", *words, "--engine", "local", *_read_by(source, contract)])


def detect_command(source: ReportSource, topics: Iterable[str]) -> str | None:
    """Return the command that detects which contract a source follows; None if it cannot be read again."""
    words = None
    if source.kind == "kafka":
        words = ["topic", *dict.fromkeys(topics), "-b", source.bootstrap or ""]
    elif source.kind == "file":
        words = [_as_path(path) for path in source.paths or ()]
    return None if not words or words == [_STDIN] else _join(["detect", *words, *_in_folders(source)])


def _read_by(source: ReportSource, contract: str | None) -> Iterator[str]:
    """Yield the options that say how messages are read: the contracts, the table contracts, and the parameters."""
    if contract:
        yield from ("--contract", contract)
    yield from _in_folders(source)
    if source.schema_registry:
        yield from ("--schema-registry", source.schema_registry)
    if source.tables:
        yield from ("--tables", _as_path(source.tables))
    for name, value in sorted((source.parameters or {}).items()):
        yield from ("--parameter", f"{name}={value}")


def _in_folders(source: ReportSource) -> Iterator[str]:
    """Yield the options that name the folders of contracts beside those shipped."""
    for folder in source.contract_folders or ():
        yield from ("--contracts", _as_path(folder))


def _in_file(paths: list[str], topic: str, partition: int, offset: int) -> list[str] | None:
    """Name the record in the one file that it can be in; files below a folder are not known by name here."""
    named = [path for path in paths if PurePath(path).name == topic]
    if len(named) == 1 and _has_several(PurePath(named[0]), offset):
        return [_as_path(named[0]), "--line", str(offset + 1)]
    if len(paths) == 1 and PurePath(paths[0]).suffix == ROWS:
        return [_as_path(paths[0]), *_at(partition, offset)]
    if len(named) == 1 and PurePath(named[0]).suffix != ROWS:
        return [_as_path(named[0])]
    return None


def _has_several(path: PurePath, offset: int) -> bool:
    """Return whether a file has messages with numbers: lines, or the elements of an array."""
    return path.suffix != ROWS and (path.suffix in LINES or path.suffix in PACKED or offset > 0)


def _at(partition: int, offset: int) -> list[str]:
    return ["--partition", str(partition), "--offset", str(offset)]


def _as_path(path: str) -> str:
    """Return a path that no command takes for an option."""
    return f"./{path}" if path.startswith("-") and path != _STDIN else path


def _join(words: Iterable[str]) -> str:
    """Return words as a command on one line, to be copied into a shell."""
    return " ".join(_quote(word) for word in (_PROGRAM, *words))


def _quote(word: str) -> str:
    """Return a word as bash and zsh read it, in printable characters only: any other would not survive a terminal."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = (char if char.isprintable() and char not in "\\'" else _escape(char) for char in word)
    return f"$'{''.join(escaped)}'"


def _escape(char: str) -> str:
    return f"\\{char}" if char in "\\'" else char.encode("unicode_escape").decode("ascii")
