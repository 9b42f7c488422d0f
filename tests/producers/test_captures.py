"""What real producers wrote of real databases is detected, and is decoded to what the databases held."""

import json
from collections import Counter, defaultdict
from functools import cache

import pyarrow as pa
import pytest
from producers.capture_differences import find_differences
from producers.captures import Capture, bytes_of, list_captures, read_records
from producers.decoded_captures import (
    changes_due,
    decode_changes,
    deletions,
    is_null_text,
    payload_of,
    rows_in,
    table_in_topic,
    values_of,
)
from producers.known_differences import known_differences
from producers.run_plans import list_runs

import cdc_contracts as cdc
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

VERSIONS = {"1.9.7": 1, "2.3.4": 2, "2.5.4": 2, "2.7.4": 3, "3.0.8": 3, "3.3.0": 4, "3.5.0": 4, "3.6.1": 4}
"""The version of both formats of Debezium that each of its releases writes."""
TIMES_BEYOND_THE_LEAST = {
    f"debezium-{release}-mariadb-defaults-schema": [("D07.micros-of-day", "/payload/after/time_3")]
    for release in ("1.9.7", "2.3.4")
} | {
    f"debezium-1.9.7-mariadb-{options}": [("D07.micros-of-day", "/payload/time_3")]
    for options in ("unwrapped-schema", "rewritten-schema")
}
"""What is refused without table contracts, where a schema block says what type it is of (known_differences.yaml)."""
ROWS = {"1.9.7": 1, "3.5.0": 2}
"""The version of both formats of messages that are rows."""
NULLS = {"unwrapped": ("D01.null-text", ""), "unwrapped-schema": ("D09.image-present-for-op", "/payload")}
"""What is found of a deletion that was sent as null, alone or behind a schema."""
GONE = ("public.visits", "public.page_views")
"""Tables that were gone when the connector of PostgreSQL asked for their keys: their records have none."""
CAPTURES = [one for one in list_captures() if not one.is_framed]
"""Those of JSON; test_framed_captures.py has the others."""


def name_of(capture):
    return f"{capture.product}-{capture.version}-{capture.database}-{capture.options}"


def reference_of(capture):
    """Return the contract of what a capture holds."""
    if capture.product == "canal":
        return "canal/flat@3"
    block = "-schema" if capture.has_schema_block else ""
    if capture.is_flattened:
        return f"debezium/flat{block}@{ROWS[capture.version]}"
    return f"debezium/json{block}@{VERSIONS[capture.version]}"


def each(captures):
    return pytest.mark.parametrize("capture", captures, ids=name_of)


each_of_contracts = pytest.mark.parametrize(
    ("capture", "reference"),
    [pytest.param(capture, reference_of(capture), id=name_of(capture)) for capture in CAPTURES],
)
open_contract = cache(cdc.contract)


def test_there_is_a_capture_of_each_option_set_of_each_run():
    assert list_captures() == sorted(capture for run in list_runs() for capture in run.captures())


@pytest.mark.one_in(8)
@each_of_contracts
def test_the_contract_of_a_release_is_detected(capture, reference):
    found = cdc.detect(values_of(read_records(capture)))
    if capture.is_flattened:  # rows say no release, and any product may write such
        assert (found.verdict, found.contract) == ("likely", reference.partition("@")[0])
    else:
        assert (found.verdict, found.contract) == ("certain", reference)


@pytest.mark.one_in(8)
@each_of_contracts
def test_no_message_is_quarantined_without_table_contracts(capture, reference):
    values = values_of(read_records(capture))
    decoded = open_contract(reference).decode_batch(values)
    refused = [(one["rule"], one["path"]) for row in decoded.quarantine.to_pylist() for one in row["findings"]]
    nulls = [NULLS[capture.options] for value in values if is_null_text(value)]
    assert Counter(refused) == Counter([*nulls, *TIMES_BEYOND_THE_LEAST.get(name_of(capture), [])])
    assert decoded.read == len(values)
    assert decoded.tombstones == values.count(None)
    rows = [rows_in(value) for value in values if value is not None and not is_null_text(value)]
    assert decoded.changes.num_rows == sum(rows) - len(refused) + len(nulls)
    assert decoded.control.num_rows == rows.count(0)


@pytest.mark.one_in(6)
@each_of_contracts
def test_rows_are_those_of_the_database_but_for_known_differences(capture, reference):
    assert unknown_differences(capture, read_records(capture), reference) == []


