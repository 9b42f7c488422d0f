"""`check`, `audit`, `decode`, `capture` and `demo` as a user runs them."""

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.cli.options.validation_options import ValidationOptions
from cdc_contracts.spark_checks.kafka import spark_source as kafka_source

pytestmark = pytest.mark.usefixtures("first_versions")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with no settings of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_lines(path, lines):
    path.write_bytes(b"\n".join(lines) + b"\n")
    return str(path)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "cdc_contracts.cli.app", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src"), "COLUMNS": "80"},
        capture_output=True, check=False, timeout=300, **options,
    )  # fmt: skip


def test_check_prints_a_line_per_finding_then_what_only_the_stream_shows_and_a_summary(here, capsys):
    lines = [*rendered("dts/canal@2", 3), b"", b'{"a":1', b'{"shard":3,' + rendered("dts/canal@2", 1)[0][1:]]
    assert main(["check", write_lines(here / "a.jsonl", lines), "--contract", "dts/canal@2"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "a.jsonl:5 error malformed (message) expected one JSON object, observed not one JSON text",
        "a.jsonl:6 warning unknown-field /shard expected no such member, observed number",
        # no message shows this alone, so it comes last
        "a.jsonl:6 warning order /id expected not below the one before, observed below the one before (1 of 5 messages)",
    ]
    assert err == "drift: 5 read, 4 conforming, 0 control, 0 tombstone, 1 quarantined, validated against dts/canal@2\n"


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_where_there_is_no_message_check_says_so(here, capsys, content):
    (here / "empty.jsonl").write_bytes(content)
    assert main(["check", "empty.jsonl"]) == 4
    assert capsys.readouterr() == ("", "error: there is no message to detect the contract from (empty.jsonl)\n")


def test_a_packed_file_that_is_cut_short_is_named(here, capsys):
    (here / "a.jsonl.gz").write_bytes(b"\x1f\x8b\x08")
    assert main(["check", "a.jsonl.gz"]) == 3
    assert "the compressed file cannot be read" in capsys.readouterr().err


def test_check_reads_standard_input_without_a_jvm(here):
    found = run("check", "-", "--contract", "dts/canal@2", "--json", input=rendered("dts/canal@2", 1)[0])
    report = json.loads(found.stdout)
    assert (found.returncode, found.stderr) == (0, b"")
    assert (report["verdict"], report["ledger"]["read"], report["source"]["paths"]) == ("pass", 1, ["-"])


def test_values_of_rows_are_in_a_report_only_where_asked_for(here, capsys):
    path = write_lines(
        here / "a.jsonl", [rendered("oms-community/canal@1", 1)[0].replace(b'"note":""', b'"note":"Zoe"')]
    )
    shown = []
    for options in ([], ["--show-values"]):
        assert main(["check", path, "--contract", "oms-community/canal@2", "--json", *options]) == 1
        shown.append(json.loads(capsys.readouterr().out)["findings"][0]["example"]["message"])
    assert '"note": "aaa"' in shown[0]
    assert '"note":"Zoe"' in shown[1]


@pytest.mark.parametrize("copies", [1, 3_000], ids=["few", "many"])
def test_lines_of_a_check_have_values_where_asked_for(here, copies, capsys):
    """Few messages are validated one by one, and many in batches."""
    sent = rendered("dts/canal@2", 1)[0]
    wrong = [re.sub(rb'"id":"[^"]*"', b'"id":"x9"', sent), re.sub(rb'"type":"[A-Z]+"', b'"type":"UPSERT"', sent)]
    path = write_lines(here / "a.jsonl", wrong * copies)
    for options, observed in (([], ["UPSERT", "a9"]), (["--show-values"], ["UPSERT", "x9"])):
        assert main(["check", path, "--contract", "dts/canal@2", *options]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2 * copies
        assert sorted({line.rpartition(", observed ")[2] for line in lines}) == observed


def test_check_and_audit_report_the_same(spark, here, capsys):
    path = write_lines(here / "a.jsonl", [*rendered("oms-community/canal@1", 300), b"x", b""])
    assert main(["check", path, "--contract", "oms-community/canal@2", "--json"]) == 1
    checked = json.loads(capsys.readouterr().out)
    assert main(["audit", "file", path, "--contract", "oms-community/canal@2", "--json", "--report", "r.json"]) == 1
    audited = json.loads(capsys.readouterr().out)
    assert json.loads((here / "r.json").read_text()) == audited
    for report in (checked, audited):
        del report["source"]
    assert checked == audited


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["check", "a.jsonl", "--contract", "dts/cana@2"], 2, "Did you mean dts/canal?"),
        (["check", "a.jsonl", "--contract", "dts/canal@7"], 2, "Did you mean dts/canal@2?"),
        (["check", "missing.jsonl", "--contract", "dts/canal@2"], 3, "there is no such file (missing.jsonl)"),
        (["check", "a.jsonl", "--contract", "dts/canal@2", "--fail-on", "never"], 2, "`never` is neither a severity nor a class"),
        (["check", "a.jsonl", "--contract", "dts/canal@2", "--severity", "malformed=info"], 2, "cannot be lowered"),
        (["check", "a.jsonl", "--contract", "dts/canal@2", "--severity", "noise=error"], 2, "there is no drift class"),
        (["check", "a.jsonl", "--contract", "dts/canal@2", "--parameter", "zone=x"], 2, "there is no parameter `zone`"),
        (["check", "a.jsonl", "--contract", "dts/canal@2", "--parameter", "timestamp_zone=Mars"], 2, "not a time zone"),
        (["check", "a.jsonl", "--contract", "dts/canal@2", "--tables", "none.yaml"], 2, "no file or folder none.yaml"),
        (["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--from", "2026-01-01T00:00:00Z"], 2, "offsets, not times"),
        (["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--from", "2026-01-01T00:00:00"], 2, "zone"),
        (["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--from", "offset:9"], 3, "9"),
        (["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--report", "r.pdf"], 2, "not a report format"),
        (["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--report", "no/r.md"], 2, "there is no such folder"),
        (["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--baseline", "b.json"], 2, "cannot be read"),
        (["decode", "file", "a.jsonl", "--contract", "dts/canal@2"], 2, "--to"),
        (["audit", "topic", "t", "-b", "x:1", "--contract", "dts/canal@2", "--kafka-opt", "x"], 2, "NAME=VALUE"),
        (["audit", "topic", "t", "-b", "x:1", "--contract", "dts/canal@2", "--kafka-config", "no.properties"], 3, "no.prop"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_carried_out_says_why(here, capsys, arguments, code, told):
    write_lines(here / "a.jsonl", rendered("dts/canal@2", 2))
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert "Traceback" not in err


def test_an_audit_writes_several_reports_and_a_baseline_that_makes_the_next_one_pass(here, capsys):
    lines = [b'{"shard":3,' + line[1:] for line in rendered("oms-community/canal@2", 60)]
    path = write_lines(here / "a.jsonl", [*lines, b"x"])
    call = ["audit", "file", path, "--contract", "oms-community/canal@2", "--engine", "local"]
    files = ["r.json", "r.html", "r.md", "r.xml"]
    reports = [word for name in files for word in ("--report", name)]

    assert main([*call, *reports, "--write-baseline", "known.json", "--fail-on", "malformed"]) == 1
    assert sorted(one.name for one in here.iterdir()) == sorted([*files, "a.jsonl", "known.json"])
    assert '<span class="verdict drift">DRIFT</span>' in (here / "r.html").read_text()
    failed = [
        "malformed" in line for line in (here / "r.xml").read_text().splitlines() if line.strip().startswith("<failure")
    ]
    assert failed == [True]

    capsys.readouterr()
    assert main([*call, "--baseline", "known.json", "--report", "r.json"]) == 0
    assert "findings omitted because known.json" in capsys.readouterr().out
    report = json.loads((here / "r.json").read_text())
    known = json.loads((here / "known.json").read_text())["findings"]
    assert report["findings"] == []
    assert report["baseline"] == {"file": "known.json", "known": len(known)}
    assert {"malformed", "unknown-field"} <= {one["class"] for one in known}
    write_lines(here / "a.jsonl", [*lines, b"x", lines[0].replace(b'"INSERT"', b'"UPSERT"')])
    assert main([*call, "--baseline", "known.json"]) == 1
    out = capsys.readouterr().out
    assert "error unknown-enum (D08" in out
    assert "unknown-field" not in out


def test_an_empty_range_is_inconclusive(spark, here, capsys):
    path = write_lines(here / "a.jsonl", rendered("dts/canal@2", 2))
    assert main(["audit", "file", path, "--contract", "dts/canal@2", "--from", "offset:2"]) == 4
    assert "there was nothing to read" in capsys.readouterr().out


def test_a_topic_is_bound_to_its_contract_in_the_settings(here, spark, broker, make_topic, capsys):
    topic = make_topic([(0, value) for value in rendered("dts/canal@2", 5)])
    (here / "cdc-contracts.yaml").write_text(f"topics: {{{topic}: dts/canal@2}}\n")
    assert main(["audit", "topic", topic, "-b", broker.bootstrap]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("PASS: all 5 messages conform to dts/canal@2")
    assert f"{topic}: --from '{{\"0\": 0}}' --until '{{\"0\": 5}}'" in err


@pytest.mark.parametrize(
    ("topic", "where", "told"),
    [("no-such-topic", "broker", "no-such-topic"), ("t", "127.0.0.1:9", "127.0.0.1:9")],
)
def test_a_topic_or_broker_that_is_not_there_is_exit_3(here, spark, broker, capsys, monkeypatch, topic, where, told):
    monkeypatch.setattr(kafka_source, "TIMEOUT_SECONDS", 2)
    bootstrap = broker.bootstrap if where == "broker" else where
    assert main(["audit", "topic", topic, "-b", bootstrap, "--contract", "dts/canal@2"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert "Traceback" not in err


def test_a_wrong_password_is_exit_3_and_never_shown(here, spark, broker, capsys):
    (here / "client.properties").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        '  username="reader" password="hunter2";\n'
    )
    arguments = ["audit", "topic", "t", "-b", broker.addresses["login"], "--contract", "dts/canal@2"]
    assert main([*arguments, "--kafka-config", "client.properties"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "hunter2" not in err
    assert "Traceback" not in err


def test_decode_says_that_rows_are_of_no_table_and_what_names_it(here, capsys):
    path = write_lines(here / "a.jsonl", [b'{"id":1,"__op":"c"}', b'{"id":2,"__op":"c","__table":"orders"}'])
    decode = ["decode", "file", path, "--contract", "debezium/flat@2", "--engine", "local"]
    assert main([*decode, "--to", "out"]) == 0
    err = capsys.readouterr().err
    assert "  (no table is named: --table names it): 1 rows" in err
    assert "  orders: 1 rows" in err
    assert main([*decode, "--table", "orders", "--to", "named"]) == 0
    assert "  orders: 2 rows" in capsys.readouterr().err


def test_decode_says_where_the_rows_are(spark, here, capsys):
    path = write_lines(here / "a.jsonl", rendered("dts/canal@2", 30))
    assert main(["decode", "file", path, "--contract", "dts/canal@2", "--to", "out"]) == 0
    out, err = capsys.readouterr()
    (record,) = (here / "out" / "_runs").glob("*.json")
    assert f"published run {record.stem}: 30 changes in out" in err
    assert "  shop.orders: 30 rows" in err
    assert out.startswith("PASS")
    assert main(["decode", "files", "out", "shop.orders"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert pq.read_table(here / line, partitioning=None).num_rows == 30
    assert main(["decode", "files", "out", "--json"]) == 0
    assert [one["rows"] for one in json.loads(capsys.readouterr().out)] == [30]
    assert main(["decode", "file", path, "--contract", "dts/canal@2", "--to", "out"]) == 0
    assert f"run {record.stem} already exists, with 30 changes in out" in capsys.readouterr().err
    assert main(["decode", "file", path, "--contract", "dts/canal@2", "--to", "out", "--until", "offset:5"]) == 3
    assert "--replace" in capsys.readouterr().err


def test_the_formats_that_can_be_asked_for_are_those_there_are():
    from cdc_contracts.cli.options.output_options import TableFormat
    from cdc_contracts.spark_checks.tables.table_formats import FORMATS, open_tables

    assert [one.value for one in TableFormat] == list(FORMATS)
    assert open_tables().name == "parquet"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--to", "out", "--current"], "Give --table-format delta or"),
        (["--to", "table:lake.db", "--files", "out"], "Give --table-format delta or"),
        (["--to", "out", "--table-format", "delta", "--replace"], "cannot remove rows from delta tables"),
        (["--to", "table:lake.db", "--table-format", "iceberg"], "--files DIR and --to table:CATALOG.DB"),
        (["--to", "out", "--files", "out", "--table-format", "iceberg"], "--files DIR and --to table:CATALOG.DB"),
        (["--to", "table:lake", "--files", "out", "--table-format", "iceberg"], "is written CATALOG.DB"),
        (["--to", "a.jsonl"], "a.jsonl is a file, not a directory"),
        (["--to", "a.jsonl/out"], "a.jsonl is a file, not a directory"),
    ],
)
def test_options_of_tables_that_do_not_go_together_are_refused_before_spark_starts(here, capsys, options, told):
    path = write_lines(here / "a.jsonl", rendered("dts/canal@2", 1))
    assert main(["decode", "file", path, "--contract", "dts/canal@2", *options]) == 2
    assert told in capsys.readouterr().err
    assert not (here / "out").exists()


def test_decode_publishes_nothing_where_the_declaration_is_proven_wrong(spark, here, capsys):
    path = write_lines(here / "a.jsonl", rendered("dts/canal@1", 200))
    assert main(["decode", "file", path, "--contract", "dts/canal@2", "--to", "out"]) == 1
    assert "nothing was published" in capsys.readouterr().err
    assert list(here.rglob("*.parquet")) == []


def test_capture_writes_a_file_that_audit_reads(here, spark, broker, make_topic, capsys):
    topic = make_topic([(0, value) for value in rendered("dts/canal@2", 20)])
    assert main(["capture", "topic", topic, "-b", broker.bootstrap, "-o", "c.parquet"]) == 0
    assert pq.read_metadata(here / "c.parquet").num_rows == 20
    assert main(["audit", "file", "c.parquet", "--contract", "dts/canal@2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ledger"]["partitions"][0]["topic"] == topic


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("c.json", "error: a capture is a .parquet file (c.json)\n"),
        ("c.parquet", "error: the file exists already (c.parquet)\n  Choose another name, or give --replace.\n"),
        ("d.parquet", "error: this is a folder, not a file (d.parquet)\n"),
    ],
)
def test_capture_looks_where_it_writes_before_anything_is_started(here, capsys, target, told):
    (here / "c.parquet").write_bytes(b"mine")
    (here / "d.parquet").mkdir()
    assert main(["capture", "topic", "orders", "-b", "localhost:1", "-o", target]) == 2
    assert capsys.readouterr() == ("", told)
    assert (here / "c.parquet").read_bytes() == b"mine"


def test_the_demo_finds_an_upgrade_in_every_partition_and_decodes_around_it(spark, here, capsys):
    assert main(["demo", "--messages", "2000", "--to", "d"]) == 0
    check_demo(capsys.readouterr().out, here / "d")


@pytest.mark.nightly
@pytest.mark.java
def test_the_demo_runs_as_a_newcomer_would_run_it(here):
    found = run("demo", "--messages", "2000", "--to", "d", cwd=here)
    assert found.returncode == 0, found.stderr
    check_demo(found.stdout.decode(), here / "d")


def check_demo(out, folder):
    assert out.startswith("DRIFT: ")
    assert "upgraded at offset 275" in out
    report = json.loads((folder / "report.json").read_text())
    assert [one["at"] for one in report["switches"]] == [275, 240, 305, 260]
    assert 'aria-labelledby="timeline"' in (folder / "report.html").read_text()
    assert len(list((folder / "decoded" / "_runs").glob("*.json"))) == 1


def test_the_demo_needs_a_place_for_a_folder(here, capsys):
    (here / "x.txt").write_text("mine")
    assert main(["demo", "--to", "x.txt"]) == 3
    told = "error: cannot make the folder: File exists (x.txt)\n  Name another.\n"
    assert capsys.readouterr() == ("", told)
    assert (here / "x.txt").read_text() == "mine"


@pytest.mark.parametrize("contract", ["dts/avro", pytest.param("oms/debezium-smt", marks=pytest.mark.nightly)])
def test_the_demo_shows_any_dialect(spark, tmp_path, capsys, contract):
    assert main(["demo", "--contract", contract, "--messages", "400", "--to", str(tmp_path)]) == 0
    assert "other-dialect" in capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["ledger"]["quarantined"] == 12
    assert report["ledger"]["conforming"] == 384


@pytest.mark.nightly
@pytest.mark.java
def test_the_demo_finds_the_same_in_a_topic_of_a_real_broker(here):
    pytest.importorskip("confluent_kafka", reason="a broker is of use only with the extra 'kafka'")
    found = run("demo", "--kafka", "--messages", "2000", "--to", "d", cwd=here)
    assert found.returncode == 0, found.stderr
    report = json.loads((here / "d" / "report.json").read_text())
    assert report["source"]["kind"] == "kafka"
    assert [one["at"] for one in report["switches"]] == [275, 240, 305, 260]


@pytest.mark.java
@pytest.mark.nightly
def test_a_run_that_is_asked_to_stop_publishes_nothing_and_exits_143(here):
    lines = rendered("oms-community/canal@2", 4_000) * 60
    path = write_lines(here / "a.jsonl", lines)
    process = subprocess.Popen(
        [sys.executable, "-m", "cdc_contracts.cli.app", "decode", "file", path, "--contract", "oms-community/canal@2",
         "--to", "out"],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src")}, cwd=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while not list(here.glob("out/changes/*/*.parquet")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 143, err
    assert not list(here.glob("out/_runs/*.json"))
    assert not list(here.glob("out/**/*.parquet"))


# --- messages that do not name their table


def open_smt(topics, contract="oms/debezium-smt", table=None):
    return ValidationOptions(contract=contract, table=table).open_validation(topics).reading_options.table


def test_the_topic_names_the_table_of_messages_that_do_not_unless_an_option_does(here, monkeypatch):
    monkeypatch.chdir(here)
    assert open_smt(["shop.orders"]) == "shop.orders"
    assert open_smt(["shop.orders"], table="shop.visits") == "shop.visits"
    assert open_smt(["a", "b"]) is None
    assert open_smt(["shop.orders"], contract="oms-community/canal@2") is None


def test_a_table_contract_gives_types_to_messages_that_name_no_table(here, capsys, monkeypatch):
    monkeypatch.chdir(here)
    (here / "orders.yaml").write_text("table: shop.orders\ncolumns:\n  id: {type: int}\n  day: {type: date}\n")
    write_lines(
        here / "a.jsonl", [b'{"id":1,"day":19782,"__deleted":"false"}', b'{"id":"1","day":1,"__deleted":"true"}']
    )
    call = ["check", "a.jsonl", "--contract", "oms/debezium-smt", "--tables", "orders.yaml"]
    assert main(call) == 0
    assert main([*call, "--table", "shop.orders"]) == 1
    assert "a.jsonl:2 error type-change /id expected number, observed string" in capsys.readouterr().out


def test_an_audit_reads_standard_input_also_compressed_or_as_one_array(here, monkeypatch, capsys):
    """The first form in a process of its own, the others in this one."""
    lines = rendered("dts/canal@2", 20)
    forms = (b"\n".join(lines), gzip.compress(b"\n".join(lines)), b"[" + b",\n".join(lines) + b"]")
    call = ["audit", "-q", "file", "-", "--contract", "dts/canal@2", "--engine", "local", "--json"]
    found = run(*call, input=forms[0])
    assert (found.returncode, found.stderr) == (0, b"")
    printed = [found.stdout]
    for data in forms[1:]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(call) == 0
        out, err = capsys.readouterr()
        assert err == ""
        printed.append(out)
    for text in printed:
        report = json.loads(text)
        assert (report["ledger"]["read"], report["source"]["paths"]) == (20, ["-"])
    refused = run(
        "decode", "file", "-", "--contract", "dts/canal@2", "--to", "out", "--engine", "local", input=forms[0]
    )
    assert refused.returncode == 3  # a run is known by what it has read, and nobody can read that again
    assert b"`check -` and `audit file -` read standard input" in refused.stderr


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (["audit", "orders.jsonl"], "`cdc-contracts audit file orders.jsonl`"),
        (["decode", "here"], "`cdc-contracts decode file here`"),
        (["audit", "old/orders"], "`cdc-contracts audit file old/orders`"),
        (["audit", "shop.orders", "-b", "x:1"], "`cdc-contracts audit topic shop.orders`"),
    ],
)
def test_an_input_in_place_of_its_kind_is_answered_with_the_whole_command(here, capsys, call, hint):
    (here / "here").mkdir()
    assert main(call) == 2
    assert hint in capsys.readouterr().err


def test_messages_that_no_contract_fits_lead_to_a_draft_of_ones_own(here, capsys):
    (here / "a.jsonl").write_bytes(b'{"foo": 1, "bar": {"x": 2}}\n' * 3)
    for call, code in (
        (["detect", "a.jsonl"], 1), (["why", "a.jsonl"], 1), (["check", "a.jsonl"], 4),
        (["decode", "file", "a.jsonl", "--to", "out", "--engine", "local"], 4),
        (["tables", "infer", "file", "a.jsonl", "--engine", "local"], 4),
    ):  # fmt: skip
        assert main(call) == code
        assert "cdc-contracts contract new SYSTEM/DIALECT FILE" in " ".join("".join(capsys.readouterr()).split())


@pytest.mark.parametrize("separator", [", ", ",\n"])
def test_a_json_array_in_a_compressed_file_is_named(separator, tmp_path, capsys):
    """Read line by line, its lines would be drift."""
    messages = [value.decode() for value in rendered("dts/canal@2", 3)]
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(f"[{separator.join(messages)}]".encode()))
    assert main(["check", str(tmp_path / "a.json.gz"), "--contract", "dts/canal@2"]) == 2
    assert "this is a JSON array in a compressed file" in capsys.readouterr().err
