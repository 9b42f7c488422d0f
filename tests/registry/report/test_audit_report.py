"""The report says what the run came to, and refuses to say what does not add up."""

import json
from collections import Counter
from copy import deepcopy
from importlib.metadata import version

import pytest
from jsonschema import Draft202012Validator
from record_batches import batch_of_values
from topics import CATALOGUE, SCENARIOS, WITH_TABLES, rendered
from written_reports import build_report

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import LedgerError
from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.envelope_times import instant
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.stored_reports import report_schema
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.validation_context import open_validation

SOURCE = Source("orders", 3)
FINGERPRINT = "2a2b3652b101cef8"  # of printf 'value-form\037D07.integer-text\037/data/0/id\037shop.orders' | sha256sum


def a_report(tally, fail_on="warning", spans=None):
    return build_report(
        tally, catalogue=SCENARIOS, contract="dts/canal@2", source={"kind": "file"},
        spans=spans if spans is not None else {SOURCE: Span(10, 20)}, fail_on=fail_on,
    )  # fmt: skip


def a_tally(severity="error", name="value-form"):
    refused = int(severity == "error")
    counts = PartitionTally(
        read=8, conforming=6 - refused, control=1, tombstone=1, quarantined=refused, changes=7 - refused
    )
    tally = Tally(partitions={SOURCE: counts})
    tally.readable["shop.orders"] = 7
    moment = Moment("orders", 3, 12, 1_600_000_000_123_456)
    found = FindingTally(
        severity, Counter({"integer-text": 1}), Counter({"aa": 2, "a": 5}), Counter({"INSERT": 1}),
        Counter({"dts/canal@2": 1}), {SOURCE: Extent(1, moment, moment)},
    )  # fmt: skip
    tally.add_finding(
        Finding("D07.integer-text", name, severity, "/data/0/id", "integer-text", "aa"), "shop.orders", found
    )
    tally.seen["dts/canal@2"] = 4
    tally.undecided = 2
    tally.runs[SOURCE] = [
        Run("dts/canal@1", 10, 12, 2, 1_600_000_000_000_000, 1_600_000_002_000_000),
        Run("dts/canal@2", 15, 19, 4, 1_600_000_005_000_000, None),
    ]
    return tally


def test_findings_that_weigh_the_same_have_one_order_whichever_is_merged_first():
    """All tables are unknown, and only the names of two are near that of a known one."""
    (value,) = rendered("oms-community/debezium@1", 1)
    kernel = Kernel(open_validation(CATALOGUE, "oms-community/debezium@1", WITH_TABLES))
    values = [value.replace(b'"orders"', name) for name in (b'"order5"', b'"zzz"', b'"order6"', b'"qqq"')]
    tallies = [kernel.audit(batch_of_values([value])) for value in values]
    reports = []
    for order in (tallies, tallies[::-1]):
        merged = Tally()
        for one in order:
            merged.merge(deepcopy(one))
        found = build_report(merged, catalogue=CATALOGUE, contract="oms-community/debezium@1", source={"kind": "kafka"},
                             spans={}, fail_on="error", tables=WITH_TABLES.tables)["findings"]  # fmt: skip
        reports.append([(len(one["tables"]), one["similar"]) for one in found if one["rule"] == "D10"])
    assert reports[0] == reports[1]
    assert sorted(reports[0]) == [(2, []), (2, ["shop.orders"])]


