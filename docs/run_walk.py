"""Run the commands of documentation pages on two machines, and write how many seconds each takes.

    python docs/run_walk.py [PAGE...] [--machine NAME]     # default: all pages, on a machine without Java and on this
    python docs/run_walk.py --list                          # run nothing, and write the steps that the pages have now

The pages are run as a newcomer reads them: README, First steps and Install in a copy of this checkout, each guide in an
empty folder with its own virtual environment and with the variables that Install exports. One machine has no Java and
no C compiler on its PATH. What a block needs and a machine does not have is named instead of seconds. If a page reads
topics at localhost:9092, a broker is started. docs/reference/first-contact.md gets the seconds; exits with 1 if an
output differs from that of the page.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from page_blocks import Block, Step, agrees, blocks_of
from walk_machines import KAFKA, MACHINES, Machine
from walk_page import WALKED, Figures, name_of, places_of, read_figures, seconds_of, write_page

ROOT: Final = Path(__file__).parents[1]
IN_CHECKOUT: Final = ("README", "first-steps", "install")
EXPORTED: Final = "PIP_FIND_LINKS"
"""The variable that Install exports for the shells of all guides."""
ADDRESS: Final = "localhost:9092"
_END: Final = "\x1e"

Say = Callable[[str], None]


@dataclass
class Walk:
    """The seconds of each step, or why it was not run; and the output that differs from the page."""

    figures: Figures = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class Shell:
    """A shell that keeps folder and variables from one step to the next."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],  # noqa: S607  that of the reader
            cwd=folder, env=environment, text=True, encoding="utf-8",
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


def walk(page: Path, machine: Machine, shell: Shell, folder: Path, address: str, say: Say) -> Walk:
    """Type what a page has into a shell in a folder; `say` gets a line for each step."""
    result = Walk()
    places = iter(places_of(page))
    for block in blocks_of(page):
        obstacle = machine.obstacle(block.needs)
        if block.file and not obstacle:
            write_file(block, folder, address)
        for step in block.steps:
            place = next(places)
            if obstacle:
                result.figures[place, machine.name] = obstacle
                say(f"  not run  {place.step}: needs {obstacle}")
                continue
            begun = time.monotonic()
            printed, code = shell.type(step.typed.replace(ADDRESS, address))
            seconds = time.monotonic() - begun
            result.figures[place, machine.name] = f"{seconds:.1f}"
            say(f"{seconds:7.1f} s  {place.step}")
            where = f"{page.name}:{block.line}, {machine.name}"
            result.wrong += differences(step, printed.replace(address, ADDRESS), code, where)
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


@contextmanager
def _broker(folder: Path, say: Say) -> Iterator[str]:
    """Run a broker inside the block, and give its address."""
    from cdc_contracts.spark_checks.kafka.broker import running_broker

    with running_broker(folder, say=say) as broker:
        yield broker.bootstrap


def copy_checkout(folder: Path) -> None:
    """Copy the files of this checkout that git knows, as they are now."""
    folder.mkdir()
    files = subprocess.Popen(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE)  # noqa: S607
    copy = ["tar", "--create", "--null", "--files-from=-"]
    packed = subprocess.Popen(copy, cwd=ROOT, stdin=files.stdout, stdout=subprocess.PIPE)
    subprocess.run(["tar", "--extract"], cwd=folder, stdin=packed.stdout, check=True)  # noqa: S607
    if files.wait() or packed.wait():
        raise SystemExit("the checkout could not be copied")


def walk_machine(machine: Machine, pages: Iterable[Path], say: Say) -> Walk:
    """Walk pages on a machine, and write the figures of each; Install is walked before the first guide in any case."""
    found = Walk()
    with tempfile.TemporaryDirectory(prefix="walk-") as scratch:
        environment = machine.environment(Path(scratch))
        checkout = Path(scratch, "checkout")
        copy_checkout(checkout)
        for page in with_installation(pages):
            with ExitStack() as stack:
                folder = checkout if page.stem in IN_CHECKOUT else Path(scratch, page.stem)
                folder.mkdir(exist_ok=True)
                needed = {block.needs for block in blocks_of(page) if not machine.obstacle(block.needs)}
                asks = any(need and need.startswith(KAFKA) for need in needed)
                address = stack.enter_context(_broker(Path(scratch, f"broker-{page.stem}"), say)) if asks else ADDRESS
                say(f"\n{name_of(page)}, machine with {machine.name}")
                shell = Shell(folder, environment)
                stack.callback(shell.close)
                result = walk(page, machine, shell, folder, address, say)
                if page.stem == "install":
                    environment[EXPORTED] = shell.type(f"echo ${EXPORTED}")[0].strip()
                write_page(read_figures() | result.figures)
                found.figures |= result.figures
                found.wrong += result.wrong
    return found


def with_installation(pages: Iterable[Path]) -> list[Path]:
    """Return pages in the order of a walk, with Install before any guide."""
    asked = set(pages)
    guides = any(page.stem not in IN_CHECKOUT for page in asked)
    return [page for page in WALKED if page in asked or (guides and page.stem == "install")]


def main(pages: list[Path], machines: list[Machine]) -> int:
    """Walk pages on machines, and return the exit code."""
    say = partial(print, flush=True)
    wrong = []
    write_page(read_figures())
    for machine in machines:
        found = walk_machine(machine, pages, say)
        wrong += found.wrong
        say(f"\n{seconds_of(found.figures.values()):.0f} s on a machine with {machine.name}")
    for text in wrong:
        sys.stderr.write(f"\n{text}\n")
    return 1 if wrong else 0


def parse_arguments() -> tuple[list[Path], list[Machine]]:
    """Return the pages and machines of the command line, by default all. Ends the program if one is not known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pages = {page.stem: page for page in WALKED}
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"any of {', '.join(pages)}")
    parser.add_argument("--machine", choices=[one.name for one in MACHINES])
    parser.add_argument("--list", action="store_true", help="run nothing, only renew the list of steps")
    given = parser.parse_args()
    for name in given.pages:
        if name not in pages:
            parser.error(f"{name} is not walked. Pages are: {', '.join(pages)}")
    machines = [one for one in MACHINES if given.machine in {None, one.name} and not given.list]
    return [pages[name] for name in given.pages] or list(WALKED), machines


if __name__ == "__main__":
    sys.exit(main(*parse_arguments()))
