"""A default run takes some cases of every test, and of a test of versions some of every subject."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from case_sampling import SAMPLING, choose
from topics import CATALOGUE

ROOT = Path(__file__).parents[1]
SUBJECTS = sorted(CATALOGUE.subjects(), key=len, reverse=True)
"""The longest first: `oms/default` begins `oms/default-extend-column-type`."""
SUBJECT = re.compile(rf"(?<![\w/-])({'|'.join(map(re.escape, SUBJECTS))})(?![\w/])")


def subjects_in(names):
    return {found for name in names for found in SUBJECT.findall(name.partition("[")[2])[:1]}


def test_each_sampled_test_runs_some_case_and_one_of_every_subject_by_default(request):
    """Of the tests that are collected with this one: of all, where the whole suite is run."""
    sampled = request.config.stash[SAMPLING]

    assert [test for test, (chosen, _) in sampled.items() if not chosen] == []
    missing = {test: subjects_in(whole) - subjects_in(chosen) for test, (chosen, whole) in sampled.items()}
    assert {test: subjects for test, subjects in missing.items() if subjects} == {}


def test_the_test_of_every_sample_has_a_case_of_every_subject_in_a_default_run():
    file = "tests/registry/engine/test_differential.py"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n0", "-q", "-o", "addopts=", file]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    of_samples = [line for line in listed if "::test_both_paths_agree_on_every_sample_of_every_contract[" in line]
    assert subjects_in(of_samples) == set(SUBJECTS)
    assert len(of_samples) < 2 * len(SUBJECTS)


@pytest.mark.parametrize(
    ("cases", "share", "count"),
    [
        ({"a[1]": "x/a", "a[2]": "x/a", "a[3]": "x/b"}, 5, {"x/a": 1, "x/b": 1}),
        ({f"a[{number}]": "x/a" for number in range(12)} | {"a[b]": "x/b"}, 4, {"x/a": 3, "x/b": 1}),
        ({f"a[{number}]": None for number in range(10)}, 3, {None: 3}),
        ({"a[1]": None}, 20, {None: 1}),
    ],
)
def test_one_case_in_so_many_is_chosen_and_never_none_of_a_subject(cases, share, count):
    chosen = choose(cases, share)

    subjects = [cases[name] for name in chosen]
    assert {subject: subjects.count(subject) for subject in subjects} == count
    assert choose(dict(reversed(cases.items())), share) == chosen
