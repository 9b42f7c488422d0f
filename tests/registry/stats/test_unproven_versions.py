"""Declared versions that no message could tell from another one: in a whole run, and range by range."""

import pytest
from chain_topics import NEW, OLD, records
from jsonschema import Draft202012Validator
from record_batches import batch_of
from topics import SCENARIOS as CATALOGUE
from topics import rendered
from version_switches import switching
from written_reports import build_report, headline

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.stored_reports import report_schema
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import open_validation

PLACES = {"orders": {0: [{"to": 20, "contract": OLD}, {"from": 20, "contract": NEW}]}}


def inserts(count=40):
    """Messages that both versions read alike."""
    reported = [value for value in rendered(NEW, 4 * count) if b'"INSERT"' in value]
    return reported[:count]


def ranged_report(parts, places, fail_on="warning"):
    ranges = parse_versions({"topics": places}, "v.yaml", CATALOGUE)
    validation = open_ranges(CATALOGUE, ranges, ReadingOptions())
    kernel, tally = Kernel(validation), Tally()
    for part in parts:
        tally.merge(kernel.audit(part))
    report = build_report(
        tally, catalogue=CATALOGUE, contract=validation.declared, source={"kind": "kafka"}, spans={}, fail_on=fail_on,
        validation=validation,
    )  # fmt: skip
    Draft202012Validator(report_schema()["properties"]["unproven"]).validate(report["unproven"])
    return report


def unproven(contract, other, count, start, end, partition=0):
    return {
        "contract": contract, "others": [other], "records": count, "topic": "orders", "partition": partition,
        "from": start, "to": end,
    }  # fmt: skip


@pytest.mark.parametrize("size", [7, 40])
def test_ranges_that_no_message_could_confirm_are_named_and_fail_on_request(size):
    values = inserts()
    parts = [records(values[start : start + size], start=start) for start in range(0, len(values), size)]

    report = ranged_report(parts, PLACES)

    assert report["verdict"] == "pass"
    assert report["unproven"] == [unproven(OLD, NEW, 20, None, 20), unproven(NEW, OLD, 20, 20, None)]
    assert headline(report).endswith(
        f"but no message of orders partition 0 up to 20 distinguishes {OLD} from {NEW}, "
        f"and no message of orders partition 0 from 20 distinguishes {NEW} from {OLD}"
    )
    assert ranged_report(parts, PLACES, "warning,unproven")["verdict"] == "drift"


def test_a_range_with_one_message_that_proves_it_is_not_named():
    values = inserts()
    values[30] = next(value for value in rendered(NEW, 400) if b'"DELETE"' in value)

    assert ranged_report([records(values)], PLACES)["unproven"] == [unproven(OLD, NEW, 20, None, 20)]


def test_ranges_without_a_message_are_not_named_and_several_are_counted_in_the_headline():
    places = {
        "orders": {0: [
            {"to": 10, "contract": NEW}, {"from": 12, "to": 20, "contract": NEW}, {"from": 90, "contract": NEW},
        ]}
    }  # fmt: skip
    report = ranged_report([records(inserts(20))], places)
    assert report["unproven"] == [unproven(NEW, OLD, 10, None, 10), unproven(NEW, OLD, 8, 12, 20)]
    assert f"no message of orders partition 0 up to 10 or in 1 other range distinguishes {NEW} from" in headline(report)


def test_a_column_that_changes_its_form_decides_what_no_message_does():
    subject = "oms-community/default"
    stream = list(switching(subject, tables=False))
    for declared in ("@1", "@2"):
        kernel = Kernel(open_validation(CATALOGUE, subject + declared, ReadingOptions()))
        report = build_report(
            kernel.audit(batch_of(stream)), catalogue=CATALOGUE, contract=subject + declared,
            source={"kind": "kafka"}, spans={}, fail_on="warning",
        )  # fmt: skip
        assert report["versions_undecided"] > 0
        assert report["unproven"] == []
        assert "no message" not in headline(report)

    half = [one for one in stream if one[1] < 120]
    kernel = Kernel(open_validation(CATALOGUE, f"{subject}@1", ReadingOptions()))
    report = build_report(
        kernel.audit(batch_of(half)), catalogue=CATALOGUE, contract=f"{subject}@1",
        source={"kind": "kafka"}, spans={}, fail_on="warning",
    )  # fmt: skip
    assert [one["contract"] for one in report["unproven"]] == [f"{subject}@1"]


def test_a_column_that_changes_its_form_gives_the_ranges_before_and_after():
    subject = "oms-community/default"
    stream = [one for one in switching(subject, tables=False) if one[0] < 2]
    places = {"orders": {0: [{"to": 120, "contract": f"{subject}@1"}, {"from": 120, "contract": f"{subject}@2"}],
                         1: [{"contract": f"{subject}@1"}]}}  # fmt: skip
    assert ranged_report([batch_of(stream)], places)["unproven"] == []
