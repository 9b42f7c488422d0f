"""A signal ends the process of a command, silently and with its exit code, at every moment of its life.

CDC_SIGNAL_POINTS says at how many moments it is sent, CDC_SPARK_SIGNALS that a run of Spark is to have it at all of them.
"""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from topics import rendered

from cdc_contracts.registry.core.common import signals
from cdc_contracts.spark_checks.engines.stopping import Stop

ROOT = Path(__file__).parents[2]
STOPPED = Path(__file__).parents[1] / "stopped_command.py"
CONTRACT = "oms-community/canal@2"
POINTS = int(os.environ.get("CDC_SIGNAL_POINTS", "3"))
FIRST = 20
"""Calls of functions until a process takes signals: those that set them up."""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def start(*command, **more):
    """The process of a Python that says nothing but what the program does."""
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src"), "COLUMNS": "80"}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """An audit of a hundred messages."""
    path = tmp_path_factory.mktemp("signals") / "a.jsonl"
    path.write_bytes(b"\n".join(rendered(CONTRACT, 100)))
    return ["audit", "-q", "file", path, "--contract", CONTRACT]


@pytest.fixture(scope="module")
def local_call(call):
    return [*call, "--engine", "local"]


def count_calls(call):
    """How often Python functions are called from the first line of the command to its last."""
    counting = start(STOPPED, 0, 0, *call)
    out, err = counting.communicate(timeout=300)
    assert (counting.returncode, "conform" in out) == (0, True), err
    return int(err.split()[-1])


def points(calls):
    """As soon as the process takes signals, when Python ends, and between them as far from each other as can be."""
    return [FIRST, *(calls * part // (POINTS - 1) for part in range(1, POINTS - 1)), -1]


def check_silent_end(call, point, number):
    """The command ends with the code of the signal, having said nothing."""
    process = start(STOPPED, point, int(number), *call)
    err = process.communicate(timeout=300)[1]
    assert (process.returncode, err) == (CODES[number], "")


@pytest.fixture(scope="module")
def calls(local_call):
    return count_calls(local_call)


@pytest.mark.parametrize("part", range(POINTS))
def test_a_signal_ends_a_run_of_one_process_at_every_moment(local_call, calls, part):
    check_silent_end(local_call, points(calls)[part], list(CODES)[part % 2])


@pytest.mark.nightly
@pytest.mark.java
@pytest.mark.parametrize(
    ("point", "number"),
    [
        ("launch_gateway", signal.SIGTERM),
        ("SparkSession.__init__", signal.SIGINT),
        ("run_job", signal.SIGTERM),
    ],
)
def test_a_signal_ends_a_run_of_spark_while_it_starts_and_while_it_works(call, point, number):
    check_silent_end(call, point, number)


@pytest.mark.java
@pytest.mark.skipif("CDC_SPARK_SIGNALS" not in os.environ, reason="set CDC_SPARK_SIGNALS")
def test_a_signal_ends_a_run_of_spark_at_every_moment(call):
    for part, point in enumerate(points(count_calls(call))):
        check_silent_end(call, point, list(CODES)[part % 2])


def parents():
    """The parent of every process, and its command line."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            yield int(path.name), int(fields[1]), (path / "cmdline").read_bytes()


def jvm_of(process):
    """The process id of the JVM that a command starts, as soon as there is one."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        for pid, parent, command in parents():
            if parent == process.pid and b"deploy.SparkSubmit" in command and b"java" in command.split(b"\0")[0]:
                return pid
        time.sleep(0.02)
    raise AssertionError("no JVM was started")


@pytest.mark.java
@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_spark_starts_leaves_no_jvm(call, number, tmp_path, monkeypatch):
    """Its Java would find the directory removed in which it writes its port, and wait for ever."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    process = start("-m", "cdc_contracts.cli", *call)
    jvm = jvm_of(process)
    process.send_signal(number)
    err = process.communicate(timeout=300)[1]
    assert (process.returncode, err) == (CODES[number], "")
    deadline = time.monotonic() + 30
    while (left := Path(f"/proc/{jvm}").exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    if left:
        os.kill(jvm, signal.SIGKILL)
    assert not left
    assert not list(tmp_path.rglob("*.tried"))  # the next start writes the class archive


@pytest.mark.parametrize(
    ("module", "ends"),
    [("typing", -2), ("cdc_contracts.registry.core.common.signals", -2), ("cdc_contracts.cli.output", 130)],
)
def test_ctrl_c_while_the_command_is_imported_shows_no_traceback(module, ends, call, local_call):
    """Its first import handles signals as the system does, its own module with the exit code that a shell shows."""
    script = f"""
import os, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), {int(signal.SIGINT)})

for one in [one for one in sys.modules if one == "{module}"]:
    del sys.modules[one]
sys.meta_path.insert(0, Interrupt())
from cdc_contracts.cli.__main__ import main
main()
"""
    process = start("-c", script, *local_call)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (ends, "", "")


@pytest.mark.java
@pytest.mark.nightly
def test_a_reader_that_goes_away_from_a_run_of_spark_is_no_error(call):
    process = start("-m", "cdc_contracts.cli", *call)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(300) == 141
    assert err == ""


def test_a_signal_ends_a_step_that_takes_longer_than_anybody_waits():
    """As a pattern that is matched without end, which lets no other thread of the process do anything."""
    stop = Stop()
    with signals.noting(stop.note), subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -TERM {os.getpid()}"]):
        assert stop.attempt(lambda: re.match("^(a+)+$", "a" * 60 + "b")) is None
        assert stop.signal == signal.SIGTERM
        assert stop.attempt(lambda: 1) == 1


@pytest.mark.parametrize("number", CODES)
def test_a_call_of_c_that_does_not_come_back_is_ended(number):
    script = """
import ctypes, sys, threading
from cdc_contracts.cli.app import run
from cdc_contracts.registry.core.common import signals

signals.TIMEOUT_SECONDS = 0.3

def work():
    with signals.raising():
        threading.Timer(0.2, print, ["in C"], {"flush": True}).start()
        library, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
        library.pthread_mutex_lock(lock)
        library.pthread_mutex_lock(lock)  # waits for itself, and goes on to wait after a signal

sys.exit(run(work))
"""
    process = start("-c", script)
    assert process.stdout.readline() == "in C\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (CODES[number], "", "")


def test_an_exception_that_is_swallowed_where_nobody_can_catch_it_comes_again():
    script = """
import signal, sys, time
from cdc_contracts.cli.app import run
from cdc_contracts.registry.core.common import signals

signals.ENDING_SECONDS = 900  # it is not the thread that watches which ends the work

class Swallower:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

def work():
    with signals.raising():
        try:
            Swallower()
            time.sleep(900)
        except signals.Stopped as stop:
            return stop.exit_code

sys.exit(run(work))
"""
    process = start("-c", script)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (143, "", "")
