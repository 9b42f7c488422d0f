"""Console: data goes to stdout, messages go to stderr. Readable at 80 columns, without styles in a pipe."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common.errors import CdcContractsError, refused
from cdc_contracts.registry.core.common.safe_text import visible_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

Cell = str | int | None
_NUMBER: Final = re.compile(r"[-0-9.,]*")
"""Numbers, ranges of them, and nothing."""
_GAP: Final = 2
_LEAST: Final = 12
"""The narrowest a column of words may become before names beside it are broken."""
_CONTINUED: Final = " \\"
_WORD: Final = r"""(?:\$'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|[^\s'"])+"""
_PARTS: Final = re.compile(rf"--?[a-z][a-z-]* {_WORD}|{_WORD}")
"""The parts of a shell command that stay on one line: words, and options with their values."""


class ReaderGone(CdcContractsError):
    """The reader of stdout is gone, for example `head` after enough lines: nothing is reported."""

    exit_code = 141


class _State:
    """What this process was asked to print, and whether it has printed anything."""

    quiet = False
    written = False


def prepare(*, quiet: bool = False) -> None:
    """Make stdout and stderr escape characters that the terminal's encoding lacks, and drop notes if `quiet`."""
    _State.quiet = quiet
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def open_closed_streams() -> None:
    """Open those of stdin, stdout and stderr that are closed on the null device.

    Otherwise the file that is opened next would take the place of one, and get what libraries print there.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115  open as long as the process
            if stream.fileno() == number:
                os.set_inheritable(number, True)
            setattr(sys, name, stream)


def print_json(value: Any) -> None:
    """Write a value to stdout as indented JSON."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    write(json.dumps(value, indent=2, ensure_ascii=not unicode) + "\n")


def print_line(text: str = "") -> None:
    """Write a line to stdout unchanged, however long."""
    write(text + "\n")


def write(text: str) -> None:
    """Write to stdout. Raises ReaderGone or UnavailableError if it cannot be written to."""
    with _writing():
        sys.stdout.write(text)


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout. Raises ReaderGone or UnavailableError if it cannot be written to."""
    with _writing():
        sys.stdout.buffer.write(data)


def flush() -> None:
    """Flush stdout. Raises ReaderGone or UnavailableError if it cannot be written to."""
    with _writing():
        sys.stdout.flush()


def drop_output() -> None:
    """Discard unwritten output, which Python would otherwise try to write again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_quiet() -> bool:
    """Return whether progress is left out."""
    return _State.quiet


def has_written() -> bool:
    """Return whether anything was written to stdout or stderr."""
    return _State.written


def report_failure(error: CdcContractsError) -> int:
    """Write a failure to stderr, and return its exit code."""
    say(f"error: {error}")
    return error.exit_code


def note(text: str) -> None:
    """Write a line about progress to stderr, nothing with `-q`. Raises ReaderGone."""
    if not _State.quiet:
        say(text)


def say(text: str) -> None:
    """Write a line to stderr, after what stdout has; a run continues if stderr is closed. Raises ReaderGone."""
    _State.written = True
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # one that fails is reported where it is written to
            sys.stdout.flush()
    try:
        sys.stderr.write(_seen(text) + "\n")
    except BrokenPipeError:
        raise ReaderGone("stderr is closed") from None
    except OSError:
        return


def print_text(text: str, *, first: str = "") -> None:
    """Write a paragraph to stdout, wrapped at the width of the terminal; its first word may have a style."""
    content = _text(_seen(text))
    content.stylize(first, 0, len(text.partition(" ")[0]))
    _print(content)


def print_heading(text: str, *, first: bool = False) -> None:
    """Write a heading to stdout, after an empty line unless it is the first."""
    from rich.text import Text

    _print(Text(_seen(text if first else f"\n{text}"), style="bold"))


def print_table(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, fixed: int = 1) -> None:
    """Write rows under a header to stdout; long cells are wrapped between words. None is an empty cell.

    A header of empty texts is left out. The first `fixed` columns are wrapped only if the others would have no room.
    Numbers are not wrapped: if they do not fit next to each other, they are listed below their row.
    """
    from rich.table import Table

    shown = [["" if cell is None else _seen(str(cell)) for cell in row] for row in rows]
    if not shown:
        return
    columns = list(zip(header, *shown, strict=True))
    numbers = {index for index, (_, *cells) in enumerate(columns) if all(_NUMBER.fullmatch(cell) for cell in cells)}
    width = _console().width
    if any(header) and numbers and _needed(columns, numbers) > width:
        for name, *cells in shown:
            _print(_text(name))
            facts = [(f"  {title}", cell) for title, cell in zip(header[1:], cells, strict=True) if cell]
            print_table(["", ""], facts)
        return
    while fixed and _needed(columns, numbers | set(range(fixed))) > width:
        fixed -= 1
    table = Table(box=None, show_header=any(header), header_style="bold", padding=(0, _GAP, 0, 0), pad_edge=False)
    for index, title in enumerate(header):
        table.add_column(title, overflow="fold", no_wrap=index in numbers or index < fixed)
    for row in shown:
        table.add_row(*map(_text, row))
    _print(table)


def continued(command: str, *, beside: str) -> str:
    """Return a shell command for a table, right of a cell: a line that is too long is continued after a backslash.

    An option stays on a line with its value.
    """
    room = _console().width - len(beside) - _GAP
    parts = _PARTS.findall(command)
    if len(command) <= room or " ".join(parts) != command:
        return command
    room -= len(_CONTINUED)
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + 1 + len(part) > room:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".lstrip()
    return f"{_CONTINUED}\n".join(lines)


@contextmanager
def _writing() -> Iterator[None]:
    _State.written = True
    try:
        yield
    except BrokenPipeError:
        drop_output()
        raise ReaderGone("stdout is closed") from None
    except OSError as error:
        drop_output()
        raise refused(error, what="standard output cannot be written") from None


def _needed(columns: Sequence[Sequence[str]], whole: AbstractSet[int]) -> int:
    """Return the minimum width of a table of which some columns are not wrapped."""
    from rich.cells import cell_len

    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]
    least = [width if index in whole else min(width, _LEAST) for index, width in enumerate(widths)]
    return sum(least) + _GAP * (len(least) - 1)


def _seen(text: str) -> str:
    """Return text without control characters, whatever names from messages it contains."""
    return "\n".join(visible_lines(text))


def _text(shown: str) -> Text:
    from rich.text import Text

    return Text(shown)


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def _print(content: RenderableType) -> None:
    """Write content to stdout: in colour on a terminal, without padding in a pipe."""
    console = _console()
    with _writing(), console.capture() as captured:
        console.print(content)
    text = captured.get()
    if not console.is_terminal:
        text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    write(text)
