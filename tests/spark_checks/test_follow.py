"""`--follow`: what a stream reads in batches is what one run reads, whatever happens between its starts."""

import json
import os
import shutil
import signal
import threading
import time

import pyarrow.parquet as pq
import pytest
from producing import add_partitions, delete_records, produce
from prometheus_client.parser import text_string_to_metric_families
from receivers import SECRET, receiver
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.spark_checks.streams import followed_topics
from cdc_contracts.spark_checks.streams.streaming import Follow

CONTRACT = "oms-community/canal@2"
POSITIONED = "oms-community/debezium@1"
"""Its changes have positions, and nothing promises how these go on."""
VALUES = [*rendered(CONTRACT, 300, controls=20), b"broken", b"[]", *rendered("oms-community/canal@1", 20)]
TRUNCATION = (
    b'{"database": "shop", "table": "orders", "type": "TRUNCATE", "isDdl": true, "es": 1718000000000, '
    b'"ts": 1718000001234, "sql": "truncate table orders"}'
)
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


def read_table(out, table):
    """What a reader sees who trusts the records of finished runs alone."""
    records = [json.loads(path.read_text()) for path in sorted((out / "_runs").glob("*.json"))]
    paths = [out / part["path"] for record in records for part in record["files"] if part["table"] == table]
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    return sorted(rows, key=lambda row: (row["partition"], row.get("offset", 0), row.get("row_index", 0)))


def places(rows):
    return [(row["partition"], row["offset"]) for row in rows]


def signal_when(number, due):
    """Send this process a signal as soon as something is due."""

    def watch():
        deadline = time.monotonic() + 300
        while not due() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(os.getpid(), number)

    threading.Thread(target=watch, daemon=True).start()


