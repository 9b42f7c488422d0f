"""Failures around a decode: recreated topics, full disks, a concurrent decode."""

import shutil
import subprocess
import sys
import threading
import time

import pytest
from canonical_outputs import read_output, read_table, run_records
from changelogs import REFERENCE, write_changelog
from producing import delete_records, produce, write_transactions
from topics import scope_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.failures import outliving
from cdc_contracts.spark_checks.kafka.offsets import parse_range


@pytest.fixture
def decode(spark, broker, tmp_path, capsys):
    """A function that decodes a topic into `out`, and returns exit code and what was said."""

    def run(topic, *options, out=None):
        code = main(["decode", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE,
                     "--to", str(out or tmp_path / "out"), *options])  # fmt: skip
        return code, capsys.readouterr().err

    return run


def places_of(rows):
    return [(row["partition"], row["offset"]) for row in rows]


def delete(broker, topic):
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics([topic])[topic].result(30)
    until = time.monotonic() + 300
    while topic in admin.list_topics(timeout=300).topics:
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.nightly
def test_a_topic_that_is_deleted_and_recreated_is_another_topic(broker, make_topic, decode, tmp_path):
    values = [value for _, value in write_changelog(60).messages]
    topic = make_topic([(0, value) for value in values[20:40]])
    run, later = tmp_path / "run", ("--from", "offset:20")
    assert decode(topic, "--follow", "--once")[0] == decode(topic, out=run)[0] == 0
    delete(broker, topic)
    broker.create_topic(topic)
    produce(broker, topic, values)  # more than there were, so that the old place is one in the new topic
    code, said = decode(topic, "--follow", "--once")
    assert (code, "the topic was deleted and recreated since the stream began" in said) == (3, True)
    assert len(run_records(tmp_path / "out")) == 1
    code, said = decode(topic, "--follow", "--once", "--new-epoch", "--checkpoint", str(tmp_path / "new"))
    assert (code, f"{topic} is not the topic that run " in said) == (3, True), said
    assert not list(tmp_path.glob("new/offsets/*"))
    (before,) = run_records(run)
    for options in (("--until", "offset:20"), later):
        code, said = decode(topic, *options, out=run)
        assert (code, f"{topic} is not the topic that run {before['run']} read" in said) == (3, True), said
    assert [one["run"] for one in run_records(run)] == [before["run"]]
    assert decode(topic, "--replace", out=run)[0] == decode(topic, "--replace", out=run)[0] == 0
    (after,) = run_records(run)
    assert len(read_output(run, "changes")) == len(values) == 60
    assert before["topics"].keys() == after["topics"].keys() == {topic}
    assert before["topics"] != after["topics"]


@pytest.mark.nightly
def test_what_compaction_and_aborted_transactions_leave_out_is_a_gap_and_no_row(broker, make_topic, decode, tmp_path):
    values = [value for _, value in write_changelog(60).messages]
    topic = make_topic()
    write_transactions(broker, topic, (values[:10], True), (values[10:20], False), (values[20:30], True))
    for name, options in (("once", ("--follow", "--once", "--max-offsets", "9")), ("whole", ())):
        code, _ = decode(topic, *options, out=tmp_path / name)
        ledger = read_output(tmp_path / name, "ledger")
        assert code == 0
        assert sum(row["read"] for row in ledger) == 20
        assert sum(row["gaps"] for row in ledger) == 13
        assert max(row["end"] for row in ledger) == 33
        assert places_of(read_output(tmp_path / name, "changes")) == [(0, at) for at in [*range(10), *range(22, 32)]]


def test_where_nothing_can_be_written_nothing_counts_and_the_next_run_makes_up_for_it(make_topic, decode, tmp_path):
    topic = make_topic([(0, value) for _, value in write_changelog(40).messages])
    out = tmp_path / "out"
    out.mkdir()
    (out / "tables").write_text("in the way")
    code, said = decode(topic)
    assert code == 3
    assert "Traceback" not in said
    assert run_records(out) == []
    (out / "tables").unlink()
    assert decode(topic)[0] == 0
    assert len(read_output(out, "changes")) == 40


def test_a_run_that_replaces_others_has_to_read_all_that_they_have_read(engine, broker, make_topic, tmp_path):
    values = [value for _, value in write_changelog(40).messages]
    topic = make_topic([(place % 2, value) for place, value in enumerate(values)], partitions=2)

    def run(*window):
        source = read_topics(engine, broker.bootstrap, [topic], parse_range(*window), {})
        output = Output(str(tmp_path), replace=bool(run_records(tmp_path)))
        return decode_input(engine, source, scope_of(REFERENCE), output, fail_on="error").run

    before = run("earliest", "offset:0=15,1=20")
    delete_records(broker, topic, 0, before=4)
    for window, lost, wanted in (
        (("earliest", "latest"), "partition 0 offsets 0 to 3", """--from '{"0": 0, "1": 0}' --until '{"0": 20, "1": 20}'"""),
        (("offset:0=4", "offset:0=9"), "partition 0 offsets 0 to 3", """--from '{"0": 0, "1": 0}' --until '{"0": 15, "1": 20}'"""),
        (("offset:1=0", "offset:1=12"), "partition 0 offsets 0 to 14", """--from '{"0": 0, "1": 0}' --until '{"0": 15, "1": 20}'"""),
    ):  # fmt: skip
        with pytest.raises(
            UnavailableError, match=f"run {before} has read records that this run would remove"
        ) as refused:
            run(*window)
        assert refused.value.where == f"{topic} {lost}"
        assert f"{topic} {wanted}" in refused.value.hint
    assert len(read_output(tmp_path, "changes")) == 35
    shutil.rmtree(tmp_path / "_runs")
    before = run("offset:0=5,1=0", "offset:0=15,1=20")
    assert run("offset:0=4,1=0", "latest") != before
    assert len(read_output(tmp_path, "changes")) == 36


def test_two_decodes_of_one_range_into_one_directory_at_once_leave_one_run(engine, broker, make_topic, tmp_path):
    topic = make_topic([(0, value) for _, value in write_changelog(60).messages])
    begun, ended = threading.Barrier(2), []

    def run():
        source = read_topics(engine, broker.bootstrap, [topic], parse_range(), {})
        begun.wait(300)
        try:
            with outliving():
                decode_input(engine, source, scope_of(REFERENCE), Output(str(tmp_path)), fail_on="error")
            ended.append("published")
        except UnavailableError as error:
            ended.append(error.what)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (record,) = run_records(tmp_path)
    assert ended == ["published", "published"]
    assert sum(one["rows"] for one in record["tables"]) == len(read_output(tmp_path, "changes")) == 60
    assert sum(len(read_table(tmp_path, one["table"])) for one in record["tables"]) == 60


LOSES_ITS_JVM = """
import inspect, socket
from pyspark.accumulators import _start_update_server
from cdc_contracts.spark_checks.kafka.failures import outliving
with outliving():
    by_tcp = [False] * ("is_unix_domain_sock" in inspect.signature(_start_update_server).parameters)
    server = _start_update_server("secret", *by_tcp)  # as a session does that is opened later
    jvm = socket.create_connection(server.server_address)
    jvm.sendall(b"secret")  # and is gone before it has sent a number
    jvm.shutdown(socket.SHUT_WR)
    jvm.recv(1)
    server.shutdown()
"""


def test_a_lost_jvm_prints_no_traceback_of_a_session_that_was_opened_after_the_work_began():
    done = subprocess.run(
        [sys.executable, "-c", LOSES_ITS_JVM], check=False, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
