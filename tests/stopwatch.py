"""The processor time that something takes, in seconds of a typical machine.

A bound in seconds is only as good as the machine is known, and machines that run tests are slow, or busy with something
else. So a yardstick is laid on before and after: a fixed piece of work of the kind that is measured. What takes as long
as the yardstick takes USUAL seconds here, on whatever machine it is.
"""

import gc
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

USUAL = 0.008
"""What the yardstick takes on two idle cores of the kind that this project is developed on."""
TRIES = 5


def measure(call: Callable[[], object]) -> tuple[object, float]:
    """Return what a call returns, and the seconds that it and the processes it waited for take a usual processor.

    What the tests before have made is left out of garbage collection: looking through it takes seconds of its own.
    """
    gc.freeze()
    try:
        before = yardstick()
        begun = _processor_time()
        made = call()
        taken = _processor_time() - begun
        return made, taken * USUAL / max(before, yardstick())
    finally:
        gc.unfreeze()


def wait_for_work(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a process has worked for so many seconds of a usual machine, or has ended."""
    wanted = _worked(process) + seconds * yardstick() / USUAL
    while process.poll() is None and _worked(process) < wanted:
        time.sleep(0.02)


def _worked(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds of processor time of a process; of time where the system does not tell."""
    try:
        reported = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(reported[11]) + int(reported[12])) / os.sysconf("SC_CLK_TCK")


def yardstick() -> float:
    """Return the seconds of processor time that the work takes now, at best."""
    return min(_time_the_work() for _ in range(TRIES))


def _time_the_work() -> float:
    begun = time.process_time()
    parts = {f"part {number}": {"type": ["string", "null"], "at": number} for number in range(2_000)}
    again = json.loads(json.dumps(parts))
    assert sum(repr(part) == repr(again[name]) for name, part in parts.items()) == 2_000
    return time.process_time() - begun


def _processor_time() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system
