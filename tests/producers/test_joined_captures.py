"""Two captures joined end to end: the timeline has the right offsets, and what it says decodes across the joint."""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from producers.captures import Capture, read_records
from producers.decoded_captures import TopicPart, all_options, last_tables, values_of
from producers.test_captures import reference_of, unknown_differences
from record_batches import batch_of_values
from topics import CATALOGUE
from written_reports import build_report, propose_versions

from cdc_contracts.registry.core.common.yaml_documents import parse_values
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import open_validation

TOPIC = "shop"
DECIMALS = "decimal.handling.mode"
UPGRADE = (("2.5.4", "defaults"), ("3.5.0", "defaults"))
CHANGE = (("3.5.0", "texts"), ("3.5.0", "doubles"))
BOTH = (("1.9.7", "texts"), ("3.5.0", "isostrings"))
WITH_BLOCK = (("2.7.4", "defaults-schema"), ("3.3.0", "defaults-schema"))
CASES = pytest.mark.parametrize("joined", [
    pytest.param(tuple(Capture("debezium", version, database, options) for version, options in pair),
                 id=f"{database}-{name}")
    for database in ("postgresql", "mariadb")
    for name, pair in (("upgrade", UPGRADE), ("change", CHANGE), ("both", BOTH), ("with-block", WITH_BLOCK))
])  # fmt: skip


def each(test):
    return pytest.mark.one_in(4)(CASES(test))


CONVERTER = {"decimal.format": "BASE64"}
"""What the JSON converter does by itself, which a schema block shows."""


@cache
def values_in(joined):
    first, second = (values_of(read_records(one)) for one in joined)
    return [*first, *second], len(first)


def options_for(joined):
    contracts = last_tables(joined[0].database)
    return ReadingOptions(tables=TableContracts(parse_table_contract(one, f"{one['table']}.yaml") for one in contracts))


@cache
def audited(joined):
    values, _ = values_in(joined)
    subject = reference_of(joined[0]).partition("@")[0]
    tally = Kernel(open_validation(CATALOGUE, subject, options_for(joined))).audit(batch_of_values(values, topic=TOPIC))
    spans = {Source(TOPIC, 0): Span(0, len(values))}
    return build_report(tally, catalogue=CATALOGUE, contract=subject, spans=spans, fail_on="error")


def releases_in(values):
    """Return the offsets of the messages that say a release, with it, by plain reading."""
    messages = [json.loads(value) if value is not None else {} for value in values]
    sources = [(message.get("payload", message) or {}).get("source") for message in messages]
    return {offset: source["version"] for offset, source in enumerate(sources) if source}


def proposed(joined):
    text = propose_versions(audited(joined), CATALOGUE)
    return parse_versions(parse_values(text, "v.yaml"), "v.yaml", CATALOGUE)


@each
def test_an_upgrade_is_told_between_the_last_message_of_the_old_release_and_the_first_of_the_new(joined):
    values, joint = values_in(joined)
    versions = [reference_of(one) for one in joined]
    if versions[0] == versions[1]:
        assert audited(joined)["switches"] == []
        return
    told = releases_in(values)
    (switch,) = audited(joined)["switches"]
    assert (switch["from"], switch["to"]) == tuple(versions)
    assert switch["after"] == max(offset for offset in told if offset < joint)
    assert switch["at"] == min(offset for offset in told if offset >= joint)


@each
def test_a_change_of_an_option_is_told_between_the_last_value_of_the_old_and_the_first_of_the_new(joined):
    _, joint = values_in(joined)
    old, new = (all_options(one) for one in joined)
    changed = {one["option"]: one["runs"] for one in audited(joined).get("options", ()) if one.get("runs")}
    assert (DECIMALS in changed) == (old.get(DECIMALS) != new.get(DECIMALS))
    for option, runs in changed.items():
        assert old[option] != new[option]
        first, second = runs
        assert (old[option] in first["values"], new[option] in second["values"]) == (True, True)
        assert first["last_offset"] < joint <= second["first_offset"]


def test_the_first_value_of_a_changed_option_is_the_first_that_only_it_writes():
    """Doubles are numbers, where texts were before, in the first row of a table that has decimals."""
    joined = tuple(Capture("debezium", version, "postgresql", options) for version, options in CHANGE)
    values, joint = values_in(joined)
    (found,) = (one for one in audited(joined)["options"] if one["option"] == DECIMALS)
    assert found["runs"][1]["first_offset"] == joint + first_number(values[joint:], "numbers", "price")


def first_number(values, table, column):
    messages = [json.loads(value) if value is not None else {} for value in values]
    return next(
        offset
        for offset, message in enumerate(messages)
        if (message.get("source") or {}).get("table") == table
        and isinstance((message.get("after") or {}).get(column), float)
    )


@each
def test_no_proposed_range_says_what_is_not_so(joined):
    values, joint = values_in(joined)
    ranges = proposed(joined).ranges_of(TOPIC, 0)
    told = releases_in(values)
    assert ranges
    for one in ranges:
        start, end = one.start or 0, len(values) if one.end is None else one.end
        captures = {joined[offset >= joint] for offset in told if start <= offset < end}
        assert {reference_of(capture) for capture in captures} == {one.contract}
        for capture in captures:
            assert dict(one.options).items() <= {**all_options(capture), **CONVERTER}.items()
    for before, after in pairwise(ranges):
        assert before.end <= after.start


@each
def test_the_proposed_file_quarantines_no_message_that_the_options_of_its_run_read(joined):
    values, joint = values_in(joined)
    versions = proposed(joined)
    left_open = {offset for offset in range(len(values)) if versions.find(TOPIC, 0, offset, None) is None}
    refused = quarantined(open_ranges(CATALOGUE, versions, options_for(joined)), values)
    alone = set()
    for capture, start, end in zip(joined, (0, joint), (joint, len(values)), strict=True):
        stated = replace(options_for(joined), parameters=all_options(capture))
        declared = open_validation(CATALOGUE, reference_of(capture), stated)
        alone |= {start + offset for offset in quarantined(declared, values[start:end])}
    assert refused - left_open <= alone


def quarantined(validation, values):
    written = Kernel(validation).decode(batch_of_values(values, topic=TOPIC))
    return {offset for one in written for offset in one.quarantine.column("offset").to_pylist()}


@each
def test_rows_across_the_joint_are_those_of_the_database(joined, tmp_path):
    """What no value tells the user states: the file has the options of each run up to the joint and from it on."""
    _, joint = values_in(joined)
    ranges = [
        {**bound, "contract": reference_of(capture), "options": all_options(capture)}
        for capture, bound in zip(joined, ({"to": joint}, {"from": joint}), strict=True)
    ]
    file = tmp_path / "versions.yaml"
    file.write_text(json.dumps({"topics": {TOPIC: {"0": ranges}}}))
    subject = reference_of(joined[0]).partition("@")[0]
    for capture, start in zip(joined, (0, joint), strict=True):
        part = TopicPart(TOPIC, start, file)
        assert unknown_differences(capture, read_records(capture), subject, part) == []
