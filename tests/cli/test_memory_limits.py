"""A command that gets no more memory could not run: never a verdict, whatever library notices first."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.common.memory_limits import is_out_of_memory

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


@pytest.mark.parametrize("kilobytes", [30_000, 60_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000])
def test_too_little_memory_is_exit_3_and_said(file, kilobytes):
    call = ["audit", "file", file, "--contract", "dts/canal@2", "--engine", "local"]
    code, err = run_limited(kilobytes, *call)
    assert code in {0, 3}, err
    assert ("out of memory" in err, "bug" in err, "Traceback" in err) == (code == 3, False, False)


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
