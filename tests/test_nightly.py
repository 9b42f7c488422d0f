"""The nightly forms are one list, whose files exist; slices of it take turns, end between tests and fail with them."""

import subprocess
import sys
from pathlib import Path
from time import monotonic

import nightly
import pytest
from case_sampling import VARIABLE

ROOT = Path(__file__).parents[1]
FORMS = nightly.read_forms()
KEYS = {"name", "environment", "options", "tests", "script", "command", "only_at_night"}
THREE = """
import time
import pytest

@pytest.mark.parametrize("number", range(3))
def test_one_of_three(number):
    time.sleep(0.2)
    assert number != {broken}
"""

ENDLESS = """
import subprocess
import sys

def test_before():
    assert {holds}

def test_that_goes_on(tmp_path):
    program = "import sys, time; time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", program, __file__], start_new_session=True).wait()
"""


def test_the_forms_have_names_of_their_own_and_known_keys_and_their_files_exist():
    assert len({form["name"] for form in FORMS}) == len(FORMS)
    assert [form for form in FORMS if not form.keys() <= KEYS] == []
    named = [
        name for form in FORMS for name in (*form.get("tests", ()), *([form["script"]] if "script" in form else ()))
    ]
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_nightly_recipe_reads_the_list():
    assert "{{python}} tests/nightly.py" in (ROOT / "justfile").read_text(encoding="utf-8")


def test_every_form_that_can_be_cut_is_the_first_of_some_slice():
    cut = [form["name"] for form in FORMS if "only_at_night" not in form]
    first = [nightly.slice_forms(FORMS, turn)[0]["name"] for turn in range(100, 100 + len(cut))]
    assert sorted(first) == sorted(cut)
    assert {form["name"] for form in nightly.slice_forms(FORMS, 7)} == set(cut)


def test_only_forms_of_tests_are_cut_because_a_command_ends_when_it_likes():
    assert [form["name"] for form in nightly.slice_forms(FORMS, 0) if "command" in form] == []


def test_a_run_of_ci_ends_with_two_minutes_of_the_forms():
    last = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()[-1]
    assert last == ".venv/bin/python tests/nightly.py --seconds 120"


@pytest.fixture
def run_brief(tmp_path, monkeypatch):
    """A function that runs a form of three short tests, and returns whether it passed and its results."""
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    monkeypatch.setattr(nightly, "RESULTS", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    monkeypatch.setenv(VARIABLE, "1")

    option = "def pytest_addoption(parser): parser.addoption('--nightly', action='store_true')\n"
    (tmp_path / "conftest.py").write_text(option)

    def run(seconds, broken=None):
        (tmp_path / "test_three.py").write_text(THREE.format(broken=broken))
        passed = nightly.run_form({"name": "brief", "tests": ["test_three.py"]}, seconds)
        return passed, (tmp_path / "results.txt").read_text(encoding="utf-8")

    return run


@pytest.mark.parametrize(("seconds", "tests"), [(0, 1), (600, 3)])
def test_a_slice_ends_between_tests_and_runs_one_in_any_case(run_brief, seconds, tests):
    passed, results = run_brief(seconds)
    assert passed
    assert results.startswith("brief: passed after ")
    assert f"; {tests} tests, 0 failures, 0 errors, 0 skipped\n" in results


@pytest.mark.parametrize(("broken", "passes"), [(0, True), (1, False), (2, True)])
def test_a_slice_begins_with_the_test_of_its_seed_and_fails_with_it(run_brief, broken, passes):
    passed, results = run_brief(0, broken)
    assert passed is passes
    assert ("test_three::test_one_of_three[1]" in results) is not passes
    assert ("brief: FAILED with exit code 1 after " in results) is not passes


@pytest.mark.parametrize("first", [pytest.param("passes", marks=pytest.mark.nightly), "fails"])
def test_a_slice_stops_a_test_that_goes_on_with_all_that_it_started(run_brief, tmp_path, monkeypatch, first):
    monkeypatch.setenv(VARIABLE, "0")
    (tmp_path / "test_endless.py").write_text(ENDLESS.format(holds=first == "passes"))

    started = monotonic()
    passed = nightly.run_form({"name": "endless", "tests": ["test_endless.py"]}, 60, grace=-40)

    assert monotonic() - started < 300  # it would take ten minutes
    assert passed is (first == "passes")
    lines = (tmp_path / "results.txt").read_text(encoding="utf-8").splitlines()
    failures = [] if first == "passes" else ["    test_endless.py::test_before"]
    assert lines[0].endswith(f" s in test_endless.py::test_that_goes_on; 2 tests were begun, {len(failures)} failed")
    assert lines[1:] == failures
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if is_of(path, str(tmp_path))]
    assert left == []


def is_of(path, folder):
    try:
        return folder.encode() in path.read_bytes()
    except OSError:  # it has ended meanwhile
        return False


def test_a_form_whose_tests_are_gone_fails(run_brief, tmp_path, monkeypatch):
    assert nightly.run_form({"name": "gone", "tests": ["test_gone.py"]}, 60) is False
    assert "gone: FAILED with exit code 4 after " in (tmp_path / "results.txt").read_text(encoding="utf-8")


def test_an_unknown_form_is_refused_with_the_names_of_all():
    command = [sys.executable, str(ROOT / "tests/nightly.py"), "nonsense"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "there is no form nonsense; choose from left-out, mutations," in refused.stderr
