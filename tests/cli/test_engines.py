"""`audit --engine local` reports the same as `--engine spark`, to the byte, without a JVM."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from producing import write_transactions
from topics import rendered

from cdc_contracts.cli.app import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with no settings of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def both(capsys, here, *arguments):
    """Audit by both engines; what they tell is one and the same, and is returned."""
    reported = {}
    for engine in ("spark", "local"):
        code = main(["audit", "-q", *arguments, "--engine", engine, "--report", f"{engine}.json"])
        out, err = capsys.readouterr()
        reported[engine] = (code, out, err, (here / f"{engine}.json").read_bytes())
    assert reported["local"] == reported["spark"]
    return reported["spark"][0], json.loads(reported["spark"][3])


DIALECTS = ["dts/canal@2", "oms-community/canal@2", "dts/avro@1", "drs/json@2", "oms/shareplex@1", "oms/debezium-smt@1"]


@pytest.mark.one_in(3, any_subject=True)
@pytest.mark.parametrize(("number", "reference"), list(enumerate(DIALECTS)))
def test_topics_of_any_dialect_however_compressed(spark, broker, make_topic, here, capsys, number, reference):
    values = rendered(reference, 300, controls=97)
    hostile = [None, b"", b"x", values[0][:-9], b'{"a":1}', b'{"shard":3,' + values[1][1:]]
    records = [(place % 2, value) for place, value in enumerate([*values[:150], *hostile, *values[150:]])]
    codec = ["producer", "gzip", "snappy", "lz4", "zstd", "uncompressed"][number]
    topic = make_topic(records, partitions=3, config={"compression.type": codec})
    code, report = both(capsys, here, "topic", topic, "-b", broker.bootstrap, "--contract", reference)
    assert (code, report["ledger"]["read"], report["ledger"]["tombstone"]) == (1, len(records), 1)
    assert report["ledger"]["partitions"][2]["end"] == 0


def test_a_subject_with_switches_in_a_range(spark, broker, make_topic, here, capsys):
    old = rendered("oms-community/canal@1", 700, fractions=False)
    topic = make_topic([(0, value) for value in [*old, *rendered("oms-community/canal@2", 700)]])
    call = ["topic", topic, "-b", broker.bootstrap, "--contract", "oms-community/canal"]
    code, report = both(capsys, here, *call, "--from", "offset:100", "--to", "offset:1300")
    assert (code, report["ledger"]["read"]) == (0, 1_200)
    assert [one["at"] for one in report["switches"]] == [700]


def test_gaps_of_transactions_and_an_empty_topic(spark, broker, make_topic, here, capsys):
    topic, values = make_topic(), rendered("dts/canal@2", 30)
    write_transactions(broker, topic, (values[:10], True), (values[10:20], False), (values[20:], True))
    call = ["topic", topic, make_topic(), "-b", broker.bootstrap, "--contract", "dts/canal@2"]
    code, report = both(capsys, here, *call)
    assert code == 0
    counts = {one["topic"]: (one["end"], one["read"], one["gaps"]) for one in report["ledger"]["partitions"]}
    assert counts[topic] == (33, 20, 13)
    code, report = both(capsys, here, "topic", call[2], *call[3:])
    assert (code, report["verdict"]) == (4, "inconclusive")


def test_files_of_lines_and_captures(spark, broker, make_topic, here, capsys):
    values = rendered("dts/canal@1", 200)
    (here / "a.jsonl").write_bytes(b"\n".join([*values, b"", b"not json", b" "]))
    code, report = both(capsys, here, "file", "a.jsonl", "--contract", "dts/canal@2", "--from", "offset:10")
    assert (code, report["ledger"]["read"], report["source"]["blank_lines"]) == (1, 191, 2)
    topic = make_topic([(number % 3, value) for number, value in enumerate([*values, None])], partitions=3)
    assert main(["capture", "topic", topic, "-b", broker.bootstrap, "-o", "c.parquet"]) == 0
    capsys.readouterr()
    code, report = both(capsys, here, "file", "c.parquet", "--contract", "dts/canal@1")
    assert (code, report["ledger"]["read"], report["ledger"]["tombstone"]) == (0, 201, 1)


@pytest.mark.parametrize("kind", ["topic", "file"])
def test_the_local_engine_imports_no_spark_and_starts_no_java(broker, make_topic, here, kind):
    values = rendered("dts/canal@2", 40)
    (here / "a.jsonl").write_bytes(b"\n".join(values))
    what = ["file", "a.jsonl"]
    if kind == "topic":
        what = ["topic", make_topic([(0, value) for value in values]), "-b", broker.bootstrap]
    arguments = ["audit", *what, "--contract", "dts/canal@2", "--engine", "local"]
    program = (
        "import sys\n"
        "from cdc_contracts.cli.app import main\n"
        f"code = main({arguments!r})\n"
        "print(code, sorted({name.split('.')[0] for name in sys.modules} & {'pyspark', 'py4j'}))\n"
    )
    # Without a PATH no java can be found, let alone started.
    environment = {"PYTHONPATH": str(ROOT / ".src"), "PATH": "", "HOME": os.environ.get("HOME", "")}
    found = subprocess.run([sys.executable, "-c", program], cwd=here, env=environment, capture_output=True, check=False)
    assert found.returncode == 0, found.stderr
    out = found.stdout.decode()
    assert out.startswith("PASS: all 40 messages conform to dts/canal@2")
    assert out.splitlines()[-1] == "0 []"


def test_a_topic_that_is_not_there_and_a_wrong_password_are_exit_3(broker, here, capsys):
    call = ["audit", "topic", "no-such-topic", "--contract", "dts/canal@2", "--engine", "local"]
    assert main([*call, "-b", broker.bootstrap]) == 3
    assert "there is no topic no-such-topic" in capsys.readouterr().err
    (here / "client.properties").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        '  username="reader" password="hunter2";\n'
    )
    assert main([*call, "-b", broker.addresses["login"], "--kafka-config", "client.properties"]) == 3
    out, err = capsys.readouterr()
    assert (out, "hunter2" in err) == ("", False)
    assert "refuses the credentials" in err


def test_tables_that_are_left_out(spark, here, capsys):
    orders = rendered("oms-community/canal@2", 50)
    (here / "a.jsonl").write_bytes(
        b"\n".join([*orders, *[value.replace(b'"orders"', b'"visits"') for value in orders]])
    )
    code, report = both(
        capsys,
        here,
        "file",
        "a.jsonl",
        "--contract",
        "oms-community/canal@2",
        "--include",
        "shop.*",
        "--exclude",
        "vis*",
    )
    assert (code, report["ledger"]["conforming"], report["ledger"]["excluded"]) == (0, 50, 50)


def test_a_sample_reads_slices_of_each_partition_and_says_so(spark, broker, make_topic, here, capsys):
    mine, foreign = rendered("dts/canal@2", 2_100), rendered("oms-community/canal@2", 300)
    records = list(enumerate([*mine[:600], *foreign, *mine[600:]]))
    topic = make_topic([(number % 2, value) for number, value in records], partitions=2)
    call = ["topic", topic, "-b", broker.bootstrap, "--contract", "dts/canal@2", "--sample", "1/4"]
    code, report = both(capsys, here, *call)
    assert code == 0  # the messages of the other dialect, offsets 300 to 450, lie between the slices
    assert report["coverage"] == {
        "read": 600, "of": 2_400, "sample": "1/4 of each partition, in slices spread over its range",
        "slices": {"read": 6, "drifting": 0, "share": 0.0, "at_most": 0.4, "confidence": 0.95, "largest": 400,
                   "spread": [{"share": 0.0, "slices": 6, "represents": 2_400}]},
    }  # fmt: skip
    assert report["coverage"]["slices"]["at_most"] >= 1 - 0.05 ** (1 / 6) > 0.39
    assert [(one["start"], one["end"], one["read"], one["gaps"]) for one in report["ledger"]["partitions"]] == [
        (0, 1_200, 300, 0), (0, 1_200, 300, 0),
    ]  # fmt: skip


def test_a_sample_of_a_file(spark, here, capsys):
    (here / "a.jsonl").write_bytes(b"\n".join([*rendered("dts/canal@2", 1_500), b"", b""] * 2))
    code, report = both(
        capsys, here, "file", "a.jsonl", "--contract", "dts/canal@2", "--sample", "0.1", "--fail-on", "error"
    )
    assert (code, report["coverage"]["read"], report["coverage"]["of"]) == (0, 298, 3_003)
    assert report["source"]["blank_lines"] == 3


@pytest.mark.nightly
def test_topics_whose_contracts_are_found_out_from_samples(spark, broker, make_topic, here, capsys):
    mixed = [
        value for pair in zip(rendered("dts/canal@2", 400), rendered("dts/avro@1", 400), strict=True) for value in pair
    ]
    several = make_topic([(number % 2, value) for number, value in enumerate(mixed)], partitions=2)
    one = make_topic([(0, value) for value in rendered("drs/json@2", 300, snapshot=20)])
    code, report = both(capsys, here, "topic", several, one, "-b", broker.bootstrap, "--fail-on", "error")
    assert (code, report["ledger"]["conforming"], report["contract"]) == (0, 1_100, "auto")
    assert report["source"]["detections"][several]["verdict"] == "mixed"
    assert (report["source"]["detections"][one]["subject"], report["source"]["detections"][one]["version"]) == (
        "drs/json", 2,
    )  # fmt: skip
    assert main(["detect", "topic", one, "-b", broker.bootstrap]) == 0
    assert capsys.readouterr().out.startswith("CERTAIN: 300 messages follow drs/json@2")
    assert main(["detect", "topic", several, one, "-b", broker.bootstrap, "--messages", "90", "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["messages"]) == ("mixed", 90)
    assert "dts/canal@1 or dts/canal@2" in found["settle"]  # one DELETE of so few decides nothing


def test_messages_that_another_tool_wrapped(spark, here, capsys):
    wrapped = [b'{"schema":null,"payload":' + value + b"}" for value in rendered("dts/canal@2", 50)]
    (here / "a.jsonl").write_bytes(b"\n".join([*wrapped, b'{"schema":null}']))
    call = ["file", "a.jsonl", "--contract", "dts/canal@2", "--unwrap", "connect-json"]
    code, report = both(capsys, here, *call)
    assert (code, report["ledger"]["conforming"]) == (1, 50)
    heavy = [(one["rule"], one["observed"]) for one in report["findings"] if one["severity"] != "info"]
    assert heavy == [("D01.connect-json", ["no member `payload`"])]
