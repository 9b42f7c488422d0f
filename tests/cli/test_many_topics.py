"""Many topics in one run: by name, by pattern, or all that the project binds; one report and one exit code."""

import json
import re
import uuid

import pyarrow.parquet as pq
import pytest
from producing import write_records
from topics import rendered

from cdc_contracts.cli.app import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def named(make_topic):
    """A topic by its contract; they differ in everything."""
    values = {reference: rendered(reference, 60, seed=3) for reference in ("dts/canal@2", "drs/json@2")}
    return {reference: make_topic([(0, value) for value in found]) for reference, found in values.items()}


def audit(capsys, broker, *arguments, engine="local"):
    code = main(["audit", "topic", *arguments, "-b", broker.bootstrap, "--engine", engine, "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else err


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_all_topics_of_the_project_are_judged_each_by_its_own_contract(
    spark, broker, named, here, capsys, make_topic, engine
):
    empty = make_topic()
    bound = {**{topic: reference for reference, topic in named.items()}, empty: "dts/canal@2"}
    (here / "cdc-contracts.yaml").write_text(json.dumps({"topics": bound}))
    code, report = audit(capsys, broker, "--all", engine=engine)
    assert (code, report["verdict"]) == (0, "pass")
    assert report["source"]["contracts"] == bound
    assert {one["topic"]: one["read"] for one in report["ledger"]["partitions"]} == {
        **dict.fromkeys(named.values(), 60), empty: 0,
    }  # fmt: skip
    assert report["ledger"]["conforming"] + report["ledger"]["control"] == 120


def test_a_pattern_takes_the_topics_whose_whole_name_matches(broker, named, here, capsys):
    first, second = named.values()
    call = ["--contract", "dts/canal@2", "--pattern"]
    code, report = audit(capsys, broker, *call, f"{re.escape(first)}|{re.escape(second)}")
    assert (code, report["source"]["topics"]) == (1, sorted([first, second]))
    assert {one["topic"] for one in report["ledger"]["partitions"] if one["quarantined"]} == {named["drs/json@2"]}
    code, reported = audit(capsys, broker, *call, first[:-1])
    assert (code, f"no topic matches {first[:-1]}" in reported, first in reported) == (3, True, True)


def test_spark_finds_the_same_topics_by_a_pattern(spark, broker, named, here, capsys):
    code, report = audit(
        capsys, broker, "--contract", "dts/canal@2", "--pattern", named["dts/canal@2"][:-1] + ".", engine="spark"
    )
    assert (code, report["source"]["topics"]) == (0, [named["dts/canal@2"]])


def test_topics_whose_messages_name_no_table_each_have_their_own(broker, make_topic, here, capsys):
    (here / "t.yaml").write_text("table: shop.orders\ncolumns: {id: {type: int}}\n")
    values = [b'{"id":1,"__deleted":"false"}', b'{"id":"x","__deleted":"false"}']
    topics = [make_topic([(0, value) for value in values]) for _ in range(2)]
    (here / "t.yaml").write_text(f"table: {topics[1]}\ncolumns: {{id: {{type: int}}}}\n")
    call = [*topics, "--contract", "oms/debezium-smt", "--tables", "t.yaml"]
    code, report = audit(capsys, broker, *call)
    assert code == 1
    reported = {one["table"] for one in report["findings"] if one["class"] == "type-change"}
    assert reported == {topics[1]}


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ([], "name the topics in exactly one way"),
        (["a", "--all"], "name the topics in exactly one way"),
        (["--pattern", "a", "--all"], "name the topics in exactly one way"),
        (["--all"], "no topic is bound to a contract"),
        (["--pattern", "(", "--contract", "dts/canal@2"], "not a regular expression"),
    ],
)
def test_topics_that_are_not_named_in_one_way_are_exit_2(broker, here, capsys, arguments, reported):
    code, err = audit(capsys, broker, *arguments)
    assert (code, reported in err) == (2, True)


def test_shards_and_other_formats_behind_a_pattern_are_found_out_and_reported_together(broker, here, capsys):
    """Twelve shards, one of which drifts, a topic of another product, rows that name no table, and an empty topic."""
    server = f"s{uuid.uuid4().hex[:8]}"
    shards = [f"{server}.shop.orders_{number:04}" for number in range(12)]
    values = [json.loads(value) for value in rendered("debezium/json@4", 20, seed=3)]
    for number, topic in enumerate(shards):
        for value in values:
            value["source"]["table"] = topic.rpartition(".")[2]
        sent = values if number != 7 else [{**value, "later": 1} for value in values]
        write_topic(broker, topic, [json.dumps(value).encode() for value in sent])
    write_topic(broker, f"{server}.maxwell", rendered("maxwell/json@2", 20, seed=3))
    write_topic(broker, f"{server}.empty", [])
    (here / "cdc-contracts.yaml").write_text("families: {orders: 'orders_[0-9]{4}'}\n")
    code, report = audit(capsys, broker, "--pattern", rf"{server}\..*")
    assert code == 1
    contracts = dict.fromkeys(shards, "auto: debezium/json@4")
    assert report["source"]["contracts"] == contracts | {
        f"{server}.maxwell": "auto: maxwell/json@2", f"{server}.empty": "auto: no messages",
    }  # fmt: skip
    found = [one for one in report["findings"] if one["class"] == "unknown-field"]
    assert [(one["table"], one["path"], one["count"]) for one in found] == [("shop.orders_0007", "/later", 20)]
    exercised = [(one["rule"], one["path"]) for one in report["findings"] if one["class"] == "not-exercised"]
    assert len(exercised) == len(set(exercised)), "what no topic shows is said once"
    assert main(["audit", "topic", "--pattern", rf"{server}\..*", "-b", broker.bootstrap, "--engine", "local"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert f"auto: debezium/json@4 {shards[0]} … {shards[-1]} (12 topics)" in shown
    assert f"Contract of 12 topics such as {shards[0]}" in shown


def test_rows_that_name_no_table_are_of_their_topic_though_the_contract_was_found_out(broker, here):
    topic = f"s{uuid.uuid4().hex[:8]}.orders"
    write_topic(broker, topic, rendered("debezium/flat@2", 60, seed=3))
    assert main(["decode", "-q", "topic", topic, "-b", broker.bootstrap, "--engine", "local", "--to", "out"]) == 0
    rows = [row for file in sorted(here.glob("out/changes/*/*")) for row in pq.read_table(file).to_pylist()]
    assert len(rows) == 60
    assert {row["table"] for row in rows} == {topic.partition(".")[2]}


def test_what_all_shards_have_is_one_finding_of_their_family(broker, here, capsys):
    server = f"s{uuid.uuid4().hex[:8]}"
    for number in range(4):
        values = [json.loads(value) for value in rendered("debezium/json@4", 20, seed=3)]
        for value in values:
            value["source"]["table"] = f"orders_{number:04}"
            value["later"] = 1
        write_topic(broker, f"{server}.orders_{number:04}", [json.dumps(value).encode() for value in values])
    (here / "cdc-contracts.yaml").write_text("families: {orders: 'orders_[0-9]{4}'}\n")
    _, report = audit(capsys, broker, "--pattern", rf"{server}\..*")
    (found,) = [one for one in report["findings"] if one["class"] == "unknown-field"]
    assert (found["count"], found["denominator"], found["onset"]["kind"]) == (80, 80, "every")
    assert [(one["table"], one["family"]) for one in found["tables"]] == [
        (f"shop.orders_{number:04}", "orders") for number in range(4)
    ]


def write_topic(broker, name, values):
    broker.create_topic(name, 1)
    write_records(broker, name, [(0, value) for value in values])
