"""Audits by either engine, of files and of topics in a real broker."""

import json
from collections import Counter

import pytest
from canonical_outputs import read_output
from producing import delete_records
from topics import CATALOGUE, WITH_TABLES, rendered, scope_of
from written_reports import build_report, document_of

import cdc_contracts as cdc
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.records.file_batches import read_slice
from cdc_contracts.registry.core.records.input_files import plan_files
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.tasks import task_shares
from cdc_contracts.spark_checks.tasks.spark_tasks import RESULT_SCHEMA, as_result, merge_tallies, read_results
from cdc_contracts.spark_checks.tasks.task_shares import collect_results, hand_out

ALL = [version.reference for version in CATALOGUE.all_versions()]


def audit_lines(engine, tmp_path, lines, reference, fail_on="warning", **reading_options):
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    source = read_files([path], parse_range(), tasks=2)
    return document_of(audit_input(engine, source, scope_of(reference, **reading_options), fail_on=fail_on).report)


def audit_topic(engine, broker, topic, reference, fail_on="warning", window=("earliest", "latest")):
    source = read_topics(engine, broker.bootstrap, [topic], parse_range(*window), {}, headers=False)
    return document_of(audit_input(engine, source, scope_of(reference), fail_on=fail_on).report)


def paths_of(report, name):
    """The paths of all findings of a class, those of each column where one finding is about several."""
    found = [finding for finding in report["findings"] if finding["class"] == name]
    return {one["path"] for finding in found for one in finding.get("columns") or [finding]}


@pytest.mark.parametrize("reference", [one for one in ALL if one.endswith("@1") and one[:-1] + "2" in ALL])
def test_a_stream_of_an_older_version_passes_without_a_finding_above_info(engine, tmp_path, reference):
    lines = rendered(reference, 1_000, snapshot=50, controls=97)
    report = audit_lines(engine, tmp_path, lines, reference)
    assert report["verdict"] == "pass"
    assert [finding for finding in report["findings"] if finding["severity"] != "info"] == []
    assert report["ledger"]["read"] == len(lines) == report["ledger"]["conforming"] + report["ledger"]["control"]


def test_dts_messages_of_the_old_version_are_recognised_by_their_deletes_and_by_the_chains_of_their_keys(
    engine, tmp_path
):
    lines = rendered("dts/canal@1", 3_000)
    ops = [json.loads(line)["type"] for line in lines]
    deletes = [number for number, op in enumerate(ops) if op == "DELETE"]
    report = audit_lines(engine, tmp_path, lines, "dts/canal@2")
    assert report["verdict"] == "drift"
    (finding,) = [finding for finding in report["findings"] if finding["severity"] != "info"]
    assert finding["class"] == "other-version"
    assert finding["rule"] == "D03.images"
    assert finding["path"] == "/old"
    assert report["ledger"]["quarantined"] == finding["ops"]["DELETE"] == len(deletes)
    assert 0.9 * ops.count("UPDATE") < finding["ops"]["UPDATE"] <= ops.count("UPDATE")  # but for keys that change
    assert finding["count"] == sum(finding["ops"].values())
    assert finding["first"]["offset"] == min(ops.index("UPDATE"), deletes[0])


def test_oms_messages_from_before_330_are_recognised_by_exactly_the_columns_that_changed(engine, tmp_path):
    lines = rendered("oms-community/canal@1", 3_000, fractions=False)
    report = audit_lines(engine, tmp_path, lines, "oms-community/canal@2")
    assert report["verdict"] == "drift"
    columns = {path.rpartition("/")[2] for path in paths_of(report, "other-version")}
    assert columns == {"flags", "made", "seen"}
    assert {finding["class"] for finding in report["findings"] if finding["severity"] == "error"} == {"other-version"}


def test_without_types_the_default_dialect_is_undecided_and_passes(engine, tmp_path):
    lines = rendered("oms-community/default@1", 1_000, fractions=False)
    report = audit_lines(engine, tmp_path, lines, "oms-community/default@2")
    assert report["verdict"] == "pass"
    assert report["versions_undecided"] == report["ledger"]["read"] == len(lines)


def test_with_tables_the_default_dialect_is_recognised_by_the_columns_that_changed(engine, tmp_path):
    lines = rendered("oms-community/default@1", 3_000, fractions=False, reading_options=WITH_TABLES)
    report = audit_lines(engine, tmp_path, lines, "oms-community/default@2", tables=WITH_TABLES.tables)
    assert report["verdict"] == "drift"
    columns = {path.rpartition("/")[2] for path in paths_of(report, "other-version")}
    assert columns == {"flags", "made", "seen"}
    assert {finding["class"] for finding in report["findings"] if finding["severity"] == "error"} == {"other-version"}


