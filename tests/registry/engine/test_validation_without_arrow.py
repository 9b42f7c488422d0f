"""Records checked one by one, without numpy and pyarrow, come to the lines and the report of the kernel, byte for byte."""

from __future__ import annotations

from random import Random

import pytest
from both_paths import CATALOGUE, VERSIONS, samples
from chain_topics import FULL, Habits, make_topic
from odd_columns import JSON_VERSIONS, with_odd_columns
from rule_violations import breaker_of, neighbours, pairs_of
from topics import PLAIN, SCENARIOS, WITH_TABLES, rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_ranges import VersionRange, VersionRanges
from cdc_contracts.registry.core.detect.topic_samples import find_validation
from cdc_contracts.registry.core.engine.kernel_checks import KernelChecks
from cdc_contracts.registry.core.engine.layouts.text_digests import digest_values
from cdc_contracts.registry.core.engine.messages.validation_without_arrow import ValidationWithoutArrow
from cdc_contracts.registry.core.records.file_batches import as_batch
from cdc_contracts.registry.core.records.file_plans import FilePlan
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.report.message_checks import check_batches
from cdc_contracts.registry.core.report.stored_reports import write_document
from cdc_contracts.registry.core.stats.digests_without_arrow import digest_value
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import Undetected, open_validation
from cdc_contracts.registry.core.values import Number

EVERY = 120
"""One mutation of so many is checked as well."""


def broken(version):
    """Return messages that break rules of a version, or have other values and members."""
    breakers = dict.fromkeys((*(breaker_of(rule) for rule in version.meaning.rules), neighbours))
    return [value for breaker in breakers for value in pairs_of(version, breaker, every=EVERY)[1]]


def checked(checker, parts, *, show_values=False, detection=None):
    """Return the lines printed and the report of some parts, each the topic, the partition and its values."""
    plan, lines = FilePlan(), []
    for topic, partition, values in parts:
        plan.limits[Source(topic, partition)] = (0, len(values))
        plan.line_partitions.add(Source(topic, partition))
    batches = [
        RecordsWithoutArrow(
            topic, partition, [at for at, value in enumerate(values) if value], [one for one in values if one]
        )
        for topic, partition, values in parts
    ]
    if isinstance(checker, KernelChecks):
        batches = [as_batch(records) for records in batches]
    report = check_batches(
        batches, checker, plan=plan, paths=["messages.jsonl"], fail_on="warning", print_line=lines.append,
        detection=detection,
    )  # fmt: skip
    return lines, write_document(report)


def assert_alike(validation, parts):
    by_kernel = checked(KernelChecks(validation), parts)
    one_by_one = checked(ValidationWithoutArrow(validation), parts)
    assert one_by_one[0] == by_kernel[0]
    assert one_by_one[1] == by_kernel[1]
    return by_kernel


OPTIONS = {"alone": ReadingOptions(show_values=True), "with tables": WITH_TABLES}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_samples_and_broken_messages_have_the_same_results(version, options, part):
    groups = ([value for _, value in samples()[version.reference]], broken(version), rendered(str(version), 20))
    values = [value for group in groups for value in part(group, 7)]
    Random(version.reference).shuffle(values)
    validation = open_validation(CATALOGUE, version.reference, OPTIONS[options])
    lines, report = assert_alike(validation, [("messages.jsonl", 0, values)])
    assert lines
    assert report["ledger"]["read"] == sum(map(bool, values))  # an empty line is no message


@pytest.mark.one_in(4)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("version", JSON_VERSIONS, ids=str)
def test_columns_that_hold_arrays_and_objects_have_the_same_results(version, options, part):
    values = part(with_odd_columns(version, 40), 9)
    validation = open_validation(CATALOGUE, version.reference, OPTIONS[options])
    lines, _ = assert_alike(validation, [("messages.jsonl", 0, values)])
    assert lines or takes_structures(version)  # what a version reads is no finding


def takes_structures(version):
    return any("array" in CATALOGUE.mapping(name).document.untyped for name in version.mapping_names())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("declared", ["dts/canal@1", "dts/canal@2", "dts/canal"])
@pytest.mark.parametrize(
    "habits",
    [
        Habits(messages=120, keys=6, images=FULL, deletes=0.1),
        Habits(messages=200, keys=5, partitions=2, resends=0.05, late=0.05, several=0.2, key_changes=0.1, words=3),
    ],
    ids=["plain", "untidy"],
)
def test_the_changes_of_a_row_prove_the_same_version(declared, habits):
    topic = make_topic(7, habits, lambda number: 2 if number > habits.messages // 2 else 1)
    validation = open_validation(SCENARIOS, declared, PLAIN)
    whole, with_gaps = (
        [("messages.jsonl", place, [*values[:40], *gap, *values[40:]]) for place, values in enumerate(topic.partitions)]
        for gap in ([], [b""])
    )
    assert_alike(validation, with_gaps)
    _, report = assert_alike(validation, whole)
    assert any(sum(line["links"].values()) for line in report["chains"])


def test_ranges_of_versions_and_the_evidence_against_them_have_the_same_results():
    values = [*rendered("dts/canal@1", 60), *rendered("dts/canal@2", 60, seed=2)]
    ranges = VersionRanges({
        ("messages.jsonl", 0): (VersionRange(None, 40, "dts/canal@1"), VersionRange(40, 100, "dts/canal@2"))
    })  # fmt: skip
    _, report = assert_alike(open_ranges(SCENARIOS, ranges, PLAIN), [("messages.jsonl", 0, values)])
    assert [line["contract"] for line in report["versions"]] == ["dts/canal@1", "dts/canal@2"]


def test_several_subjects_of_one_topic_have_the_same_results():
    values = [*rendered("dts/canal@2", 30), *rendered("drs/json@2", 30, seed=2), b"{}", b"no message"]
    Random(3).shuffle(values)
    records = RecordsWithoutArrow("messages.jsonl", 0, list(range(len(values))), values)
    validation, detection = find_validation(Undetected(SCENARIOS, PLAIN), lambda: [records])
    assert len(validation.detected.subjects) == 2
    parts = [("messages.jsonl", 0, values)]
    found = [checked(kind(validation), parts, detection=detection) for kind in (KernelChecks, ValidationWithoutArrow)]
    assert found[0] == found[1]
    assert {run["contract"].partition("@")[0] for part in found[0][1]["timeline"] for run in part["runs"]}


def test_a_value_has_one_digest_with_and_without_numpy():
    values = [
        "", "a", "ab", "ba", "é", "中文", "x" * 70_000, None, "null", True, "true", Number("1"), "1", Number("1.50"),
        Number("1.5"), Number("1e400"), "\x00", "\x00\x00", ["a"],
    ]  # fmt: skip
    assert [digest_value(value) for value in values] == [int(digest_values([value])[0]) for value in values]
    assert len({digest_value(value) for value in values}) == len(values) - 3  # true, 1 and 1.5 are sent in two ways
