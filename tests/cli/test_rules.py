"""`rules` lists every rule by its id; `rules show` explains one."""

from __future__ import annotations

import json

import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.authoring.explain.rulebook import rules
from cdc_contracts.registry.authoring.lint.lint_rule import lint_rules
from cdc_contracts.registry.core.common.findings import CLASSES
from cdc_contracts.registry.core.validate.drift_rule import drift_rules


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_every_rule_is_listed_on_80_columns(capsys):
    assert main(["rules"]) == 0
    out, err = capsys.readouterr()
    for known in ("D01 malformed", "D16 ambiguous", "D09.columns-typed", "L01 document-readable", "L25"):
        assert known in out
    assert max(map(len, out.splitlines())) <= 80
    assert err == "\n`cdc-contracts rules show ID` explains one.\n"


def test_json_lists_every_rule_there_is(capsys):
    assert main(["rules", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in reported if one["family"] == "drift"] == [f"D{number:02}" for number in range(1, 18)]
    assert {one["name"] for one in reported if one["family"] == "cross-field"} == set(drift_rules())
    assert [one["id"] for one in reported if one["family"] == "lint"] == [
        rule.id for rule in lint_rules() if rule.family == "lint"
    ]
    assert len({one["id"] for one in reported}) == len(reported)
    assert all(one[key] for one in reported for key in ("says", "action", "good", "bad"))
    assert all(one["why"] for one in reported if one["family"] == "lint")


@pytest.mark.parametrize(
    ("family", "head"),
    [("json-schema", "C1"), ("avro", "C2"), ("meaning", "C3"), ("publication", "C4"), ("table-versions", "T2")],
)
def test_the_rules_of_compatibility_are_listed_by_what_is_compared(family, head):
    found = [one for one in rules() if one.family == family]
    assert found
    assert {one.id[:2] for one in found} == {head}
    assert {one.severity for one in found} <= {"breaking", "undecided", "note"}


def test_a_rule_that_confluent_has_a_name_for_says_it(capsys):
    assert main(["rules", "show", "C202"]) == 0
    assert "\nConfluent    FIXED_SIZE_MISMATCH\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("D07", "D07 value-form  error\n"),
        ("d07", "D07 value-form  error\n"),
        ("value-form", "D07 value-form  error\n"),
        ("D07.base64", "D07 value-form  error\n"),
        ("D01.utf8", "D01 malformed  error\n"),
        ("D03.images", "D03 other-version  error\n"),
        ("D09", "D09 cross-field  error\n"),
        ("D09.columns-typed", "D09.columns-typed columns-typed  error\n"),
        ("columns-typed", "D09.columns-typed columns-typed  error\n"),
        ("L08", "L08 applies-continuous  error\n"),
        ("op-sampled", "L21 op-sampled  warning\n"),
        ("C301", "C301 value-form  breaking\n"),
        ("image-place", "C320 image-place  breaking\n"),
        ("version-added", "C408 version-added  note\n"),
    ],
)
def test_a_rule_is_found_by_its_id_its_name_or_the_id_of_a_finding(asked, found, capsys):
    assert main(["rules", "show", asked]) == 0
    out = capsys.readouterr().out
    assert out.startswith(found)
    titles = [line.split("  ")[0] for line in out.splitlines()[1:] if line[0] != " "]
    assert titles == ["Description", *(["Why"] if found[0] == "L" else []), "Good", "Bad", "Fix"]


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("colums-typed", "Did you mean D09.columns-typed"),
        ("D9", "Did you mean D09 cross-field?"),
        ("???", "lists them all"),
    ],
)
def test_an_unknown_rule_is_refused_with_the_nearest(asked, near, capsys):
    assert main(["rules", "show", asked]) == 2
    assert near in capsys.readouterr().err


def test_a_rule_can_be_had_as_json(capsys):
    assert main(["rules", "show", "D04", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["name"] == "unknown-field"
    assert reported["severity"] == CLASSES["unknown-field"].severity == "warning"
    assert reported == next({**reported, "id": one.id} for one in rules() if one.id == "D04")
