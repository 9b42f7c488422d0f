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
ROOMS = WRITER.rooms_in_order()


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
    assert "def decide_run(" in (ROOT / "registry/stats/run_verdict.py").read_text(encoding="utf-8")
    assert "def reading_options(" in (ROOT / "spark_checks/kafka/spark_source.py").read_text(encoding="utf-8")


def test_no_module_lies_directly_in_the_registry():
    assert [path.name for path in REGISTRY.glob("*.py")] == ["__init__.py"]


def test_there_are_no_rooms_but_those_in_order():
    assert {path.name for path in REGISTRY.iterdir() if any(path.glob("*.py"))} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
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
