"""The command below a finding shows that finding when it is typed, whether one record has it or only many do."""

import json
import shlex

import pytest
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
