"""What is kept beside a checkpoint: ranges of batches, what they are validated by, and what all of them came to."""

import json
import pickle
import random
import socket
import time
import urllib.error
import urllib.request
from dataclasses import replace
from itertools import pairwise

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import CATALOGUE, PLAIN, WITH_TABLES, rendered, scope_of
from written_reports import LEDGER, build_report, document_of, report_of

from cdc_contracts import __version__
from cdc_contracts.registry.authoring.sync.schema_sources import open_source
from cdc_contracts.registry.core.common.errors import LedgerError, UnavailableError, UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions, Severities
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.contract.table_selection import Selection
from cdc_contracts.registry.core.detect.detection import read_detection
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.detect.topic_samples import find_validation
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.pinned_contracts import digest_pin, open_pin, write_pin
from cdc_contracts.registry.core.validate.validation_context import Undetected, open_validation
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.finished_runs import PastRun
from cdc_contracts.spark_checks.streams import stream_metrics
from cdc_contracts.spark_checks.streams.checkpoints import Checkpoint, StreamSetup
from cdc_contracts.spark_checks.streams.rolling_totals import Rolling, read_rolling, write_rolling
from cdc_contracts.spark_checks.streams.stream_batches import StreamBatch
from cdc_contracts.spark_checks.streams.stream_metrics import MOST_PARTITIONS, StreamMetrics, serving_metrics
from cdc_contracts.spark_checks.streams.stream_resumption import check_checkpoint, check_output
from cdc_contracts.spark_checks.streams.stream_samples import Wanted

