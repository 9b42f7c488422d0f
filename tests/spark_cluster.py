"""Clusters for tests: a master and workers of Spark's own scheduler, and a Spark Connect server, all real processes."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__path__[0])
LOCALHOST = "127.0.0.1"
_SECONDS = 120
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def running_cluster(folder: Path, *, workers: int = 2, cores: int = 1) -> Iterator[str]:
    """The URL of a master that so many workers have registered with; all are gone after the block."""
    with ExitStack() as stack:
        at = ["--host", LOCALHOST, "--port", "0", "--webui-port", "0"]
        master = _start(stack, folder / "master.log", "org.apache.spark.deploy.master.Master", at)
        url = master.wait_for(r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            given = [url, *at, "--cores", str(cores), "--memory", "1g", "--work-dir", str(folder / f"worker-{number}")]
            _start(stack, folder / f"worker-{number}.log", "org.apache.spark.deploy.worker.Worker", given)
            master.wait_for(rf"(?:Registering worker[\s\S]*){{{number + 1}}}")
        yield url


@contextmanager
def running_connect(folder: Path, settings: Mapping[str, str], *, python: str) -> Iterator[str]:
    """The URL of a Spark Connect server whose workers are run by a Python; it is gone after the block."""
    with ExitStack() as stack:
        given = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"]
        for name, value in {"spark.connect.grpc.binding.port": "0", "spark.ui.enabled": "false", **settings}.items():
            given += ["--conf", f"{name}={value}"]
        log = folder / "connect.log"
        server = _start(
            stack, log, "org.apache.spark.deploy.SparkSubmit", [*given, "spark-internal"], PYSPARK_PYTHON=python
        )
        port = server.wait_for(r"Spark Connect server started at:? \S+:(\d+)\s")
        yield f"sc://{LOCALHOST}:{port}"


class _Process:
    def __init__(self, log: Path, process: subprocess.Popen[bytes]) -> None:
        self._log, self._process = log, process

    def wait_for(self, pattern: str) -> str:
        """Return what the first group of the pattern matches in what the process prints, or all that it matches."""
        until = time.monotonic() + _SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            if found := re.search(pattern, self._log.read_text(errors="replace")):
                return found[found.re.groups and 1]
            time.sleep(0.1)
        raise AssertionError(f"{pattern} is not in what it said:\n{self._log.read_text(errors='replace')[-2000:]}")


def _start(stack: ExitStack, log: Path, main: str, arguments: Sequence[str], **environment: str) -> _Process:
    command = [str(SPARK_HOME / "bin" / "spark-class"), main, *arguments]
    reported = {"SPARK_HOME": str(SPARK_HOME), "SPARK_DAEMON_JAVA_OPTS": _SMALL, "SPARK_LOCAL_IP": LOCALHOST}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            cwd=log.parent, env=os.environ | reported | environment,
        )  # fmt: skip
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return _Process(log, process)
