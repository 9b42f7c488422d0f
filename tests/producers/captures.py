"""Captures: what producers wrote, and what the database held, as committed beside the SQL.

A capture has one record a line, a JSON object with `topic`, `partition`, `key`, `value` and `headers`. Keys and values
are the text of the bytes, null for none; bytes that are not UTF-8 are an object with their `base64`, and so are all
bytes of framed captures. Beside those is what their schema registry held.
"""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("captures")
EXPECTED = Path(__file__).with_name("expected")
SUFFIX = ".jsonl.xz"
SCHEMAS_SUFFIX = ".schemas.tar.xz"
Line = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Capture:
    """What one release of a product wrote of one database with one option set."""

    product: str
    version: str
    database: str
    options: str

    @property
    def path(self) -> Path:
        return FOLDER / self.product / self.version / self.database / f"{self.options}{SUFFIX}"

    @property
    def schemas_path(self) -> Path:
        """The packed schemas of a framed capture (`schema_registries.unpack_schemas`)."""
        return self.path.with_name(f"{self.options}{SCHEMAS_SUFFIX}")

    @property
    def is_framed(self) -> bool:
        """Whether keys and values begin with the id of their schema in a registry."""
        return self.options.endswith("-avro")

    @property
    def has_schema_block(self) -> bool:
        """Whether each message is beside the schema of its members, which has the types of columns."""
        return self.options.endswith("-schema")

    @property
    def is_flattened(self) -> bool:
        """Whether messages are rows; what they are beside that, members with two underscores say."""
        return self.options.startswith(("unwrapped", "rewritten"))

    @property
    def has_deleted_rows(self) -> bool:
        """Whether a deletion is a message with the row that was deleted."""
        return not self.options.startswith("unwrapped")


def list_captures() -> list[Capture]:
    """List the captures that are committed, in order."""
    parts = [path.relative_to(FOLDER).parts for path in FOLDER.rglob(f"*{SUFFIX}")]
    return sorted(Capture(*folders, name.removesuffix(SUFFIX)) for *folders, name in parts)


@cache
def read_records(capture: Capture) -> tuple[Line, ...]:
    """Read the records of a capture in the order in which they were sent."""
    return read_lines(capture.path)


@cache
def read_expected(database: str) -> tuple[Line, ...]:
    """Read what a database held after each statement of its SQL file (README.md says which members a line has)."""
    return read_lines(EXPECTED / f"{database}{SUFFIX}")


def bytes_of(part: str | dict[str, str] | None) -> bytes | None:
    """Return the bytes of a key or value as a capture has it."""
    if part is None:
        return None
    return part.encode() if isinstance(part, str) else base64.b64decode(part["base64"], validate=True)


def part_of(part: bytes | None, *, framed: bool) -> str | dict[str, str] | None:
    """Return the bytes of a key or value as a capture has them. Raises UnicodeDecodeError for JSON in no UTF-8."""
    if part is None or not framed:
        return None if part is None else part.decode()
    return {"base64": base64.b64encode(part).decode()}


def read_plain_lines(path: Path) -> list[Line]:
    """Read a file of JSON lines as the programs in Java write it."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_lines(path: Path) -> tuple[Line, ...]:
    return tuple(json.loads(line) for line in lzma.decompress(path.read_bytes()).splitlines())


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write lines of JSON; the same lines make the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    path.write_bytes(lzma.compress(text.encode(), preset=6 | lzma.PRESET_EXTREME))
