"""Cluster workers: how many tasks a session runs at once, and whether its workers can do the work at all."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from cdc_contracts import __version__
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.engine.native.native_library import describe_native
from cdc_contracts.spark_checks.spark.reminders import reminding
from cdc_contracts.spark_checks.spark.spark_session import is_local

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

UNKNOWN: Final = "0+unknown"
"""The release of a package that lies somewhere and was not installed."""
GUIDE: Final = "Read in docs/how-to/cluster.md how to install or ship it."
WAITING_SECONDS: Final = 600
"""How long workers may take to come: machines of a cluster that grows have to start first."""
_SILENCE_SECONDS: Final = 10
_ASK_SECONDS: Final = 0.1
_FOUND: Final = "version string, native string"
_ENDING: Final = re.compile(r"^\s*(?:\w+\.)*(\w*(?:Error|Exception)): (.+)$", re.MULTILINE)


def count_slots(session: SparkSession) -> int:
    """Return how many tasks the session runs at once: on the executors that are there now, or that its settings name.

    Executors of a cluster come after the session has started, or when there is work.
    """
    get = partial(session.conf.get, default=None)
    cores = int(get("spark.executor.cores") or 1)
    named = [int(get("spark.cores.max") or 0), int(get("spark.executor.instances") or 0) * cores]
    if get("spark.dynamicAllocation.enabled") == "true":
        named.append(int(get("spark.dynamicAllocation.maxExecutors") or 0) * cores)
    return max(_parallelism(session), *named)


def is_remote(session: SparkSession) -> bool:
    """Return whether a session is a client of Spark Connect, which has neither a context nor a JVM."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _parallelism(session: SparkSession) -> int:
    if not is_remote(session):
        return session.sparkContext.defaultParallelism
    return _remote_parallelism(session)


@lru_cache(maxsize=4)
def _remote_parallelism(session: SparkSession) -> int:
    """Return how many tasks a server runs at once; asking is a job of Spark, so a session is asked once."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls them

    # A plan is cut into as many tasks as the server runs at once; nothing else tells.
    return session.range(1_000_000).select(F.spark_partition_id()).distinct().count()


def check_workers(session: SparkSession, say: Callable[[str], None]) -> None:
    """Look, before anything is read, whether workers of a cluster import the same release of this package.

    Where they validate in Python because the native part is not there, that is said: it takes four times as long.
    Raises UnavailableError if no worker comes, or one cannot import the package or imports another release.
    """
    if not is_remote(session) and is_local(session.sparkContext.master or ""):
        return
    rows = _ask(session, say)
    others = sorted({str(row.version) for row in rows} - {__version__, UNKNOWN})
    if others and __version__ != UNKNOWN:
        raise UnavailableError(
            f"the workers have cdc-contracts {', '.join(others)}, and this is {__version__}",
            where="Spark workers",
            hint=f"Install the same release in both places. {GUIDE}",
        )
    if slow := sorted({str(row.native) for row in rows} - {"native"}):
        say(f"workers: fast validator: {', '.join(slow)}; with the native part an audit takes a quarter of the time")


def _ask(session: SparkSession, say: Callable[[str], None]) -> list[Row]:
    """Return what workers say of themselves; asked in a thread, since a signal has to reach a wait for executors."""
    answers: list[list[Row]] = []
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            answers.append(session.range(0, 2, 1, 2).mapInArrow(look, _FOUND).collect())
        except BaseException as error:  # noqa: BLE001  it is raised below, in the thread that asked
            failures.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(min(_SILENCE_SECONDS, WAITING_SECONDS))
    if thread.is_alive():
        say(f"waiting for workers: none has run a first task yet; the wait ends after {WAITING_SECONDS} s")
        _wait_for(thread, say)
    if failures:
        raise _explain(failures[0]) from failures[0]
    return answers[0]


def _wait_for(thread: threading.Thread, say: Callable[[str], None]) -> None:
    """Wait for the answer of workers. Raises UnavailableError if it takes too long."""
    until = time.monotonic() + WAITING_SECONDS - _SILENCE_SECONDS
    with reminding(say, "still waiting for workers"):
        while thread.is_alive() and time.monotonic() < until:
            thread.join(_ASK_SECONDS)
    if thread.is_alive():
        raise UnavailableError(
            f"no worker gives cores: no task has started in {WAITING_SECONDS} s",
            where="Spark workers",
            hint="The page of the master shows whether workers are alive, and whether their free cores and memory are "
            "enough for spark.executor.cores and spark.executor.memory.",
        )


def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield which release a worker has imported, and which validator it uses."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [__version__], "native": [describe_native()]})


def _explain(error: BaseException) -> UnavailableError:
    text = str(error)
    if missing := re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", text):
        return UnavailableError(f"the workers cannot import {missing[1]}", where="Spark workers", hint=GUIDE)
    endings = _ENDING.findall(text)
    reason = ": ".join(endings[-1]) if endings else (text.strip().splitlines() or [type(error).__name__])[0]
    return UnavailableError(f"the cluster cannot run a first task: {reason}", where="Spark workers", hint=GUIDE)
