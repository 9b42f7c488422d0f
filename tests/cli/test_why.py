"""`why`: one message, explained to someone who has to find out what is wrong with it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cdc_contracts.cli.app import main

pytestmark = pytest.mark.usefixtures("first_versions")

CASES = sorted((Path(__file__).parent / "why").glob("*.yaml"))
INSERT = (
    b'{"data":[{"id":"7","name":"Kim"}],"database":"shop","es":1718000000000,"id":9,"isDdl":false,'
    b'"mysqlType":{"id":"bigint","name":"varchar"},"pkNames":["id"],"sql":"","sqlType":{"id":-5,"name":12},'
    b'"table":"orders","ts":1718000001234,"type":"INSERT"}'
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working folder with no settings of its own, and a narrow terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def message_of(case) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    return case["message"].encode(case.get("encoding", "utf-8"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_message_is_reported(here, capsys, path):
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    (here / "message.json").write_bytes(message_of(case))
    if "tables" in case:
        (here / "orders.yaml").write_text(yaml.safe_dump(case["tables"], sort_keys=False))
    assert main(["why", "message.json", *case["arguments"]]) == case["exit"]
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    words = " ".join(out.split())
    at = 0
    for reported in case["says"]:
        found = words.find(reported, at)
        assert found >= 0, f"{reported!r} is not told, or not in its place:\n{out}"
        at = found + len(reported)
    assert [hidden for hidden in case.get("hides", ()) if hidden in out] == []


def test_the_whole_answer_reads_well_at_eighty_columns(here, capsys):
    (here / "a.jsonl").write_bytes(INSERT.replace(b'"Kim"', b"12") + b"\n")
    assert main(["why", "a.jsonl", "--line", "1", "--contract", "dts/canal@2"]) == 1
    out, err = capsys.readouterr()
    assert out == (Path(__file__).parent / "why" / "a-number-for-a-text.txt").read_text()
    assert (
        err == "values are shown as shapes (9: a digit, a: a letter, x: another character); --show-values shows them\n"
    )


def test_a_line_of_a_file_is_taken_by_its_number(here, capsys):
    (here / "a.jsonl").write_bytes(b"x\n\n" + INSERT + b"\n")
    assert main(["why", "a.jsonl", "--line", "3", "--contract", "dts/canal@2"]) == 0
    assert "where a.jsonl line 3, 245 bytes" in " ".join(capsys.readouterr().out.split())
    assert main(["why", "a.jsonl", "--contract", "dts/canal@2"]) == 1
    assert "this is a.jsonl line 1, the first message of several; --line N takes another" in capsys.readouterr().err
    assert main(["why", "a.jsonl", "--line", "2"]) == 3
    assert "there is no message there (a.jsonl line 2)" in capsys.readouterr().err


def test_a_row_of_a_capture_is_taken_by_its_coordinates_or_its_number(here, capsys):
    columns = {
        "value": pa.array([b"x", INSERT, None], pa.binary()),
        "key": pa.array([None, b"7", b"7"], pa.binary()),
        "topic": pa.array(["orders"] * 3),
        "partition": pa.array([0, 1, 1], pa.int32()),
        "offset": pa.array([5, 900, 901], pa.int64()),
        "timestamp": pa.array([1718000001234000] * 3, pa.timestamp("us", "UTC")),
    }
    pq.write_table(pa.table(columns), here / "c.parquet")
    call = ["why", "c.parquet", "--contract", "dts/canal@2"]
    assert main([*call, "--partition", "1", "--offset", "900"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "where orders partition 1 offset 900 of 2024-06-10T06:13:21.234Z, 245 bytes key 9, 1 byte" in words
    assert main([*call, "--line", "2", "--json"]) == 0
    place = json.loads(capsys.readouterr().out)["place"]
    assert place == {"topic": "orders", "partition": 1, "offset": 900, "timestamp": "2024-06-10T06:13:21.234Z"}
    assert main([*call, "--line", "3"]) == 0
    assert capsys.readouterr().out.startswith("TOMBSTONE: the value is null")
    assert main([*call, "--partition", "1", "--offset", "5"]) == 3


def test_standard_input_is_read_as_lines_or_as_one_message(here, capsys, monkeypatch):
    pretty = json.dumps(json.loads(INSERT), indent=2).encode()
    for given, arguments, code in ((INSERT, [], 0), (pretty, [], 1), (pretty, ["--whole"], 0)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert main(["why", "-", *arguments, "--contract", "dts/canal@2"]) == code
    assert "--whole the whole" in capsys.readouterr().err
    assert main(["why", "-", "--offset", "5"]) == 2
    assert "standard input has no offsets" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        (["topic"], 2, "Give FILE, or `-`, or `topic` and its name."),
        (["a.jsonl", "b.jsonl"], 2, "`a.jsonl b.jsonl` does not name one message"),
        (["topic", "orders"], 2, "why topic orders -b HOST:PORT --partition 0 --offset 12"),
        (["none.jsonl"], 3, "there is no such file (none.jsonl)"),
        (["a.txt"], 2, "is not a file type for messages"),
        (["a.jsonl", "--line", "1", "--contract", "dts/cana@2"], 2, "Did you mean dts/canal?"),
        (
            ["a.jsonl", "--line", "1", "--offset", "5"],
            2,
            "--line and --offset each name a message (a.jsonl)\n  Give one",
        ),
        (["a.jsonl", "--line", "1", "-b", "x:1"], 2, "--bootstrap is for topics, not for files"),
        (["a.jsonl", "--kafka-config", "none"], 2, "--kafka-config is for topics, not for files"),
        (["-", "--kafka-opt", "a=b"], 2, "--kafka-opt is for topics, not for files"),
    ],
)
def test_a_call_that_cannot_be_carried_out_says_why(here, capsys, arguments, code, reported):
    for name in ("a.jsonl", "b.jsonl", "a.txt"):
        (here / name).write_bytes(INSERT)
    assert main(["why", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert reported in err


def test_a_record_of_a_topic_is_named_by_its_coordinates(here, broker, make_topic, capsys):
    topic = make_topic(
        [(0, b"x"), (1, b"x"), (1, INSERT, {"key": b"7", "timestamp": 1718000001234}), (1, None)], partitions=2
    )
    call = ["why", "topic", topic, "-b", broker.bootstrap, "--partition", "1", "--contract", "dts/canal@2"]
    assert main([*call, "--offset", "1"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("CONFORMING: an insert of shop.orders that conforms to dts/canal@2")
    assert f"{topic} partition 1 offset 1 of 2024-06-10T06:13:21.234Z, 245 bytes" in words
    assert main([*call, "--offset", "0", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["place"]["topic"], document["place"]["offset"]) == (topic, 0)
    assert document["fault"]["reason"] == "a value is expected here"
    assert main([*call, "--offset", "2"]) == 0
    assert main([*call, "--offset", "3"]) == 3
    assert "3" in capsys.readouterr().err


def test_no_jvm_and_no_spark_is_asked(here):
    import os
    import subprocess

    (here / "m.json").write_bytes(INSERT)
    program = (
        "import sys; from cdc_contracts.cli.app import main; main(['why', 'm.json'])\n"
        "sys.exit(any(name.startswith('pyspark') for name in sys.modules))"
    )
    source = {"PYTHONPATH": str(Path(__file__).parents[2] / ".src")}
    found = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **source}, capture_output=True, check=False
    )
    assert found.returncode == 0, found.stderr
