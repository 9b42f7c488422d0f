"""What real producers wrote of real databases is detected, and is decoded to what the databases held."""

import json
from collections import defaultdict
from functools import cache

import pyarrow as pa
import pytest
from producers.capture_differences import find_differences
from producers.captures import Capture, list_captures, read_records
from producers.decoded_captures import decode_changes, rows_in, values_of
from producers.expected_changes import expected_changes
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
GONE = ("public.visits", "public.page_views")
"""Tables that were gone when the connector of PostgreSQL asked for their keys: their records have none."""
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


@each([capture for capture in OF_CONTRACTS if capture.product == "debezium"])
def test_kafka_keys_name_the_key_columns_that_the_tables_of_the_database_have(capture):
    """A table without a primary key has that of its unique index, or none."""
    records = read_records(capture)
    keys = [None if one["key"] is None else one["key"].encode() for one in records]
    messages = pa.table({
        "key": pa.array(keys, pa.binary()), "value": pa.array(values_of(records), pa.binary())
    })  # fmt: skip
    opened = open_contract(reference_of(capture))
    decoded, report = opened.decode_batch(messages), opened.check_batch(messages)
    assert decoded.quarantine.num_rows == 0
    assert [one for one in report.findings if "key" in one.rule] == []
    found = defaultdict(set)
    for row in decoded.changes.to_pylist():
        key = row["primary_key"]
        found[f"{row['schema'] or row['database']}.{row['table']}"].add(key and tuple(key))
    assert dict(found) == {
        name: {None if name in GONE and capture.database == "postgresql" else one.state.key or None for one in changes}
        for name, changes in expected_changes(capture.database).items()
    }