def unknown_differences(capture, records, reference, part=None):
    changes = decode_changes(capture, records, reference, part)
    other_ops = [one for one in changes if one.op not in (None, one.expected.op)]
    unlike = [difference for one in changes for difference in find_differences(capture, one)]
    return other_ops + [one for one in unlike if not any(entry.covers(capture, one) for entry in known_differences())]


@each_of_contracts
def test_what_messages_lose_is_listed_in_their_contract(capture, reference):
    listed = shipped_catalogue().version(reference).meaning.losses
    assert {one.loss for one in known_differences() if one.loss and one.is_of(capture)} <= listed.keys()


@pytest.mark.nightly
def test_no_known_difference_is_needless():
    unused = set(known_differences())
    for capture in CAPTURES:
        for change in decode_changes(capture, read_records(capture), reference_of(capture)):
            for difference in find_differences(capture, change):
                unused -= {entry for entry in unused if entry.covers(capture, difference)}
    assert unused == set()


@each([capture for capture in CAPTURES if capture.is_flattened and not capture.has_deleted_rows])
def test_each_deleted_row_is_the_key_of_a_text_null_or_was_not_sent(capture):
    """Until 3.2 the default is to send nothing of a deletion, and since then a text that stays after compaction."""
    sent = {}
    for record, value in zip(read_records(capture), values_of(read_records(capture)), strict=True):
        if is_null_text(value):
            sent.setdefault(table_in_topic(record), []).append(record["key"] and payload_of(record["key"]))
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


@each([capture for capture in CAPTURES if capture.has_schema_block and not capture.is_flattened])
def test_a_schema_block_is_beside_the_message_without_it(capture):
    alone = Capture(capture.product, capture.version, capture.database, "defaults")
    values = [json.loads(value) if value else None for value in values_of(read_records(capture))]
    assert [value and value["payload"] for value in values] == [
        json.loads(value) if value else None for value in values_of(read_records(alone))
    ]


@pytest.mark.one_in(6)
@each([capture for capture in CAPTURES if capture.product == "debezium"])
def test_kafka_keys_name_the_key_columns_that_the_tables_of_the_database_have(capture):
    """A table without a primary key has that of its unique index, or none."""
    records = read_records(capture)
    keys = [bytes_of(one["key"]) for one in records]
    messages = pa.table({
        "key": pa.array(keys, pa.binary()), "value": pa.array(values_of(records), pa.binary()),
        "topic": ["capture"] * len(keys), "partition": pa.array([0] * len(keys), pa.int32()),
        "offset": pa.array(range(len(keys)), pa.int64()),
    })  # fmt: skip
    opened = open_contract(reference_of(capture))
    decoded, report = opened.decode_batch(messages), opened.check_batch(messages)
    nulls = sum(map(is_null_text, values_of(records)))
    assert decoded.quarantine.num_rows == nulls + len(TIMES_BEYOND_THE_LEAST.get(name_of(capture), []))
    assert [one for one in report.findings if "key" in one.rule] == []
    found = defaultdict(set)
    for row in decoded.changes.to_pylist():
        key = row["primary_key"]
        named = f"{row['schema'] or row['database']}.{row['table']}"
        name = table_in_topic(records[row["offset"]]) if capture.is_flattened else named
        found[name].add(key and tuple(key))
    assert dict(found) == {
        name: {None if name in GONE and capture.database == "postgresql" else one.state.key or None for one in changes}
        for name, changes in changes_due(capture).items()
    }


@each([capture for capture in CAPTURES if capture.options == "unwrapped-schema" and capture.version == "3.5.0"])
def test_nulls_behind_a_schema_are_deletions_where_a_user_says_so(capture):
    records = [one for one in read_records(capture) if one["key"] is not None]
    values, keys = values_of(records), [bytes_of(one["key"]) for one in records]
    messages = pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary()),
                         "topic": [one["topic"] for one in records]})  # fmt: skip
    decoded = cdc.contract(reference_of(capture), parameters={"null_values": "deletion"}).decode_batch(messages)

    found = defaultdict(list)
    for row in decoded.changes.to_pylist():
        if row["op"] == "delete":
            found[".".join(row["topic"].split(".")[-2:])].append(sorted(dict(row["before"]).values()))
    due = {
        name: [sorted(change.key) for change in changes if change.state.key and name not in GONE]
        for name, changes in deletions(capture.database).items()
    }
    assert {name: sorted(rows) for name, rows in found.items()} == {
        name: sorted(rows) for name, rows in due.items() if rows
    }