def test_a_report_has_every_key_that_other_tools_read():
    report = a_report(a_tally())
    assert report["report_version"] == 2
    assert report["tool"] == f"cdc-contracts {version('cdc-contracts')}"
    assert report["coverage"] == {"read": 8, "of": 10, "sample": None}
    assert (report["detection"], report["stopped"], report["baseline"]) == (None, None, None)
    assert report["verdict"] == "drift"
    assert report["ledger"] == {
        "read": 8, "conforming": 5, "control": 1, "tombstone": 1, "quarantined": 1, "contradicted": 0, "excluded": 0, "changes": 6,
        "partitions": [{
            "topic": "orders", "partition": 3, "start": 10, "end": 20, "read": 8, "conforming": 5, "control": 1,
            "tombstone": 1, "quarantined": 1, "contradicted": 0, "excluded": 0, "changes": 6, "gaps": 2, "first_timestamp": None, "last_timestamp": None,
        }],
    }  # fmt: skip
    (finding,) = report["findings"]
    explanation, action = finding.pop("explanation"), finding.pop("action")
    assert explanation.startswith("A value has the right JSON type")
    assert explanation.endswith(
        "`integer-text` is: The digits of a whole number of any size as text, without leading zeros or a plus sign."
    )
    assert action.startswith("Compare the product version")
    at = {"topic": "orders", "partition": 3, "offset": 12, "timestamp": "2020-09-13T12:26:40.123Z"}
    assert finding == {
        "rule": "D07.integer-text", "class": "value-form", "severity": "error", "path": "/data/0/id",
        "table": "shop.orders", "op": "INSERT", "ops": {"INSERT": 1}, "count": 1, "denominator": 7, "first": at,
        "last": at,
        "partitions": [{"topic": "orders", "partition": 3, "count": 1, "first_offset": 12, "last_offset": 12}],
        "expected": "integer-text", "observed": ["a", "aa"], "document": "Data storage formats in message queues (Data Transmission Service), Canal Json, https://www.alibabacloud.com/help/en/dts/user-guide/data-formats-of-a-kafka-cluster",
        "fingerprint": FINGERPRINT, "contract": "dts/canal@2", "onset": {"kind": "once", "since": [at]},
        "histogram": [{"observed": "a", "count": 5}, {"observed": "aa", "count": 2}], "similar": [],
        "explained_by": None, "example": None, "reproduce": None,
    }  # fmt: skip
    assert report["versions_seen"] == {"dts/canal@1": 0, "dts/canal@2": 4}
    assert report["versions_undecided"] == 2
    first, last = "2020-09-13T12:26:40.000Z", "2020-09-13T12:26:42.000Z"
    then = "2020-09-13T12:26:45.000Z"
    assert report["timeline"] == [{
        "topic": "orders", "partition": 3, "start": 10, "end": 20, "cut": False,
        "runs": [
            {"contract": "dts/canal@1", "records": 2, "first_offset": 10, "last_offset": 12, "first_timestamp": first,
             "last_timestamp": last},
            {"contract": "dts/canal@2", "records": 4, "first_offset": 15, "last_offset": 19, "first_timestamp": then,
             "last_timestamp": None},
        ],
    }]  # fmt: skip
    assert report["switches"] == [{
        "topic": "orders", "partition": 3, "from": "dts/canal@1", "to": "dts/canal@2", "after": 12, "at": 15,
        "after_timestamp": last, "at_timestamp": then,
    }]  # fmt: skip


@pytest.mark.parametrize(
    ("severity", "fail_on", "verdict"),
    [("error", "error", "drift"), ("warning", "error", "pass"), ("warning", "warning", "drift"), ("info", "warning", "pass"),
     ("info", "info", "drift")],
)  # fmt: skip
def test_a_finding_fails_the_run_when_it_weighs_enough(severity, fail_on, verdict):
    assert a_report(a_tally(severity), fail_on)["verdict"] == verdict


def test_an_ambiguous_record_makes_the_run_inconclusive_and_not_drift():
    tally = a_tally(name="ambiguous")
    tally.outcomes["ambiguous"] = 1
    assert a_report(tally)["verdict"] == "inconclusive"


def test_a_range_without_values_is_inconclusive():
    only_tombstones = Tally(partitions={SOURCE: PartitionTally(read=3, tombstone=3)})
    assert a_report(only_tombstones)["verdict"] == "inconclusive"
    assert a_report(Tally())["verdict"] == "inconclusive"


@pytest.mark.parametrize("counts", [PartitionTally(read=3, conforming=2), PartitionTally(read=11, conforming=11)])
def test_counts_that_do_not_add_up_are_an_error_of_their_own(counts):
    with pytest.raises(LedgerError, match="does not add up"):
        a_report(Tally(partitions={SOURCE: counts}))


def test_instants_have_milliseconds():
    assert instant(0) == "1970-01-01T00:00:00.000Z"
    assert instant(None) is None


def test_a_report_is_as_its_published_schema_says(tmp_path, capsys):
    schema = report_schema()
    Draft202012Validator.check_schema(schema)
    path = tmp_path / "a.jsonl"
    lines = [*rendered("dts/canal@1", 40), b"{", *rendered("dts/canal@2", 40), *rendered("oms-community/canal@2", 2)]
    path.write_bytes(b"\n".join(lines) + b"\n")

    main(["check", str(path), "--contract", "dts/canal", "--json"])

    report = json.loads(capsys.readouterr().out)
    assert report["findings"]
    assert [error.message for error in Draft202012Validator(schema).iter_errors(report)] == []
