"""Producers that are run now send the rows of their databases, as their captures do."""

import json
import os
from pathlib import Path

import pytest
from database_servers import mariadb_programs, postgres_programs
from producers.captures import Capture, read_expected, read_records
from producers.connect_runs import run_connect
from producers.database_sessions import open_session
from producers.expected_rows import run_statements
from producers.framed_captures import messages_of_framed, messages_of_json, plain_of, unlike
from producers.run_plans import list_runs
from producers.run_producers import DATABASES, run_release
from producers.schema_registries import pack_schemas, serve_registry, unpack_schemas
from producers.statements import read_statements
from producers.test_captures import reference_of, unknown_differences

from cdc_contracts.cli.app import main

PROGRAMS = {"postgresql": postgres_programs, "mariadb": mariadb_programs}
pytestmark = [
    pytest.mark.java,
    pytest.mark.skipif(
        "CDC_CONTRACTS_PRODUCERS" not in os.environ, reason="runs every producer: CDC_CONTRACTS_PRODUCERS=1"
    ),
]


CONNECT_RUN = "debezium-3.0.8-postgresql"
"""The run that goes through a broker as well; its release is of the same time as the worker."""


CURRENT = ("orders", "orders_full", "numbers")
"""Tables with a key whose rows change, move to another key and go."""


def need(database):
    if PROGRAMS[database]() is None:
        pytest.skip(f"{database} is not installed")


@pytest.mark.parametrize("database", DATABASES)
def test_a_database_holds_after_each_statement_what_is_expected(database):
    need(database)
    with open_session(database) as session:
        assert list(run_statements(session, read_statements(database))) == list(read_expected(database))


@pytest.mark.parametrize("run", list_runs(), ids=lambda run: run.name)
def test_a_release_that_is_run_now_sends_the_rows_of_its_database(run, tmp_path):
    need(run.database)
    sent = run_release(run)
    assert list(sent) == run.captures()
    for capture, (records, schemas) in sent.items():
        assert records
        if capture.is_framed:
            framed = messages_of_framed(capture.options, records, unpack_schemas(schemas, tmp_path / capture.options))
            plain = messages_of_json(sent[plain_of(capture)].records)
            assert unlike(framed, plain) == []
        else:
            assert unknown_differences(capture, records, reference_of(capture)) == []


@pytest.mark.parametrize("name", ["defaults", "defaults-schema"])
def test_topics_that_kafka_connect_wrote_have_the_rows_of_the_database(name, broker, spark, tmp_path, monkeypatch):
    capture, records, tables = written_by_connect(name, broker, tmp_path)
    assert unknown_differences(capture, records, reference_of(capture)) == []
    monkeypatch.chdir(tmp_path)
    assert_current_rows(name, broker, spark, tables)


def test_framed_topics_that_kafka_connect_wrote_have_the_rows_of_the_database(
    broker, spark, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    with serve_registry(tmp_path / "registry") as registry:
        capture, records, tables = written_by_connect("defaults-avro", broker, tmp_path, registry)
        folder = unpack_schemas(pack_schemas(registry, tmp_path / "dump"), tmp_path / "schemas")
        for engine in ("local", "spark"):  # nothing is stated but where the schemas are
            asked = [
                "-b",
                broker.bootstrap,
                "--schema-registry",
                registry,
                "--fail-on",
                "error",
                "--engine",
                engine,
                "--json",
            ]
            capsys.readouterr()
            assert main(["audit", "topic", "cdc-defaults-avro.public.orders", *asked]) == 0
            report = json.loads(capsys.readouterr().out)
            assert report["detection"]["verdict"] == "certain"
            assert {one["rule"] for one in report["findings"]} >= {"D11.new-column", "D11.column-type"}
        assert_current_rows("defaults-avro", broker, spark, tables, "--schema-registry", registry)
    framed = messages_of_framed(capture.options, records, folder)
    plain = messages_of_json(read_records(plain_of(capture)))
    assert unlike(framed, plain) == []


def assert_current_rows(name, broker, spark, tables, *more):
    """Decode topics to current rows, which have the keys that the tables of the database have at last."""
    for table in CURRENT:  # their keys are those of the records
        topic = f"cdc-{name}.public.{table}"
        asked = ["--to", "out", "--table-format", "delta", "--current", "--fail-on", "error", *more]
        assert main(["decode", "topic", topic, "-b", broker.bootstrap, *asked]) == 0
        current = spark.read.format("delta").load(f"{Path.cwd()}/out/current/shop.public.{table}").collect()
        held = tables[f"public.{table}"]
        at = [column["name"] for column in held.columns].index("id")
        assert sorted(str(row["id"]) for row in current) == sorted(row.texts[at] for row in held.rows)


def written_by_connect(name, broker, folder, registry=None):
    """Return the capture of an option set, and what a worker of Kafka Connect wrote, and the tables as they were last."""
    run = next(one for one in list_runs() if one.name == CONNECT_RUN)
    need(run.database)
    options = next(one for one in run.options if one.name == name)
    statements = read_statements(run.database)
    with open_session(run.database) as session:
        for statement in statements:
            if statement.phase == "snapshot":
                session.execute(statement.sql)
        change = [statement for statement in statements if statement.phase == "stream"]
        records = run_connect(run, options, session, change, broker.bootstrap, folder, registry)
        tables = session.read_tables()
    return Capture(run.product, run.version, run.database, name), records, tables