def test_the_switch_of_a_dts_topic_lies_between_the_last_and_the_first_record_that_prove_a_version(engine, tmp_path):
    """Inserts and updates read under both versions; the image of a DELETE stands in one place or the other."""
    old, new = rendered("dts/canal@1", 1_000), rendered("dts/canal@2", 1_000, seed=2)
    deletes = [number for number, line in enumerate(old + new) if json.loads(line)["type"] == "DELETE"]
    last_old = max(number for number in deletes if number < len(old))
    first_new = min(number for number in deletes if number >= len(old))
    assert last_old + 1 < len(old) < first_new

    report = audit_lines(engine, tmp_path, old + new, "dts/canal")

    (switch,) = report["switches"]
    told = {name: switch[name] for name in ("partition", "from", "to")}
    assert told == {"partition": 0, "from": "dts/canal@1", "to": "dts/canal@2"}
    assert last_old <= switch["after"] < len(old) <= switch["at"] < first_new  # chains of keys place it closer
    assert report["versions_seen"] == {
        "dts/canal@1": sum(number < len(old) for number in deletes),
        "dts/canal@2": sum(number >= len(old) for number in deletes),
    }


def test_a_new_member_is_one_warning_per_table_and_stops_nothing(engine, tmp_path):
    lines = [b'{"shard":3,' + line[1:] for line in rendered("oms-community/canal@2", 1_000)]
    report = audit_lines(engine, tmp_path, lines, "oms-community/canal@2")
    (finding,) = (one for one in report["findings"] if one["severity"] != "info")
    assert (finding["class"], finding["path"], finding["table"]) == ("unknown-field", "/shard", "shop.orders")
    assert (finding["count"], finding["denominator"], finding["severity"]) == (len(lines), len(lines), "warning")
    assert report["verdict"] == "drift"
    assert report["ledger"]["conforming"] == len(lines)
    assert audit_lines(engine, tmp_path, lines, "oms-community/canal@2", fail_on="error")["verdict"] == "pass"


def test_a_foreign_message_whose_columns_happen_to_read_is_another_dialect(engine, tmp_path):
    message = {
        "database": "shop", "table": "notes", "type": "INSERT", "isDdl": False, "id": 7, "es": 1600000000000,
        "ts": 1600000000100, "sql": "", "mysqlType": {"body": "varchar"}, "sqlType": {"body": 12}, "pkNames": [],
        "data": [{"body": "text reads in both"}], "old": None,
    }  # fmt: skip
    report = audit_lines(engine, tmp_path, [json.dumps(message).encode()], "oms-community/canal@2")
    assert report["ledger"]["quarantined"] == 1
    assert [(finding["class"], finding["observed"]) for finding in report["findings"]] == [
        ("other-dialect", ["drs/json, drs/json-c, dts/canal"])
    ]


def test_the_report_does_not_depend_on_how_the_work_was_cut(engine, tmp_path):
    lines = [*rendered("oms-community/canal@1", 1_500), b"not json", b'{"a":1}', b"", *rendered("dts/canal@2", 300)]
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join(lines))
    validation = scope_of("oms-community/canal@2")
    audited = audit_input(engine, read_files([path], parse_range(), tasks=2), validation, fail_on="warning")
    by_spark = document_of(audited.report)
    kernel, tallies = Kernel(validation), []
    plan, total = plan_files([path]), Tally()
    for one in plan.slices:
        for batch in read_slice(one, plan.limits):
            rows = batch.num_rows
            tallies += [kernel.audit(batch.slice(start, 37)) for start in range(0, rows, 37)]
    for tally in reversed(tallies):
        total.merge(tally)
    here = build_report(
        total, catalogue=validation.catalogue, contract=validation.declared, source=by_spark["source"],
        spans={source: Span(*window) for source, window in plan.limits.items()}, fail_on="warning",
    )  # fmt: skip
    assert json.dumps(here) == json.dumps(by_spark)
    assert by_spark["source"]["blank_lines"] == 1


@pytest.fixture(scope="module")
def switching_topic(broker, make_topic):
    """Four partitions of 26,000 messages; in each the producer is upgraded at another offset."""
    switches = [13_000, 1, 25_999, 7_777]
    records = []
    for partition, switch in enumerate(switches):
        old = rendered("oms-community/canal@1", switch, seed=partition, fractions=False)
        new = rendered("oms-community/canal@2", 26_000 - switch, seed=partition + 10)
        records += [(partition, value) for value in old + new]
    return make_topic(records, partitions=4), switches


