"""What commands write: data on stdout, talk on stderr. Readable at 80 columns, and plain where it is piped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.visible import visible_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

Cell = str | int | None


def prepare() -> None:
    """Let a character that the terminal's encoding lacks be written as an escape instead of ending the run."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """Write a value to stdout as indented JSON."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=not unicode) + "\n")


def print_line(text: str = "") -> None:
    """Write a line to stdout as it is, however long."""
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(_seen(text) + "\n")


def print_text(text: str, *, first: str = "") -> None:
    """Write a paragraph to stdout, broken between words where the terminal ends; its first word may have a style."""
    from rich.text import Text

    content = Text(_seen(text))
    content.stylize(first, 0, len(text.partition(" ")[0]))
    _print(content)


def print_heading(text: str, *, first: bool = False) -> None:
    """Write a heading to stdout, under an empty line unless it is the first of all."""
    from rich.text import Text

    _print(Text(_seen(text if first else f"\n{text}"), style="bold"))


def print_table(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, fixed: int = 1) -> None:
    """Write rows under a header to stdout; long cells are broken between words. None is an empty cell.

    A header of empty texts is left out; the first `fixed` columns are never broken.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(header), header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for index, title in enumerate(header):
        table.add_column(title, overflow="fold", no_wrap=index < fixed)
    for row in rows:
        table.add_row(*(Text("" if cell is None else _seen(str(cell))) for cell in row))
    if table.row_count:
        _print(table)


def _seen(text: str) -> str:
    """Return text that can do nothing to a terminal, whatever names from messages are in it."""
    return "\n".join(visible_lines(text))


def _print(content: RenderableType) -> None:
    """Write something to stdout: in colour on a terminal, without padding where it is piped."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(content)
    text = captured.get()
    if not console.is_terminal:
        text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    sys.stdout.write(text)
