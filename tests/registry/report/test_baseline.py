"""A baseline leaves out what is known, and validates the run by the rest."""

import json

import pytest
from report_examples import example
from written_reports import leave_out_known, render_baseline

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.report.baseline import read_baseline


def classes_of(report):
    return [finding["class"] for finding in report["findings"]]


@pytest.fixture
def baseline_of(tmp_path):
    def write(report):
        path = tmp_path / "known.json"
        path.write_text(render_baseline(report))
        return read_baseline(path)

    return write


def test_a_run_with_nothing_new_passes(baseline_of):
    report = example("drift")
    left = leave_out_known(report, baseline_of(report))
    assert (left["verdict"], left["findings"]) == ("pass", [])
    assert left["baseline"]["known"] == 6
    assert left["ledger"] == report["ledger"]


def test_only_what_is_new_is_reported_and_fails(baseline_of):
    report = example("drift")
    before = report | {"findings": [one for one in report["findings"] if one["class"] != "unknown-field"]}
    left = leave_out_known(report, baseline_of(before))
    assert (left["verdict"], classes_of(left), left["baseline"]["known"]) == ("drift", ["unknown-field"], 5)
    tolerant = leave_out_known(report | {"fail_on": ["error"]}, baseline_of(before))
    assert (tolerant["verdict"], classes_of(tolerant)) == ("pass", ["unknown-field"])


def test_how_often_a_finding_was_met_does_not_make_it_new(baseline_of):
    report = example("drift")
    often = report | {
        "findings": [one | {"count": 9, "severity": "error", "observed": ["x"]} for one in report["findings"]]
    }
    assert leave_out_known(often, baseline_of(report))["findings"] == []


def test_another_table_makes_it_new(baseline_of):
    report = example("drift")
    (moved,) = [one | {"table": "shop.visits", "fingerprint": "0" * 16} for one in report["findings"][:1]]
    left = leave_out_known(report | {"findings": [moved]}, baseline_of(report))
    assert [one["table"] for one in left["findings"]] == ["shop.visits"]


def test_an_empty_topic_stays_inconclusive_and_known_ambiguity_does_not(baseline_of):
    empty = example("empty")
    assert leave_out_known(empty, baseline_of(empty))["verdict"] == "inconclusive"
    ambiguous = example("drift")["findings"][0] | {"class": "ambiguous"}
    report = example("drift", verdict="inconclusive", findings=[ambiguous])
    assert leave_out_known(report, baseline_of(example("pass")))["verdict"] == "inconclusive"
    assert leave_out_known(report, baseline_of(report))["verdict"] == "pass"


def test_a_run_that_came_to_no_verdict_for_another_reason_is_not_made_to_pass(baseline_of):
    """The contract was found out from a sample, and records of the range prove another version."""
    report = example("drift", verdict="inconclusive", findings=[])
    assert leave_out_known(report, baseline_of(report))["verdict"] == "inconclusive"
    refuted = example("drift", detection=example("interrupted")["detection"] | {"subject": "oms-community/canal"})
    assert leave_out_known(refuted, baseline_of(refuted))["verdict"] == "inconclusive"


def test_the_same_finding_under_two_contracts_is_known_once(baseline_of):
    report = example("several")
    assert len(json.loads(render_baseline(report))["findings"]) == 2
    assert leave_out_known(report, baseline_of(report))["findings"] == []


def test_a_baseline_reads_well_and_has_no_numbers_that_change(baseline_of):
    text = render_baseline(example("drift"))
    document = json.loads(text)
    assert document["baseline_version"] == 1
    assert [one["class"] for one in document["findings"]] == [
        "not-exercised", "other-version", "table-schema", "type-change", "unknown-enum", "unknown-field",
    ]  # fmt: skip
    assert document["findings"][3] == {
        "fingerprint": "6a993cbcbc44d1aa", "class": "type-change", "rule": "D06", "path": "/data/0/total", "table": "shop.orders",
    }  # fmt: skip
    backwards = example("drift")
    backwards["findings"].reverse()
    assert render_baseline(backwards) == text


@pytest.mark.parametrize(
    ("text", "what"),
    [("{", "this is not a baseline"), ("[]", "this is not a baseline"), ('{"findings": []}', "this is not a baseline"),
     ("[" * 100_000, "this is not a baseline"),
     ('{"baseline_version": 2, "findings": []}', "does not support version 2"), (None, "cannot be read")],
)  # fmt: skip
def test_what_is_no_baseline_is_reported(tmp_path, text, what):
    if text is not None:
        (tmp_path / "b.json").write_text(text)
    with pytest.raises(UsageError, match=what) as error:
        read_baseline(tmp_path / "b.json")
    assert "--write-baseline" in error.value.hint
