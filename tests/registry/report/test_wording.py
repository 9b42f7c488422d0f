"""The sentences of a report, and names that would pass for a part of it."""

import msgspec
import pytest
from report_examples import example
from written_reports import headline, notes, report_of

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.finding_wording import onset_words
from cdc_contracts.registry.core.report.report_wording import detected, evidence_list, period, share

DETECTION = {
    "verdict": "certain", "subject": None, "version": None, "candidates": [], "equivalent": [], "nearest": None,
    "evidence": [], "messages": 0, "settle": None,
}  # fmt: skip


def detection_of(document):
    return msgspec.convert(DETECTION | document, ReportedDetection)


@pytest.mark.parametrize(
    ("text", "seen"),
    [("orders", "orders"), ("שולחן", "שולחן"), ("注文 表", "注文 表"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"), ("\x1b[31m", "\\x1b[31m"),
     ("\u202egnp", "\\u202egnp"), ("a\u200bb\u00adc", "a\\u200bb\\xadc"), ("\ud800", "\\ud800"), ("\u2028", "\\u2028"),
     ("\U000e0041", "\\U000e0041"), ("x" * 241, "x" * 240 + "… (1 more characters)"), ("", "")],
)  # fmt: skip
def test_a_name_holds_nothing_that_cannot_be_seen(text, seen):
    assert visible(text) == seen


@pytest.mark.parametrize(
    ("part", "whole", "reported"),
    [
        (0, 0, "0 %"),
        (0, 9, "0 %"),
        (9, 9, "100 %"),
        (1, 2, "50.0 %"),
        (1, 100_000, "< 0.1 %"),
        (99_999, 100_000, "99.9 %"),
    ],
)
def test_a_share_is_none_or_all_only_where_it_is_exactly_so(part, whole, reported):
    assert share(part, whole) == reported


@pytest.mark.parametrize(
    ("name", "reported"),
    [("several", "4 of 1,090 messages do not conform to their contracts"), ("pass", "all 2,400 messages conform to dts/canal@2"), ("empty", "there was nothing to read"),
     ("drift", "10,802 of 19,996 messages do not conform to oms-community/canal@2"),
     ("interrupted", "all 32,000 messages read so far conform to dts/canal@2")],
)  # fmt: skip
def test_the_headline_is_one_sentence(name, reported):
    assert headline(example(name)) == reported


SWITCH = {"topic": "orders", "partition": 0, "from": "dts/canal@1", "to": "dts/canal@2", "after": 7, "at": 9,
          "at_timestamp": None}  # fmt: skip


@pytest.mark.parametrize(
    ("contract", "switches", "reported"),
    [("dts/canal", [SWITCH], "dts/canal, whose version changes from 1 to 2"),
     ("dts/canal", [SWITCH, SWITCH | {"partition": 1}], "dts/canal, whose version changes from 1 to 2"),
     ("dts/canal", [SWITCH, SWITCH | {"from": "dts/canal@2", "to": "dts/canal@1"}], "dts/canal"),
     ("dts/canal@2", [SWITCH], "dts/canal@2")],
)  # fmt: skip
def test_the_headline_says_that_the_version_changes_where_none_was_declared(contract, switches, reported):
    report = example("pass", contract=contract, switches=switches)
    assert headline(report) == f"all 2,400 messages conform to {reported}"


def test_the_headline_of_a_run_that_passes_in_spite_of_drift_says_why():
    report = example("drift", verdict="pass", fail_on=["unknown-field", "precision"], baseline=None)
    assert headline(report) == (
        "10,802 of 19,996 messages do not conform to oms-community/canal@2, "
        "which --fail-on unknown-field,precision allows"
    )


@pytest.mark.parametrize(
    ("found", "reported"),
    [
        ("not-in-catalogue", "nothing was validated, because the messages are not in the catalogue"),
        ("ambiguous", "nothing was validated, because the contract of the messages cannot be determined"),
    ],
)
def test_the_headline_says_why_messages_were_not_judged(found, reported):
    assert (
        headline(example("empty", contract="auto", detection=DETECTION | {"verdict": found, "messages": 16}))
        == reported
    )


def test_the_same_evidence_against_several_contracts_is_reported_once():
    first = {"topic": "orders", "partition": 0, "offset": 12}
    entry = {
        "kind": "date",
        "says": "a date has a zone",
        "for": "oms/default@2",
        "count": 3,
        "contradicting": 0,
        "first": first,
    }
    evidence = [{**entry, "against": "oms/default@1"}, {**entry, "against": "oms/debezium@1", "contradicting": 2}]
    ((says, support),) = evidence_list(detection_of({"evidence": evidence}))
    assert says == "a date has a zone"
    assert support == (
        "3 times, 2 to the contrary, for oms/default@2 against oms/default@1, oms/debezium@1, "
        "first at orders partition 0 offset 12"
    )


def test_the_headline_of_a_run_in_which_everything_is_known():
    report = example("drift", verdict="pass", findings=[], baseline={"file": "known.json", "known": 8})
    assert headline(report) == "10,802 of 19,996 messages do not conform to oms-community/canal@2, none of it new"


@pytest.mark.parametrize(
    ("unclear", "quarantined", "reported"),
    [(7, 7, "7 of 19,996 messages fit several versions that read them differently"),
     (7, 9, "2 of 19,996 messages do not conform to oms-community/canal@2, 7 fit several versions that read them differently")],
)  # fmt: skip
def test_the_headline_distinguishes_messages_that_are_wrong_from_messages_that_are_unclear(
    unclear, quarantined, reported
):
    ledger = example("drift")["ledger"] | {"quarantined": quarantined}
    finding = example("drift")["findings"][0] | {"class": "ambiguous", "count": unclear}
    assert headline(example("drift", verdict="inconclusive", findings=[finding], ledger=ledger)) == reported


def test_the_headline_where_every_table_was_left_out():
    assert (
        headline(example("pass", ledger=example("pass")["ledger"] | {"excluded": 2_400}))
        == "there was nothing to validate"
    )


def test_the_report_says_what_was_not_read():
    assert notes(example("interrupted")) == [
        "Stopped before the end (interrupted): the report covers what was read until then.",
        "Read 32,000 of 200,000 offsets (16.0 %), a sample of 1/2 of the records, by offset.",
    ]
    assert notes(example("pass")) == notes(example("several")) == []
    cut = example("drift", findings_cut=True, findings_other={"findings": None, "records": 12_000}, baseline=None)
    assert notes(cut) == ["There were more findings than the 6 that are kept; the others occurred 12,000 times."]


def test_onsets_are_reported_by_partition():
    by_class = {finding.name: onset_words(finding) for finding in report_of(example("drift")).findings}
    assert by_class["unknown-enum"] == "once, at shop.changes partition 2 offset 3777 (2026-11-20T10:29:30Z)"
    assert by_class["type-change"] == (
        "sporadic, since shop.changes partition 1 offset 4100 (2026-11-20T11:23:20Z), partition 3 offset 4200"
    )
    assert by_class["unknown-field"].startswith(
        "every message of the table with op INSERT or UPDATE since shop.changes partition 0 offset 4250 "
    )
    assert by_class["not-exercised"] == "not seen in the messages read"
    (old, *_) = report_of(example("version-1")).findings
    assert onset_words(old) == "first at shop.changes partition 0 offset 0 (2026-11-20T00:00:00Z)"


@pytest.mark.parametrize(
    ("count", "ops", "reported"),
    [(5, {"DELETE": 2, "UPDATE": 3}, " with op DELETE or UPDATE"), (5, {"u": 5}, " with op u"), (5, {"UPDATE": 4}, ""),
     (5, {}, ""), (6, {"DELETE": 2, "INIT": 1, "UPDATE": 3}, " with op DELETE, INIT or UPDATE"),
     (9, {"DELETE": 2, "INIT": 1, "INSERT": 3, "UPDATE": 3}, "")],
)  # fmt: skip
def test_an_unbroken_onset_names_the_ops_that_have_the_finding(count, ops, reported):
    (one,) = (one for one in example("drift")["findings"] if one["class"] == "unknown-field")
    (finding,) = report_of(example("drift", findings=[one | {"count": count, "ops": ops}])).findings
    assert onset_words(finding).startswith(f"every message of the table{reported} since shop.changes ")


@pytest.mark.parametrize(
    ("found", "reported"),
    [({"verdict": "certain", "subject": "dts/canal", "version": 2}, "dts/canal@2 (certain)"),
     ({"verdict": "ambiguous", "subject": "dts/canal", "version": None}, "dts/canal, version undecided (cannot be determined)"),
     ({"verdict": "not-in-catalogue", "subject": None, "nearest": "dts/canal@2"}, "not in the catalogue; nearest dts/canal@2"),
     ({"verdict": "mixed", "subject": "dts/canal"}, "several contracts in one topic, all of dts/canal"),
     ({"verdict": "ambiguous", "subject": None}, "cannot be determined")],
)  # fmt: skip
def test_what_was_detected_is_reported_with_how_sure_it_is(found, reported):
    assert detected(detection_of(found)) == reported


def test_a_period_says_its_date_once():
    assert period("2026-11-20T00:00:00.000Z", "2026-11-20T01:00:00.250Z") == "2026-11-20T00:00:00Z to 01:00:00.250Z"
    assert (
        period("2026-11-20T00:00:00.000Z", "2026-11-21T01:00:00.000Z") == "2026-11-20T00:00:00Z to 2026-11-21T01:00:00Z"
    )
    assert period(None, None) is None


def test_new_findings_that_a_report_does_not_list_are_counted():
    cut = example("drift", findings_cut=True, findings_other={"findings": 2, "records": 12_000})
    new = cut | {"baseline": {"file": "known.json", "known": 5}}
    assert "Not listed: 2 new findings beyond the maximum that a report keeps." in notes(new)
    old = new | {"findings_other": {"findings": 0, "records": 12_000}}
    assert not any("maximum" in note or "more findings" in note for note in notes(old))


@pytest.mark.parametrize(
    ("severities", "counted"),
    [
        (["warning", "warning", "info"], "2 findings and 1 note"),
        (["warning", "info", "info"], "1 finding and 2 notes"),
        (["warning"], "1 finding"),
    ],
)
def test_the_headline_counts_notes_apart_from_findings(severities, counted):
    (one, *_) = example("drift")["findings"]
    findings = [
        one | {"severity": severity, "fingerprint": f"{place:016x}"} for place, severity in enumerate(severities)
    ]
    ledger = example("drift")["ledger"]
    ledger |= {"conforming": ledger["conforming"] + ledger["quarantined"], "quarantined": 0, "contradicted": 0}
    report = example("drift", findings=findings, ledger=ledger)

    assert headline(report).startswith(f"{counted} in ")
