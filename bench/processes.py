"""Processes as Linux reports them under `/proc`: the CPU time and the memory that they took."""

from __future__ import annotations

import os
from pathlib import Path

_PEAK = "VmHWM:"


def peak_memory(process: Path = Path("/proc/self")) -> int | None:
    """Return the most MB that a process has held in memory, None if it has none of its own, as threads of the kernel.

    `ru_maxrss` would include what the parent of a forked process held. Raises OSError if the process has ended.
    """
    _, found, rest = (process / "status").read_text().partition(_PEAK)
    return int(rest.split()[0]) // 1024 if found else None


def cpu_of_tree() -> float:
    """CPU seconds of this process and all below it, those that have ended included."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        used[int(folder.name)] = sum(int(field) for field in fields[11:15])
    mine, ticks = os.getpid(), 0
    for process, own in used.items():
        above = process
        while above not in (mine, 0, 1) and above in parents:
            above = parents[above]
        ticks += own if above == mine else 0
    return ticks / os.sysconf("SC_CLK_TCK")
