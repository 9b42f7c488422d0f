"""Processes of the suite leave out what is neither counted nor shown: a run says the same as if they told all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from worker_reports import say_what_counts

def pytest_configure(config):
    if hasattr(config, "workerinput"):
        say_what_counts(config)

def pytest_runtest_logreport(report):
    if not hasattr(report, "node"):  # in the process of the tests
        return
    with open("told.txt", "a") as told:
        told.write(f"{report.nodeid.partition('::')[2]} {report.when}\\n")
"""
TESTS = """
import time, pytest

@pytest.fixture
def broken(): raise ValueError("no setup")

@pytest.fixture
def leaking():
    yield
    raise ValueError("no teardown")

@pytest.fixture
def speaking():
    yield
    print("said at the end")

@pytest.fixture
def slow(): time.sleep(0.02)

def test_passes(record_property): record_property("colour", "blue")
def test_fails(): assert 1 == 2
def test_has_no_setup(broken): pass
def test_has_no_teardown(leaking): pass
def test_speaks(speaking): pass
def test_waits(slow): pass
def test_is_skipped(): pytest.skip("not here")
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
"""
TOLD = """\
test_fails call
test_has_no_setup setup
test_has_no_teardown call
test_has_no_teardown teardown
test_is_expected_to_fail call
test_is_skipped call
test_passes call
test_speaks call
test_speaks teardown
test_waits call
test_waits setup
"""


def run(folder: Path, *arguments: str) -> str:
    """Run the tests in a process of the suite, and return what is printed."""
    plugins = (
        "--disable-plugin-autoload",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
        "-o",
        f"pythonpath={Path(__file__).parent}",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n1", *plugins, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("suite")
    (made / "conftest.py").write_text(CONFTEST)
    (made / "test_all_kinds.py").write_text(TESTS)
    return made


def test_a_process_tells_of_each_call_and_of_what_did_not_pass_took_long_or_printed(folder):
    printed = run(folder, "-rA", "--durations=0")
    assert "".join(sorted((folder / "told.txt").read_text().splitlines(keepends=True))) == TOLD
    summary = re.search(
        r"short test summary info =+\n(.*)\n1 failed, 4 passed, 1 skipped, 1 xfailed, 2 errors in", printed, re.DOTALL
    )
    assert summary is not None
    assert sorted(line.partition(" - ")[0] for line in summary[1].splitlines()) == [
        "ERROR test_all_kinds.py::test_has_no_setup",
        "ERROR test_all_kinds.py::test_has_no_teardown",
        "FAILED test_all_kinds.py::test_fails",
        "PASSED test_all_kinds.py::test_has_no_teardown",
        "PASSED test_all_kinds.py::test_passes",
        "PASSED test_all_kinds.py::test_speaks",
        "PASSED test_all_kinds.py::test_waits",
        "SKIPPED [1] test_all_kinds.py:26: not here",
        "XFAIL test_all_kinds.py::test_is_expected_to_fail",
    ]
    assert "said at the end" in printed
    assert re.search(r"0\.0[2-9]s setup    test_all_kinds.py::test_waits", printed)


def test_a_file_of_results_has_what_is_told_with_the_end_of_a_test(folder):
    run(folder, "--junitxml=results.xml")
    results = (folder / "results.xml").read_text()
    assert 'errors="2" failures="1" skipped="2"' in results
    assert '<property name="colour" value="blue" />' in results
