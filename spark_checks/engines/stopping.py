"""Stopping: runs ended early by Ctrl-C, SIGTERM or a time limit still report what they did."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeVar

from cdc_contracts.registry.core.common import signals
from cdc_contracts.registry.core.report.report_model import StopReason
from cdc_contracts.spark_checks.spark.cluster_workers import is_remote

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

INTERRUPTED: Final = "interrupted"
TIME_LIMIT: Final = "time limit"

_ASK_SECONDS: Final = 0.1
_TIMEOUT_SECONDS: Final = 15
_T = TypeVar("_T")


class _StepLeft(BaseException):
    """A signal arrived during a step, whose result is discarded."""


class Stop:
    """Whether a run has to end now, and why."""

    def __init__(self, seconds: float | None = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self.signal: int | None = None
        self._in_step = False

    @property
    def limited(self) -> bool:
        return self._until is not None

    @property
    def reason(self) -> StopReason | None:
        """Return the reason for the report; None if the run continues."""
        if self.signal is not None:
            return INTERRUPTED
        return TIME_LIMIT if self._until is not None and time.monotonic() >= self._until else None

    def note(self, number: int) -> None:
        """Record a signal; a running step is abandoned."""
        self.signal = number
        if self._in_step:
            raise _StepLeft

    def attempt(self, step: Callable[[], _T]) -> _T | None:
        """Return the result of a step, or None if a signal arrives first, as a step may take long."""
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
    """End the work in the block at its next step after a signal or a time limit; a second signal ends it at once.

    The time counts from the start of the block.
    """
    stop = Stop(seconds)
    with signals.noting(stop.note):
        yield stop


def run_job(session: SparkSession, job: Callable[[], _T], stop: Stop) -> _T | None:
    """Return the result of a Spark job, or None if it was cancelled because the run has to stop.

    The job runs in a separate thread, since no signal reaches Python while it waits for the JVM.
    """
    from pyspark import InheritableThread

    group, remote = f"audit-{uuid.uuid4().hex}", is_remote(session)
    done: list[_T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            if remote:
                session.addTag(group)
            else:
                session.sparkContext.setJobGroup(group, "audit")
            done.append(job())
        except BaseException as error:  # noqa: BLE001  it is raised below, in the thread that asked
            failed.append(error)

    # What a thread inherits is of a context; a client of Spark Connect has none.
    thread = threading.Thread(target=work, daemon=True) if remote else InheritableThread(target=work, daemon=True)
    thread.start()
    while thread.is_alive() and stop.reason is None:
        thread.join(_ASK_SECONDS)
    if thread.is_alive():
        while thread.is_alive():  # a job that has not started yet cannot be cancelled
            if remote:
                session.interruptTag(group)
            else:
                session.sparkContext.cancelJobGroup(group)
            thread.join(_ASK_SECONDS)
    if failed and stop.reason is None:
        raise failed[0]
    return done[0] if done else None  # the signal to this process may have ended the JVM as well


def halt(session: SparkSession) -> None:
    """Cancel all jobs of a session, and wait until none of its tasks runs or the timeout has passed.

    A client of Spark Connect is not told when tasks have ended, and does not wait.
    """

    def cancel() -> None:
        if is_remote(session):
            session.interruptAll()
            return
        context = session.sparkContext
        context.cancelAllJobs()
        while _count_running_tasks(context):
            time.sleep(_ASK_SECONDS)

    give_time(cancel, _TIMEOUT_SECONDS)


def _count_running_tasks(context: SparkContext) -> int:
    """Return how many tasks are running, cancelled ones included.

    A cancelled stage is no longer active, but Spark lets the Python workers of its tasks continue for some seconds
    (`spark.python.task.killTimeout`), in which they may begin to write files.
    """
    counts = context._jsc.sc().taskScheduler().runningTasksByExecutors().valuesIterator()  # noqa: SLF001  nothing else counts those
    running = 0
    while counts.hasNext():
        running += counts.next()
    return running


def give_time(work: Callable[[], object], seconds: float) -> None:
    """Wait a limited time for work that calls the JVM, whatever its outcome.

    It runs in a separate thread and so over a separate connection: an answer may still arrive on the connection of an
    interrupted thread, and the session itself may have failed.
    """

    def attempt() -> None:
        with suppress(Exception):
            work()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(seconds)
