"""Kills: the command runs as a separate process and is killed at critical points until it completes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from cdc_contracts.spark_checks.spark.spark_session import WORKER_DAEMON

COMMAND = Path(__file__).with_name("killed_command.py")
SOURCE = Path(__file__).parents[1] / ".src"
UNAVAILABLE = 3
_PATIENCE = 900
_GRACE = 20


@dataclass(frozen=True)
class Kill:
    """Who is killed, and when: around the call of a function, or some seconds after the session has begun.

    `victim`: `jvm`, `driver` (the Python process of the command), `all` of the command's processes, or `worker` (the
    Python process of one task, the first one to be seen from that moment on).
    """

    point: str
    victim: str = "all"
    trap: str | None = None
    moment: str = "before"
    call: int = 1
    among: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Ended:
    """How one process of the command ended: what it was to die of, whether it did, and what it left running."""

    kill: Kill | None
    code: int
    struck: bool
    orphans: int
    seconds: float
    said: str


@dataclass
class Command:
    """A command that is started until it ends by itself. `log` has all that its processes said."""

    arguments: tuple[str, ...]
    scratch: Path
    environment: dict[str, str] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)

    def run(self, kill: Kill | None = None) -> Ended:
        """The command has run to its end, or was killed, and none of its processes is left."""
        number = len(self.ended)
        plan, notes, output = (self.scratch / f"{number}.{kind}" for kind in ("plan", "notes", "output"))
        self.scratch.mkdir(parents=True, exist_ok=True)
        reported = asdict(kill) if kill else dict.fromkeys(one.name for one in fields(Kill))
        plan.write_text(json.dumps({**reported, "notes": str(notes)}))
        notes.touch()
        began = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), **self.environment}
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, str(COMMAND), str(plan), *self.arguments],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment, start_new_session=True,
            )  # fmt: skip
            try:
                struck = self._watch(process, kill, notes)
            finally:
                orphans = clear_session(process.pid)
                process.wait()
        ended = Ended(
            kill, process.returncode, struck, orphans, time.monotonic() - began, output.read_text(errors="replace")
        )
        self.ended.append(ended)
        return ended

    def run_to_the_end(self, kills: list[Kill], last: Kill | None = None) -> Ended:
        """The command was killed as planned, one kill after the other, and then ended by itself.

        `last` is a kill that it may survive: of a worker that has no task just then. Else it says so, with exit 3.
        """
        for kill in kills:
            check_struck(self.run(kill))
        if last is None:
            return self.run()
        ended = self.run(last)
        check_struck(ended)
        return self.run() if ended.code == UNAVAILABLE else ended

    def _watch(self, process: subprocess.Popen[bytes], kill: Kill | None, notes: Path) -> bool:
        """Wait for the end of the process; strike where that is not done from inside; say whether it was struck."""
        struck, due, deadline = False, None, time.monotonic() + _PATIENCE
        while process.poll() is None:
            assert time.monotonic() < deadline, f"the command hangs, {kill}"
            time.sleep(0.01)
            if kill is None or struck:
                continue
            reported = notes.read_text()
            if kill.trap is None and due is None and '"session"' in reported:
                due = time.monotonic() + kill.seconds
            if kill.trap is None and due is not None and time.monotonic() >= due:
                struck = strike(process.pid, kill.victim)
            if kill.trap is not None and kill.victim == "worker" and '"worker"' in reported:
                struck = strike(process.pid, "worker")
        if kill is not None and kill.trap is not None and kill.victim != "worker":
            struck = f'"{kill.victim}"' in notes.read_text()
        return struck


def check_struck(ended: Ended) -> None:
    """The kill was reached before the command had come to its end."""
    assert ended.struck, f"{ended.kill} was never reached, exit {ended.code}: {ended.said[-3000:]}"


def strike(session: int, victim: str) -> bool:
    """Kill a part of the processes of a session; say whether there was one."""
    running = processes_of(session)
    match victim:
        case "all":
            chosen = list(running)
        case "driver":
            chosen = [session]
        case "jvm":
            chosen = [pid for pid, (_, command) in running.items() if "java" in command.split("\0")[0]]
        case _:
            daemons = {pid for pid, (parent, command) in running.items() if _is_daemon(command)}
            chosen = [pid for pid, (parent, _) in running.items() if parent in daemons][:1]
    return sum(send_kill(pid) for pid in chosen) > 0


def clear_session(session: int) -> int:
    """No process of the session is left; return how many did not end by themselves in time."""
    deadline = time.monotonic() + _GRACE
    while (left := [pid for pid in processes_of(session) if pid != session]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in [*left, session]:
        send_kill(pid)
    return len(left)


def processes_of(session: int) -> dict[int, tuple[int, str]]:
    """Return the live processes of a session: parent and command line by process id."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(") ")[2].split()
                command = (folder / "cmdline").read_text()
            except (OSError, UnicodeDecodeError):
                continue
            if int(stat[3]) == session and stat[0] != "Z":
                found[int(folder.name)] = int(stat[1]), command
    return found


def send_kill(pid: int) -> bool:
    """The process is killed; say whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _is_daemon(command: str) -> bool:
    return WORKER_DAEMON in command.split("\0")
