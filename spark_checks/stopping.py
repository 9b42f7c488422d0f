"""Runs that end early, with an account of what they did: by Ctrl-C, by SIGTERM, or when their time is up."""

from __future__ import annotations

import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERRUPTED: Final = "interrupted"
TIME_LIMIT: Final = "time limit"

_ASK_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 15
_T = TypeVar("_T")


class Stop:
    """Whether a run is to end now, and why."""

    def __init__(self, seconds: float | None = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self.signal: int | None = None

    @property
    def limited(self) -> bool:
        return self._until is not None

    @property
    def reason(self) -> str | None:
        """Return what the report says of it; None where the run is to go on."""
        if self.signal is not None:
            return INTERRUPTED
        return TIME_LIMIT if self._until is not None and time.monotonic() >= self._until else None


@contextmanager
def stopping(seconds: float | None = None) -> Iterator[Stop]:
    """A signal, or the time that is up, ends the work in the block at its next step; a second signal ends it at once.

    The time counts from here.
    """
    stop = Stop(seconds)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: FrameType | None) -> None:
        stop.signal = number
        for each, handler in before.items():
            signal.signal(each, handler)

    try:
        for number in before:
            signal.signal(number, note)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_job(session: SparkSession, job: Callable[[], _T], stop: Stop) -> _T | None:
    """Return what a job of Spark came to, or None where it was cancelled because the run is to stop.

    The job runs in a thread of its own, since no signal reaches Python while it waits for the JVM.
    """
    from pyspark import InheritableThread

    context, group = session.sparkContext, f"audit-{uuid.uuid4().hex}"
    done: list[_T] = []
    failed: list[BaseException] = []

    def work() -> None:
        context.setJobGroup(group, "audit")
        try:
            done.append(job())
        except BaseException as error:  # noqa: BLE001  it is raised below, in the thread that asked
            failed.append(error)

    thread = InheritableThread(target=work, daemon=True)
    thread.start()
    while thread.is_alive() and stop.reason is None:
        thread.join(_ASK_SECONDS)
    if thread.is_alive():
        while thread.is_alive():  # a job that has not begun yet cannot be cancelled
            context.cancelJobGroup(group)
            thread.join(_ASK_SECONDS)
        if not done:
            return None
    if failed:
        raise failed[0]
    return done[0]


def halt(session: SparkSession) -> None:
    """Cancel all jobs of a session; no task of it is running any more, or the patience for it is used up."""
    try:
        context = session.sparkContext
        context.cancelAllJobs()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while context.statusTracker().getActiveStageIds() and time.monotonic() < deadline:
            time.sleep(_ASK_SECONDS)
    except Exception:  # noqa: BLE001  the session itself may be what failed
        return
