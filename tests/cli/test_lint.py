"""`lint` prints a line for each finding, says what it looked at, and fails as it is asked to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from repositories import commit, git
from topics import VERSION_FOLDERS

from cdc_contracts.cli.app import main

OWN = Path(__file__).parents[1] / "registry" / "lint" / "contracts"


@pytest.fixture
def root(tmp_path):
    return shutil.copytree(OWN, tmp_path / "contracts")


def spoil(root, name, old, new):
    file = root / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))


def test_contracts_that_hold_together_pass(root, capsys):
    assert main(["lint", str(root)]) == 0
    assert capsys.readouterr() == ("", "2 contracts, 11 samples, 2 mappings: no findings\n")


def test_a_finding_has_file_line_rule_and_place(root, capsys):
    spoil(root, "acme/plain/v1/contract.yaml", "errata: [E9001]", "errata: [E9002]")
    assert main(["lint", str(root)]) == 1
    out, err = capsys.readouterr()
    file = root / "acme/plain/v1/contract.yaml"
    assert out == (
        f"{file}:8:12: error L15 erratum-exists /provenance/errata/0: expected an entry of errata.yaml; found E9002\n"
    )
    assert err == "2 contracts, 11 samples, 2 mappings: 1 error\n"


def test_a_warning_fails_only_where_it_is_asked_to(root, capsys):
    (root / "acme/plain/v2/samples/beat.json").unlink()
    (root / "acme/plain/v2/samples/beat.change.json").unlink()
    assert main(["lint", str(root)]) == 0
    assert "warning L21 op-sampled" in capsys.readouterr().out
    assert main(["lint", str(root), "--fail-on", "warning"]) == 1


def test_json_has_the_same(root, capsys):
    spoil(root, "acme/plain/v1/contract.yaml", "errata: [E9001]", "errata: [E9002]")
    assert main(["lint", str(root), "--format", "json"]) == 1
    reported = json.loads(capsys.readouterr().out)
    assert reported == {
        "command": "lint",
        "findings": [
            {
                "rule": "L15",
                "name": "erratum-exists",
                "severity": "error",
                "file": str(root / "acme/plain/v1/contract.yaml"),
                "line": 8,
                "column": 12,
                "path": "/provenance/errata/0",
                "message": "expected an entry of errata.yaml; found E9002",
                "help": "`cdc-contracts rules show L15` explains it",
                "expected": "an entry of errata.yaml",
                "observed": "E9002",
            }
        ],
        "ignored": [],
        "checked": {"contracts": 2, "samples": 11, "mappings": 2, "tables": 0},
        "notes": [],
    }


def test_samples_wait_until_every_contract_holds_together(root, capsys):
    spoil(root, "acme/plain/v1/contract.yaml", "status: legacy", "status: old")
    spoil(root, "acme/plain/v2/samples/add.json", '"id": 1', '"id": "1"')
    assert main(["lint", str(root)]) == 1
    out, err = capsys.readouterr()
    assert "L17" not in out
    assert out.count("L02") == 1
    assert err.endswith("samples were not validated, because some contracts have errors\n")


def test_contracts_beside_are_used_and_not_reported(root, tmp_path, capsys):
    new = tmp_path / "new" / "acme" / "plain" / "v3"
    new.mkdir(parents=True)
    new.joinpath("contract.yaml").write_text(
        'contract: acme/plain@3\nbased_on: acme/plain@2\napplies: {since: "3.0"}\nstatus: current\n'
    )
    assert main(["lint", str(tmp_path / "new")]) == 1
    assert "L06 base-resolves" in capsys.readouterr().out
    assert main(["lint", str(tmp_path / "new"), "--contracts", str(root)]) == 0
    out, err = capsys.readouterr()
    assert "L21 op-sampled" in out
    assert str(root) not in out
    assert err.startswith("1 contract: 1 warning")


@pytest.mark.nightly
def test_where_there_are_none_it_says_that_it_looked_at_the_shipped_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["lint"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{len(VERSION_FOLDERS)} contracts, ")
    assert err.endswith("; linted the shipped contracts, because there are none in ./contracts\n")


@pytest.mark.parametrize("call", [["lint", "contracts"], ["ci", "contracts", "--base", "HEAD"]])
def test_json_is_spelled_in_the_same_way_everywhere(root, monkeypatch, capsys, call):
    """Every command that prints JSON takes --json; those with more formats take --format json as well."""
    git(root.parent, "init", "-q")
    commit(root.parent, "what there is")
    monkeypatch.chdir(root.parent)
    main([*call, "--json", "--fail-on", "error"])
    short = capsys.readouterr().out
    main([*call, "--format", "json", "--fail-on", "error"])
    assert capsys.readouterr().out == short
    assert json.loads(short)["command"] == call[0]
    assert main([*call, "--json", "--format", "sarif"]) == 2
    assert "exclude each other" in capsys.readouterr().err
