"""How long a decode takes from the command line, cold, by each engine: `python bench/cold.py [--messages N ...]`.

Each command is a process of its own, and the engines take turns. CPU seconds are those of the command and of all it
starts, looked up every few milliseconds (Linux only). Memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONTRACT = "dts/canal@2"
ENGINES = ("local", "spark")
LOOK_SECONDS = 0.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, nargs="+", default=[20_000, 400_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| messages | engine | wall s | CPU s | memory MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for count in options.messages:
            path = Path(folder) / f"{count}.jsonl"
            call("sample", CONTRACT, "-n", str(count), "-o", str(path))
            found: dict[str, list[tuple[float, float, float]]] = {engine: [] for engine in ENGINES}
            for number in range(options.rounds):
                for engine in ENGINES:
                    target = f"{folder}/{engine}-{count}-{number}"
                    arguments = ("decode", "file", str(path), "--contract", CONTRACT, "--to", target)
                    found[engine].append(call(*arguments, "--engine", engine))
            for engine, rounds in found.items():
                wall, cpu, memory = (statistics.median(column) for column in zip(*rounds, strict=True))
                span = f"{min(one[1] for one in rounds):.1f} to {max(one[1] for one in rounds):.1f}"
                print(f"| {count:,} | {engine} | {wall:.1f} | {cpu:.1f} ({span}) | {memory:,.0f} |", flush=True)


def call(*arguments: str) -> tuple[float, float, float]:
    """The command has ended, and all that it has started; return wall and CPU seconds, and memory in MB."""
    ticks: dict[int, int] = {}
    memory, wall, began = 0, 0.0, time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "cdc_contracts.cli", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while running := look(process.pid):
        for pid, (own, held) in running.items():
            ticks[pid], memory = own, max(memory, held)
        time.sleep(LOOK_SECONDS)
        if not wall and process.poll() is not None:
            wall = time.perf_counter() - began
    if process.wait():
        raise SystemExit(f"exit {process.returncode}: {' '.join(arguments)}")
    wall = wall or time.perf_counter() - began
    return wall, sum(ticks.values()) / os.sysconf("SC_CLK_TCK"), memory * os.sysconf("SC_PAGE_SIZE") / 2**20


def look(session: int) -> dict[int, tuple[int, int]]:
    """Return the CPU ticks and the pages in memory of each process of a session."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found[int(folder.name)] = int(fields[11]) + int(fields[12]), int(fields[21])
    return found


if __name__ == "__main__":
    main()
