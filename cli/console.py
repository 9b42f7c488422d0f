"""What commands write: data on stdout, talk on stderr. Readable at 80 columns, and plain where it is piped."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.visible import visible_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

Cell = str | int | None
_NUMBER: Final = re.compile(r"[-0-9.,]*")
"""Numbers, ranges of them, and nothing."""
_GAP: Final = 2
_LEAST: Final = 12
"""So narrow a column of words may become before names beside it are broken."""


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
    content = _text(_seen(text))
    content.stylize(first, 0, len(text.partition(" ")[0]))
    _print(content)


def print_heading(text: str, *, first: bool = False) -> None:
    """Write a heading to stdout, under an empty line unless it is the first of all."""
    from rich.text import Text

    _print(Text(_seen(text if first else f"\n{text}"), style="bold"))


def print_table(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, fixed: int = 1) -> None:
    """Write rows under a header to stdout; long cells are broken between words. None is an empty cell.

    A header of empty texts is left out. Columns of numbers are never broken, and the first `fixed` columns only where
    the others would have no room.
    """
    from rich.table import Table

    shown = [["" if cell is None else _seen(str(cell)) for cell in row] for row in rows]
    if not shown:
        return
    columns = list(zip(header, *shown, strict=True))
    numbers = {index for index, (_, *cells) in enumerate(columns) if all(_NUMBER.fullmatch(cell) for cell in cells)}
    width, whole = _share_width(columns, numbers, fixed)
    table = Table(box=None, show_header=any(header), header_style="bold", padding=(0, _GAP, 0, 0), pad_edge=False)
    for index, title in enumerate(header):
        table.add_column(title, overflow="fold", no_wrap=index in whole)
    for row in shown:
        table.add_row(*map(_text, row))
    _print(table, width)


def _share_width(columns: Sequence[Sequence[str]], numbers: set[int], fixed: int) -> tuple[int, set[int]]:
    """Return how wide a table is at most, and which of its columns are not to be broken.

    It is wider than the terminal only where numbers would not fit otherwise.
    """
    from rich.cells import cell_len

    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]

    def needed(whole: set[int]) -> int:
        least = [width if index in whole else min(width, _LEAST) for index, width in enumerate(widths)]
        return sum(least) + _GAP * (len(least) - 1)

    given = _console().width
    while fixed and needed(numbers | set(range(fixed))) > given:
        fixed -= 1
    return max(given, needed(numbers)) if numbers else given, numbers | set(range(fixed))


def _seen(text: str) -> str:
    """Return text that can do nothing to a terminal, whatever names from messages are in it."""
    return "\n".join(visible_lines(text))


def _text(shown: str) -> Text:
    from rich.text import Text

    return Text(shown)


def _console(width: int | None = None) -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=width)


def _print(content: RenderableType, width: int | None = None) -> None:
    """Write something to stdout: in colour on a terminal, without padding where it is piped."""
    console = _console(width)
    with console.capture() as captured:
        console.print(content)
    text = captured.get()
    if not console.is_terminal:
        text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    sys.stdout.write(text)
