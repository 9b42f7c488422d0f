"""Runs the long forms of tests, which `nightly_forms.yaml` lists: all of them, some by name, or a slice.

    python tests/nightly.py [NAME ...] [--seconds N]

With `--seconds` it begins no further test after N seconds. The form and the test to begin with are chosen by the
commit, or by `CDC_CONTRACTS_SEED` (`case_sampling.py`). The results are in `build/nightly/`: `results.txt`, and what
each form has as JUnit XML. Fails if a form fails, after the others have run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any
from xml.etree import ElementTree as ET

import yaml
from case_sampling import VARIABLE, set_seed, turn_of

ROOT = Path(__file__).parents[1]
FORMS = Path(__file__).with_name("nightly_forms.yaml")
RESULTS = ROOT / "build/nightly"
Form = dict[str, Any]


def read_forms() -> list[Form]:
    forms: list[Form] = yaml.safe_load(FORMS.read_text(encoding="utf-8"))
    return forms


def slice_forms(forms: Sequence[Form], turn: int) -> list[Form]:
    """Return the forms that can be cut short, beginning with the one whose turn it is."""
    some = [form for form in forms if "only_at_night" not in form]
    start = turn % len(some)
    return [*some[start:], *some[:start]]


def command_of(form: Form, folder: str, seconds: float | None = None) -> list[str]:
    """Return the command of a form; `folder` is an empty one, for a script that needs it."""
    if "command" in form:
        return list(form["command"])
    program = [form["script"], folder] if "script" in form else ["-m", "pytest"]
    budget = [] if seconds is None else ["-n0", "-p", "budgeted_run", f"--seconds={seconds:.0f}"]
    results = f"--junit-xml={RESULTS / form['name']}.xml"
    return [sys.executable, *program, "--nightly", results, *form.get("options", ()), *budget, *form.get("tests", ())]


def run_form(form: Form, seconds: float | None = None) -> bool:
    """Run a form, add what came of it to the results, and say whether it passed."""
    report = RESULTS / f"{form['name']}.xml"
    report.unlink(missing_ok=True)
    started, environment = monotonic(), form.get("environment", {})
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(form, folder, seconds)
        print("+", *(f"{name}={value}" for name, value in environment.items()), *command, flush=True)  # noqa: T201
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode
    counts = ", ".join(count_tests(report)) if report.exists() else "no tests were counted"
    outcome = "passed" if code == 0 else f"FAILED with exit code {code}"
    add_result(f"{form['name']}: {outcome} after {monotonic() - started:.0f} s; {counts}")
    for name in failed_tests(report) if report.exists() else ():
        add_result(f"    {name}")
    return code == 0


def count_tests(report: Path) -> Iterator[str]:
    """Yield how many tests a file of JUnit XML has of each kind."""
    suites = list(ET.parse(report).getroot().iter("testsuite"))
    for kind in ("tests", "failures", "errors", "skipped"):
        yield f"{sum(int(suite.get(kind, '0')) for suite in suites)} {kind}"


def failed_tests(report: Path) -> Iterator[str]:
    """Yield the names of the tests that failed."""
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield f"{case.get('classname')}::{case.get('name')}"


def add_result(line: str) -> None:
    print(line, flush=True)  # noqa: T201
    with (RESULTS / "results.txt").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    forms = {form["name"]: form for form in read_forms()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(forms)}")
    parser.add_argument("--seconds", type=float, help="run a slice: begin no further test after this many seconds")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - forms.keys():
        parser.error(f"there is no form {', '.join(sorted(unknown))}; choose from {', '.join(forms)}")
    seed = set_seed()
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "results.txt").unlink(missing_ok=True)
    chosen = [forms[name] for name in given.names] or list(forms.values())
    if given.seconds is None:
        failed = [form["name"] for form in chosen if not run_form(form)]
        return 1 if failed else 0
    started, passed = monotonic(), True
    add_result(f"slice of the nightly forms, {given.seconds:.0f} s, {VARIABLE}={seed}")
    for form in slice_forms(chosen, turn_of(seed)):
        left = given.seconds - (monotonic() - started)
        if left <= 0:
            break
        passed = run_form(form, left) and passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
