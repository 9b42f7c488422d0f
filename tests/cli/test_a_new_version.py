"""A vendor changes its format: one new folder, and every command knows the version. No line of code is touched."""

import json

import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

# What the made-up third version does: the row of a DELETE is back in `old`, and a member `txid` has the transaction.
CONTRACT = """
contract: dts/canal@3
based_on: dts/canal@2
applies: {since: "2027-01-01"}
envelope: {transaction: {at: /txid}}
images: {delete: {before: {at: /old}}}
version_evidence: [{image-of: delete, at: /old}, {key-seen: /txid, proves: version}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("own")
    version = shipped_catalogue().version("dts/canal@2")
    schema, avro = version.schema, version.avro_schema
    reported = {"type": ["string", "null"], "description": "Transaction id."}
    schema = {
        **schema,
        "$id": "urn:cdc-contracts:dts:canal:v3",
        "properties": {**schema["properties"], "txid": reported},
    }
    rows, one_row, *rest = schema["allOf"]
    schema["allOf"] = [rows, for_ops(one_row, "INSERT", "INIT"), for_ops(swapped(one_row), "DELETE"), *rest]
    avro = {**avro, "fields": [*avro["fields"], {"name": "txid", "type": ["null", "Absent", "string"]}]}
    place = root / "dts" / "canal" / "v3"
    place.mkdir(parents=True)
    (place / "contract.yaml").write_text(CONTRACT)
    (place / "envelope.schema.json").write_text(json.dumps(schema))
    (place / "envelope.avsc").write_text(json.dumps(avro))
    return root


def swapped(branch):
    """The same branch with `data` and `old` in each other's place."""
    text = json.dumps(branch["then"]).replace('"data"', '"*"').replace('"old"', '"data"').replace('"*"', '"old"')
    return {**branch, "then": json.loads(text)}


def for_ops(branch, *codes):
    return {**branch, "if": {"properties": {"type": {"enum": list(codes)}}, "required": ["type"]}}


@pytest.fixture(scope="module")
def messages(folder):
    target = folder / "messages.jsonl"
    assert main(["sample", "dts/canal@3", "-n", "200", "-o", str(target), "--contracts", str(folder)]) == 0
    return target


def test_it_is_listed_shown_and_compared(folder, capsys):
    assert main(["list", "--contracts", str(folder)]) == 0
    assert "from 2027-01-01" in capsys.readouterr().out
    assert main(["show", "dts/canal", "--contracts", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("dts/canal@3: ")
    assert main(["diff", "dts/canal@2", "dts/canal@3", "--contracts", str(folder)]) == 0
    reported = capsys.readouterr().out
    assert "/txid" in reported
    assert "/old" in reported


def test_lint_finds_no_error_and_asks_for_samples(folder, capsys):
    assert main(["lint", str(folder)]) == 0
    assert "L21" in capsys.readouterr().out


def test_its_messages_are_written_and_judged(folder, messages, capsys):
    deleted = [one for one in map(json.loads, messages.read_text().splitlines()) if one["type"] == "DELETE"]
    assert deleted
    assert all(one["old"] and one["data"] is None and "txid" in one for one in deleted)
    assert main(["check", str(messages), "--contract", "dts/canal@3", "--contracts", str(folder)]) == 0
    assert main(["check", str(messages), "--contract", "dts/canal@2", "--contracts", str(folder)]) == 1
    assert "/old" in capsys.readouterr().out


def test_its_topic_is_distinguished_from_the_older_versions_and_decoded(spark, folder, messages, tmp_path, capsys):
    whole = ["--contract", "dts/canal@3", "--contracts", str(folder), "--json"]
    assert main(["audit", "file", str(messages), *whole]) == 0
    assert json.loads(capsys.readouterr().out)["ledger"]["read"] == 200
    assert main(["decode", "file", str(messages), "--to", str(tmp_path / "out"), *whole]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ledger"]["conforming"] + report["ledger"]["control"] == 200
    assert report["ledger"]["changes"] == report["ledger"]["conforming"]
