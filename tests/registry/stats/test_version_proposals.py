"""Versions files that are written from a report: only proofs place a version, and every gap says why it is one."""

import os
from collections import Counter
from random import Random

import pyarrow as pa
import pytest
import yaml
from topics import SCENARIOS as CATALOGUE
from topics import rendered
from written_reports import build_report, propose_versions

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.yaml_documents import parse_values
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import open_validation

TOPICS = int(os.environ.get("CDC_PROPOSED_TOPICS", "8"))
OLD, NEW = "dts/canal@1", "dts/canal@2"


def line(partition, *runs, start=0, end=1000, cut=False):
    """What a report tells of a partition: its runs as (contract, first offset, last offset, records)."""
    reported = [
        {"contract": contract, "records": records, "first_offset": first, "last_offset": last,
         "first_timestamp": None, "last_timestamp": None}
        for contract, first, last, records in runs
    ]  # fmt: skip
    return {"topic": "orders", "partition": partition, "start": start, "end": end, "cut": cut, "runs": reported}


def report_of(*lines, **more):
    counts = dict.fromkeys(("read", "conforming", "control", "tombstone", "quarantined", "changes"), 0)
    nothing = {**counts, "gaps": 0, "first_timestamp": None, "last_timestamp": None}
    places = [{key: one[key] for key in ("topic", "partition", "start", "end")} | nothing for one in lines]
    ledger = {**counts, "partitions": places}
    reported = {"timeline": [one for one in lines if one["runs"]], "ledger": ledger, "stopped": None}
    return {**reported, **more}


