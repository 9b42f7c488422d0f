"""The command that shows one record of a report again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

_PROGRAM: Final = "cdc-contracts"
_LINES: Final = (".jsonl", ".ndjson")
_ROWS: Final = ".parquet"


def why_command(source: Mapping[str, Any], topic: str, partition: int, offset: int, contract: str) -> str | None:
    """Return the command that explains one record of a source; None where it cannot be read again by itself."""
    words = None
    if source.get("kind") == "kafka":
        words = ["topic", topic, "-b", str(source.get("bootstrap", "")), *_at(partition, offset)]
    elif source.get("kind") == "file":
        words = _in_file([str(path) for path in source.get("paths", ())], topic, partition, offset)
    return None if words is None else shlex.join([_PROGRAM, "why", *words, "--contract", contract])


def _in_file(paths: list[str], topic: str, partition: int, offset: int) -> list[str] | None:
    """Name the record in the one file that it can be in; files below a folder are not known by name here."""
    named = [path for path in paths if PurePath(path).name == topic]
    if len(named) == 1 and PurePath(named[0]).suffix in _LINES:
        return [named[0], "--line", str(offset + 1)]
    if len(paths) == 1 and PurePath(paths[0]).suffix == _ROWS:
        return [paths[0], *_at(partition, offset)]
    if len(named) == 1 and PurePath(named[0]).suffix != _ROWS:
        return named
    return None


def _at(partition: int, offset: int) -> list[str]:
    return ["--partition", str(partition), "--offset", str(offset)]
