"""A contract drafted from what a real producer wrote decodes it like the contract that describes this producer."""

import json
from collections import defaultdict
from decimal import Decimal

import pyarrow as pa
import pytest
from producers.captures import bytes_of, read_records
from producers.decoded_captures import is_null_text, values_of
from producers.test_captures import CAPTURES, TIMES_BEYOND_THE_LEAST, name_of, reference_of
from topics import CATALOGUE

import cdc_contracts as cdc
from cdc_contracts.registry.authoring.drafting.draft_folders import make_folder, read_samples

SUBJECT = "acme/feed"
LITERAL = "__debezium_unavailable_value"
"""A text that rows of these databases have too: an insert, which has every value, shows that it is one."""


def messages_in(capture):
    """Return the records of a capture with a message: neither a tombstone, nor the text null."""
    return [
        record for record, value in zip(read_records(capture), values_of(read_records(capture)), strict=True)
        if value is not None and not is_null_text(value)
    ]  # fmt: skip


def write_draft(records, folder):
    """Draft a contract from records, as that of a vendor that no catalogue knows."""
    keys = [bytes_of(record["key"]) for record in records]
    samples = read_samples(
        (f"{record['topic']}:{number}", value, key)
        for number, (record, value, key) in enumerate(zip(records, values_of(records), keys, strict=True), 1)
    )
    drafted = make_folder(CATALOGUE, SUBJECT, "feed.jsonl", samples, like=None, keep_values=False)
    for name, content in drafted.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def decode(contract, records):
    """Return the row changes and the control messages of records, each by the place of its record, and the refused."""
    keys = [None if record["key"] is None else record["key"].encode() for record in records]
    decoded = contract.decode_batch(
        pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values_of(records), pa.binary())})
    )
    changes = defaultdict(list)
    for row in decoded.changes.to_pylist():
        before, after = (None if row[side] is None else dict(row[side]) for side in ("before", "after"))
        changes[row["offset"]].append((row["op"], before, after, row["primary_key"]))
    controls = {row["offset"]: row["kind"] for row in decoded.control.to_pylist()}
    refused = {row["offset"]: [(one["rule"], one["path"]) for one in row["findings"]]
               for row in decoded.quarantine.to_pylist()}  # fmt: skip
    return changes, controls, refused


def held(row, sent=None):
    """Return which columns a row has, and which of them are NULL; `sent` are columns that are known to differ."""
    return None if row is None else {name: value is None for name, value in row.items() if name != sent}


def columns_with_the_literal(change):
    """Return the column of an insert that has the text which elsewhere stands for a value that was not sent."""
    op, _, after, _ = change
    return next(
        (name for name, value in (after or {}).items() if value == LITERAL and op in ("insert", "snapshot")), None
    )


@pytest.mark.one_in(32)
@pytest.mark.parametrize(
    ("capture", "reference"), [pytest.param(one, reference_of(one), id=name_of(one)) for one in CAPTURES]
)
def test_a_draft_decodes_a_capture_like_the_contract_of_its_producer(capture, reference, tmp_path):
    records = messages_in(capture)
    write_draft(records, tmp_path)

    changes, controls, refused = decode(cdc.contract(f"{SUBJECT}@1", contracts=[tmp_path]), records)
    due, due_controls, not_read = decode(cdc.contract(reference), records)

    assert refused == {}
    assert [one for found in not_read.values() for one in found] == TIMES_BEYOND_THE_LEAST.get(name_of(capture), [])
    assert controls == due_controls
    assert changes.keys() == due.keys() | not_read.keys()
    for offset, wanted in due.items():
        found = changes[offset]
        literals = [columns_with_the_literal(change) for change in found]
        assert [change[0] for change in found] == [change[0] for change in wanted]
        for side in (1, 2):
            pairs = zip(found, wanted, literals, strict=True)
            assert [(held(one[side], sent), held(other[side], sent)) for one, other, sent in pairs] == [
                (held(other[side], sent), held(other[side], sent)) for other, sent in zip(wanted, literals, strict=True)
            ]
        assert [change[3] for change in found] == [change[3] for change in wanted]
    if capture.product != "canal" and not capture.has_schema_block:
        assert_as_sent(capture, records, changes)


def assert_as_sent(capture, records, changes):
    """Check that each value of a row is the one that its message has, where no message names the type of a column."""
    for offset, found in changes.items():
        message = json.loads(records[offset]["value"], parse_int=Decimal, parse_float=Decimal)
        for _, *sides, _ in found:
            for row, name in zip(sides, ("before", "after"), strict=True):
                sent = message if capture.is_flattened else message.get(name)
                assert {column: read(text, sent[column]) for column, text in (row or {}).items()} == {
                    column: sent[column] for column in row or ()
                }


def read(text, sent):
    """Return a text as a value of the JSON kind that was sent."""
    return text if isinstance(sent, str) or text is None else json.loads(text, parse_int=Decimal, parse_float=Decimal)
