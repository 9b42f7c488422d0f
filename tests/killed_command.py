"""A command that is killed while it runs: `python killed_command.py PLAN ARGUMENT...`, started by `killing.py`.

The plan is JSON: `notes` is the file that is told what happened, `trap` the function whose call springs it (or null),
`moment` whether before or after that call, `call` the how many-eth call, `among` what the arguments have to hold, and
`victim` who dies then. The program knows nothing of this: its functions are wrapped from outside.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path


def main(plan_file, *arguments):
    """The command runs with the trap of the plan set."""
    plan = json.loads(Path(plan_file).read_text())
    note = functools.partial(write_note, Path(plan["notes"]))
    wrap("cdc_contracts.spark_checks.spark.spark_session:open_session", "after", lambda *_: note("session"))
    if plan["trap"]:
        calls = 0

        def spring(*reported):
            nonlocal calls
            if plan["among"] is None or any(plan["among"] in str(one) for one in reported):
                calls += 1
                if calls == plan["call"]:
                    note(plan["victim"])
                    kill(plan["victim"])

        wrap(plan["trap"], plan["moment"], spring)
    from cdc_contracts.cli.app import main as run_command

    sys.exit(run_command(arguments))


def wrap(target, moment, act):
    """`module:name` or `module:Class.name`, as it is looked up there, also calls `act` with its arguments."""
    owner, name, found = find(target)

    @functools.wraps(found)
    def wrapped(*reported, **more):
        if moment == "before":
            act(*reported, *more.values())
        result = found(*reported, **more)
        if hasattr(result, "__next__"):
            result = iter(list(result))  # a generator has not begun yet, and the moment after it is after its end
        if moment == "after":
            act(*reported, *more.values())
        return result

    setattr(owner, name, wrapped)


def find(target):
    """What holds the function that is named, its name there, and the function."""
    module, _, path = target.partition(":")
    *owners, name = path.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    return owner, name, vars(owner)[name]  # not inherited: what is wrapped is what is there


def kill(victim):
    """The JVM, this process, or both are gone; a worker is killed by who watches from outside."""
    if victim in ("jvm", "all"):
        from pyspark import SparkContext

        jvm = SparkContext._gateway.proc
        jvm.send_signal(signal.SIGKILL)
        jvm.wait()
    if victim in ("driver", "all"):
        os.kill(os.getpid(), signal.SIGKILL)


def write_note(file, what):
    """The file has another line, and it is there even if this process is not any more."""
    with file.open("a") as notes:
        notes.write(json.dumps({"what": what, "at": time.time()}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
