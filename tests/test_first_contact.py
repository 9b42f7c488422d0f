"""The walk of a newcomer: its page lists the steps of the pages, and a machine has what it says it has."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import walk_page
from block_needs import NEEDS
from page_blocks import blocks_of
from run_walk import IN_CHECKOUT, with_installation
from walk_machines import MACHINES, Machine
from walk_page import PAGE, WALKED, page_text, places_of, read_figures, write_page

BARE, WITH_JAVA = MACHINES


def test_the_page_of_the_walk_has_the_steps_of_the_walked_pages():
    text = PAGE.read_text(encoding="utf-8")
    measured = re.search(r"last measured (.*)\.$", text, re.MULTILINE)[1]
    assert text == page_text(read_figures(), measured), "run: just walk PAGE, or python docs/run_walk.py --list"


def test_what_was_not_run_says_what_it_needs():
    said = {one for one in read_figures().values() if not re.fullmatch(r"\d+\.\d", one)}
    assert said
    assert said <= {words for words, _ in NEEDS.values()}


def test_a_walk_keeps_the_figures_of_what_it_did_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(walk_page, "PAGE", tmp_path / "page.md")
    places = [place for page in WALKED for place in places_of(page)]
    figures = {(places[0], BARE.name): "12.5", (places[-1], WITH_JAVA.name): NEEDS["spark"][0]}
    write_page(figures)
    assert read_figures() == figures
    gone = walk_page.Place("README", "a step that the page no longer has")
    write_page({**figures, (gone, BARE.name): "1.0"})
    assert read_figures() == figures


def test_steps_are_told_apart_by_one_line_and_its_number():
    places = [place for page in WALKED for place in places_of(page)]
    assert len(set(places)) == len(places)
    assert all("\n" not in place.step and len(place.step) <= 96 for place in places)
    (first_contract,) = [page for page in WALKED if page.stem == "first-contract"]
    assert [place.number for place in places_of(first_contract) if place.step == "cdc-contracts ci"] == [1, 2, 3]


def test_a_machine_without_java_has_none_on_its_path_and_all_other_programs(tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("java", "cc", "git"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (tmp_path / "bare").mkdir()
    bare = BARE.environment(tmp_path / "bare")
    assert "JAVA_HOME" not in bare
    assert [shutil.which(one, path=bare["PATH"]) is not None for one in ("java", "cc", "git")] == [False, False, True]
    (tmp_path / "full").mkdir()
    full = WITH_JAVA.environment(tmp_path / "full")
    assert (full["JAVA_HOME"], full["PATH"]) == (str(tmp_path), str(programs))


@pytest.mark.parametrize(
    ("need", "obstacle"),
    [(None, ""), ("kafka", ""), ("the extra arrow", ""), ("spark", "the extra `spark`, and Java 17 or 21"),
     ("table contracts", "a folder of table contracts")],
)  # fmt: skip
def test_what_a_block_needs_and_a_machine_lacks_is_said_in_the_words_of_the_guides(need, obstacle):
    assert Machine("any", frozenset({"java"})).obstacle(need) == obstacle


def test_java_is_all_that_the_other_machine_has_more_but_for_a_compiler_and_kcat():
    assert BARE.missing == {"java", "cc", "gcc", "clang", "kcat"}
    assert WITH_JAVA.missing == frozenset()


def test_guides_are_walked_after_install_and_each_in_an_environment_of_its_own():
    guides = [page for page in WALKED if page.stem not in IN_CHECKOUT]
    assert [page.stem for page in with_installation(guides[-1:])] == ["install", guides[-1].stem]
    assert [page.stem for page in with_installation(WALKED[:1])] == ["README"]
    for page in guides:
        assert blocks_of(page)[0].needs == "a new virtual environment" or page.stem == "ci", page.name


def test_a_page_that_is_not_walked_is_refused_in_a_line():
    ended = subprocess.run(
        [sys.executable, Path(walk_page.__file__).with_name("run_walk.py"), "follow"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "follow is not walked. Pages are: README, first-steps, install, " in ended.stderr
