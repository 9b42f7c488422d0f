"""`compat` decides whether versions are compatible: for people with places and proofs, for machines as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stopwatch import measure
from topics import NEWEST_CANAL

from cdc_contracts.cli.app import main

WIDER = ({"type": "integer"}, {"type": ["integer", "null"]})
OPEN = {"type": "object"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def write(name, value):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(value if isinstance(value, str) else json.dumps(value))
    return name


def reported(capsys, *arguments):
    code = main(["compat", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def lines(capsys, pairs, *arguments):
    code = main(["compat", "--pairs", write("pairs.json", pairs), *arguments, "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        ([NEWEST_CANAL, "dts/canal@latest"], 0, "COMPATIBLE"),
        (["dts/canal@1", "dts/canal@2"], 1, "INCOMPATIBLE"),
        (["oms-community/canal", "oms-community/canal@2"], 0, "COMPATIBLE"),
    ],
)
def test_the_exit_code_says_whether_they_are_compatible(arguments, code, word, capsys):
    assert main(["compat", *arguments]) == code
    out = capsys.readouterr().out
    assert out.startswith(f"{word}: {arguments[1]} with {arguments[0]}\n")
    assert max(map(len, out.splitlines())) <= 80


def test_what_could_not_be_decided_ends_with_4(here, capsys):
    folder = here / "own" / "acme" / "plain" / "v1"
    folder.mkdir(parents=True)
    (folder / "contract.yaml").write_text(
        "contract: acme/plain@1\nbased_on: dts/canal@2\nenvelope: {position: {order: opaque}}\n"
    )

    code, verdict = reported(capsys, "dts/canal@2", "acme/plain@1", "--contracts", "own")

    assert (code, verdict["compatible"]) == (4, None)
    assert [(one["rule"], one["severity"]) for one in verdict["findings"]] == [("C332", "undecided")]
    assert verdict["findings"][0]["new_place"]["file"].endswith("acme/plain/v1/contract.yaml")
    assert verdict["findings"][0]["new_place"]["line"] == 3


def test_json_has_what_a_machine_asks_for_first(capsys):
    code, verdict = reported(capsys, "oms-community/canal@1", "oms-community/canal@2", "--level", "FULL")

    assert code == 1
    assert list(verdict) == ["compatible", "level", "policy", "findings"]
    assert (verdict["compatible"], verdict["level"], verdict["policy"]) == (False, "FULL", "cdc")
    finding = next(one for one in verdict["findings"] if one["path"] == "/values/TIMESTAMP")
    assert list(finding)[:6] == ["rule", "confluent_rule", "path", "old", "new", "proof"]
    assert (finding["old"], finding["new"]) == ("epoch-seconds-integer", "epoch-seconds.fraction")
    assert finding["proof"]["message"]["data"] == [{"id": 7, "value": 1609344671}]
    assert finding["proof"]["old"] == "accepted"
    assert finding["proof"]["new"] == "D06 at /data/0/value: expected string, observed number"


def test_schema_files_are_compared_as_what_they_are(capsys):
    write("v1.json", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    write("v2.json", {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    write("v1.avsc", {"type": "record", "name": "A", "fields": [{"name": "a", "type": "int"}]})
    write("v2.avsc", {"type": "record", "name": "A", "fields": [{"name": "a", "type": "long"}]})

    code, verdict = reported(capsys, "v1.json", "v2.json", "--policy", "confluent-strict")
    assert code == 1
    assert verdict["findings"][0]["confluent_rule"] == "TYPE_CHANGED"
    assert reported(capsys, "v1.avsc", "v2.avsc", "--policy", "confluent-strict")[0] == 0
    assert reported(capsys, "v1.avsc", "v2.avsc", "--policy", "confluent-strict", "--level", "FORWARD")[0] == 1
    assert reported(capsys, "v1.avsc", "v2.json")[0] == 1


def test_a_contract_is_compared_with_a_schema_by_its_own_schema(capsys):
    schema = Path(__file__).parents[2] / "contracts" / "dts" / "canal" / "v2" / "envelope.schema.json"

    assert reported(capsys, str(schema), "dts/canal@2")[0] == 0


def test_earlier_versions_count_where_the_level_is_transitive(capsys):
    first = write(
        "v1.json", {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    )
    second = write("v2.json", {"type": "object", "properties": {"a": {}}, "additionalProperties": False})
    third = write("v3.json", {"type": "object", "properties": {"a": {}}, "additionalProperties": False})
    strict = ["--policy", "confluent-strict"]

    assert reported(capsys, first, second, third, *strict, "--level", "FORWARD")[0] == 0
    code, verdict = reported(capsys, first, second, third, *strict, "--level", "FORWARD_TRANSITIVE")
    assert code == 1
    assert {one["old_version"] for one in verdict["findings"] if one["severity"] == "breaking"} == {"v1.json"}
    assert reported(capsys, first, second, third)[0] == 1  # the policy cdc asks about every reader there is


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ([], "no versions are given"),
        (["dts/canal@1"], "no versions are given"),
        (["a", "b", "--pairs", "x"], "no versions are given"),
        (["dts/canal@1", "dts/canal@9"], "has no version 9"),
        (["no/such.json", "dts/canal@1"], "there is no file no/such.json"),
        (["contract.yaml", "dts/canal@1"], "Write SYSTEM/DIALECT@N, or the path of a .json or .avsc file."),
        (["--pairs", "nothing.json"], "cannot be read: No such file"),
        (["dts/canal@1", "dts/canal@2", "--level", "SIDEWAYS"], "SIDEWAYS"),
    ],
)
def test_a_call_that_is_wrong_ends_with_2(arguments, reported, capsys):
    assert main(["compat", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert reported in err
    assert "Traceback" not in err


@pytest.mark.parametrize("text", ["{", '{"old": 1}', "7"])
def test_a_list_of_pairs_that_is_none_ends_with_2(text, capsys):
    assert main(["compat", "--pairs", write("pairs.json", text)]) == 2
    assert "pairs.json" in capsys.readouterr().err


def test_each_pair_of_a_list_has_a_line(capsys):
    pairs = [
        {"old": "dts/canal@1", "new": "dts/canal@2"},
        {"old": WIDER[0], "new": WIDER[1], "policy": "confluent-strict", "level": "BACKWARD"},
        {"old": WIDER[1], "new": WIDER[0], "policy": "confluent-strict", "level": "BACKWARD"},
        {"old": [WIDER[0], WIDER[1]], "new": True},
        {"old": "int", "new": "long"},
        {"old": {"type": "fixed", "name": "F", "size": 2}, "new": {"type": "fixed", "name": "F", "size": 3}, "type": "AVRO"},
        {"old": ["null", "int"], "new": ["null", "int", "string"], "type": "AVRO", "policy": "confluent-strict"},
    ]  # fmt: skip
    code, found = lines(capsys, pairs)

    assert code == 2
    assert [one["compatible"] for one in found] == [False, True, False, False, None, False, True]
    assert found[4]["error"].startswith("`int` is neither a reference to a contract nor a file")
    assert [one.get("policy") for one in found[:3]] == ["cdc", "confluent-strict", "confluent-strict"]


@pytest.mark.parametrize(
    ("pair", "reported"),
    [
        (7, 'a pair has "old" and "new"'),
        ({"old": True}, 'a pair has "old" and "new"'),
        ({"old": [], "new": True}, '"old" names nothing'),
        ({"old": 7, "new": True}, "neither a reference, nor a path, nor a schema"),
        ({"old": None, "new": True}, "neither a reference, nor a path, nor a schema"),
        ({"old": True, "new": True, "level": "SIDEWAYS"}, "there is no level `SIDEWAYS`"),
        ({"old": True, "new": True, "policy": "mild"}, "there is no policy `mild`"),
        ({"old": True, "new": True, "type": "PROTOBUF"}, "there is no type `PROTOBUF`"),
        ({"old": "gone.avsc", "new": True}, "there is no file gone.avsc"),
        ({"old": {"type": "nonsense"}, "new": True}, "not a JSON Schema"),
        ({"old": {"type": "record"}, "new": {"type": "record"}, "type": "AVRO"}, "old"),
    ],
)
def test_a_pair_that_cannot_be_read_says_why_and_stops_nothing(pair, reported, capsys):
    code, found = lines(capsys, [pair, {"old": True, "new": True}])

    assert code == 2
    assert found[0]["compatible"] is None
    assert reported in found[0]["error"]
    assert found[1]["compatible"] is True


@pytest.mark.parametrize(
    ("old", "new", "compatible"),
    [("int", "long", True), ("long", "int", False), ([], "int", True), ("int", [], False), (["int"], "int", True)],
)
def test_a_pair_holds_avro_schemas_that_are_names_and_unions(old, new, compatible, capsys):
    pair = {"old": old, "new": new, "type": "AVRO", "policy": "confluent-strict"}
    _, (line,) = lines(capsys, [pair])
    assert (line["compatible"], line.get("error")) == (compatible, None)


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([], 0),
        ([{"old": True, "new": True}], 0),
        ([{"old": True, "new": True}, {"old": True, "new": False}], 1),
    ],
)
def test_the_heaviest_outcome_of_a_list_is_its_exit_code(pairs, code, capsys):
    assert lines(capsys, pairs)[0] == code


def test_paths_are_looked_up_here_and_then_beside_the_list(here, capsys):
    write("lists/old.json", WIDER[0])
    write("lists/new.json", WIDER[1])
    write("new.json", WIDER[0])
    pairs = write("lists/pairs.json", [{"old": "old.json", "new": "new.json"}])

    assert main(["compat", "--pairs", pairs]) == 0
    assert capsys.readouterr().out == "compatible    old.json -> new.json\n"


def test_hundreds_of_pairs_are_compared_in_one_process(capsys):
    pairs = [{"old": {**OPEN, "title": str(number)}, "new": OPEN} for number in range(300)]

    (code, found), taken = measure(lambda: lines(capsys, pairs))

    assert (code, len(found)) == (0, 300)
    assert taken < 1
