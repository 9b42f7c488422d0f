"""`--since-last FILE`: each run reads what came since the one before, and nothing is left out unsaid."""

import json
import time

import pytest
from producing import add_partitions, delete_records, produce
from topics import rendered

from cdc_contracts.cli.app import main

VALUES = rendered("dts/canal@2", 60)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(capsys, broker, *topics, engine="local", more=()):
    call = [*topics, "-b", broker.bootstrap, "--contract", "dts/canal@2", "--since-last", "seen.json"]
    code = main(["audit", "topic", *call, "--engine", engine, "--json", *more])
    out, err = capsys.readouterr()
    return code, {(one["partition"], one["start"], one["end"]) for one in json.loads(out)["ledger"]["partitions"]} if (
        out
    ) else err


def seen(here):
    reported = json.loads((here / "seen.json").read_text())
    assert all(len(topic.pop("id")) == 22 for topic in reported.values())
    return reported


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_each_run_reads_what_is_new_also_in_new_partitions(spark, broker, make_topic, here, capsys, engine):
    topic = make_topic([(0, value) for value in VALUES[:10]])
    assert audit(capsys, broker, topic, engine=engine) == (0, {(0, 0, 10)})
    assert seen(here) == {topic: {"0": 10}}
    assert audit(capsys, broker, topic, engine=engine) == (4, {(0, 10, 10)})
    assert audit(capsys, broker, topic, engine=engine, more=["--allow-empty"]) == (0, {(0, 10, 10)})
    produce(broker, topic, VALUES[:5])
    add_partitions(broker, topic, 2)
    produce(broker, topic, VALUES[:3], partition=1)
    assert audit(capsys, broker, topic, engine=engine) == (0, {(0, 10, 15), (1, 0, 3)})
    assert seen(here) == {topic: {"0": 15, "1": 3}}


def test_only_an_empty_range_passes_where_that_is_allowed(broker, make_topic, here, capsys):
    """Not messages of which the contract is not known, nor records without a value."""
    call = ["-b", broker.bootstrap, "--engine", "local", "--allow-empty", "--json"]
    empty, unknown, deleted = make_topic([]), make_topic([(0, b'{"a": 1}')] * 3), make_topic([(0, None)] * 3)
    codes = [main(["audit", "topic", *topics, *call, "--contract", contract]) for topics, contract in (
        ([empty], "auto"), ([empty], "dts/canal@2"), ([unknown], "auto"), ([empty, unknown], "auto"),
        ([deleted], "dts/canal@2"))]  # fmt: skip
    assert codes == [0, 0, 4, 4, 4]
    assert main(["decode", "topic", empty, "--contract", "dts/canal@2", "--to", "out", *call]) == 0
    assert main(["decode", "topic", empty, "--contract", "dts/canal@2", "--to", "out2", *call[:-2]]) == 4


def test_other_topics_and_what_was_left_for_later_stay_in_the_file(broker, make_topic, here, capsys):
    first, second = (make_topic([(0, value) for value in VALUES[:10]]) for _ in range(2))
    assert audit(capsys, broker, first) == (0, {(0, 0, 10)})
    assert audit(capsys, broker, second, more=["--to", "offset:4"]) == (0, {(0, 0, 4)})
    assert seen(here) == {first: {"0": 10}, second: {"0": 4}}
    assert audit(capsys, broker, second) == (0, {(0, 4, 10)})


def test_offsets_that_are_gone_end_the_run_and_from_starts_anew(broker, make_topic, here, capsys):
    topic = make_topic([(0, value) for value in VALUES[:30]])
    assert audit(capsys, broker, topic, more=["--to", "offset:10"])[0] == 0
    delete_records(broker, topic, 0, before=25)
    code, err = audit(capsys, broker, topic)
    assert code == 3
    assert "15 offsets since the last run are gone: the log starts at 25, not at 10 (partition 0)" in err
    assert seen(here) == {topic: {"0": 10}}
    assert audit(capsys, broker, topic, more=["--from", "earliest"]) == (0, {(0, 25, 30)})
    assert seen(here) == {topic: {"0": 30}}


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_topic_that_was_recreated_is_another_however_long_it_is(spark, broker, here, capsys, engine):
    from confluent_kafka.admin import AdminClient, NewTopic

    admin, name = AdminClient({"bootstrap.servers": broker.bootstrap}), f"anew-{engine}"

    def make(values):
        admin.create_topics([NewTopic(name, 1)])[name].result(timeout=300)
        produce(broker, name, values)

    make(VALUES[:10])
    assert audit(capsys, broker, name) == (0, {(0, 0, 10)})
    before = (here / "seen.json").read_text()
    admin.delete_topics([name])[name].result(timeout=300)
    time.sleep(1)
    make(VALUES[:20])
    code, err = audit(capsys, broker, name, engine=engine)
    assert (code, f"{name} is not the topic that the last run read: it was deleted and recreated" in err) == (3, True)
    assert (here / "seen.json").read_text() == before
    assert audit(capsys, broker, name, engine=engine, more=["--from", "earliest"]) == (0, {(0, 0, 20)})
    assert audit(capsys, broker, name) == (4, {(0, 20, 20)})


def test_a_file_of_an_earlier_release_or_of_your_own_names_no_id(broker, make_topic, here, capsys):
    topic = make_topic([(0, value) for value in VALUES[:10]])
    (here / "seen.json").write_text(json.dumps({topic: {"0": 4}, "other": {"0": 1}}))
    assert audit(capsys, broker, topic) == (0, {(0, 4, 10)})
    reported = json.loads((here / "seen.json").read_text())
    assert (reported.pop("other"), reported[topic].pop("id") != "") == ({"0": 1}, True)
    assert reported == {topic: {"0": 10}}


def test_a_topic_that_is_shorter_than_before_was_recreated(broker, make_topic, here, capsys):
    topic = make_topic([(0, value) for value in VALUES[:3]])
    (here / "seen.json").write_text(json.dumps({topic: {"0": 10}}))
    code, err = audit(capsys, broker, topic)
    assert (code, "recreated: it ends at 3, and the last run had read up to 10" in err) == (3, True)


@pytest.mark.parametrize(
    ("text", "code"),
    [("[]", 2), ("{", 2), ('{"t": {"0": -1}}', 2), ('{"t": {"x": 1}}', 2), ('{"t": 1}', 2), ('{"t": {"id": 1}}', 2)],
)
def test_a_file_that_holds_something_else_is_refused_and_kept(broker, here, capsys, text, code):
    (here / "seen.json").write_text(text)
    assert audit(capsys, broker, "t")[0] == code
    assert (here / "seen.json").read_text() == text


def test_drift_is_reported_once_and_the_next_run_continues(broker, make_topic, here, capsys):
    topic = make_topic([(0, b"x")])
    assert audit(capsys, broker, topic) == (1, {(0, 0, 1)})
    assert audit(capsys, broker, topic) == (4, {(0, 1, 1)})
