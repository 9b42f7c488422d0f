"""Runs the long forms of tests, which `nightly_forms.yaml` lists: all of them, some by name, or a slice.

    python tests/nightly.py [NAME ...] [--seconds N]

With `--seconds` it begins no further test after N seconds, and stops what still runs a minute later. The form and the
test to begin with are chosen by the commit, or by `CDC_CONTRACTS_SEED` (`case_sampling.py`). The results are in
`build/nightly/`: `results.txt`, and what each form has as JUnit XML. Fails if a form fails, after the others have run.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from xml.etree import ElementTree as ET

import yaml
from case_sampling import VARIABLE, set_seed, turn_of

ROOT = Path(__file__).parents[1]
FORMS = Path(__file__).with_name("nightly_forms.yaml")
RESULTS = ROOT / "build/nightly"
GRACE = 60
"""Seconds after the end of a slice at which what still runs is stopped, be it a test, a server or collecting."""
ENOUGH = 20
"""Seconds that must be left for one form more: collecting its tests takes several."""
MARK = "CDC_CONTRACTS_FORM"
"""Tells the processes that a form started, directly or not, from all others."""
PATIENCE = 10
"""Seconds that they have to end by themselves after the form."""
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
    given = ["--nightly", f"--junit-xml={RESULTS / form['name']}.xml", *form.get("options", ())]
    if seconds is not None:
        given += ["-n0", "-p", "budgeted_run", f"--seconds={seconds:.0f}", f"--diary={diary_of(form)}"]
    return [sys.executable, *program, *given, *form.get("tests", ())]


def diary_of(form: Form) -> Path:
    """Return where a form that is cut writes down which tests have begun and failed."""
    return RESULTS / f"{form['name']}.diary"


def run_form(form: Form, seconds: float | None = None, grace: float = GRACE) -> bool:
    """Run a form, add what came of it to the results, and say whether it passed: whether no test failed before its end."""
    report, diary = RESULTS / f"{form['name']}.xml", diary_of(form)
    for earlier in (report, diary):
        earlier.unlink(missing_ok=True)
    started, mark = monotonic(), f"{form['name']}-{uuid.uuid4().hex}"
    environment = form.get("environment", {})
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(form, folder, seconds)
        print("+", *(f"{name}={value}" for name, value in environment.items()), *command, flush=True)  # noqa: T201
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment, MARK: mark})
        try:
            code: int | None = process.wait(None if seconds is None else seconds + grace)
        except subprocess.TimeoutExpired:
            code = None
        left = end_processes(mark, PATIENCE if code is not None else 0)
        process.wait()
    took = f"after {monotonic() - started:.0f} s"
    if code is None:
        begun, failed = ([*read_diary(diary, event)] for event in ("began", "failed"))
        last = f"in {begun[-1]}" if begun else "before its first test"
        add_result(f"{form['name']}: stopped {took} {last}; {len(begun)} tests were begun, {len(failed)} failed")
    else:
        outcome = "passed" if code == 0 else f"FAILED with exit code {code}"
        counts = ", ".join(count_tests(report)) if report.exists() else "no tests were counted"
        add_result(f"{form['name']}: {outcome} {took}; {counts}")
        failed = [*failed_tests(report)] if report.exists() else []
        for command_line in left:
            add_result(f"    ended a process that it left: {command_line}")
    for name in failed:
        add_result(f"    {name}")
    return code == 0 or (code is None and not failed)


def read_diary(diary: Path, event: str) -> Iterator[str]:
    """Yield the tests that a diary tells something of; none where no test has begun."""
    for line in diary.read_text(encoding="utf-8").splitlines() if diary.exists() else ():
        kind, _, name = line.partition(" ")
        if kind == event:
            yield name


def end_processes(mark: str, patience: float) -> list[str]:
    """End what still runs of a form; return the commands of what did not end by itself in time."""
    deadline = monotonic() + patience
    while (left := processes_with(mark)) and monotonic() < deadline:
        sleep(0.1)
    for number in left:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return list(left.values())


def processes_with(mark: str) -> dict[int, str]:
    """Return the commands of the processes that have a mark in their environment, by number; none where there is no /proc."""
    marked, found = f"{MARK}={mark}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile, or is another user's
            if marked in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = command.decode(errors="replace").strip()
    return found


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
        if left < min(ENOUGH, given.seconds):
            break
        passed = run_form(form, left) and passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
