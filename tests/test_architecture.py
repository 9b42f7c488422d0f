"""The picture of the whole is true: it is made from the code, and what it names by hand is there."""

import ast
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REGISTRY = ROOT / "registry"
MOST_LINES = 400


def load_writer():
    found = importlib.util.spec_from_file_location("write_architecture", ROOT / "docs/write_architecture.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


WRITER = load_writer()
WINGS = WRITER.packages_in_order()
ROOMS = [f"{wing}/{room}" for wing in WINGS[1:] for room in WRITER.packages_in_order(wing)]


def test_the_page_of_the_architecture_is_as_the_code_is_now():
    written = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert written == WRITER.page(), "write it again with: python docs/write_architecture.py"


def test_every_module_that_the_flow_of_a_record_names_exists():
    named = re.findall(r"<code>(.+?)</code>", WRITER.HEAD)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_file_and_folder_that_the_table_of_questions_names_exists():
    named = re.findall(r"`([^`<]+/[^`<]*)`", " ".join(WRITER.QUESTIONS.values()))
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert "def decide_run(" in (ROOT / "registry/core/stats/run_verdict.py").read_text(encoding="utf-8")
    assert "def reading_options(" in (ROOT / "spark_checks/kafka/spark_source.py").read_text(encoding="utf-8")


def test_no_module_lies_directly_in_the_registry_or_a_wing():
    folders = [REGISTRY, *(REGISTRY / wing for wing in WINGS[1:])]
    assert [path.name for folder in folders for path in folder.glob("*.py")] == ["__init__.py"] * len(folders)


def test_there_are_no_wings_and_rooms_but_those_in_order():
    assert packages_in(REGISTRY) == set(WINGS)
    assert {f"{wing}/{room}" for wing in WINGS[1:] for room in packages_in(REGISTRY / wing)} == set(ROOMS)


def packages_in(folder):
    return {path.name for path in folder.iterdir() if any(path.glob("*.py"))}


@pytest.mark.parametrize("room", [*WINGS[:2], *(room for room in ROOMS if not room.startswith("server/"))])
def test_a_room_says_what_it_is_and_what_goes_in_and_out(room):
    first, second, *_ = WRITER.words_of(room)
    assert first.endswith(".")
    assert re.match(r"In: .+ Out: .+", second)


def test_a_module_is_known_by_its_name_alone():
    names = Counter(
        path.stem
        for top in ("registry", "api", "cli", "spark_checks", "testing")
        for path in (ROOT / top).rglob("*.py")
        if not path.stem.startswith("__")
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_a_public_class_is_known_by_its_name_alone():
    names = Counter(
        node.name
        for path in REGISTRY.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_no_module_is_longer_than_a_reader_can_hold():
    long = {
        str(path.relative_to(ROOT)): lines
        for top in ("registry", "api", "cli", "spark_checks", "testing")
        for path in (ROOT / top).rglob("*.py")
        if (lines := path.read_text(encoding="utf-8").count("\n")) > MOST_LINES
    }
    assert long == {}
