"""`list` shows every contract on a page of 80 columns, and as JSON."""

from __future__ import annotations

import json

import pytest

from cdc_contracts.cli.app import main


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_every_contract_has_its_line(capsys):
    assert main(["list"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0].split() == ["SYSTEM", "DIALECT", "@N", "APPLIES", "STATUS", "SENT"]
    at = next(index for index, line in enumerate(lines) if line.split()[:2] == ["dts", "canal"])
    assert lines[at].split() == ["dts", "canal", "@1", "before", "2022-03-20", "legacy", "json"]
    assert lines[at + 1].split() == ["@2", "from", "2022-03-20", "current", "json"]
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)


def test_every_name_of_a_dialect_can_be_copied(capsys):
    main(["list"])
    named = {line[15:].split(" ")[0] for line in capsys.readouterr().out.split("\n\n")[0].splitlines()}
    assert {"canal", "json-c", "default-extend-column-type"} <= named


def test_it_says_what_distinguishes_versions(capsys):
    main(["list"])
    out = " ".join(capsys.readouterr().out.split())
    assert "row of a DELETE in /old (@1) or /data (@2)" in out
    assert "BIT written as bit-number (@1) or bit-base64 (@2)" in out


def test_the_canonical_change_stands_apart(capsys):
    main(["list"])
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("canonical/change@1")
    assert out.count("canonical") == 2


def test_json_has_the_same(capsys):
    assert main(["list", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    contracts = {one["reference"]: one for one in reported["contracts"]}
    assert contracts["oms-community/canal@2"] == {
        "reference": "oms-community/canal@2",
        "system": "oms-community",
        "dialect": "canal",
        "version": 2,
        "applies": {"since": "3.3.0", "counted_from": "project-created"},
        "status": "current",
        "transport": "json",
        "told_apart_by": [
            "TIMESTAMP written as epoch-seconds.fraction",
            "BIT written as bit-base64",
            "DATETIME written as sql-datetime-zone",
        ],
    }
    assert "canonical/change@1" not in contracts
    assert reported["canonical"] == [{"reference": "canonical/change@1", "version": 1, "status": "current"}]


def test_a_contract_of_ones_own_is_listed_with_the_others(tmp_path, capsys):
    folder = tmp_path / "dts" / "canal" / "v3"
    folder.mkdir(parents=True)
    folder.joinpath("contract.yaml").write_text(
        'contract: dts/canal@3\nbased_on: dts/canal@2\napplies: {since: "2031-05-01"}\nstatus: current\n'
    )
    assert main(["list", "--json", "--contracts", str(tmp_path)]) == 0
    reported = json.loads(capsys.readouterr().out)["contracts"]
    assert [one["reference"] for one in reported if one["dialect"] == "canal" and one["system"] == "dts"] == [
        "dts/canal@1", "dts/canal@2", "dts/canal@3",
    ]  # fmt: skip


def test_a_folder_without_contracts_is_refused(tmp_path, capsys):
    assert main(["list", "--contracts", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: no contract below {tmp_path}\n")
