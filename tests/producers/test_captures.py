"""What real producers wrote of real databases is detected, and is decoded to what the databases held."""

import json
from functools import cache

import pytest
from producers.capture_differences import find_differences
from producers.captures import Capture, list_captures, read_records
from producers.decoded_captures import (
    UNWRAPPED,
    decode_changes,
    deletions,
    is_null_text,
    rows_in,
    table_in_topic,
    values_of,
)
from producers.known_differences import known_differences
from producers.run_plans import list_runs

import cdc_contracts as cdc

REFERENCES = {
    "1.9.7": "debezium/json@1",
    "2.3.4": "debezium/json@2",
    "2.5.4": "debezium/json@2",
    "2.7.4": "debezium/json@3",
    "3.0.8": "debezium/json@3",
    "3.3.0": "debezium/json@4",
    "3.5.0": "debezium/json@4",
    "3.6.1": "debezium/json@4",
    "1.1.7": "canal/flat@3",
}
ROWS = {"1.9.7": "debezium/flat@1", "3.5.0": "debezium/flat@2"}
"""The contracts of messages that are rows."""
WITHOUT_CONTRACT = ("defaults-schema",)
"""The option sets that write what no shipped contract describes."""
OF_CONTRACTS = [capture for capture in list_captures() if capture.options not in WITHOUT_CONTRACT]
OTHERS = [capture for capture in list_captures() if capture.options in WITHOUT_CONTRACT]


def reference_of(capture):
    return (ROWS if capture.options == UNWRAPPED else REFERENCES)[capture.version]


def name_of(capture):
    return f"{capture.product}-{capture.version}-{capture.database}-{capture.options}"


def each(captures):
    return pytest.mark.parametrize("capture", captures, ids=name_of)


each_of_contracts = pytest.mark.parametrize(
    ("capture", "reference"),
    [pytest.param(capture, reference_of(capture), id=name_of(capture)) for capture in OF_CONTRACTS],
)
open_contract = cache(cdc.contract)


def test_there_is_a_capture_of_each_option_set_of_each_run():
    assert list_captures() == sorted(capture for run in list_runs() for capture in run.captures())


@pytest.mark.one_in(4)
@each_of_contracts
def test_the_contract_of_a_release_is_detected(capture, reference):
    found = cdc.detect(values_of(read_records(capture)))
    if capture.options == UNWRAPPED:  # rows say no release, and any product may write such
        assert (found.verdict, found.contract) == ("likely", reference.partition("@")[0])
    else:
        assert (found.verdict, found.contract) == ("certain", reference)


@pytest.mark.one_in(4)
@each_of_contracts
def test_no_message_is_quarantined_without_table_contracts(capture, reference):
    values = values_of(read_records(capture))
    decoded = open_contract(reference).decode_batch(values)
    refused = [[one["rule"] for one in row["findings"]] for row in decoded.quarantine.to_pylist()]
    assert refused == [["D01.null-text"] for value in values if is_null_text(value)]
    assert decoded.read == len(values)
    assert decoded.tombstones == values.count(None)
    rows = [rows_in(value) for value in values if value is not None and not is_null_text(value)]
    assert decoded.changes.num_rows == sum(rows)
    assert decoded.control.num_rows == rows.count(0)


@each_of_contracts
def test_rows_are_those_of_the_database_but_for_known_differences(capture, reference):
    assert unknown_differences(capture, read_records(capture), reference) == []


def unknown_differences(capture, records, reference):
    changes = decode_changes(capture, records, reference)
    other_ops = [one for one in changes if one.op not in (None, one.expected.op)]
    unlike = [difference for one in changes for difference in find_differences(capture, one)]
    return other_ops + [one for one in unlike if not any(entry.covers(capture, one) for entry in known_differences())]


@pytest.mark.nightly
def test_no_known_difference_is_needless():
    unused = set(known_differences())
    for capture in OF_CONTRACTS:
        for change in decode_changes(capture, read_records(capture), reference_of(capture)):
            for difference in find_differences(capture, change):
                unused -= {entry for entry in unused if entry.covers(capture, difference)}
    assert unused == set()


@each([capture for capture in OF_CONTRACTS if capture.options == UNWRAPPED])
def test_each_deleted_row_is_the_key_of_a_text_null_or_was_not_sent(capture):
    """Until 3.2 the default is to send nothing of a deletion, and since then a text that stays after compaction."""
    sent = {}
    for record, value in zip(read_records(capture), values_of(read_records(capture)), strict=True):
        if is_null_text(value):
            sent.setdefault(table_in_topic(record), []).append(record["key"] and json.loads(record["key"]))
    if capture.version == "1.9.7":
        assert sent == {}
        return
    due = {name: [keys_sent(change) for change in found] for name, found in deletions(capture.database).items()}
    assert {name: sorted(map(str, found)) for name, found in sent.items()} == {
        name: sorted(map(str, found)) for name, found in due.items()
    }


def keys_sent(change):
    """Return the key of a deleted row as JSON has it: numbers of integers, texts of others, None without a key."""
    state = change.state
    if not state.key:
        return None
    return {name: int(text) if "int" in state.types[name] else text for name, text in
            zip(state.key, change.key, strict=True)}  # fmt: skip


@each([capture for capture in OTHERS if capture.options == "defaults-schema"])
def test_a_schema_block_is_beside_the_message_without_it(capture):
    alone = Capture(capture.product, capture.version, capture.database, "defaults")
    values = [json.loads(value) if value else None for value in values_of(read_records(capture))]
    assert [value and value["payload"] for value in values] == [
        json.loads(value) if value else None for value in values_of(read_records(alone))
    ]


@each(OTHERS)
def test_rows_of_a_format_without_a_contract_are_not_taken_for_another(capture):
    """The day it gets a contract, its captures belong to the tests above."""
    rows = [one for one in read_records(capture) if one["topic"].count(".") == 2]
    found = cdc.detect(values_of(rows))
    assert (found.verdict, found.contract) == ("not-in-catalogue", None)
