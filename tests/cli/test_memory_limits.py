"""A command that gets no more memory could not run: never a verdict, whatever library notices first."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.memory_limits import is_out_of_memory
from cdc_contracts.registry.core.engine.native.native_library import native_library

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "a.jsonl"
    path.write_bytes(b"\n".join(rendered("dts/canal@2", 20)))
    return path


def run_limited(kilobytes, *arguments):
    """A command as `ulimit -v` lets it run: exit code and stderr."""
    limit = kilobytes * 1024
    done = subprocess.run(
        [sys.executable, "-m", "cdc_contracts.cli", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src")}, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kilobytes", [30_000, 60_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000])
def test_too_little_memory_is_exit_3_and_said(file, kilobytes):
    call = ["audit", "file", file, "--contract", "dts/canal@2", "--engine", "local"]
    code, err = run_limited(kilobytes, *call)
    assert code in {0, 3}, err
    assert ("out of memory" in err, "bug" in err, "Traceback" in err) == (code == 3, False, False)


@pytest.mark.skipif(native_library() is None, reason="no native part says it")
@pytest.mark.parametrize("how", ["os.abort()", "ctypes.string_at(0)"])
def test_a_library_that_ends_the_process_for_want_of_memory_is_exit_3_and_said(how, tmp_path):
    """As an exception of C++ that nobody catches does, and a pointer that nobody checks."""
    (tmp_path / "ending.py").write_text(
        f"""
import ctypes, os, sys
from cdc_contracts.cli import __main__ as command
from cdc_contracts.cli import app
app.run = lambda main: {how}
sys.exit(command.main())
"""
    )
    limit = 2**31
    for limits, code in (((limit, limit), 3), (None, -signal.SIGABRT if "abort" in how else -signal.SIGSEGV)):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "ending.py"), "list"], cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / ".src")}, capture_output=True, text=True, check=False,
            preexec_fn=lambda limits=limits: limits and resource.setrlimit(resource.RLIMIT_AS, limits),
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert ("error: out of memory" in done.stderr) == ("2,048 MB of addresses" in done.stderr) == (code == 3)


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["audit", "check"])
def test_at_no_limit_does_a_process_end_otherwise(command, file):
    call = {
        "audit": ["audit", "-q", "file", file, "--contract", "dts/canal@2", "--engine", "local"],
        "check": ["check", "-q", file, "--contract", "dts/canal@2"],
    }[command]
    ended = {kilobytes: run_limited(kilobytes, *call) for kilobytes in range(20_000, 900_000, 20_000)}
    assert {code for code, _ in ended.values()} == {0, 3}
    assert all(("out of memory" in err) == (code == 3) for code, err in ended.values()), ended


def test_a_limit_that_is_wide_enough_changes_nothing(file):
    call = ["audit", "-q", "file", file, "--contract", "dts/canal@2", "--engine", "local"]
    assert run_limited(1_500_000, *call) == (0, "")


def test_an_error_is_lack_of_memory_by_its_class_or_by_what_led_to_it():
    wrapped = ValueError("wrapped")
    wrapped.__cause__ = OSError(12, "Cannot allocate memory")
    assert is_out_of_memory(wrapped)
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(ImportError("libarrow.so: failed to map segment from shared object"))
    assert not is_out_of_memory(ImportError("No module named 'x'"))
    assert not is_out_of_memory(SystemError("error return without exception set"))


def test_lack_of_memory_in_mid_command_is_no_bug(file, monkeypatch, capsys):
    from cdc_contracts.cli.options import run_options

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(run_options, "open_files", fail)
    assert main(["audit", "file", str(file), "--contract", "dts/canal@2", "--engine", "local"]) == 3
    assert "error: out of memory" in capsys.readouterr().err
