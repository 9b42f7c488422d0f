"""A run that ends early reports what it has read: by Ctrl-C, by SIGTERM, or when its time is up."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from stopwatch import wait_for_work
from topics import rendered, scope_of
from written_reports import document_of

from cdc_contracts.cli.app import main
from cdc_contracts.spark_checks.auditing import audit_inputs
from cdc_contracts.spark_checks.engines import spark_engine
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.tasks.spark_tasks import Watch

ROOT = Path(__file__).parents[2]
CONTRACT = "oms-community/canal@2"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def long_file(tmp_path_factory):
    """240,000 messages: about a second of work for one process."""
    path = tmp_path_factory.mktemp("long") / "a.jsonl"
    lines = rendered(CONTRACT, 4_000)
    path.write_bytes(b"\n".join(lines * 60))
    return path


def check_partial(report, total):
    """The counts of what was read add up, and the span ends where it does."""
    (one,) = report["ledger"]["partitions"]
    assert 0 < one["read"] < total
    assert (one["start"], one["end"], one["gaps"]) == (0, one["read"], 0)
    assert one["read"] == one["conforming"] + one["control"] + one["tombstone"] + one["quarantined"]
    assert (report["coverage"]["read"], report["coverage"]["of"]) == (one["read"], total)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.nightly)]
)
def test_a_signal_ends_a_run_of_one_process_with_a_report_of_what_it_read(here, long_file, number, code):
    for step in range(6):  # the first moment at which anything is read
        process = subprocess.Popen(
            [sys.executable, "-m", "cdc_contracts.cli.app", "audit", "file", str(long_file), "--contract", CONTRACT,
             "--engine", "local", "--report", "r.json"],
            env={**os.environ, "PYTHONPATH": str(ROOT / ".src")}, cwd=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert b"--from" in process.stderr.readline()
        wait_for_work(process, 0.45 * 1.3**step)
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
        assert (process.returncode, b"Traceback" in err) == (code, False), err
        assert out
        report = json.loads((here / "r.json").read_text())
        assert (report["stopped"], report["verdict"]) == ("interrupted", "inconclusive")
        if report["ledger"]["read"]:
            break
    check_partial(report, 240_000)


def test_a_run_whose_time_is_up_is_inconclusive_unless_it_found_drift(here, long_file, capsys):
    def audit(contract):
        for step in range(22):  # the first limit in which anything is read, which is not all on a fast machine either
            code = main(["audit", "file", str(long_file), "--contract", contract, "--engine", "local",
                         "--time-limit", f"{0.1 * 1.3**step:.2f}", "--json"])  # fmt: skip
            report = json.loads(capsys.readouterr().out)
            if report["ledger"]["read"]:
                break
        return code, report

    code, report = audit(CONTRACT)
    assert code == 4
    assert (report["stopped"], report["verdict"]) == ("time limit", "inconclusive")
    check_partial(report, 240_000)
    code, report = audit("dts/canal@2")
    assert code == 1
    assert (report["stopped"], report["verdict"]) == ("time limit", "drift")


def test_a_limit_that_is_not_reached_changes_nothing(here, capsys):
    (here / "a.jsonl").write_bytes(b"\n".join(rendered(CONTRACT, 10)))
    assert main(["audit", "file", "a.jsonl", "--contract", CONTRACT, "--engine", "local", "--time-limit", "60"]) == 0


@pytest.fixture(scope="module")
def long_topic(make_topic):
    lines = rendered(CONTRACT, 4_000)
    return make_topic([(0, value) for value in lines * 5])


def test_a_run_of_spark_keeps_what_finished_jobs_came_to(spark, broker, long_topic, monkeypatch):
    monkeypatch.setattr(spark_engine, "PIECE_OFFSETS", 2_500)  # for each of two tasks
    source = read_topics(SparkEngine(spark), broker.bootstrap, [long_topic], parse_range(), {}, headers=False)
    stop, watch = Stop(), Watch(spark.sparkContext.accumulator(0), spark.sparkContext.accumulator(0))

    def end_soon():
        while not watch.read.value:
            time.sleep(0.01)
        stop.signal = signal.SIGINT

    threading.Thread(target=end_soon, daemon=True).start()
    ended = audit_inputs(SparkEngine(spark), [(source, scope_of(CONTRACT))], fail_on="warning", watch=watch, stop=stop)
    report = document_of(ended)
    assert report["stopped"] == "interrupted"
    check_partial(report, 20_000)
    assert report["ledger"]["read"] % 5_000 == 0
    whole = audit_inputs(SparkEngine(spark), [(source, scope_of(CONTRACT))], fail_on="warning")
    assert (whole.stopped, whole.verdict, whole.ledger.read) == (None, "pass", 20_000)


def test_ctrl_c_ends_a_run_of_spark_and_the_session_lives_on(spark, here, long_file, capsys):
    def interrupt():
        while not spark.sparkContext.statusTracker().getActiveStageIds():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    assert main(["audit", "file", str(long_file), "--contract", CONTRACT, "--json"]) == 130
    report = json.loads(capsys.readouterr().out)
    assert (report["stopped"], report["verdict"], report["ledger"]["read"]) == ("interrupted", "inconclusive", 0)
    assert report["coverage"] == {"read": 0, "of": 240_000, "sample": None}
    assert spark.range(3).count() == 3


def test_the_next_run_goes_on_where_one_was_stopped(broker, long_topic, here, capsys):
    call = ["audit", "topic", long_topic, "-b", broker.bootstrap, "--contract", CONTRACT, "--engine", "local", "--json"]
    assert main([*call, "--since-last", "seen.json", "--time-limit", "0.1"]) == 4
    first = json.loads(capsys.readouterr().out)["ledger"]
    assert main([*call, "--since-last", "seen.json"]) == 0
    second = json.loads(capsys.readouterr().out)["ledger"]
    assert second["partitions"][0]["start"] == first["partitions"][0]["end"]
    assert first["read"] + second["read"] == 20_000
