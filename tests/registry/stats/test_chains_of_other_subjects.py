"""Key chains under the declaration of a wrong subject, which has before and after images the other way round."""

import pytest
from chain_topics import NEW, OLD, Habits, make_topic, records, report_of
from changing_rows import Rows, audited, stream
from run_verdicts import why_withheld
from topics import CATALOGUE, rendered, scope_of
from written_reports import headline

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_ranges

LIKE_DTS = ["drs/json@1", "drs/json@2", "drs/json-c@1", "drs/json-c@2"]
REVERSED = stream(200, lambda _: OLD, deletes=False)
NO_ROWS = [[b""], [b"{}", b"x"], [b"", b"", b""]]
IN_ORDER = stream(200, lambda _: NEW, deletes=False)


@pytest.mark.parametrize("declared", [*LIKE_DTS, "drs/json", "drs/json-c"])
def test_reversed_images_are_held_against_a_declaration_of_another_subject(declared):
    tally = audited([records(REVERSED)], declared)
    report = report_of(tally, declared)

    assert report["verdict"] == "drift"
    (found,) = [one for one in report["findings"] if one["severity"] == "error"]
    assert (found["class"], found["rule"], found["path"]) == ("other-version", "D03.images", "/old")
    assert found["observed"] == [OLD]
    assert "of another subject" in found["explanation"]
    updates = [offset for offset, value in enumerate(REVERSED) if b'"UPDATE"' in value]
    assert (found["count"], found["first"]["offset"], found["last"]["offset"]) == (len(updates), updates[0], 199)
    assert "no message could" not in headline(report)
    assert OLD in why_withheld(tally, scope_of(declared))


@pytest.mark.parametrize("declared", [*LIKE_DTS, "drs/json", "drs/json-c"])
def test_images_that_stand_as_the_declared_subject_has_them_are_held_against_nothing(declared):
    tally = audited([records(IN_ORDER)], declared)
    report = report_of(tally, declared)

    assert [one for one in report["findings"] if one["severity"] == "error"] == []
    assert report["verdict"] == "pass"
    assert why_withheld(tally, scope_of(declared)) is None
    assert {one["contract"] for timeline in report["timeline"] for one in timeline["runs"]} <= {*LIKE_DTS}


def test_which_version_of_the_declared_subject_it_is_stays_unproven_where_only_the_images_are():
    report = report_of(audited([records(IN_ORDER)], "drs/json-c@1"), "drs/json-c@1")
    assert [(one["contract"], one["others"]) for one in report["unproven"]] == [("drs/json-c@1", ["drs/json-c@2"])]


def test_a_swap_in_mid_stream_is_reported_where_it_begins():
    values = stream(400, lambda number: OLD if number >= 200 else NEW, deletes=False)
    report = report_of(audited([records(values)], "drs/json-c@2"), "drs/json-c@2")
    (found,) = [one for one in report["findings"] if one["severity"] == "error"]
    first = next(offset for offset in range(200, 400) if b'"UPDATE"' in values[offset])
    assert found["rule"] == "D03.images"
    assert first <= found["first"]["offset"] <= first + 10


@pytest.mark.parametrize("size", [13, 50])
def test_chains_of_another_subject_fit_together_however_the_records_are_cut(size):
    whole = report_of(audited([records(REVERSED)], "drs/json-c@2"), "drs/json-c@2")
    parts = [records(REVERSED[start : start + size], start=start) for start in range(0, 200, size)]
    assert report_of(audited(parts[::-1], "drs/json-c@2"), "drs/json-c@2") == whole


@pytest.mark.parametrize("size", [1, 3])
def test_a_batch_in_which_no_message_has_a_row_tears_no_chain(size):
    """What it has read is no gap: a row did not change there unseen."""
    values = [value for one in REVERSED for value in (one, *NO_ROWS[len(one) % 3])]
    whole = audited([records(values)], "drs/json-c@2")
    parts = [records(values[start : start + size], start=start) for start in range(0, len(values), size)]
    by_part = audited(parts, "drs/json-c@2")
    assert report_of(by_part, "drs/json-c@2") == report_of(whole, "drs/json-c@2")
    assert by_part.chains == whole.chains


def test_a_range_that_declares_another_subject_is_held_against_them_too():
    ranges = parse_versions({"topics": {"orders": {0: [{"contract": "drs/json-c@2"}]}}}, "v.yaml", CATALOGUE)
    validation = open_ranges(CATALOGUE, ranges, ReadingOptions())
    tally = Kernel(validation).audit(records(REVERSED))
    assert "their range declares drs/json-c@2" in why_withheld(tally, validation)


@pytest.mark.parametrize("declared", ["oms-community/canal@2", "oms/canal@1", "oms-community/canal@1"])
def test_messages_that_no_other_subject_would_take_are_not_followed(declared):
    values = rendered(declared, 200)
    assert not audited([records(values)], declared).chains


def test_few_chains_against_another_subject_hold_a_decode_back_and_prove_nothing():
    rows = Rows(range(2))
    values = [rows.step(number, OLD) for number in range(5)]
    tally = audited([records(values)], "drs/json-c@2")
    assert report_of(tally, "drs/json-c@2")["verdict"] == "inconclusive"
    assert "too few to prove it" in why_withheld(tally, scope_of("drs/json-c@2"))


@pytest.mark.parametrize("seed", range(6))
def test_topics_of_many_habits_in_order_pass(seed):
    habits = Habits(resends=0.05 * (seed % 3), late=0.02 * (seed % 2), words=3 if seed > 3 else None)
    topic = make_topic(seed, habits, lambda _: NEW)
    tally = Tally()
    kernel = Kernel(scope_of("drs/json-c@2"))
    for values in topic.partitions:
        tally.merge(kernel.audit(records(values)))
    report = report_of(tally, "drs/json-c@2")
    assert [one["rule"] for one in report["findings"] if one["severity"] == "error"] == []
