"""Statements of the SQL files that producers are run against, in order, each with what became of its transaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).with_name("sql")
START = "-- start"
"""The line after which the rows change that a producer does not read as a snapshot."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, numbered from 1; `kind` is its first word. A statement that is undone is not committed."""

    number: int
    sql: str
    phase: str
    committed: bool = True

    @property
    def kind(self) -> str:
        return self.sql.split(maxsplit=1)[0].lower()


def read_statements(database: str) -> list[Statement]:
    """Read the SQL file of a database; the phase of a statement is `snapshot` or `stream`."""
    before, after = (FOLDER / f"{database}.sql").read_text(encoding="utf-8").split(f"\n{START}\n")
    texts = [("snapshot", sql) for sql in _cut(before)] + [("stream", sql) for sql in _cut(after)]
    return _mark_undone([Statement(number, sql, phase) for number, (phase, sql) in enumerate(texts, 1)])


def _cut(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    for sql in "\n".join(lines).split(";\n"):
        if sql.strip():
            yield sql.strip().removesuffix(";")


def _mark_undone(statements: list[Statement]) -> list[Statement]:
    """Mark what ROLLBACK undoes: the statements since BEGIN, or since the one savepoint of a transaction."""
    marked, begun, saved = list(statements), 0, 0
    for place, statement in enumerate(statements):
        words = statement.sql.lower().split()
        if words[0] == "begin":
            begun = place
        elif words[0] == "savepoint":
            saved = place
        elif words[0] == "rollback":
            first = saved if "savepoint" in words else begun
            marked[first:place] = [replace(one, committed=False) for one in marked[first:place]]
    return marked
