"""A pattern in a user's own contract never keeps a command busy: it is matched in linear time, or refused."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from cdc_contracts.cli.app import main

BASE = Path(str(files("cdc_contracts.contracts"))) / "dts" / "canal" / "v2"
ENDLESS = "^(a+)+$"
"""Tried again and again, it needs 2⁶⁰ steps for the text below."""
TEXT = "a" * 60 + "b"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def message():
    sample = json.loads((BASE / "samples" / "insert-two-rows.json").read_text())
    Path("messages.jsonl").write_text(json.dumps({**sample, "database": TEXT}) + "\n")
    return "messages.jsonl"


def write_contract(pattern, *, keyed=False):
    folder = Path("own/acme/plain/v1")
    folder.mkdir(parents=True)
    schema = json.loads((BASE / "envelope.schema.json").read_text())
    member = {"type": "string", "pattern": pattern}
    schema["properties"]["database"] = {"type": "object", "patternProperties": {pattern: {}}} if keyed else member
    (folder / "envelope.schema.json").write_text(json.dumps(schema, indent=1))
    (folder / "contract.yaml").write_text("contract: acme/plain@1\nbased_on: dts/canal@2\n")
    (folder / "samples").mkdir()
    for ending in (".json", ".change.json"):
        shutil.copy(BASE / "samples" / f"insert-two-rows{ending}", folder / "samples" / f"one{ending}")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("command", "declared"),
    [(["check"], True), (["detect"], False), (["check"], False), (["why"], True), (["audit", "file"], True)],
    ids=["check", "detect", "check-auto", "why", "audit"],
)
def test_a_pattern_that_backtracks_without_end_elsewhere_is_matched_in_bounded_time(message, command, declared, capsys):
    write_contract(ENDLESS)
    engine = ["--engine", "local"] if command[0] == "audit" else []
    contract = ["--contract", "acme/plain@1"] if declared else []

    code = main([*command, message, *contract, "--contracts", "own", *engine])

    assert code in (0, 1, 4)
    reported = capsys.readouterr().out
    assert not declared or ("/database" in reported and ENDLESS in reported)


@pytest.mark.timeout(120)
def test_lint_judges_samples_by_such_a_pattern(capsys):
    write_contract(ENDLESS)

    assert main(["lint", "own"]) == 1

    assert "D07.pattern /database" in capsys.readouterr().out


@pytest.mark.parametrize("pattern", ["^(?=a)a", "(?<!b)a", r"(a)\1"])
@pytest.mark.parametrize("command", ["check", "detect", "audit"])
def test_a_pattern_that_looks_around_or_back_is_refused_at_load(message, pattern, command, capsys):
    write_contract(pattern)
    words = {"check": ["check", message, "--contract", "acme/plain@1"], "detect": ["detect", message]}
    audit = ["audit", "file", message, "--contract", "acme/plain@1", "--engine", "local"]

    code = main([*words.get(command, audit), "--contracts", "own"])

    reported = capsys.readouterr().err
    assert code == 2
    assert f"a pattern with lookaround or backreferences: {pattern}" in reported
    assert "envelope.schema.json#/properties/database/pattern" in reported
    assert "Write it without (?=" in reported


@pytest.mark.parametrize("pattern", ["(?=a)a", "["])
def test_lint_names_a_pattern_that_is_none_or_looks_around(pattern, capsys):
    write_contract(pattern)

    assert main(["lint", "own"]) == 1

    reported = capsys.readouterr().out
    assert "/properties/database/pattern" in reported
    assert "a pattern of ECMAScript that does not look around or back" in reported


def test_patterns_of_names_are_refused_at_load(message, capsys):
    write_contract(ENDLESS, keyed=True)

    assert main(["check", message, "--contract", "acme/plain@1", "--contracts", "own"]) == 2

    assert "`patternProperties` is not supported in contracts" in capsys.readouterr().err


def test_a_pattern_of_the_contract_itself_is_held_to_the_same(message, capsys):
    write_contract("a")
    contract = Path("own/acme/plain/v1/contract.yaml")
    contract.write_text(contract.read_text() + "patterns: {/database: '(?=a)a'}\n")

    assert main(["check", message, "--contract", "acme/plain@1", "--contracts", "own"]) == 2

    assert "a pattern with lookaround or backreferences: (?=a)a" in capsys.readouterr().err
