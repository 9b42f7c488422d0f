"""`--follow`: what a stream reads in batches is what one run reads, whatever happens between its starts."""

import json

import pyarrow.parquet as pq
import pytest
from topics import rendered

from cdc_contracts.cli.app import main

CONTRACT = "oms-community/canal@2"
VALUES = [*rendered(CONTRACT, 300, controls=20), b"broken", b"[]", *rendered("oms-community/canal@1", 20)]
MORE = [*rendered(CONTRACT, 100, seed=2), b'{"no": 1}', *rendered("dts/canal@2", 3)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(spark, broker, here, capsys):
    """A function that runs a command on topics, and returns its exit code, what it said and its JSON."""

    def run(command, *arguments, contract=CONTRACT):
        code = main([command, "topic", *arguments, "-b", broker.bootstrap, "--contract", contract, "--json"])
        out, err = capsys.readouterr()
        return code, err, json.loads(out) if out else None

    return run


def produce(broker, topic, values, partition=0):
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for value in values:
        producer.produce(topic, value, partition=partition)
    assert producer.flush(30) == 0


def read_table(out, table):
    """What a reader sees who trusts the records of finished runs alone."""
    records = [json.loads(path.read_text()) for path in sorted((out / "_runs").glob("*.json"))]
    paths = [out / part["path"] for record in records for part in record["files"] if part["table"] == table]
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    return sorted(rows, key=lambda row: (row["partition"], row.get("offset", 0), row.get("row_index", 0)))


def streams(here):
    return {json.loads(path.read_text())["stream"]["query"] for path in (here / "out/_runs").glob("*.json")}


def test_an_audit_in_batches_reports_what_an_audit_of_the_whole_range_does(call, broker, make_topic, here):
    topic = make_topic([(number % 2, value) for number, value in enumerate(VALUES)], partitions=3)
    follow = ["audit", topic, "--follow", "--once", "--checkpoint", "ck", "--report", "r.json"]
    code, said, first = call(*follow, "--max-offsets", "100")
    assert (code, said.count("records in")) == (1, 4)
    produce(broker, topic, MORE, partition=1)
    code, said, second = call(*follow, "--from", "earliest")
    assert (code, said.count("records in"), "--from earliest is not used" in said) == (1, 1, True)
    _, _, whole = call("audit", topic)
    assert first["ledger"]["read"] == len(VALUES)
    assert second == whole == json.loads((here / "r.json").read_text())
    code, said, third = call(*follow)
    assert (code, third, "this time: inconclusive, nothing new" in said) == (4, second, True)


def test_a_decode_in_batches_writes_the_rows_that_a_decode_of_the_whole_range_does(call, broker, make_topic, here):
    topic = make_topic([(number % 2, value) for number, value in enumerate(VALUES)], partitions=2)
    follow = ["decode", topic, "--to", "out", "--follow", "--once"]
    assert call(*follow, "--max-offsets", "200")[0] == 1
    produce(broker, topic, MORE, partition=1)
    code, _, report = call(*follow)
    assert (code, len(list((here / "out/_runs").glob("*.json")))) == (1, 3)
    _, _, whole = call("decode", topic, "--to", "whole")
    assert report == whole
    for table in ("changes", "control", "quarantine"):
        assert read_table(here / "out", table) == read_table(here / "whole", table)
    ledger = read_table(here / "out", "ledger")
    assert sum(row["read"] for row in ledger) == report["ledger"]["read"] == len(VALUES) + len(MORE)
    assert all(row["end"] - row["start"] == row["read"] + row["gaps"] for row in ledger)
