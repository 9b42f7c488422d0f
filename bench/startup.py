"""Processor time of short commands, from the start of the process to its end.

    python bench/startup.py [--rounds N] [--only NAME ...] [TREE ...]

A tree is a checkout of this repository; without one it is this. The commands of all trees take turns, so that their
ratios hold on a machine whose speed drifts. Bytecode is compiled once, before what is measured, as installing does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

HERE = Path(__file__).parents[1]
MESSAGE = "contracts/dts/canal/v2/samples/delete.json"
DECLARED = ("--contract", "dts/canal@2")
COMMANDS = {
    "--help": ["--help"],
    "list": ["list"],
    "show": ["show", "dts/canal"],
    "check": ["check", MESSAGE, *DECLARED],
    "why": ["why", MESSAGE, *DECLARED],
    "detect": ["detect", MESSAGE],
    "audit": ["audit", "file", MESSAGE, *DECLARED, "--engine", "local"],
    "lint of one version": ["lint", "contracts/dts/canal/v2"],
    "lint": ["lint"],
}


def measure(tree: Path, arguments: Sequence[str], bytecode: str) -> tuple[float, float]:
    """Run one command of a tree, and return its user and system seconds. Raises RuntimeError where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(tree / ".src"), "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, "-m", "cdc_contracts.cli", *arguments]
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 4):  # what it found in the messages
            output.seek(0)
            raise RuntimeError(f"{tree}: {' '.join(arguments)}: {output.read().decode()}")
    return usage.ru_utime, usage.ru_stime


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="NAME")
    asked.add_argument("trees", nargs="*", type=Path, default=[HERE], metavar="TREE")
    given = asked.parse_args()
    trees = [tree.resolve() for tree in given.trees]
    times: dict[tuple[str, Path], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as bytecode:
        for number in range(given.rounds + 1):
            for name in given.only:
                for tree in trees:
                    found = measure(tree, COMMANDS[name], bytecode)
                    if number:  # the first round compiles
                        times.setdefault((name, tree), []).append(found)
    print("| command |" + "".join(f" {tree.name}: user s | range | system s |" for tree in trees))
    print("|---|" + "---|---|---|" * len(trees))
    for name in given.only:
        cells = []
        for tree in trees:
            user, system = zip(*times[name, tree], strict=True)
            cells.append(f" {median(user):.2f} | {min(user):.2f} to {max(user):.2f} | {median(system):.2f} |")
        print(f"| {name} |" + "".join(cells))


if __name__ == "__main__":
    main()