def test_a_topic_of_104000_messages_is_audited_and_its_switches_are_found_exactly(engine, broker, switching_topic):
    topic, switches = switching_topic
    report = audit_topic(engine, broker, topic, "oms-community/canal")
    assert report["verdict"] == "pass"
    assert report["ledger"]["read"] == report["ledger"]["conforming"] == 104_000
    told = {one["partition"]: (one["from"], one["to"], one["at"]) for one in report["switches"]}
    assert told == {
        partition: ("oms-community/canal@1", "oms-community/canal@2", at) for partition, at in enumerate(switches)
    }
    assert [(one["start"], one["end"], one["gaps"]) for one in report["ledger"]["partitions"]] == [(0, 26_000, 0)] * 4


@pytest.fixture(scope="module")
def skewed_topic(broker, make_topic):
    """Nine tenths in one partition: each is upgraded in mid-stream, loses a message, and gets a new member."""
    records = []
    for partition, (count, switch) in enumerate([(36_000, 20_001), (2_000, 1), (2_000, 1_999)]):
        old = rendered("dts/canal@1", switch, seed=partition)
        new = rendered("dts/canal@2", count - switch, seed=partition + 10)
        values = old + new
        values[count - 7] = b"{"
        values[count - 5 :] = [b'{"shard":3,' + value[1:] for value in values[count - 5 :]]
        records += [(partition, value) for value in values]
    return make_topic(records, partitions=3)


CUTS = [(2, 6), (None, 3), (9, 10)]
"""How many tasks are said to run at once, and in how many ranges of 10,000 records the skewed topic is read then."""


@pytest.fixture
def small_shares(monkeypatch):
    """Let a topic of a test be cut as one of some millions of records is."""
    monkeypatch.setattr(task_shares, "LEAST_RECORDS", 10_000)


@pytest.mark.nightly
@pytest.mark.usefixtures("small_shares")
@pytest.mark.parametrize(
    ("tasks", "ranges"), [CUTS[0], *(pytest.param(*cut, marks=pytest.mark.nightly) for cut in CUTS[1:])]
)
def test_a_partition_that_holds_most_of_a_topic_is_cut_into_ranges(spark, broker, skewed_topic, tasks, ranges):
    def count_rows(batches):  # within a function, because workers cannot import this module
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"size": [sum(batch.num_rows for batch in batches)]})

    source = read_topics(SparkEngine(spark), broker.bootstrap, [skewed_topic], parse_range(), {}, tasks=tasks)
    sizes = [
        row.size
        for row in source.frame(spark).mapInArrow(count_rows, "size long").collect()
        if row.size  # a task of nothing is none of ours
    ]
    assert (len(sizes), sum(sizes)) == (ranges, 40_000)
    assert max(sizes) <= (36_000 if tasks is None else 10_000)


@pytest.mark.nightly
@pytest.mark.usefixtures("small_shares")
def test_findings_first_offsets_and_rows_are_the_same_however_a_topic_is_cut(spark, broker, skewed_topic, tmp_path):
    engine, validation = SparkEngine(spark), scope_of("dts/canal")
    reports, decoded = [], []
    for tasks, _ in CUTS:
        source = read_topics(engine, broker.bootstrap, [skewed_topic], parse_range(), {}, tasks=tasks)
        reports.append(document_of(audit_input(engine, source, validation, fail_on="warning").report))
        folder = tmp_path / f"tasks-{tasks}"
        decode_input(engine, source, validation, Output(str(folder)), fail_on="error")
        decoded.append({table: read_output(folder, table) for table in ("changes", "control", "quarantine", "ledger")})
    (switch,) = reports[0]["switches"]  # five keys prove a version: two partitions have too few of one
    assert switch["partition"] == 0
    assert switch["after"] < 20_001 <= switch["at"]
    first = {one["path"]: one["first"]["offset"] for one in reports[0]["findings"] if one["class"] == "unknown-field"}
    assert first == {"/shard": 35_995}  # an insert, in the first of the partitions
    assert len(decoded[0]["changes"]) + len(decoded[0]["quarantine"]) == 40_000
    for report, rows in zip(reports[1:], decoded[1:], strict=True):
        assert json.dumps(report) == json.dumps(reports[0])
        assert rows == decoded[0]


@pytest.mark.parametrize(
    ("records", "tasks", "most"),
    [(40_000, 9, 200_000), (400_000, 2, 200_000), (4_000_000, 2, 500_000), (10**9, 2, 1_000_000)],
)
def test_a_task_reads_a_quarter_of_what_a_core_does_but_neither_few_records_nor_too_many(records, tasks, most):
    assert task_shares.records_per_task(records, tasks) == most


