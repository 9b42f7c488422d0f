"""Table families: the tables that an application has cut one table into, known by a pattern of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError

_DIGITS: Final = re.compile(r"[0-9]+")
_FEWEST_ALIKE: Final = 3
"""From this number on, tables whose names differ in nothing but digits are named together."""


@dataclass(frozen=True)
class TableFamilies:
    """The pattern of each family by its name; a pattern matches a whole name, with or without its database.

    Raises UsageError if a pattern is no regular expression.
    """

    patterns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, pattern in self.patterns.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise UsageError(f"not a regular expression: {error}", where=f"families, {name}") from error

    def family_of(self, table: str) -> str | None:
        """Return the first family that a table is of, None if it is of none."""
        own = table.rpartition(".")[2]
        fits = (name for name, pattern in self._compiled.items() if pattern.fullmatch(table) or pattern.fullmatch(own))
        return next(fits, None)

    @cached_property
    def _compiled(self) -> dict[str, re.Pattern[str]]:
        return {name: re.compile(pattern) for name, pattern in self.patterns.items()}


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
