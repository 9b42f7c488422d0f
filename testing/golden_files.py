"""Golden files: the result of a test, stored beside it and compared with later results."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

FOLDER = "golden"
_CONTEXT = 2


@dataclass(frozen=True)
class GoldenFile:
    """Compares values with files in the folder `golden` beside a test; with `update` writes them.

    Text is compared as it is, bytes as they are, everything else as JSON; values that JSON does not have are written as
    Python writes them: `Decimal('12.10')`.
    """

    folder: Path
    test: str
    update: bool

    def __call__(self, actual: object, name: str | None = None) -> None:
        """Fail with the differences if a value is not that of the file; `name` distinguishes values of one test."""
        __tracebackhide__ = True
        text = actual if isinstance(actual, bytes | str) else _as_json(actual)
        ending = "bin" if isinstance(actual, bytes) else "txt" if isinstance(actual, str) else "json"
        path = self.folder / f"{_file_name(self.test if name is None else name)}.{ending}"
        found = text if isinstance(text, bytes) else text.encode()
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(found)
            return
        if not path.exists():
            raise AssertionError(f"there is no golden file {path}\n--cdc-update writes it")
        kept = path.read_bytes()
        if kept != found:
            raise AssertionError(f"{path} is different\n{_differences(kept, found)}\n--cdc-update accepts it")


def _differences(kept: bytes, found: bytes) -> str:
    try:
        old, new = kept.decode().splitlines(), found.decode().splitlines()
    except UnicodeDecodeError:
        return f"{len(kept)} bytes are kept, {len(found)} were found"
    return "\n".join(list(difflib.unified_diff(old, new, "kept", "found", lineterm="", n=_CONTEXT)))


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain) + "\n"


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.@-]+", "-", text).strip("-")
