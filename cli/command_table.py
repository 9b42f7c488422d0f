"""The table of commands: name, where the command is, one line of help. A command is imported where it is asked for.

To import all commands and read the annotations of all their options takes longer than many a command itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup


@dataclass(frozen=True)
class Command:
    """A command, or group of commands: its module in this package, its name there, and one line of help."""

    module: str
    name: str
    help: str


class CommandTable(TyperGroup):
    """The commands of a table, as the group that typer makes of an app."""

    table: Mapping[str, Command] = {}

    @classmethod
    def of(cls, table: Mapping[str, Command]) -> type[CommandTable]:
        """Return the group of a table, as a class, which is what typer takes."""
        return type(cls.__name__, (cls,), {"table": table})

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": {}})
        self.commands: Any = _Commands(self.table)  # typer changes none

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        return list(self.table)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands by the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in self.table.items()])


class _Commands(Mapping[str, Any]):
    """Commands by name, each made when it is looked up."""

    def __init__(self, table: Mapping[str, Command]) -> None:
        self._table = table
        self._command = cache(self._make)

    def __getitem__(self, name: str) -> Any:
        return self._command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def _make(self, name: str) -> Any:
        """Return a command as typer makes it. Raises KeyError if there is none of the name."""
        one = self._table[name]
        found = getattr(import_module(f"{__package__}.{one.module}"), one.name)
        holder = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
        if isinstance(found, typer.Typer):
            holder.add_typer(found, name=name, short_help=one.help)
        else:
            holder.command(name, short_help=one.help)(found)
        return typer.main.get_group(holder).commands[name]
