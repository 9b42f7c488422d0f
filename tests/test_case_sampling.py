"""A default run takes some cases of every test, and of a test of versions some of every subject."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from case_sampling import SAMPLING, VARIABLE, choose, take_part
from topics import CATALOGUE

ROOT = Path(__file__).parents[1]
VERSIONS = [version.reference for version in CATALOGUE.all_versions()]
ENOUGH = 50
"""Sampled tests among which each version has its turn."""
VERSION = re.compile(rf"(?<![\w/])({'|'.join(map(re.escape, VERSIONS))})(?!\d)")


def versions_in(names):
    return {found for name in names for found in VERSION.findall(name.partition("[")[2])[:1]}


def subjects_in(names):
    return {version.partition("@")[0] for version in versions_in(names)}


def collect(seed, *files):
    """Return the names of the cases of a default run, and what else it prints."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n0", "-q", "-o", "addopts=", *files]
    environment = {**os.environ, VARIABLE: seed}
    listed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return [line for line in listed.stdout.splitlines() if "::" in line], listed.stdout + listed.stderr


def test_each_sampled_test_runs_some_case_and_one_of_every_subject_by_default(request):
    """Of the tests that are collected with this one: of all, where the whole suite is run."""
    sampled = request.config.stash[SAMPLING]
    marks = {item.nodeid.partition("[")[0]: item.get_closest_marker("one_in") for item in request.session.items}

    assert [test for test, (chosen, _) in sampled.items() if not chosen] == []
    missing = {
        test: subjects_in(whole) - subjects_in(chosen)
        for test, (chosen, whole) in sampled.items()
        if test in marks and not marks[test].kwargs.get("any_subject")
    }
    assert {test: subjects for test, subjects in missing.items() if subjects} == {}


def test_each_version_is_in_the_cases_of_some_sampled_test_by_default(request):
    """Of the whole suite: a few files hardly have them all."""
    sampled = request.config.stash[SAMPLING].values()
    if len(sampled) < ENOUGH:
        pytest.skip("only some files were collected")

    assert set().union(*(versions_in(chosen) for chosen, _ in sampled)) == set(VERSIONS)


def test_a_default_run_has_a_case_of_every_subject_and_the_next_turns_have_its_other_versions():
    names, _ = collect("0067", "tests/registry/engine/test_profiles.py")
    run = {name for name in names if "::test_every_version_has_the_profile" in name}
    cases = {f"a[{native}-{version}]": version for version in VERSIONS for native in ("off", "eager")}
    by_turn = [run, *(choose(cases, 24, turn) for turn in range(4))]

    assert [subjects_in(chosen) for chosen in by_turn] == [set(CATALOGUE.subjects())] * 5
    assert [len(chosen) for chosen in by_turn] == [len(CATALOGUE.subjects())] * 5
    assert versions_in(set().union(*by_turn[1:])) == set(VERSIONS)


def test_a_run_prints_the_seed_of_its_cases_which_is_the_commit_if_none_is_given(monkeypatch):
    file = "tests/registry/values/test_long_values.py"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    monkeypatch.delenv(VARIABLE)
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-k", "no_such_test", "-o", "addopts=", file]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout

    assert f"{VARIABLE}={commit.stdout.strip() or '0'}\n" in printed


def test_a_seed_that_is_no_number_is_refused():
    assert f"{VARIABLE} is a commit or a hexadecimal number, not 'main'." in collect("main", "tests/api")[1]


@pytest.mark.parametrize(
    ("cases", "share", "count"),
    [
        ({"a[1]": "x/a@1", "a[2]": "x/a@1", "a[3]": "x/b@1"}, 5, {"x/a@1": 1, "x/b@1": 1}),
        ({f"a[{number}]": "x/a@1" for number in range(12)} | {"a[b]": "x/b@1"}, 4, {"x/a@1": 3, "x/b@1": 1}),
        ({f"a[{number}]": f"x/a@{number % 3}" for number in range(12)}, 4, {f"x/a@{number}": 1 for number in range(3)}),
        ({f"a[{number}]": None for number in range(10)}, 3, {None: 3}),
        ({"a[1]": None}, 20, {None: 1}),
    ],
)
@pytest.mark.parametrize("turn", [0, 1, 0x0067_C0DE])
def test_one_case_in_so_many_is_chosen_and_never_none_of_a_subject(cases, share, count, turn):
    chosen = choose(cases, share, turn)

    versions = [cases[name] for name in chosen]
    assert {version: versions.count(version) for version in versions} == count
    assert choose(dict(reversed(cases.items())), share, turn) == chosen


@pytest.mark.parametrize(("cases", "share", "turns"), [(12, 4, 4), (10, 3, 4), (7, 4, 7), (3, 20, 3), (1, 5, 1)])
@pytest.mark.parametrize("first", [0, 5, 0x0067_C0DE])
def test_so_many_turns_choose_every_case_and_fewer_do_not(cases, share, turns, first):
    names = {f"a[{number}]": f"x/a@{number % 2}" for number in range(cases)}
    by_turn = [choose(names, share, turn) for turn in range(first, first + turns)]

    assert set().union(*by_turn) == set(names)
    assert set().union(*by_turn[1:]) != set(names)


@pytest.mark.parametrize(
    ("count", "share", "sizes"), [(12, 4, {3}), (10, 3, {3, 4}), (3, 20, {1}), (1, 5, {1}), (0, 5, {0})]
)
@pytest.mark.parametrize("first", [0, 5, 0x0067_C0DE])
def test_a_part_of_the_values_is_never_empty_and_so_many_turns_take_them_all(count, share, sizes, first):
    by_turn = [take_part(range(count), share, "a[x/a@1]", turn) for turn in range(first, first + share)]

    assert {len(taken) for taken in by_turn} == sizes
    assert {value for taken in by_turn for value in taken} == set(range(count))


def test_cases_with_the_same_values_take_different_parts():
    taken = {tuple(take_part(range(5), 5, f"a[x/a@{number}]", 0x0067_C0DE)) for number in range(50)}

    assert len(taken) > 3
