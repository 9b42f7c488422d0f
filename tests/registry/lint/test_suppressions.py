"""Comments that ignore findings: what they are about, and what they are not."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from cdc_contracts.registry.authoring.lint import lint
from cdc_contracts.registry.authoring.lint.ignore_comments import read_ignores

OWN = Path(__file__).parent / "contracts"
UNTIL = "until 2027-01-31 because it is being written"


@pytest.fixture
def root(tmp_path):
    return shutil.copytree(OWN, tmp_path / "contracts")


def edit(root, name, *pairs):
    file = root / name
    text = file.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    file.write_text(text)


def found(root, today=date(2027, 1, 31)):
    report = lint([root], today=today)
    return [one.rule for one in report.findings], [one.rule for one, _ in report.ignored]


def test_a_comment_is_about_its_own_line(root):
    edit(root, "acme/plain/v1/contract.yaml", ("[E9001]", f"[E9002] # cdc-contracts: ignore L15 {UNTIL}"))
    assert found(root) == ([], ["L15"])


def test_a_comment_alone_on_its_line_applies_to_the_next_line(root):
    mark = f"  # cdc-contracts: ignore L15 {UNTIL}\n\n  # another comment\n"
    edit(root, "acme/plain/v1/contract.yaml", ("[E9001]", "[E9002]"), ("  errata:", f"{mark}  errata:"))
    assert found(root) == ([], ["L15"])


def test_comments_one_above_the_other_are_about_the_same_line(root):
    marks = f"  # cdc-contracts: ignore L15 {UNTIL}\n  # cdc-contracts: ignore L02 {UNTIL}\n"
    edit(root, "acme/plain/v1/contract.yaml", ("[E9001]", "[E9002]"), ("  errata:", f"{marks}  errata:"))
    assert found(root) == (["L28"], ["L15"])


def test_the_last_day_is_a_day_on_which_it_is_ignored(root):
    edit(root, "acme/plain/v1/contract.yaml", ("[E9001]", f"[E9002] # cdc-contracts: ignore L15 {UNTIL}"))
    assert found(root, date(2027, 1, 31)) == ([], ["L15"])
    assert found(root, date(2027, 2, 1)) == (["L15", "L27"], [])


def test_a_finding_without_a_line_is_reported_on_the_first(root):
    for name in ("beat.json", "beat.change.json"):
        (root / "acme/plain/v2/samples" / name).unlink()
    edit(root, "acme/plain/v2/contract.yaml", ("contract:", f"# cdc-contracts: ignore L21 {UNTIL}\ncontract:"))
    assert found(root) == ([], ["L21"])


@pytest.mark.parametrize("place", ["envelope.avsc", "envelope.avsc#/tab", "envelope.avsc#", "."])
def test_for_a_file_without_comments_one_in_the_contract_says_where(place, root):
    schema = '{"name": "tab", "type": ["null", "string"]}'
    edit(root, "acme/plain/v1/envelope.avsc", (schema, '{"name": "tab", "type": ["null", "string"], "default": 7}'))
    edit(root, "acme/plain/v1/contract.yaml", ("status:", f"# cdc-contracts: ignore L12 at {place} {UNTIL}\nstatus:"))
    counted, ignored = found(root)
    assert ("L12" in ignored) == (place != "envelope.avsc#/tab")
    assert ("L28" in counted) == (place == "envelope.avsc#/tab")


def test_a_pointer_means_what_lies_at_it_and_below(root):
    edit(root, "acme/plain/v1/envelope.schema.json", ('"additionalProperties": false', '"patternProperties": {}'))
    path = next(one.path for one in lint([root]).findings if one.rule == "L11")
    edit(
        root,
        "acme/plain/v1/contract.yaml",
        ("status:", f"# cdc-contracts: ignore L11 at envelope.schema.json#{path} {UNTIL}\nstatus:"),
    )
    assert "L11" in found(root)[1]


def test_a_sample_is_ignored_by_its_name(root):
    (root / "acme/plain/v1/samples/alone.json").write_text("{}")
    edit(
        root,
        "acme/plain/v1/contract.yaml",
        ("status:", f"# cdc-contracts: ignore L16 at samples/alone.json {UNTIL}\nstatus:"),
    )
    assert found(root) == ([], ["L16"])


@pytest.mark.parametrize("rule", ["L02", "L21"])
def test_another_rule_is_not_ignored(rule, root):
    edit(root, "acme/plain/v1/contract.yaml", ("[E9001]", f"[E9002] # cdc-contracts: ignore {rule} {UNTIL}"))
    assert found(root) == (["L15", "L28"], [])


@pytest.mark.parametrize(
    "text",
    [
        "says: 'a # cdc-contracts: ignore L01'\n",
        'says: "a\n  # cdc-contracts: ignore L01"\n',
        "says: |\n  # cdc-contracts: ignore L01\nmore: 1\n",
        "says: a#cdc-contracts: ignore L01\n",
        "says: [",
    ],
)
def test_what_is_no_comment_ignores_nothing(text, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    assert list(read_ignores(file)) == []


def test_a_contract_that_cannot_be_judged_never_passes_because_its_finding_is_ignored(root, capsys):
    from cdc_contracts.cli.app import main

    edit(root, "acme/plain/v1/contract.yaml", ("status: legacy", f"status: old # cdc-contracts: ignore L02 {UNTIL}"))
    assert main(["lint", str(root)]) == 1
    assert capsys.readouterr().err == (
        "2 contracts, 11 samples, 2 mappings: no findings, 1 ignored; "
        "samples were not validated, because some contracts have errors\n"
    )
