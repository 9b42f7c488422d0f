"""Records that real producers framed for a schema registry are detected, and decode to the rows of the same run in JSON."""

import json
import struct
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest
from producers.captures import bytes_of, list_captures, read_records
from producers.framed_captures import LEFT_OUT, adjusted_name, plain_of
from producers.schema_registries import unpack_schemas
from producers.test_captures import VERSIONS, name_of

import cdc_contracts as cdc

FLOATS = frozenset({"single", "precise", "spot"})
"""Columns of binary floating point numbers, or of objects that hold some."""
CAPTURES = [one for one in list_captures() if one.is_framed and one.options != "headers-avro"]
"""Those with the id in front of the record."""
each_framed = pytest.mark.parametrize("capture", CAPTURES, ids=name_of)


@pytest.fixture
def folder(capture, tmp_path):
    return unpack_schemas(capture.schemas_path.read_bytes(), tmp_path)


ROWS = {"1.9.7": "debezium/flat-schema@1", "3.5.0": "debezium/flat-schema@2"}
UNTYPED_ROWS = {"1.9.7": "debezium/flat@1", "3.5.0": "debezium/flat@2"}


def contract_of(capture):
    """The contract of a framed capture: of its rows, or of whole messages, beside a schema block."""
    if capture.options == "unwrapped-avro":
        return ROWS[capture.version]
    return f"debezium/json-schema@{VERSIONS[capture.version]}"


def keyed_batch(capture):
    records = [one for one in read_records(capture) if one["value"] is None or bytes_of(one["value"]) != b"null"]
    keys, values = (
        [None if one[name] is None else bytes_of(one[name]) for one in records] for name in ("key", "value")
    )
    return pa.table({
        "key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary()),
        "topic": [one["topic"] for one in records], "partition": pa.array([0] * len(records), pa.int32()),
        "offset": pa.array(range(len(records)), pa.int64()),
    })  # fmt: skip


def rows_by_topic(changes):
    """The op and the images of each row by its topic, with names of columns as Avro allows them."""
    found = defaultdict(list)
    for row in changes.to_pylist():
        images = [
            None if row[side] is None
            else {adjusted_name(name): told_by(name, text) for name, text in row[side] if name != LEFT_OUT}
            for side in ("before", "after")
        ]  # fmt: skip
        found[row["topic"].partition(".")[2]].append([row["op"], *images])
    return dict(found)


def told_by(name, text):
    """What the text of a column tells: of a binary floating point number Java may write more digits than needed."""
    if name not in FLOATS or text is None:
        return text
    return json.loads(text, parse_float=_nearest, parse_int=_nearest) if text[-1] in "0123456789}" else text


def _nearest(token):
    try:
        return struct.pack(">f", float(token))
    except OverflowError:
        return float(token)


def names_in(image):
    return None if image is None else sorted(dict(image))


def refused(decoded):
    return [(row["topic"].partition(".")[2], row["findings"]) for row in decoded.quarantine.to_pylist()]


def decoded(capture, reference, **options):
    mode = "postgresql" if capture.database == "postgresql" else "mysql"
    parameters = {"source_mode": mode} if reference.startswith("debezium/flat@") else {}
    return cdc.contract(reference, parameters=parameters, **options).decode_batch(keyed_batch(capture))


@pytest.mark.one_in(6)
@each_framed
def test_the_contract_of_framed_records_is_detected(capture, folder):
    values = [bytes_of(one["value"]) for one in read_records(capture) if one["value"] is not None]
    found = cdc.detect(values, schema_registry=folder)
    if capture.options == "unwrapped-avro":  # rows say no release
        assert (found.verdict, found.contract) == ("likely", contract_of(capture).partition("@")[0])
    else:
        assert (found.verdict, found.contract) == ("certain", contract_of(capture))


@pytest.mark.one_in(4)
@each_framed
def test_one_framed_message_at_a_time_has_the_rows_that_a_batch_has(capture, folder, part):
    contract = cdc.contract(contract_of(capture), schema_registry=folder)
    batch = contract.decode_batch(keyed_batch(capture))
    assert {rule for _, findings in refused(batch) for rule in (one["rule"] for one in findings)} <= {
        "D07.micros-of-day"
    }
    rows = defaultdict(list)
    for row in batch.changes.to_pylist():
        rows[row["offset"]].append((row["op"], *map(names_in, (row["before"], row["after"]))))
    values = keyed_batch(capture)["value"].to_pylist()
    for offset, value in part(enumerate(values), 9):
        if value is not None:
            found = contract.decode(value)
            held = [(one.op, *map(names_in, (one.before, one.after))) for one in found.changes]
            assert held == rows.get(offset, [])


TWINS = [one for one in CAPTURES if plain_of(one).has_schema_block or one.options == "unwrapped-avro"]
"""Those whose JSON says as much about types; texts and doubles of JSON have no block (test_framed_captures.py)."""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("native", ["eager", "off"])
@pytest.mark.parametrize("capture", TWINS, ids=name_of)
def test_framed_records_decode_to_the_rows_of_the_same_run_without_a_registry(capture, folder, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    reference = UNTYPED_ROWS[capture.version] if capture.options == "unwrapped-avro" else contract_of(capture)
    framed = decoded(capture, reference, schema_registry=folder)
    beside = decoded(plain_of(capture), reference)

    assert refused(framed) == refused(beside)
    assert framed.control.num_rows == beside.control.num_rows
    assert rows_by_topic(framed.changes) == rows_by_topic(beside.changes)


def whole_messages_of(capture):
    """The capture of the same statements whose messages were not reduced to rows."""
    return next(one for one in CAPTURES if one == replace(capture, options="defaults-avro"))


@pytest.mark.parametrize("native", ["eager", "off"])
@pytest.mark.parametrize("capture", [one for one in CAPTURES if one.options == "unwrapped-avro"], ids=name_of)
def test_rows_by_types_of_their_schemas_are_those_after_each_change_in_whole_messages(
    capture, folder, native, monkeypatch, tmp_path
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    whole = whole_messages_of(capture)
    registry = unpack_schemas(whole.schemas_path.read_bytes(), tmp_path / "whole")
    rows = rows_by_topic(decoded(capture, contract_of(capture), schema_registry=folder).changes)
    told = rows_by_topic(decoded(whole, contract_of(whole), schema_registry=registry).changes)

    kept = {topic: [[op, None, after] for op, _, after in changes if op != "delete"] for topic, changes in told.items()}
    assert rows == {topic: changes for topic, changes in kept.items() if changes}
