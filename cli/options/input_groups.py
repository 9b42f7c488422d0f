"""Input groups: `audit file` and `audit topic`, with an answer where the word before the input is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.safe_text import visible


class InputGroup(TyperGroup):
    """A group whose commands are kinds of input: a file or topic in place of one is answered with the whole command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named first. Raises UsageError if that is an input."""
        given = args[0]
        if not given.startswith("-") and given not in self.list_commands(ctx):
            from cdc_contracts.registry.core.records.file_forms import LINES, ONE, PACKED, ROWS

            names = Path(given).exists() or "/" in given or given.endswith((*LINES, ROWS, *ONE, *PACKED))
            kind = "file" if names and "file" in self.list_commands(ctx) else "topic"
            raise UsageError(
                f"`{visible(given)}` is not a kind of input",
                where=ctx.command_path,
                hint=f"Say what it is: `{ctx.command_path} {kind} {visible(given)}`.",
            )
        return super().resolve_command(ctx, args)