def lines_of(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_a_switch_leaves_open_what_lies_between_the_proofs():
    report = report_of(line(0, (OLD, 4, 986, 412), (NEW, 2171, 2999, 380)), line(1, (OLD, 0, 9, 10), (NEW, 10, 10, 1)))
    assert lines_of(propose_versions(report, CATALOGUE)) == [
        "topics:",
        "  orders:",
        "    0:",
        "      - {to: 987, contract: dts/canal@1}  # 412 messages prove it: offsets 4 to 986",
        "      # offsets 987 to 2170 left open: no message there proves dts/canal@1 or dts/canal@2",
        "      - {from: 2171, contract: dts/canal@2}  # 380 messages prove it: offsets 2171 to 2999",
        "    1:",
        "      - {to: 10, contract: dts/canal@1}  # 10 messages prove it: offsets 0 to 9",
        "      - {from: 10, contract: dts/canal@2}  # 1 message proves it: offset 10",
    ]


def test_where_the_topic_changes_versions_an_end_that_may_lie_behind_the_change_is_left_open():
    report = report_of(
        line(0, (OLD, 4, 986, 412), (NEW, 2171, 2999, 380)), line(1, (NEW, 50, 90, 7)), line(2, (OLD, 50, 90, 7)),
        line(3),
    )  # fmt: skip
    assert lines_of(propose_versions(report, CATALOGUE))[6:] == [
        "    1:",
        "      # offsets up to 49 left open: they may precede a switch, and no message proves their version",
        "      - {from: 50, contract: dts/canal@2}  # 7 messages prove it: offsets 50 to 90",
        "    2:",
        "      - {to: 91, contract: dts/canal@1}  # 7 messages prove it: offsets 50 to 90",
        "      # offsets from 91 left open: they may follow a switch, and no message proves their version",
        "    3: []  # left open: no message proves a version",
    ]


def test_a_topic_of_one_version_may_have_been_of_a_lower_one_before_or_of_a_higher_one_behind():
    assert lines_of(propose_versions(report_of(line(0, (NEW, 50, 90, 7)), line(1, (NEW, 0, 0, 1))), CATALOGUE))[2:] == [
        "    0:",
        "      # offsets up to 49 left open: they may precede a switch, and no message proves their version",
        "      - {from: 50, contract: dts/canal@2}  # 7 messages prove it: offsets 50 to 90",
        "    1:",
        "      - {from: 0, contract: dts/canal@2}  # 1 message proves it: offset 0",
    ]
    assert lines_of(propose_versions(report_of(line(0, (OLD, 50, 90, 7))), CATALOGUE))[2:] == [
        "    0:",
        "      - {to: 91, contract: dts/canal@1}  # 7 messages prove it: offsets 50 to 90",
        "      # offsets from 91 left open: they may follow a switch, and no message proves their version",
    ]


def test_a_subject_of_one_version_is_of_that_version_from_end_to_end():
    report = report_of(line(0, ("oms/canal@1", 50, 90, 7)))
    assert lines_of(propose_versions(report, CATALOGUE))[3:] == [
        "      - {contract: oms/canal@1}  # 7 messages prove it: offsets 50 to 90"
    ]


def test_versions_that_come_back_are_placed_by_their_proofs_alone():
    report = report_of(line(0, (NEW, 5, 9, 3), (OLD, 12, 20, 3), (NEW, 21, 30, 3)), line(1, (NEW, 50, 90, 7)))
    assert lines_of(propose_versions(report, CATALOGUE))[2:] == [
        "    0:",
        "      # offsets up to 4 left open: they may precede a switch, and no message proves their version",
        "      - {from: 5, to: 10, contract: dts/canal@2}  # 3 messages prove it: offsets 5 to 9",
        "      # offsets 10 to 11 left open: no message there proves dts/canal@2 or dts/canal@1",
        "      - {from: 12, to: 21, contract: dts/canal@1}  # 3 messages prove it: offsets 12 to 20",
        "      - {from: 21, to: 31, contract: dts/canal@2}  # 3 messages prove it: offsets 21 to 30",
        "      # offsets from 31 left open: they may follow a switch, and no message proves their version",
        "    1:",
        "      # offsets up to 49 left open: they may precede a switch, and no message proves their version",
        "      - {from: 50, to: 91, contract: dts/canal@2}  # 7 messages prove it: offsets 50 to 90",
        "      # offsets from 91 left open: they may follow a switch, and no message proves their version",
    ]


def test_what_was_read_only_in_part_says_so_and_more_runs_than_are_kept_end_in_a_gap():
    report = report_of(line(0, (OLD, 0, 4, 3), (NEW, 5, 9, 3), cut=True), stopped="time limit")
    text = propose_versions(report, CATALOGUE)
    assert "# Only a part of the messages was read" in text
    assert lines_of(text)[4:] == [
        "      - {from: 5, to: 10, contract: dts/canal@2}  # 3 messages prove it: offsets 5 to 9",
        "      # offsets from 10 left open: the report does not keep that many version changes",
    ]


@pytest.mark.parametrize("topic", ["orders", "123", "a b.jsonl", "true", "öl.jsonl", 'say "no".jsonl', "x: y#z", "😀"])
def test_every_name_of_a_topic_is_read_as_it_was_written(topic):
    reported = {**line(0, (OLD, 0, 9, 3), (NEW, 12, 20, 3)), "topic": topic}
    text = propose_versions(report_of(reported), CATALOGUE)
    ranges = parse_versions(parse_values(text, "v.yaml"), "v.yaml", CATALOGUE)
    assert ranges.topics == (topic,)
    assert set(yaml.safe_load(text)["topics"]) == {topic}  # as any other reader of YAML takes it


def test_a_file_that_leaves_everything_open_judges_nothing_and_says_so():
    ranges = parse_versions(
        parse_values(propose_versions(report_of(line(0)), CATALOGUE), "v.yaml"), "v.yaml", CATALOGUE
    )
    with pytest.raises(UsageError, match="no range says which version orders is written in"):
        open_ranges(CATALOGUE, ranges, ReadingOptions())


def generated_topic(seed):
    """A topic of four partitions, each switched at another place or not at all; deletes and resends or none.

    Returns its records, and for each the version it was written in.
    """
    draw = Random(seed)
    records, reported = [], {}
    for partition in range(4):
        old, new = (rendered(one, 60, seed=seed * 10 + partition) for one in (OLD, NEW))
        at = draw.choice([0, 60, draw.randrange(60), draw.randrange(60)])
        messages = [(OLD, value) for value in old[:at]] + [(NEW, value) for value in new[at:]]
        if draw.random() < 0.4:  # without deletes hardly anything proves a version
            messages = [one for one in messages if b'"DELETE"' not in one[1]]
        for _ in range(draw.randrange(4)):  # sent again
            number = draw.randrange(len(messages))
            behind = min(len(messages), number + draw.randrange(5))
            if {version for version, _ in messages[number:behind]} <= {messages[number][0]}:
                messages.insert(behind, messages[number])
        for offset, (version, value) in enumerate(messages):
            records.append({"value": value, "topic": "orders", "partition": partition, "offset": offset})
            reported[partition, offset] = version
    return records, reported


def batch_of(records):
    kinds = {"value": pa.binary(), "topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()}
    return pa.RecordBatch.from_pylist(records, pa.schema(kinds))


def proposed_ranges(records):
    """The ranges of the versions file that an audit of some records proposes."""
    subject = open_validation(CATALOGUE, "dts/canal", ReadingOptions())
    ends = Counter(one["partition"] for one in records)
    report = build_report(
        Kernel(subject).audit(batch_of(records)), catalogue=CATALOGUE, contract="dts/canal", source={"kind": "kafka"},
        spans={Source("orders", one): Span(0, ends[one]) for one in range(4)}, fail_on="error",
    )  # fmt: skip
    return parse_versions(parse_values(propose_versions(report, CATALOGUE), "v.yaml"), "v.yaml", CATALOGUE)


def test_a_partition_of_few_links_is_not_taken_for_what_the_others_are():
    """Here partitions with few links switch early or late, while most votes of the topic are for one version."""
    read = left_open = 0
    for seed in (27, 61, 65, 81, 83, 89):
        records, reported = generated_topic(seed)
        ranges = proposed_ranges(records)
        found = {at: ranges.find("orders", *at, None) for at in reported}
        assert [at for at, one in found.items() if one is not None and one.contract != reported[at]] == []
        read += len(found)
        left_open += sum(one is None for one in found.values())
    assert left_open < read / 6


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(1, TOPICS + 1))
def test_what_is_decoded_by_the_file_that_was_written_is_read_as_it_was_sent(seed):
    records, reported = generated_topic(seed)
    batch = batch_of(records)
    ranges = proposed_ranges(records)
    if not ranges.contracts:
        pytest.skip("nothing in this topic proves a version")
    truth = {version: open_validation(CATALOGUE, version, ReadingOptions()) for version in (OLD, NEW)}
    values = {(one["partition"], one["offset"]): one["value"] for one in records}
    decoded = quarantined = 0
    for part in Kernel(open_ranges(CATALOGUE, ranges, ReadingOptions())).decode(batch):
        assert {row["outcome"] for row in part.quarantine.to_pylist()} <= {"ambiguous"}
        quarantined += part.quarantine.num_rows
        for row in part.changes.to_pylist():
            at = row["partition"], row["offset"]
            sent = truth[reported[at]].validate(values[at]).changes[row["row_index"]]
            for side, image in (("before", sent.before), ("after", sent.after)):
                assert (None if row[side] is None else dict(row[side])) == image
            decoded += 1
    assert decoded + quarantined == len(records)


def test_key_chains_place_a_switch_where_no_message_proves_one():
    old, new = (rendered(one, 600, seed=3) for one in (OLD, NEW))
    sent = [value for value in [*old[:300], *new[300:]] if b'"DELETE"' not in value]
    at = sum(b'"DELETE"' not in value for value in old[:300])
    records = [{"value": value, "topic": "orders", "partition": 0, "offset": at} for at, value in enumerate(sent)]
    tally = Kernel(open_validation(CATALOGUE, "dts/canal", ReadingOptions())).audit(batch_of(records))
    report = build_report(tally, catalogue=CATALOGUE, contract="dts/canal", spans={}, fail_on="error")
    ranges = parse_values(propose_versions(report, CATALOGUE), "v.yaml")["topics"]["orders"][0]
    assert [one["contract"] for one in ranges] == [OLD, NEW]
    (switch,) = report["switches"]
    assert at - 5 <= switch["after"] < at <= switch["at"] <= at + 5
    assert ranges[0]["to"] <= switch["after"] + 1
    assert switch["at"] <= ranges[1]["from"]
    assert at - 8 <= ranges[0]["to"] <= at <= ranges[1]["from"] <= at + 8
    assert not tally.seen


DECIMALS, TIMES = "decimal.handling.mode", "time.precision.mode"
FOUND = {"topic": "orders", "columns": 1, "held": 90}
TIMED = {**FOUND, "option": TIMES, "values": ["connect"]}
PROOF = "  # 90 messages prove it: offsets 0 to 89"
LATEST = line(0, ("debezium/json@4", 0, 89, 90))


def option_run(values, first, last, partition=0):
    return {"partition": partition, "values": values, "first_offset": first, "last_offset": last}


def test_ranges_state_the_options_that_all_values_of_the_topic_allow_alone():
    undecided = {**FOUND, "option": "binary.handling.mode", "values": ["base64", "bytes"]}
    elsewhere = {**FOUND, "option": DECIMALS, "values": ["string"], "topic": "payments"}
    report = report_of(LATEST, options=[undecided, elsewhere, TIMED])
    assert lines_of(propose_versions(report, CATALOGUE))[3:] == [
        "      - {from: 0, contract: debezium/json@4, options: {time.precision.mode: connect}}" + PROOF,
    ]


def test_a_range_ends_where_an_option_changes_and_leaves_it_out_where_no_value_tells():
    changed = {**FOUND, "option": DECIMALS, "values": [],
               "runs": [option_run(["precise"], 3, 29), option_run(["string"], 34, 89)]}  # fmt: skip
    report = report_of(LATEST, options=[changed, TIMED])
    first, rest, last = lines_of(propose_versions(report, CATALOGUE))[3:]
    assert first == (
        "      - {from: 0, to: 30, contract: debezium/json@4, "
        f"options: {{decimal.handling.mode: precise, time.precision.mode: connect}}}}{PROOF}"
    )
    assert rest == (
        "      - {from: 30, to: 34, contract: debezium/json@4, options: {time.precision.mode: connect}}"
        "  # decimal.handling.mode left open: no value there proves it"
    )
    assert last == (
        "      - {from: 34, contract: debezium/json@4, "
        "options: {decimal.handling.mode: string, time.precision.mode: connect}}"
    )


def test_versions_and_options_that_change_at_places_of_their_own_make_a_range_for_each_part():
    changed = {**FOUND, "option": DECIMALS, "values": [],
               "runs": [option_run(["precise"], 0, 29), option_run([], 30, 70), option_run(["double"], 71, 89)]}  # fmt: skip
    both = line(0, ("debezium/json@3", 0, 49, 50), ("debezium/json@4", 50, 89, 40))
    ranges = parsed(propose_versions(report_of(both, options=[changed]), CATALOGUE))
    assert [(one.start, one.end, one.contract, dict(one.options)) for one in ranges] == [
        (None, 30, "debezium/json@3", {DECIMALS: "precise"}),
        (30, 50, "debezium/json@3", {}),
        (50, 71, "debezium/json@4", {}),
        (71, None, "debezium/json@4", {DECIMALS: "double"}),
    ]


def test_what_the_run_stated_is_stated_again_and_goes_before_what_values_say():
    stated = [{"topic": "orders", "partition": None, "from": None, "to": 40, "contract": "debezium/json@4",
               "options": {DECIMALS: "precise"}}]  # fmt: skip
    found = {**FOUND, "option": DECIMALS, "values": ["string"]}
    text = propose_versions(report_of(LATEST, options=[found], versions=stated), CATALOGUE, {TIMES: "connect"})
    assert [(one.start, one.end, dict(one.options)) for one in parsed(text)] == [
        (None, 40, {DECIMALS: "precise", TIMES: "connect"}),
        (40, None, {DECIMALS: "string", TIMES: "connect"}),
    ]


def parsed(text):
    return parse_versions(parse_values(text, "v.yaml"), "v.yaml", CATALOGUE).ranges_of("orders", 0)
