"""Table families: the tables that an application has cut one table into, its shards, by a pattern of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError

_DIGITS: Final = re.compile(r"[0-9]+")
_MOST_PARTS: Final = 3
_MOST_KNOWN: Final = 100_000
_FEWEST_ALIKE: Final = 3
"""From this number on, tables whose names differ in nothing but digits are named together."""


@dataclass(frozen=True)
class TableFamilies:
    """The pattern of each family by its name; a pattern matches a whole name, with or without its database.

    The name is that of the one table that `decode` writes for all shards: `[DATABASE.[SCHEMA.]]TABLE`.
    Raises UsageError if a pattern is no regular expression, or a name is no name of a table.
    """

    patterns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, pattern in self.patterns.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise UsageError(f"not a regular expression: {error}", where=f"families, {name}") from error
            parts = name.split(".")
            if len(parts) > _MOST_PARTS or not all(parts):
                raise UsageError(
                    "the name of a family is that of the table of all its shards",
                    where=f"families, {name}",
                    hint="Write it as TABLE, DATABASE.TABLE or DATABASE.SCHEMA.TABLE.",
                )

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def family_of(self, table: str, *, any_case: bool = False) -> str | None:
        """Return the first family that a table is of, None if it is of none.

        `any_case` is for the names in SQL statements, which may be in another case than those of the rows.
        """
        if not self.patterns or not table:
            return None
        known = self._known[any_case]
        found = known.get(table, "")  # no family has this name
        if found == "":
            if len(known) >= _MOST_KNOWN:
                known.clear()
            own, compiled = table.rpartition(".")[2], self._compiled[any_case]
            fits = (name for name, one in compiled.items() if one.fullmatch(table) or one.fullmatch(own))
            found = known[table] = next(fits, None)
        return found

    @cached_property
    def _compiled(self) -> tuple[dict[str, re.Pattern[str]], ...]:
        return tuple(
            {name: re.compile(pattern, flags) for name, pattern in self.patterns.items()}
            for flags in (0, re.IGNORECASE)
        )

    @cached_property
    def _known(self) -> tuple[dict[str, str | None], ...]:
        return {}, {}


NO_FAMILIES: Final = TableFamilies()


def name_together(tables: Iterable[tuple[str, str | None]], noun: str = "table") -> list[str]:
    """Return what names tables, or topics, each with its family where it has one, in few words; large groups first.

    A family is named once, and so are those that differ in the digits of their names only.
    """
    groups: dict[tuple[bool, str], list[str]] = {}
    for table, family in tables:
        key = (True, family) if family is not None else (False, _DIGITS.sub("0", table))
        groups.setdefault(key, []).append(table)
    named: list[tuple[int, str]] = []
    for (of_family, group), members in groups.items():
        if of_family:
            named.append((len(members), f"{group} ({_count(members, noun)})"))
        elif len(members) < _FEWEST_ALIKE:
            named += [(1, table) for table in members]
        else:
            ordered = sorted(members, key=_by_number)
            named.append((len(members), f"{ordered[0]} … {ordered[-1]} ({_count(members, noun)})"))
    return [words for _, words in sorted(named, key=lambda entry: -entry[0])]


def _count(members: Sequence[str], noun: str) -> str:
    return f"1 {noun}" if len(members) == 1 else f"{len(members):,} {noun}s"


def _by_number(table: str) -> tuple[list[tuple[int, str]], str]:
    """Order names as their numbers are ordered, however long: `t_9` before `t_10`."""
    numbers = (digits.lstrip("0") for digits in _DIGITS.findall(table))
    return [(len(digits), digits) for digits in numbers], table