@pytest.mark.nightly
def test_the_results_of_many_tasks_are_merged_before_the_driver_has_them(spark):
    def work(numbers):
        for number in numbers:
            yield as_result(Tally(outcomes=Counter(conforming=number, drifted=1)))

    rows = collect_results(hand_out(spark, 100, work, RESULT_SCHEMA), 100, mergeable=True)
    assert len(rows) <= 32
    assert merge_tallies(read_results(rows)).outcomes == {"conforming": sum(range(100)), "drifted": 100}


def test_a_range_of_a_topic_is_read_and_nothing_else(engine, broker, switching_topic):
    topic, _ = switching_topic
    report = audit_topic(engine, broker, topic, "oms-community/canal@2", window=('{"3": 7700}', '{"3": 7800}'))
    assert report["ledger"]["partitions"] == [
        report["ledger"]["partitions"][0] | {"partition": 3, "start": 7700, "end": 7800, "read": 100, "gaps": 0}
    ]
    heavy = [finding for finding in report["findings"] if finding["severity"] != "info"]
    first = min(finding["first"]["offset"] for finding in heavy)
    last = max(finding["last"]["offset"] for finding in heavy)
    assert 7700 <= first <= last == 7776


def test_tombstones_and_keys_of_a_topic_are_counted_apart(engine, broker, make_topic):
    (value,) = rendered("dts/canal@2", 1)
    report = audit_topic(
        engine, broker, make_topic([(0, value), (0, None), (0, None, {"key": b"k"}), (0, b"")]), "dts/canal@2"
    )
    counts = {name: report["ledger"][name] for name in ("read", "conforming", "tombstone", "quarantined")}
    assert counts == {"read": 4, "conforming": 1, "tombstone": 2, "quarantined": 1}


def test_an_empty_topic_is_inconclusive(engine, broker, make_topic):
    report = audit_topic(engine, broker, make_topic(), "dts/canal@2")
    assert report["verdict"] == "inconclusive"
    assert report["ledger"]["read"] == 0


def test_records_that_are_deleted_before_they_are_read_end_the_run_with_a_clear_error(engine, broker, make_topic):
    topic = make_topic([(0, value) for value in rendered("dts/canal@2", 200)])
    source = read_topics(engine, broker.bootstrap, [topic], parse_range(), {}, headers=False)
    delete_records(broker, topic, 0, before=150)
    with pytest.raises(UnavailableError) as failure:
        audit_input(engine, source, scope_of("dts/canal@2"), fail_on="warning")
    assert failure.value.what == "records were deleted from the topic before they were read"
    assert failure.value.where == f"{topic} partition 0, offsets 0 to 150"  # not what the range or a task was to read
    assert "--from earliest" in failure.value.hint


def test_hostile_messages_among_good_ones_stop_nothing(engine, broker, make_topic):
    good = rendered("oms-community/canal@2", 400)
    first = good[0]
    table = first.replace(b'"orders"', b'"../x"')
    hostile = {
        "trailing": first + b"x", "utf8": first.replace(b"shop", b"sh\xffp"), "bom": b"\xef\xbb\xbf" + first,
        "utf8 in a new member": b'{"new":"\xff",' + first[1:], "array": b"[" + first + b"]", "scalar": b"1",
        "deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nan": first.replace(b'"es":', b'"es":NaN,"x":'),
        "huge number": first.replace(b'"es":', b'"es":1e999999,"x":'), "surrogate": b'{"new":"\\ud800",' + first[1:],
        "unknown op": first.replace(b'"INSERT"', b'"UPSERT"'), "long": b'"' + b"a" * 20_000_000 + b'"',
    }  # fmt: skip
    values = good + list(hostile.values()) + [table] + good
    topic = make_topic([(0, value) for value in values], config={"max.message.bytes": "30000000"})
    report = audit_topic(engine, broker, topic, "oms-community/canal@2")
    assert report["ledger"]["read"] == len(values)
    assert report["ledger"]["quarantined"] == len(hostile)
    assert report["ledger"]["conforming"] == 801
    assert report["verdict"] == "drift"


def test_any_dataframe_with_the_columns_of_the_kafka_source_can_be_audited_and_decoded(spark):
    values = rendered("dts/canal@2", 60)
    rows = [(value, "t", 0, number) for number, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "value binary, topic string, partition int, offset bigint")
    report = json.loads(cdc.audit(frame, "dts/canal@2").frame.first().report)
    assert (report["verdict"], report["ledger"]["read"]) == ("pass", 60)
    assert [(one["start"], one["end"]) for one in report["ledger"]["partitions"]] == [(0, 60)]
    decoded = cdc.decode(frame, "dts/canal@2")
    assert decoded.changes.count() == 60
    assert decoded.quarantine.count() == 0
    assert decoded.changes.select("after.id").where("op = 'insert'").first()[0] is not None
