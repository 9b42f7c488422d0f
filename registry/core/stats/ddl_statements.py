"""DDL statements of a topic, and the one that explains a change of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

MOST_STATEMENTS: Final = 1_000
MOST_CHARACTERS: Final = 2_000
_AFTER: Final = 100
"""How many offsets behind the onset a statement may stand: products send DDL and rows by different ways."""
_LATER: Final = 60_000_000
"""The same between partitions, in microseconds."""
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.|'')*+'?", re.DOTALL)
_NAME: Final = r'(?:`[^`]+`|"[^"]+"|[\w$#]+)'
_ALTERS: Final = re.compile(rf"\s*ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?({_NAME}(?:\s*\.\s*{_NAME})*)", re.IGNORECASE)
_DROPS: Final = re.compile(rf"\bDROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?({_NAME})", re.IGNORECASE)
_DROPS_SEVERAL: Final = re.compile(r"\bDROP\s*\(([^()]*)\)", re.IGNORECASE)
_NO_COLUMNS: Final = frozenset({
    "index", "key", "constraint", "foreign", "check", "partition", "subpartition", "primary", "unique", "default",
    "column", "if", "supplemental",
})  # fmt: skip
_IDENTIFIER: Final = re.compile(r'`([^`]+)`|"([^"]+)"|([\w$#]+)')


class Statement(NamedTuple):
    """One DDL statement with the coordinates of its message; the table as the message names it."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    table: str | None
    text: str


def keep_first(statements: Iterable[Statement]) -> list[Statement]:
    """Return the first statements by topic, partition and offset, up to a maximum."""
    return sorted(statements, key=lambda one: one[:3])[:MOST_STATEMENTS]


def explaining_statement(
    statements: Iterable[Statement], table: str, column: str | None, onsets: Sequence[tuple[str, int, int, int | None]]
) -> Statement | None:
    """Return the last statement about a table, and a column of it, before the onset of a finding.

    `onsets` are topic, partition, offset and time. If there is none before the onset, a statement shortly after it is
    returned.
    """
    ranked = [
        (rank, one)
        for one in statements
        if _concerns(one, table, column)
        for onset in onsets
        if (rank := _rank(one, onset)) is not None
    ]
    return min(ranked)[1] if ranked else None


def dropped_columns(statement: Statement) -> frozenset[str]:
    """Return the columns that a statement drops from its table, in lower case."""
    text = _QUOTED.sub(" ", statement.text)
    if not _ALTERS.match(text):
        return frozenset()
    found = [name for group in _DROPS_SEVERAL.findall(text) for name in _IDENTIFIER.findall(group)]
    found += [name for drop in _DROPS.findall(text) for name in _IDENTIFIER.findall(drop)[:1]]
    return frozenset(next(filter(None, one)).casefold() for one in found) - _NO_COLUMNS


def altered_table(statement: Statement) -> str:
    """Return the table that a statement alters, without its database, in lower case; empty if it names none."""
    found = _ALTERS.match(_QUOTED.sub(" ", statement.text))
    parts = _IDENTIFIER.findall(found[1]) if found else []
    return next(filter(None, parts[-1])).casefold() if parts else ""


def _concerns(statement: Statement, table: str, column: str | None) -> bool:
    named = named_in(statement.text)
    whole, own = table.casefold(), table.rpartition(".")[2].casefold()
    about = own in named or (statement.table or "").casefold() in (own, whole)
    return about and (column is None or column.casefold() in named)


@lru_cache(MOST_STATEMENTS)
def named_in(text: str) -> frozenset[str]:
    """Return the words and quoted names of a statement, without its string literals."""
    found = _IDENTIFIER.findall(_QUOTED.sub(" ", text))
    return frozenset(next(filter(None, one)).casefold() for one in found)


def _rank(statement: Statement, onset: tuple[str, int, int, int | None]) -> tuple[bool, bool, int] | None:
    """Rank a statement by its distance to an onset: earlier ones above later ones, the same partition above others."""
    topic, partition, offset, time = onset
    if statement.topic != topic:
        return None
    if statement.partition == partition:
        ahead, most = offset - statement.offset, _AFTER
    elif time is not None and statement.timestamp is not None:
        ahead, most = time - statement.timestamp, _LATER
    else:
        return None
    return None if ahead < -most else (ahead < 0, statement.partition != partition, abs(ahead))
