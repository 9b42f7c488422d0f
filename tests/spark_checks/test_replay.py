"""Replays: what was quarantined and conforms by now is decoded as if it had been from the start, and once."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest
from topics import rendered, scope_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.replaying import replay_quarantine
from cdc_contracts.spark_checks.runs.quarantine_files import list_quarantine, open_quarantine
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.table_readers import read_table

WRONG, RIGHT = "oms-community/canal@2", "dts/canal@2"
CANARY = "Canary-4711-Lane"


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Two topics that speak one dialect, but for one record that is no message at all."""
    folder = tmp_path_factory.mktemp("topics")
    lines = {"orders.jsonl": [*rendered(RIGHT, 30, controls=3), b"broken"], "more.jsonl": rendered(RIGHT, 12, seed=2)}
    for name, values in lines.items():
        (folder / name).write_bytes(b"\n".join(values) + b"\n")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def direct(engine, paths, tmp_path_factory):
    """The directory that nothing had to be replayed in."""
    out = tmp_path_factory.mktemp("direct")
    decode(engine, paths, out, RIGHT)
    return out


@pytest.fixture(scope="module")
def replayed(engine, paths, tmp_path_factory):
    """The directory of a run under the wrong contract and a replay under the right one, and what the replay came to."""
    out = tmp_path_factory.mktemp("replayed")
    decode(engine, paths, out, WRONG)
    return out, replay(engine, out, RIGHT)


def decode(engine, paths, out, reference, **options):
    source = read_files(paths, parse_range(), tasks=2)
    return decode_input(engine, source, scope_of(reference), Output(str(out), **options), fail_on="error")


def replay(engine, out, reference):
    runs = RunDirectory(str(out))
    source = open_quarantine(runs, list_quarantine(runs), tasks=2)
    return replay_quarantine(engine, source, scope_of(reference), Output(str(out)), fail_on="error")


def rows_of(out, table):
    """What a reader sees who trusts the records of finished runs alone."""
    records = [json.loads(path.read_text()) for path in sorted((out / "_runs").glob("*.json"))]
    paths = [out / part["path"] for record in records for part in record["files"] if part["table"] == table]
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    return sorted(
        rows, key=lambda row: [row[name] for name in ("topic", "partition", "offset", "row_index") if name in row]
    )


def typed_rows(spark, out):
    return sorted(read_table(spark, str(out), "shop.orders").collect(), key=lambda row: (row._topic, row._offset))


def ledger_of(out):
    total = Counter()
    for row in rows_of(out, "ledger"):
        total.update({name: count for name, count in row.items() if isinstance(count, int)})
    return total


def files_of(out):
    return {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()}


def test_replayed_records_give_the_rows_that_they_had_given_from_the_start(spark, direct, replayed):
    out, decoded = replayed
    for table in ("changes", "control"):
        assert rows_of(out, table) == rows_of(direct, table) != []
    assert typed_rows(spark, out) == typed_rows(spark, direct) != []
    assert {row["topic"] for row in rows_of(out, "changes")} == {"orders.jsonl", "more.jsonl"}
    assert decoded.report.verdict == "drift"
    assert decoded.report.source.kind == "quarantine"


def test_the_ledger_of_the_directory_adds_up_over_runs_and_replays(paths, direct, replayed):
    out, decoded = replayed
    records, sums = sum(path.read_bytes().count(b"\n") for path in paths), ledger_of(out)
    assert decoded.record.replay.validated == records
    assert decoded.record.replay.replayed == records - 1
    assert decoded.report.ledger.read == records
    assert (sums["read"], sums["quarantined"]) == (records, 1)
    for name in ("read", "conforming", "control", "tombstone", "quarantined", "changes", "gaps"):
        assert sums[name] == ledger_of(direct)[name]
    assert len(rows_of(out, "quarantine")) == records
    assert len(rows_of(out, "replayed")) == records - 1


def test_a_second_replay_does_nothing_and_one_that_decodes_nothing_leaves_nothing(engine, replayed):
    out, first = replayed
    before = files_of(out)
    again = replay(engine, out, RIGHT)
    assert (again.again, again.run, again.report.findings) == (True, first.run, first.report.findings)
    other = replay(engine, out, "dts/canal@1")
    assert (other.record, other.report.ledger.read, other.report.ledger.quarantined) == (None, 1, 1)
    assert files_of(out) == before


