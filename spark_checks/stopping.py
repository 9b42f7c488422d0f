"""Stopping runs early, with a report of what they did: by Ctrl-C, by SIGTERM, or when their time is up."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeVar

from cdc_contracts.registry.common import signals
from cdc_contracts.registry.report.report_model import StopReason

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

INTERRUPTED: Final = "interrupted"
TIME_LIMIT: Final = "time limit"

_ASK_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 15
_T = TypeVar("_T")


class _StepLeft(BaseException):
    """A signal came in the middle of a step, of which nothing is kept."""


class Stop:
    """Whether a run is to end now, and why."""

    def __init__(self, seconds: float | None = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self.signal: int | None = None
        self._in_step = False

    @property
    def limited(self) -> bool:
        return self._until is not None

    @property
    def reason(self) -> StopReason | None:
        """Return what the report says of it; None if the run is to go on."""
        if self.signal is not None:
            return INTERRUPTED
        return TIME_LIMIT if self._until is not None and time.monotonic() >= self._until else None

    def note(self, number: int) -> None:
        """Note a signal; a step that is under way is abandoned."""
        self.signal = number
        if self._in_step:
            raise _StepLeft

    def attempt(self, step: Callable[[], _T]) -> _T | None:
        """Return the result of a step, or None if a signal came first: a step may take longer than anybody waits."""
        try:
            self._in_step = True
            done = step()
            self._in_step = False
        except _StepLeft:
            return None
        finally:
            self._in_step = False
        return done


@contextmanager
def stopping(seconds: float | None = None) -> Iterator[Stop]:
    """A signal, or the time that is up, ends the work in the block at its next step; a second signal ends it at once.

    The time counts from here.
    """
    stop = Stop(seconds)
    with signals.noting(stop.note):
        yield stop


def run_job(session: SparkSession, job: Callable[[], _T], stop: Stop) -> _T | None:
    """Return the result of a Spark job, or None if it was cancelled because the run is to stop.

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
    if failed and stop.reason is None:
        raise failed[0]
    return done[0] if done else None  # what ends this process may have ended the JVM as well


def halt(session: SparkSession) -> None:
    """Cancel all jobs of a session; no task of it is running any more, or the timeout has passed."""

    def cancel() -> None:
        context = session.sparkContext
        context.cancelAllJobs()
        while _count_running_tasks(context):
            time.sleep(_ASK_SECONDS)

    give_time(cancel, _PATIENCE_SECONDS)


def _count_running_tasks(context: SparkContext) -> int:
    """Return how many tasks are running, cancelled ones included.

    A stage that was cancelled is not active any more, but Spark lets the Python workers of its tasks go on for some
    seconds (`spark.python.task.killTimeout`), in which they may begin to write files.
    """
    counts = context._jsc.sc().taskScheduler().runningTasksByExecutors().valuesIterator()  # noqa: SLF001  nothing else counts those
    running = 0
    while counts.hasNext():
        running += counts.next()
    return running


def give_time(work: Callable[[], object], seconds: float) -> None:
    """Let work that talks to the JVM end within a time, whatever becomes of it.

    It has a thread of its own, and with that a connection of its own: an answer may still come in on that of a thread
    that was interrupted, and the session itself may be what failed.
    """

    def attempt() -> None:
        with suppress(Exception):
            work()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(seconds)
