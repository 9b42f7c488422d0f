"""Run the commands of a documentation page in a shell, and report how long each takes.

    python docs/run_walk.py [NAME...]       # pages of docs/how-to; default: all walkthroughs

Each page is run in its own folder with its own virtual environment, as a reader would; `pip install
cdc-contracts` installs this checkout. The output is compared with the page. If a page reads topics at
localhost:9092, a broker is started. Exits with 1 if the output differs from the page.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from page_blocks import Block, Step, agrees, blocks_of

DOCS: Final = Path(__file__).parent
ROOT: Final = DOCS.parent
WALKS: Final = ("unknown-topic", "first-contract", "test-a-consumer")
INSTALLATION: Final = "a new virtual environment"
KAFKA: Final = "kafka"
NEEDS: Final = (None, INSTALLATION, KAFKA, "git", "pytest")
ADDRESS: Final = "localhost:9092"
_END: Final = "\x1e"
_KEPT: Final = re.compile(r"PATH|LANG|JAVA_HOME|PIP_\w+|\w+_PROXY|CDCC?_\w+", re.IGNORECASE)
_AUTHOR: Final = {
    f"GIT_{who}_{what}": "walk@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
_PACKAGE: Final = re.compile(r"'?\bcdc-contracts(\[\w+\])?'?")

Say = Callable[[str], object]


@dataclass
class Walk:
    """The wall-clock seconds of a walkthrough, and the output that differs from the page."""

    name: str
    installation: float = 0.0
    commands: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Shell:
    """A shell that keeps folder and variables from one step to the next."""

    def __init__(self, folder: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],  # noqa: S607  that of the reader
            cwd=folder, env={**kept, **_AUTHOR, "HOME": str(folder)}, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def type(self, text: str) -> tuple[str, int]:
        """Carry out a step, and return what it prints and its exit code. Raises RuntimeError if it ends the shell."""
        typed, printed = self._process.stdin, self._process.stdout
        if typed is None or printed is None:
            raise RuntimeError("the shell has no input or output")
        typed.write(f"{{ {text.rstrip()}\n}} </dev/null 2>&1; printf '{_END}%d\\n' $?\n")
        typed.flush()
        lines = []
        for line in printed:
            before, end, code = line.partition(_END)
            lines.append(before)
            if end:
                return "".join(lines), int(code)
        raise RuntimeError(f"the shell ended: {text}{''.join(lines)}")

    def close(self) -> None:
        """End the shell."""
        self._process.communicate()


def walk(page: Path, folder: Path, address: str, say: Say) -> Walk:
    """Type what a page has into a shell in a folder; `say` gets a line for each step."""
    result = Walk(page.stem)
    shell = Shell(folder)
    try:
        for block in blocks_of(page):
            if block.needs not in NEEDS:
                continue
            if block.file:
                write_file(block, folder, address)
            for step in block.steps:
                installs = block.needs == INSTALLATION
                typed = step.typed.replace(ADDRESS, address)
                begun = time.monotonic()
                printed, code = shell.type(_from_checkout(typed) if installs else typed)
                seconds = time.monotonic() - begun
                result.installation += seconds if installs else 0.0
                result.commands += 0.0 if installs else seconds
                say(f"{seconds:6.1f} s  {step.typed.strip()}")
                result.wrong += differences(step, printed.replace(address, ADDRESS), code, f"{page.name}:{block.line}")
    finally:
        shell.close()
    return result


def write_file(block: Block, folder: Path, address: str) -> None:
    """Write the file that a block is."""
    path = folder / (block.file or "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text.replace(ADDRESS, address), encoding="utf-8")


def differences(step: Step, printed: str, code: int, where: str) -> Iterator[str]:
    """Yield what is not as a page has it: a failure that it does not show, or another output."""
    if step.shown is None and code != 0:
        yield f"{where}: exit code {code}\n{step.typed}{printed}"
    if step.shown is not None and not agrees(printed, step.shown):
        yield f"{where}: another output\n{step.typed}{printed}"


def _from_checkout(typed: str) -> str:
    """Return an installation as one of this checkout, with its locked versions."""
    command, words, packages = typed.partition("pip install ")
    if not words:
        return typed
    return f"{command}{words}-c '{ROOT}/requirements.lock' " + _PACKAGE.sub(rf"'{ROOT}\1'", packages)


@contextmanager
def _broker(folder: Path, say: Say) -> Iterator[str]:
    """Run a broker inside the block, and give its address."""
    from cdc_contracts.spark_checks.kafka.broker import running_broker

    with running_broker(folder, say=say) as broker:
        yield broker.bootstrap


def main(names: list[str]) -> int:
    """Run walkthroughs, and return the exit code."""
    say = partial(print, flush=True)
    walks = []
    for name in names or WALKS:
        page = DOCS / "how-to" / f"{name}.md"
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="walk-")))
            needed = {block.needs for block in blocks_of(page)}
            address = stack.enter_context(_broker(folder / "broker", say)) if KAFKA in needed else ADDRESS
            (folder / "walk").mkdir()
            say(f"\n{page.relative_to(ROOT)}")
            walks.append(walk(page, folder / "walk", address, say))
    say("\nseconds           installation  commands")
    for one in walks:
        say(f"{one.name:16}  {one.installation:12.0f}  {one.commands:8.0f}")
    wrong = [text for one in walks for text in one.wrong]
    for text in wrong:
        sys.stderr.write(f"\n{text}\n")
    return 1 if wrong else 0


def pages_to_walk() -> list[str]:
    """Return the names of the command line, all of WALKS without one. Ends the program if a page cannot be run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(WALKS)}")
    names: list[str] = parser.parse_args().names
    for name in names:
        if name not in WALKS:
            parser.error(f"{name} is not a walkthrough. Walkthroughs are: {', '.join(WALKS)}")
    return names


if __name__ == "__main__":
    sys.exit(main(pages_to_walk()))