def test_a_replay_that_was_cut_off_stays_started_when_it_is_not_trusted_any_more(engine, paths, tmp_path):
    decode(engine, paths, tmp_path, WRONG)
    runs = RunDirectory(str(tmp_path))
    begun, ran = runs.begun, sorted(runs.past().names)
    withheld = replay(engine, tmp_path, "dts/canal@1")
    assert (withheld.withheld is not None, begun.notes()) == (True, [])
    # As one with --trust-contract leaves it that was killed while it wrote to tables.
    begun.add_replay(withheld.run, {"of": ran, "after": [], "topics": []}, lambda: None)
    assert replay(engine, tmp_path, "dts/canal@1").withheld is not None
    assert [note.run for note in begun.notes()] == [withheld.run]


def test_a_range_whose_records_were_replayed_is_refused_and_replaced_with_its_replays(engine, paths, replayed, direct):
    out, first = replayed
    with pytest.raises(UnavailableError, match="has decoded some of these records already"):
        decode(engine, paths, out, RIGHT)
    decode(engine, paths, out, RIGHT, replace=True)
    assert not (out / "_runs" / f"{first.run}.json").exists()
    assert rows_of(out, "changes") == rows_of(direct, "changes")
    assert rows_of(out, "replayed") == []
    assert len(files_of(out)) == len(files_of(direct))


@pytest.mark.nightly
def test_the_command_decodes_to_where_the_run_did_and_its_exit_code_says_whether_all_conforms_now(
    spark, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(rendered(RIGHT, 40)))
    for name, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": "lake"}.items():
        spark.conf.set(f"spark.sql.catalog.replays{name}", str(tmp_path / value) if value == "lake" else value)
    into = ["--table-format", "iceberg", "--to", "table:replays.bronze", "--files", "out", "--current"]
    assert main(["decode", "file", "a.jsonl", "--contract", WRONG, *into]) == 1
    capsys.readouterr()
    call = ["replay", "quarantine", "out"]
    assert main([*call, "--json"]) == 0
    reported = capsys.readouterr()  # no contract was named: it is found out from what waits
    assert json.loads(reported.out)["ledger"]["conforming"] == 40
    assert "40 decoded, 0 stay in quarantine" in reported.err
    # The run had no row of any table, so its record alone says where they belong.
    assert spark.table("replays.bronze.shop__orders").count() == 40
    assert spark.table("replays.bronze.shop__orders__current").count() > 0
    assert main([*call, "--contract", RIGHT]) == 0
    assert "to validate: 0 records of 0 runs in out" in capsys.readouterr().err
    assert main(["replay", "quarantine", "elsewhere"]) == 3
    capsys.readouterr()
    assert main([*call, "--topic", "a.json"]) == 2
    assert "no run there has read topic a.json (out)\n  Near it are: a.jsonl." in capsys.readouterr().err


def test_a_redacted_quarantine_holds_no_value_and_is_not_replayed(engine, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [line.replace(b'"data":[{', b'"data":[{"address":"%s",' % CANARY.encode()) for line in rendered(RIGHT, 9)]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*lines, b'{"broken": "%s' % CANARY.encode()]))
    decoded = decode(engine, [tmp_path / "a.jsonl"], tmp_path / "out", WRONG, redact=True)
    quarantine = rows_of(tmp_path / "out", "quarantine")
    assert decoded.record.redacted
    assert len(quarantine) == 10
    assert b'"address": "aaaaaa-9999-aaaa"' in quarantine[0]["value"]
    for file in files_of(tmp_path / "out"):
        text = (
            str(pq.read_table(file, partitioning=None).to_pylist()) if file.suffix == ".parquet" else file.read_text()
        )
        assert CANARY not in text
    assert main(["replay", "quarantine", "out", "--contract", RIGHT]) == 3
    assert "keeps shapes only" in capsys.readouterr().err
    with pytest.raises(UnavailableError, match="kept in shapes only"):
        decode(engine, [tmp_path / "a.jsonl"], tmp_path / "out", WRONG)
