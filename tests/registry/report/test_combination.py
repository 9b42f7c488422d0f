"""Several reports as one: counts add up, findings stay apart, and one verdict is left."""

import jsonschema
import pytest
from topics import CATALOGUE
from written_reports import build_report, combine_reports

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.stored_reports import report_schema
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally


def report_of(topic, contract, read, *, severity=None, tombstones=0, ambiguous=0):
    source = Source(topic, 0)
    conforming = read - tombstones - ambiguous
    counts = PartitionTally(read=read, conforming=conforming, tombstone=tombstones, quarantined=ambiguous)
    tally = Tally(partitions={source: counts})
    tally.outcomes["ambiguous"] = ambiguous
    tally.seen[contract] = conforming
    if severity:
        found = Finding("D04", "unknown-field", severity, "/x", "no such member", "number")
        at = Moment(topic, 0, 1, None)
        tally.add_finding(found, "shop.orders", FindingTally(severity, extents={source: Extent(1, at, at)}))
    window = {topic: {"from": '{"0": 0}', "to": f'{{"0": {read}}}'}}
    reported = {"kind": "kafka", "bootstrap": "h:1", "topics": [topic], "ranges": window, "blank_lines": 0}
    return build_report(
        tally, catalogue=CATALOGUE, contract=contract, source=reported, spans={source: Span(0, read)}, fail_on="warning"
    )


def test_topics_of_two_contracts_are_one_report():
    reports = [report_of("b", "dts/canal@2", 5, severity="info"), report_of("a", "drs/json@2", 7, severity="warning")]
    report = combine_reports(reports)
    jsonschema.validate(report, report_schema())
    assert (report["contract"], report["verdict"]) == ("dts/canal@2, drs/json@2", "drift")
    assert report["source"]["topics"] == ["b", "a"]
    assert report["source"]["contracts"] == {"b": "dts/canal@2", "a": "drs/json@2"}
    assert set(report["source"]["ranges"]) == {"a", "b"}
    assert (report["ledger"]["read"], report["ledger"]["conforming"]) == (12, 12)
    assert [one["topic"] for one in report["ledger"]["partitions"]] == ["a", "b"]
    assert (report["coverage"]["read"], report["coverage"]["of"]) == (12, 12)
    assert [(one["severity"], one["first"]["topic"]) for one in report["findings"]] == [("warning", "a"), ("info", "b")]
    assert (report["versions_seen"]["dts/canal@2"], report["versions_seen"]["drs/json@2"]) == (5, 7)


def test_one_report_stays_as_it_is():
    report = report_of("a", "dts/canal@2", 5)
    assert combine_reports([report]) == report


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([], "pass"),
        ([{"read": 0}], "pass"),
        ([{"read": 2, "tombstones": 2}], "pass"),
        ([{"read": 2, "ambiguous": 1}], "inconclusive"),
        ([{"read": 2, "ambiguous": 1}, {"read": 3, "severity": "error"}], "drift"),
    ],
)
def test_an_empty_topic_among_others_says_nothing_and_an_ambiguous_one_does(others, verdict):
    reports = [report_of(f"t{number}", "dts/canal@2", **one) for number, one in enumerate(others)]
    assert combine_reports([report_of("a", "drs/json@2", 5), *reports])["verdict"] == verdict


def test_topics_that_are_all_empty_are_inconclusive():
    reports = [report_of("a", "drs/json@2", 0), report_of("b", "dts/canal@2", 0)]
    assert combine_reports(reports)["verdict"] == "inconclusive"
