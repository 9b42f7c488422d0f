"""What real producers wrote of real databases is detected, and is decoded to what the databases held."""

import json
from functools import cache

import pytest
from producers.capture_differences import find_differences
from producers.captures import Capture, list_captures, read_records
from producers.decoded_captures import decode_changes, rows_in, values_of
from producers.known_differences import known_differences
from producers.run_plans import list_runs

import cdc_contracts as cdc

VERSIONS = {"1.9.7": 1, "2.3.4": 2, "2.5.4": 2, "2.7.4": 3, "3.0.8": 3, "3.3.0": 4, "3.5.0": 4, "3.6.1": 4}
"""The version of both formats of Debezium that each of its releases writes."""
TIMES_BEYOND_THE_LEAST = {
    f"debezium-{release}-mariadb-defaults-schema": [("D07.micros-of-day", "/payload/after/time_3")]
    for release in ("1.9.7", "2.3.4")
}
"""What is refused without table contracts, where a schema block says what type it is of (known_differences.yaml)."""
WITHOUT_CONTRACT = ("unwrapped",)
"""The option sets that write what no shipped contract describes."""
OF_CONTRACTS = [capture for capture in list_captures() if capture.options not in WITHOUT_CONTRACT]
OTHERS = [capture for capture in list_captures() if capture.options in WITHOUT_CONTRACT]


def name_of(capture):
    return f"{capture.product}-{capture.version}-{capture.database}-{capture.options}"


def reference_of(capture):
    """Return the contract of what a capture holds."""
    if capture.product == "canal":
        return "canal/flat@3"
    return f"debezium/{'json-schema' if capture.has_schema_block else 'json'}@{VERSIONS[capture.version]}"


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
    assert (found.verdict, found.contract) == ("certain", reference)


@pytest.mark.one_in(4)
@each_of_contracts
def test_no_message_is_quarantined_without_table_contracts(capture, reference):
    values = values_of(read_records(capture))
    decoded = open_contract(reference).decode_batch(values)
    refused = [(one["rule"], one["path"]) for row in decoded.quarantine.to_pylist() for one in row["findings"]]
    assert refused == TIMES_BEYOND_THE_LEAST.get(name_of(capture), [])
    assert decoded.read == len(values)
    assert decoded.tombstones == values.count(None)
    rows = [rows_in(value) for value in values if value is not None]
    assert decoded.changes.num_rows == sum(rows) - len(refused)
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


@each([capture for capture in OF_CONTRACTS if capture.has_schema_block])
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
