"""The command table: name, module and one line of help of each command. A command is imported when it is looked up.

Importing all commands and reading the annotations of all their options takes longer than many commands themselves.
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
    """A command or group of commands: its module in this package, its name there, and one line of help."""

    module: str
    name: str
    help: str


class CommandTable(TyperGroup):
    """A typer group with the commands of a table."""

    table: Mapping[str, Command] = {}

    @classmethod
    def of(cls, table: Mapping[str, Command]) -> type[CommandTable]:
        """Return the group of a table as a class, which typer expects."""
        return type(cls.__name__, (cls,), {"table": table})

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": {}})
        self.commands: Any = _Commands(self.table)  # typer changes none

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        return list(self.table)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in self.table.items()])


class _Commands(Mapping[str, Any]):
    """Commands by name, each created when it is looked up."""

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
        """Return the typer command of a name. Raises KeyError if there is none."""
        one = self._table[name]
        found = getattr(import_module(f"{__package__}.{one.module}"), one.name)
        holder = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
        if isinstance(found, typer.Typer):
            holder.add_typer(found, name=name, short_help=one.help)
        else:
            holder.command(name, short_help=one.help)(found)
        return typer.main.get_group(holder).commands[name]
