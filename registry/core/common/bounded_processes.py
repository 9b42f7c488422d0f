"""Bounded processes: work that may not terminate or may crash, done in a separate process with limits."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

SECONDS: Final = 5.0
"""Processor time, so that the result does not depend on how busy the machine is."""
CLOCK_FACTOR: Final = 12
"""How many times longer it may take by the clock, as other programs use the machine too."""
MEGABYTES: Final = 1024

_CHILD: Final = "from cdc_contracts.registry.core.common.bounded_processes import work; work()"


class Overrun(Exception):
    """The work took more time or memory than allowed, or its process crashed."""


def call_guarded(function: Callable[..., Any], *args: Any, seconds: float = SECONDS, **named: Any) -> Any:
    """Call a function in a separate process and return its result. Function and arguments have to be picklable.

    Raises Overrun if it does not end in time, takes too much memory, or fails.
    """
    order = pickle.dumps((function, args, named, seconds))
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(  # noqa: S603  this very program
            [sys.executable, "-c", _CHILD],
            input=order,
            capture_output=True,
            timeout=seconds * CLOCK_FACTOR,
            check=False,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        raise Overrun(f"it takes longer than {seconds:g} seconds") from None
    if hasattr(signal, "SIGXCPU") and done.returncode == -signal.SIGXCPU:
        raise Overrun(f"it takes longer than {seconds:g} seconds")
    if done.returncode != 0:
        raise Overrun("it takes too much memory, or is too deep")
    return pickle.loads(done.stdout)  # noqa: S301  from the process started above


def work() -> None:
    """Run the call read from standard input, and write its result to standard output."""
    function, args, named, seconds = pickle.loads(sys.stdin.buffer.read())  # noqa: S301  from the process that waits
    _bound(seconds)
    out = pickle.dumps(function(*args, **named))
    sys.stdout.buffer.write(out)
    sys.stdout.flush()


def _bound(seconds: float) -> None:
    """Limit the processor time and the memory of this process; beyond them the system ends it."""
    try:
        import resource
    except ImportError:  # not on every system; the timeout of the waiting process works everywhere
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