CONTRACT = "oms-community/canal@2"


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint as Spark 4.0 has written one: its first bytes and lines are of a real stream."""
    folder = tmp_path / "ck"
    for name, text in {
        "metadata": '{"id":"7be6c835-c87b-4120-b7bb-30a7c80eb447"}',
        "sources/0/0": '\0v1\n{"t":{"0":10,"1":20}}',
        "offsets/0": 'v1\n{"batchWatermarkMs":0,"conf":{}}\n{"t":{"0":27,"1":32}}',
        "offsets/.0.crc": "x",
        "offsets/1": 'v1\n{"batchWatermarkMs":0,"conf":{}}\n{"t":{"0":27,"1":45,"2":3}}',
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return Checkpoint(str(folder))


def test_a_batch_is_from_where_the_one_before_ended_to_where_the_log_says(checkpoint):
    assert checkpoint.query == "7be6c835-c87b-4120-b7bb-30a7c80eb447"
    assert (checkpoint.last, checkpoint.committed(0), checkpoint.committed(1)) == (1, True, False)
    assert checkpoint.spans(0) == {Source("t", 0): Span(10, 27), Source("t", 1): Span(20, 32)}
    assert checkpoint.spans(1) == {
        Source("t", 0): Span(27, 27), Source("t", 1): Span(32, 45), Source("t", 2): Span(0, 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('v1\n{}\n{"t":{"0":26,"1":45}}', "recreated: it ends at 26, and had been read up to 27"),
        ('v2\n{}\n{"t":{"0":30}}', "was written by an incompatible Spark"),
        ('v1\n{}\n{"t":{"0":', "damaged"),
        ("", "damaged"),
    ],
)
def test_a_log_that_cannot_be_true_is_refused(checkpoint, tmp_path, text, words):
    (tmp_path / "ck/offsets/1").write_text(text)
    with pytest.raises(UnavailableError, match=words):
        checkpoint.spans(1)


@pytest.mark.parametrize("text", ["", '{"id":', "null", "{}"])
def test_a_description_that_was_cut_off_is_named(checkpoint, tmp_path, text):
    (tmp_path / "ck/_cdc/batches").mkdir(parents=True)
    for name, read in (("metadata", lambda: checkpoint.query), ("_cdc/batches/1.json", lambda: checkpoint.pin_of(1))):
        (tmp_path / "ck" / name).write_text(text)
        with pytest.raises(UnavailableError, match="damaged") as refused:
            read()
        assert refused.value.where.endswith(name)


SCHEMAS = open_source("http://registry:8081")
"""Those of a registry that nobody asks."""


def test_what_is_pinned_judges_as_it_did_whatever_the_catalogue_says_now():
    families = TableFamilies({"orders": "orders_[0-9]+", "a": ".*"})
    tables = TableContracts([WITH_TABLES.tables.first()], families=families)
    reading_options = ReadingOptions(
        {"time_zone": "+08:00"}, tables, Severities({"unknown-field": "error"}), 5_000, strict_json=True,
        table="shop.orders", selection=Selection(("shop.*",), ("*.x",)), show_values=True, wrapping="base64",
            profiled=True, schemas=SCHEMAS,
            sampled=frozenset({"time.precision.mode"}), names={"op_member": "op"},
    )  # fmt: skip
    assert all(getattr(reading_options, name) != getattr(ReadingOptions(), name) for name in vars(reading_options)), (
        "a term without a value here"
    )
    validation = open_validation(CATALOGUE, "oms-community/default", reading_options)
    text = write_pin(validation)
    with pytest.raises(UnavailableError, match="were those of http://registry:8081, and are others now"):
        open_pin(text, "ck")
    again = open_pin(text, "ck", SCHEMAS)
    assert [*again.reading_options.families.patterns.items()] == [*families.patterns.items()]
    assert (again.fingerprint, again.reading_options.show_values) == (validation.fingerprint, True)
    assert again.reading_options.families == reading_options.families
    assert again.reading_options.names == reading_options.names
    assert again.reading_options.sampled == reading_options.sampled
    assert digest_pin(write_pin(again)) == digest_pin(text)
    document = json.loads(text)
    path = next(path for path in document["documents"] if path.startswith("oms-community/default"))
    document["documents"][path] += "\n# changed by hand\n"
    document["fingerprint"] = "0" * 64
    with pytest.raises(UnavailableError, match="another fingerprint now"):
        open_pin(json.dumps(document), "ck", SCHEMAS)
    with pytest.raises(UnavailableError, match="cannot be read"):
        open_pin("{}", "ck")


def test_a_batch_that_was_pinned_before_keys_were_renamed_is_refused_with_the_new_key_and_what_to_do():
    document = json.loads(write_pin(open_validation(CATALOGUE, "dts/canal@2", ReadingOptions())))
    path = "dts/canal/v1/contract.yaml"
    assert "monotonic: non-strict" in document["documents"][path]
    document["documents"][path] = document["documents"][path].replace("monotonic: non-strict", "rises: or-stays")
    with pytest.raises(UnavailableError, match="`rises` is now `monotonic`") as refused:
        open_pin(json.dumps(document), "ck")
    assert "with the release of cdc-contracts that started it, or start with a new checkpoint" in refused.value.hint


def test_what_was_found_out_is_reported_again_after_a_restart(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(rendered("dts/canal@1", 60)))
    source = read_files([path], parse_range(), tasks=1)
    validation, detection = find_validation(Undetected(CATALOGUE, ReadingOptions()), lambda: source.peek(LOCAL, 100))
    kept = json.dumps(msgspec.to_builtins(detection.report()))
    again = read_detection(msgspec.convert(json.loads(kept), ReportedDetection), CATALOGUE, validation.detected)
    assert again.report() == detection.report()
    assert again.preferences == detection.preferences
    assert {one.subject for one in again.detected} == {one.subject for one in detection.detected}
    pinned = open_pin(write_pin(validation), "ck")
    assert (pinned.declared, pinned.detected) == ("auto", validation.detected)


def test_an_account_kept_from_batch_to_batch_is_the_account_of_the_whole(tmp_path):
    values = [*rendered(CONTRACT, 250, controls=20), b"broken", *rendered("oms-community/canal@1", 30), b"[]"]
    rows = [(number % 2, number // 2, value) for number, value in enumerate(values)]
    pq.write_table(
        pa.table({
            "value": [row[2] for row in rows],
            "topic": ["t"] * len(rows),
            "partition": pa.array([row[0] for row in rows], pa.int32()),
            "offset": [row[1] for row in rows],
        }),
        tmp_path / "a.parquet",
    )  # fmt: skip

    def read(*window):
        return read_files([tmp_path / "a.parquet"], parse_range(*window), tasks=1)

    validation = replace(scope_of(CONTRACT), reading_options=replace(PLAIN, profiled=True))
    end, numbers = len(rows) // 2, random.Random(7)
    whole = document_of(audit_input(LOCAL, read(), validation, fail_on="warning").report)
    cuts = [0, *sorted(numbers.sample(range(1, end), 5)), end]
    rolling, one, other = Rolling(), Rolling(), Rolling()
    for number, (first, last) in enumerate(pairwise(cuts)):
        part = read(f"offset:{first}", f"offset:{last}")
        audited = audit_input(LOCAL, part, validation, fail_on="warning")
        for account in (rolling, one, other):
            account.add(number, audited.tally, part.spans)
        rolling = read_rolling(write_rolling(rolling))
    reported = build_report(
        rolling.tally, catalogue=CATALOGUE, contract=CONTRACT, source=whole["source"], spans=rolling.spans,
        fail_on="warning", profiled=True,
    )  # fmt: skip
    assert reported == whole
    assert whole["findings"]
    assert one == other == rolling, "accounts share a part"
    assert (rolling.batches, rolling.first) == (6, 0)


def test_a_batch_whose_counts_do_not_add_up_is_no_part_of_the_account():
    tally = Tally(partitions={Source("t", 0): PartitionTally(read=3, conforming=2)})
    rolling = Rolling()
    with pytest.raises(LedgerError):
        rolling.add(0, tally, {Source("t", 0): Span(0, 3)})
    assert rolling == Rolling()


class Hostile:
    def __reduce__(self):
        return print, ("run by a checkpoint",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps((__version__, {}, Hostile(), 0, None, None)),
        b"cposix\nsystem\n(S'true'\ntR.",
        b"ccdc_contracts.registry.core.report.report_formats\nwrite_whole\n(tR.",
        b"",
        b"\x80",
        pickle.dumps(("0.0.0", {}, Tally(), 1, 0, None)),
    ],
)
def test_an_account_is_read_as_values_alone(data, capsys):
    assert read_rolling(data) is None
    assert capsys.readouterr().out == ""


def wanted(command="decode", topics=("t",)):
    return Wanted(command, "x:1", topics, {})


def test_a_checkpoint_of_another_stream_is_refused(checkpoint):
    with pytest.raises(UsageError, match="was not written by cdc-contracts"):
        check_checkpoint(checkpoint, wanted(), CONTRACT)
    setup = StreamSetup("decode", ("t",), CONTRACT, detected={"subjects": ["a/b"], "preferences": []}, beside=("q",))
    checkpoint.keep_setup(setup)
    assert check_checkpoint(checkpoint, wanted(), CONTRACT) == setup
    for other, contract, words in (
        (wanted("audit"), CONTRACT, "stream of `decode`"),
        (wanted(topics=("t", "u")), CONTRACT, "reads t"),
        (wanted(), "dts/canal@1", f"validated against {CONTRACT}"),
    ):
        with pytest.raises(UsageError, match=words):
            check_checkpoint(checkpoint, other, contract)


def finished(query, end, topic="t"):
    return PastRun("run", "attempt", (), {Source(topic, 0): Span(0, end)}, (), query=query)


def test_output_and_checkpoint_belong_together_or_somebody_says_otherwise(checkpoint, tmp_path):
    def check(ours, *runs, known=None, new_epoch=False):
        return check_output(ours, wanted(), runs, "out", known=known, new_epoch=new_epoch)

    fresh = Checkpoint(str(tmp_path / "new"))
    assert check(fresh, finished(None, 5), finished("q", 7, "of-another-stream")) == ((), {"t": {0: 5}})
    with pytest.raises(UnavailableError, match="with another checkpoint"):
        check(fresh, finished("q", 5))
    assert check(fresh, finished("q", 5), finished(None, 9), new_epoch=True) == (("q",), {"t": {0: 9}})
    own = finished(checkpoint.query, 5)
    assert check(checkpoint, own)[0] == ()
    agreed = StreamSetup("decode", ("t",), CONTRACT, beside=("q",))
    assert check(checkpoint, own, finished("q", 5), known=agreed)[0] == ("q",)
    with pytest.raises(UnavailableError, match="the output has none of its batches"):
        check(checkpoint, known=agreed)


def test_a_checkpoint_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "ck").write_text("a file")
    with pytest.raises(UnavailableError, match="the checkpoint cannot be written"):
        Checkpoint(str(tmp_path / "ck")).keep_setup(StreamSetup("audit", ("t",), CONTRACT))


def figures(text):
    from prometheus_client.parser import text_string_to_metric_families

    return {
        (sample.name.removeprefix("cdc_contracts_follow_"), *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_are_exposed_as_prometheus_reads_them(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*rendered(CONTRACT, 20, controls=0), b"broken"]))
    source = read_files([path], parse_range(), tasks=1)
    audited = audit_input(LOCAL, source, scope_of(CONTRACT), fail_on="warning")
    metrics = StreamMetrics()
    began = figures(metrics.text())["start_timestamp_seconds",]
    assert time.time() - 60 < began <= round(time.time(), 3)
    metrics.note_begin()
    under_way = figures(metrics.text())
    assert began <= under_way["batch_begin_timestamp_seconds",] <= round(time.time(), 3)
    assert ("last_batch_timestamp_seconds",) not in under_way
    metrics.note_batch(StreamBatch(4, source.spans, audited.tally, 1.5), audited.report)
    metrics.note_latest({Source("a.jsonl", 0): 30})
    with serving_metrics(metrics, 0) as port, urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        reported = figures(answer.read().decode())
    place = (("partition", "0"), ("topic", "a.jsonl"))
    assert reported["records_total", ("outcome", "conforming"), *place] == 20
    assert reported["records_total", ("outcome", "quarantined"), *place] == 1
    assert reported["changes_total", *place] == audited.report.ledger.changes
    assert reported["lag_offsets", *place] == 9
    assert reported["drift_records", ("class", "malformed"), ("severity", "error")] == 1
    labels = ("class", "malformed"), ("contract", ""), ("severity", "error"), ("table", "")
    assert reported["table_drift_records", *labels] == 1
    seen, open_records = audited.report.versions_seen, audited.report.versions_undecided
    assert seen
    for contract, count in [*seen.items(), ("(undecided)", open_records)]:
        assert reported["version_records_total", ("contract", contract)] == count
    assert (reported["last_batch_seconds",], reported["ledger_unreconciled",]) == (1.5, 0)
    assert (
        reported["batch_begin_timestamp_seconds",]
        == 0
        < began
        <= reported["last_batch_timestamp_seconds",]
        <= round(time.time(), 3)
    )


def test_figures_are_at_one_path_and_no_client_keeps_a_connection_that_says_nothing(monkeypatch):
    monkeypatch.setattr(stream_metrics._Connection, "timeout", 0.2)
    with serving_metrics(StreamMetrics(), 0) as port:
        for path in ("/", "/metric", "/metrics/x", "/favicon.ico"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}")
        for said in (b"", b"GET /metrics HTTP/1.1\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
                slow.sendall(said)
                assert slow.recv(1) == b""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            assert figures(answer.read().decode())["batches_total",] == 0


def test_figures_have_no_more_series_than_a_bound():
    partitions = [
        {"topic": "t", "partition": number, "start": 0, "end": 4, "read": 4,
         **dict.fromkeys(("conforming", "control", "tombstone", "quarantined"), 1),
         "excluded": 0, "changes": 1, "gaps": 0, "first_timestamp": None, "last_timestamp": None}
        for number in range(MOST_PARTITIONS + 50)
    ]  # fmt: skip
    spans = {Source("t", number): Span(0, 1) for number in range(MOST_PARTITIONS + 50)}
    report = report_of({"ledger": LEDGER | {"partitions": partitions}})
    metrics = StreamMetrics()
    metrics.note_batch(StreamBatch(0, spans, Tally(), 1), report)
    reported = {
        tuple(labels): value for (name, *labels), value in figures(metrics.text()).items() if name == "changes_total"
    }
    assert len(reported) == MOST_PARTITIONS + 1
    assert reported[("partition", ""), ("topic", "(others)")] == 50


def test_totals_of_few_rows_of_a_table_in_a_dialect_without_types_are_read_again():
    values = rendered("oms-community/default@2", 3)
    batch = pa.RecordBatch.from_pydict({
        "value": pa.array(values, pa.binary()),
        "topic": ["t"] * 3,
        "partition": pa.array([0] * 3, pa.int32()),
        "offset": pa.array(range(3), pa.int64()),
    })  # fmt: skip
    tally = Kernel(scope_of("oms-community/default@2")).audit(batch)
    assert tally.statistics.writing.whole

    read = read_rolling(write_rolling(Rolling({}, tally)))

    assert read.tally.statistics.writing == tally.statistics.writing
