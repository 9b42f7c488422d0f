"""Pages of the documentation as tests see them: the calls of the command line in their blocks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import page_blocks
import typer
from page_blocks import Block, agrees

from cdc_contracts.cli.app import PROGRAM, app

__all__ = ["agrees"]
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = sorted(page for page in DOCS.glob("how-to/*.md") if not page.name.endswith(".zh.md"))
PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "first-steps.md", *GUIDES]
"""Pages in English; those in Chinese have the same blocks."""
_HEREDOC = re.compile(r"<<'(\w+)'(.*)\n(?:.*\n)*?\1\n")
_INLINE = re.compile(rf"`({PROGRAM} [^`\n]+)`")


@dataclass(frozen=True)
class Call:
    """One call of the command line: its arguments, the file that takes its output, and what is shown of that.

    `appends` says that the output is added to what the file holds.
    """

    arguments: tuple[str, ...]
    target: str | None
    shown: str | None
    appends: bool = False


class PageBlock(Block):
    """A block with the calls of the command line in it."""

    @property
    def calls(self) -> list[Call]:
        return list(calls_of(self)) if self.language in {"sh", "console"} else []


def blocks_of(page: Path) -> list[PageBlock]:
    return [PageBlock(**vars(block)) for block in page_blocks.blocks_of(page)]


def calls_of(block: Block) -> Iterator[Call]:
    text = _HEREDOC.sub(r"<< \1\2\n", block.text).replace("\\\n", " ")
    steps = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:] if block.language == "console" else text.splitlines()
    for step in steps:
        line, _, shown = step.partition("\n")
        for words in _simple_commands(line):
            if words and Path(words[0]).name == PROGRAM:
                arguments, target = _without_redirection(words[1:])
                yield Call(tuple(arguments), target, shown if block.language == "console" else None, ">>" in words)


def inline_calls(page: Path) -> list[list[str]]:
    """The calls that the prose of a page names, which need not be whole."""
    return [shlex.split(reported)[1:] for reported in _INLINE.findall(page.read_text(encoding="utf-8"))]


def parse(arguments: tuple[str, ...]) -> None:
    """Parse a call as the command line does, and carry out nothing. Raises its error where it is none."""
    command: Any = typer.main.get_command(app)
    name = PROGRAM
    rest = list(arguments)
    context = typer.Context(command, info_name=name)
    while hasattr(command, "commands"):
        if not rest:
            return
        name, command, rest = command.resolve_command(context, rest)
    command.make_context(name, rest, parent=context)


def unknown_words(arguments: list[str]) -> list[str]:
    """The commands and options of a call that are none."""
    command: Any = typer.main.get_command(app)
    rest = list(arguments)
    while rest and hasattr(command, "commands") and not rest[0].startswith("-"):
        if rest[0].isupper() or rest[0] not in command.commands:
            return rest[:1]
        command = command.commands[rest.pop(0)]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [
        word for word in rest if word.startswith("--") and word.partition("=")[0] not in known | {"--help", "--debug"}
    ]


def _simple_commands(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.wordchars += "$%{}@:,+…[]^\\"
    words: list[str] = []
    for word in lexer:
        if word in {"|", "&&", ";"}:
            yield words
            words = []
        else:
            words.append(word)
    yield words


def _without_redirection(words: list[str]) -> tuple[list[str], str | None]:
    for sign in (">", ">>"):
        if sign in words:
            place = words.index(sign)
            return words[:place] + words[place + 2 :], words[place + 1]
    return words, None
