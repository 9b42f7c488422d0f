"""A page for each command of the command line, from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from cdc_contracts.cli.app import PROGRAM, app


def command_pages() -> dict[str, str]:
    """Return the text of each page by its name; `index` lists the commands."""
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name=PROGRAM)
    commands = {name: root.get_command(context, name) for name in root.list_commands(context)}
    pages = {
        name: "\n".join([f"# {name}", "", *_section(command, name, context, level=2)])
        for name, command in commands.items()
    }
    return {"index": _index(root, commands, context), **pages}


def _index(root: Any, commands: dict[str, Any], context: typer.Context) -> str:
    lines = ["# Commands", "", root.help, "", "| command | does |", "| --- | --- |"]
    lines += [f"| [`{name}`]({name}.md) | {cell(one.get_short_help_str(200))} |" for name, one in commands.items()]
    lines += ["", "Options of every command:", "", *_parameters(root, context)]
    return "\n".join(lines) + "\n"


def _section(command: Any, name: str, parent: typer.Context, *, level: int) -> Iterator[str]:
    """Yield the lines on a command, and on those below it."""
    context = typer.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from ("```text", usage, "```", "")
    yield from ((command.help or "").replace("\b", "").strip(), "")
    yield from _parameters(command, context)
    for below in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from ("", f"{'#' * level} {context.command_path.removeprefix(PROGRAM)} {below}", "")
        yield from _section(command.get_command(context, below), below, context, level=level + 1)


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    """Yield tables of the arguments and options of a command."""
    kinds: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            kinds[parameter.param_type_name].append(record)
    for kind, rows in kinds.items():
        if rows:
            yield from (f"| {kind} | meaning |", "| --- | --- |")
            yield from (f"| <code>{cell(form)}</code> | {cell(says)} |" for form, says in rows)
            yield ""


def cell(text: str) -> str:
    """Return a text as it has to be written in a cell of a table, one line without markup."""
    escaped = " ".join(str(text).split()).replace("\\", "\\\\")
    for mark in "|*_[]<>":
        escaped = escaped.replace(mark, {"<": "&lt;", ">": "&gt;"}.get(mark, f"\\{mark}"))
    return escaped
