"""The command below a finding shows that finding when it is typed, whether one record has it or only many do."""

import json
import shlex
from pathlib import Path

import pytest
from home_made import flat, written
from topics import CATALOGUE

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.findings import CLASSES

NOT_READ = "not-exercised"
"""A finding without a record."""
CHOSEN = {
    ("oms/dataworks@1", "table-schema"),
    ("dts/canal@2", "order"),
    ("dts/canal@2", "value-form"),
}
DRIFTS = [name for name, one in CLASSES.items() if one.drifts or one.breaks]
CASES = [
    pytest.param(version.reference, name, marks=[] if (version.reference, name) in CHOSEN else pytest.mark.nightly)
    for version in CATALOGUE.all_versions()
    for name in DRIFTS
]


def identities(document):
    return {(one["rule"], one["path"]) for one in document["findings"]}


@pytest.mark.parametrize(("reference", "drift"), CASES)
def test_the_command_of_a_finding_shows_the_finding(reference, drift, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)

    def printed(*arguments):
        code = main([*arguments])
        out = capfdbinary.readouterr().out
        return code, out

    code, messages = printed("sample", reference, "--drift", drift, "-n", "20")
    if code == 2:
        pytest.skip(f"{reference} has no {drift}")
    (tmp_path / "topic.jsonl").write_bytes(messages)
    report = json.loads(
        printed("audit", "file", "topic.jsonl", "--contract", reference, "--engine", "local", "--json")[1]
    )
    commands = {(one["rule"], one["path"]): one["reproduce"] for one in report["findings"] if one["class"] != NOT_READ}
    assert commands
    for finding, command in commands.items():
        program, *words = shlex.split(command)
        assert program == "cdc-contracts"
        assert finding in identities(json.loads(printed(*words, "--json")[1])), command


def test_the_command_of_a_finding_has_the_table_contracts_and_parameters_of_the_run(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    tables = tmp_path / "my tables.yaml"
    tables.write_text('{table: shop.orders, columns: {id: {type: int}, price: {type: "decimal(10,2)"}}}')
    sample = Path(str(CATALOGUE.version("debezium/json@4").folder), "samples", "insert-from-mysql.json")
    message = json.loads(sample.read_text(encoding="utf-8"))
    rows = [{"id": 1, "price": "7.90"}, {"id": 2, "price": 7.9}]
    lines = [json.dumps({**message, "after": row}) for row in rows]
    (tmp_path / "topic.jsonl").write_text("\n".join(lines))
    stated = ["--tables", tables.name, "--parameter", "decimal.handling.mode=string"]

    main(["audit", "file", "topic.jsonl", *stated, "--contract", "debezium/json@4", "--engine", "local", "--json"])

    findings = json.loads(capfdbinary.readouterr().out)["findings"]
    commands = {one["rule"]: shlex.split(one["reproduce"]) for one in findings if one["class"] != NOT_READ}
    assert "D06" in commands
    for rule, (_, *words) in commands.items():
        assert words[words.index("--tables") :][: len(stated)] == stated
        main([*words, "--json"])
        assert rule in {one for one, _ in identities(json.loads(capfdbinary.readouterr().out))}


def test_the_command_of_a_finding_has_the_folders_of_contracts_of_the_run(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topic.jsonl").write_bytes(b"\n".join(written(flat())) + b"\n")
    main(["contract", "new", "acme/flat", "topic.jsonl", "--to", "our contracts"])
    lines = (tmp_path / "topic.jsonl").read_text().splitlines()
    (tmp_path / "topic.jsonl").write_text("\n".join([*lines, lines[0][:-1] + ',"unknown":1}']))
    own = ["--contract", "acme/flat", "--contracts", "our contracts"]
    capfdbinary.readouterr()

    main(["audit", "file", "topic.jsonl", *own, "--engine", "local", "--json"])

    report = json.loads(capfdbinary.readouterr().out)
    assert report["source"]["contract_folders"] == ["our contracts"]
    (command,) = (one["reproduce"] for one in report["findings"] if one["class"] != NOT_READ)
    _, *words = shlex.split(command)
    main([*words, "--json"])
    assert identities(json.loads(capfdbinary.readouterr().out)) == {("D04", "/unknown")}