@pytest.mark.nightly
def test_an_audit_that_ends_between_its_totals_and_the_commit_of_spark_counts_no_record_twice(
    call, broker, make_topic, here, monkeypatch
):  # fmt: skip
    topic = make_topic([(0, value) for value in VALUES[-60:]])
    follow = ["audit", topic, "--follow", "--once", "--checkpoint", "ck", "--max-offsets", "30"]
    validate = Follow._validate_batch

    def end_before_the_commit(self, number):
        validate(self, number)
        raise OSError("the machine is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Follow, "_validate_batch", end_before_the_commit)
        assert call(*follow)[0] == 3
    assert [path.name for path in here.glob("ck/_cdc/rolling/*")] == ["0"]
    assert not list(here.glob("ck/commits/[0-9]*"))
    code, _, rolling = call(*follow, "--interval-reports", "batches")
    assert (code, rolling) == (1, call("audit", topic)[2])
    batches = [json.loads(path.read_text()) for path in sorted((here / "batches").iterdir())]
    assert [(one["ledger"]["partitions"][0]["start"], one["ledger"]["read"]) for one in batches] == [(0, 30), (30, 30)]


@pytest.mark.nightly
def test_an_audit_in_batches_reports_what_an_audit_of_the_whole_range_does(call, broker, make_topic, here):
    topic = make_topic([(number % 2, value) for number, value in enumerate(VALUES)], partitions=3)
    follow = ["audit", topic, "--follow", "--once", "--checkpoint", "ck", "--report", "r.json"]
    code, said, first = call(*follow, "--max-offsets", "100")
    assert (code, said.count("records in")) == (1, 4)
    produce(broker, topic, MORE, partition=1)
    code, said, second = call(*follow, "--from", "earliest")
    assert (code, said.count("records in"), "--from earliest is ignored" in said) == (1, 1, True)
    _, _, whole = call("audit", topic)
    assert first["ledger"]["read"] == len(VALUES)
    assert second == whole == json.loads((here / "r.json").read_text())
    code, said, third = call(*follow)
    assert (code, third, "this run: inconclusive, nothing new" in said) == (4, second, True)
    assert call(*follow, "--allow-empty")[0] == 0


def test_a_decode_in_batches_writes_the_rows_that_a_decode_of_the_whole_range_does(call, broker, make_topic, here):
    values = [*rendered(POSITIONED, 300, controls=20), *VALUES[-22:]]
    more = [*values[1:60:2], *rendered(POSITIONED, 100, seed=2), b'{"no": 1}', *rendered("dts/canal@2", 3)]
    topic = make_topic([(number % 2, value) for number, value in enumerate(values)], partitions=2)
    follow = ["decode", topic, "--to", "out", "--follow", "--once"]
    assert call(*follow, "--max-offsets", "200", contract=POSITIONED)[0] == 1
    produce(broker, topic, more, partition=1)
    code, said, report = call(*follow, contract=POSITIONED)
    assert (code, len(list((here / "out/_runs").glob("*.json")))) == (1, 3)
    _, _, whole = call("decode", topic, "--to", "whole", contract=POSITIONED)
    assert report == whole
    # Thirty messages were sent again in another batch; this dialect tells no DDL, so that each is a row.
    assert (report["repeats"]["rows"], report["repeats"]["tables"][0]["first_offset"]) == (30, 0)
    assert "30 rows repeat others" in said
    for table in ("changes", "control", "quarantine", "repeats"):
        assert read_table(here / "out", table) == read_table(here / "whole", table)
    ledger = read_table(here / "out", "ledger")
    assert sum(row["read"] for row in ledger) == report["ledger"]["read"] == len(values) + len(more)
    assert all(row["end"] - row["start"] == row["read"] + row["gaps"] for row in ledger)


@pytest.mark.nightly
def test_a_topic_that_holds_nothing_yet_is_followed_until_it_does_and_its_other_partition_is_reported_if_rows_go(
    call, broker, make_topic, here
):
    topic = make_topic(partitions=2)
    follow = ["decode", topic, "--to", "out", "--follow", "--once"]
    code, said, report = call(*follow)
    assert (code, report["ledger"]["read"]) == (4, 0), said
    produce(broker, topic, [*VALUES[:10], TRUNCATION])
    code, said, report = call(*follow)
    assert (code, report["ledger"]["read"]) == (0, 11), said
    rows = [*read_table(here / "out", "changes"), *read_table(here / "out", "control")]
    assert sorted(places(rows)) == [(0, offset) for offset in range(11)]
    records = [json.loads(path.read_text()) for path in (here / "out/_runs").glob("*.json")]
    (emptied,) = (record for record in records if record["upheavals"])
    assert [(one["partition"], one["start"], one["end"]) for one in emptied["range"]] == [(0, 0, 11), (1, 0, 0)]


@pytest.mark.nightly
def test_output_without_its_checkpoint_is_refused_until_somebody_begins_a_new_epoch(call, broker, make_topic, here):
    topic = make_topic([(0, value) for value in VALUES[:50]])
    follow = ["decode", topic, "--to", "out", "--follow", "--once"]
    assert call("decode", topic, "--to", "out", "--until", "offset:20")[0] == 0
    code, said, _ = call(*follow)
    assert (code, "would begin at offset 0, and runs of the output have read up to 20" in said) == (3, True), said
    assert call(*follow, "--new-epoch")[0] == 0
    shutil.rmtree(here / "out/_checkpoint")
    produce(broker, topic, VALUES[50:60])
    code, said, report = call(*follow)
    assert (code, report, "with another checkpoint" in said) == (3, None, True)
    assert not list(here.glob("out/_checkpoint/offsets/*"))
    code, _, report = call(*follow, "--new-epoch")
    assert (code, [(one["start"], one["end"]) for one in report["ledger"]["partitions"]]) == (0, [(50, 60)])
    produce(broker, topic, VALUES[60:70])
    assert call(*follow)[0] == 0
    rows = [*read_table(here / "out", "changes"), *read_table(here / "out", "control")]
    assert sorted(places(rows)) == [(0, offset) for offset in range(70)]
    code, said, _ = call("decode", topic, "--to", "out", "--from", "last:5")
    assert (code, "has decoded some of these records already" in said) == (3, True)


@pytest.mark.nightly
def test_a_batch_that_comes_again_is_read_by_what_it_was_read_by_at_first(
    call, broker, make_topic, here, monkeypatch
):  # fmt: skip
    dialect = "oms-community/default"
    topic = make_topic([(0, value) for value in rendered(f"{dialect}@2", 40)])
    for name, table in (("old", "shop.orders"), ("new", "shop.others")):
        (here / f"{name}.yaml").write_text(f"table: {table}\ncolumns: {{id: {{type: bigint}}}}\nprimary_key: [id]\n")
    follow = ["decode", topic, "--to", "out", "--follow", "--once"]
    with monkeypatch.context() as patch:
        patch.setattr(followed_topics, "decode_input", lambda *_, **__: 1 / 0)
        assert call(*follow, "--tables", "old.yaml", contract=dialect)[0] == 3
    produce(broker, topic, rendered(f"{dialect}@2", 10))
    _, said, _ = call(*follow, "--tables", "new.yaml", contract=dialect)
    assert "batch 0 is retried with the contracts of its first attempt" in said
    assert "they apply from batch 1 on" in said
    call("decode", topic, "--to", "old", "--until", "offset:40", "--tables", "old.yaml", contract=dialect)
    call("decode", topic, "--to", "new", "--from", "offset:40", "--tables", "new.yaml", contract=dialect)
    rows = {
        table: [*read_table(here / "old", table), *read_table(here / "new", table)]
        for table in ("changes", "quarantine")
    }
    assert {row["types_from"] for row in rows["changes"]} == {"table", "none"}
    assert {table: read_table(here / "out", table) for table in rows} == rows
    first, second = (
        next(one for one in map(json.loads, (path.read_text() for path in (here / "out/_runs").glob("*.json")))
             if one["stream"]["batch"] == number)
        for number in (0, 1)
    )  # fmt: skip
    assert first["contract_fingerprint"] != second["contract_fingerprint"]


@pytest.mark.nightly
def test_findings_are_posted_and_lineage_events_are_sent_while_a_stream_runs(
    call, broker, make_topic, here, monkeypatch
):  # fmt: skip
    pytest.importorskip("openlineage.client")
    topic = make_topic([(0, value) for value in [*rendered(CONTRACT, 400)[:308], b"broken", b"[]"]])
    with receiver(204) as (hook, got):
        monkeypatch.setenv("OPENLINEAGE_URL", hook.partition("/hooks")[0])
        follow = ["audit", topic, "--follow", "--once", "--checkpoint", "ck", "--max-offsets", "160"]
        code, said, report = call(*follow, "--webhook", hook, "--openlineage")
    assert (code, report["ledger"]["read"], SECRET in said) == (1, 310, False)
    posted = [body for path, _, body in got if path.startswith("/hooks")]
    assert [(one["read"], one["quarantined"]) for one in posted] == [(150, 2)]  # the first batch conforms
    assert {one["class"] for one in posted[0]["findings"]} >= {"malformed"}
    events = [body for path, _, body in got if path.endswith("/api/v1/lineage")]
    assert [one["eventType"] for one in events] == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    rows = [one["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] for one in events[1:3]]
    assert (rows, {one["inputs"][0]["name"] for one in events[1:3]}) == ([160, 150], {topic})
    assert len({one["run"]["runId"] for one in events}) == 1


@pytest.mark.nightly
def test_a_contract_that_was_found_out_stays_from_start_to_start(call, broker, make_topic, here):
    topic = make_topic()
    follow = ["audit", topic, "--follow", "--once", "--checkpoint", "ck"]
    code, said, report = call(*follow, contract="auto")
    assert (code, report, "cannot be detected" in said) == (4, None, True)
    produce(broker, topic, VALUES[:60])
    code, _, first = call(*follow, contract="auto")
    assert (code, first) == (0, call("audit", topic, contract="auto")[2])
    produce(broker, topic, rendered("dts/canal@2", 100))
    code, _, second = call(*follow, contract="auto")
    assert (code, second["detection"], second["ledger"]["read"]) == (1, first["detection"], 160)


@pytest.mark.nightly
def test_partitions_that_are_added_are_read_and_records_that_are_gone_are_reported(call, broker, make_topic, here):
    topic = make_topic([(0, value) for value in VALUES[:10]])
    follow = ["audit", topic, "--follow", "--once", "--checkpoint", "ck"]
    assert call(*follow)[0] == 0
    add_partitions(broker, topic, 2)
    produce(broker, topic, VALUES[:7], partition=1)
    code, _, report = call(*follow, "--interval-reports", "batches")
    assert [path.name for path in (here / "batches").iterdir()] == ["batch-00000001.json"]
    alone = json.loads((here / "batches/batch-00000001.json").read_text())
    assert [(one["start"], one["end"], one["read"]) for one in alone["ledger"]["partitions"]] == [
        (10, 10, 0),
        (0, 7, 7),
    ]
    spans = [(one["start"], one["end"], one["read"]) for one in report["ledger"]["partitions"]]
    assert (code, spans) == (0, [(0, 10, 10), (0, 7, 7)])
    produce(broker, topic, VALUES[:7], partition=1)
    delete_records(broker, topic, 1, before=9)
    code, said, report = call(*follow)
    assert (code, report) == (3, None)
    assert f"{topic} partition 1, offsets 7 to " in said
    assert "Follow with a new checkpoint" in said


def test_sigterm_ends_a_stream_with_its_report_and_the_next_start_goes_on(call, broker, make_topic, here):
    topic = make_topic([(0, value) for value in VALUES[:30]])
    follow = ["decode", topic, "--to", "out", "--follow", "--interval", "1", "--metrics-file", "m.prom"]
    signal_when(signal.SIGTERM, lambda: list(here.glob("out/_runs/*.json")))
    ended, said, report = call(*follow, "--report", "r.json")
    assert (ended, report["ledger"]["read"], report["verdict"]) == (143, 30, "pass"), said
    assert json.loads((here / "r.json").read_text()) == report
    families = text_string_to_metric_families((here / "m.prom").read_text())
    changes = [sample for family in families for sample in family.samples if sample.name.endswith("_changes_total")]
    assert [(one.labels, one.value) for one in changes] == [
        ({"topic": topic, "partition": "0"}, report["ledger"]["changes"])
    ]
    produce(broker, topic, VALUES[30:40])
    ended, said, report = call(*follow, "--once")
    assert (ended, report["ledger"]["read"], "comes again" in said) == (0, 40, False)
    rows = [*read_table(here / "out", "changes"), *read_table(here / "out", "control")]
    assert sorted(places(rows)) == [(0, offset) for offset in range(40)]


@pytest.mark.nightly
def test_a_batch_that_does_not_end_in_time_is_abandoned_and_read_at_the_next_start(
    call, spark, make_topic, here, monkeypatch
):  # fmt: skip
    def take_long(batches):
        time.sleep(100)
        yield from batches

    topic = make_topic([(0, value) for value in VALUES[:30]])
    follow = ["decode", topic, "--to", "out", "--follow"]
    with monkeypatch.context() as patch:
        slow = spark.range(2).mapInArrow(take_long, "id long")
        patch.setattr(followed_topics, "decode_input", lambda *_, **__: slow.collect())
        signal_when(signal.SIGINT, lambda: spark.sparkContext.statusTracker().getActiveStageIds())
        code, said, report = call(*follow, "--grace", "0.5")
    assert (code, report["ledger"]["read"], "batch 0 is abandoned" in said) == (130, 0, True), said
    assert call(*follow, "--once")[0] == 0
    rows = [*read_table(here / "out", "changes"), *read_table(here / "out", "control")]
    assert sorted(places(rows)) == [(0, offset) for offset in range(30)]
    assert spark.range(3).count() == 3


def test_options_that_do_not_go_together_are_refused_before_anything_starts(here, capsys):
    def refused(*arguments):
        code = main([*arguments, "-b", "127.0.0.1:1", "--contract", CONTRACT])
        return code, capsys.readouterr().err

    for more, words in (
        (["--once"], "--once needs --follow"),
        (["--follow"], "a stream needs a checkpoint"),
        (
            ["--follow", "--checkpoint", "ck", "--to", "latest", "--engine", "local"],
            "--engine local cannot be combined",
        ),
        (["--follow", "--checkpoint", "ck", "--since-last", "f"], "--since-last cannot be combined"),
    ):
        code, said = refused("audit", "topic", "t", *more)
        assert (code, words in said) == (2, True), said
    code, said = refused("decode", "topic", "t", "--to", "out", "--checkpoint", "ck")
    assert (code, "--checkpoint needs --follow" in said) == (2, True)
