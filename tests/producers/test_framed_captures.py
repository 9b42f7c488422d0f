"""Records that real producers framed for a schema registry are Avro of its schemas, with the values of the JSON ones."""

import json
import struct
from collections import defaultdict

import pyarrow as pa
import pytest
from producers.captures import bytes_of, list_captures, read_records
from producers.framed_captures import (
    LEFT_OUT,
    adjusted_name,
    messages_of_framed,
    messages_of_json,
    plain_of,
    read_framed,
    registered_schemas,
    unlike,
)
from producers.schema_registries import unpack_schemas
from producers.test_captures import VERSIONS, name_of

import cdc_contracts as cdc

FLOATS = frozenset({"single", "precise", "spot"})
"""Columns of binary floating point numbers, or of objects that hold some."""
CAPTURES = [one for one in list_captures() if one.is_framed]
each_framed = pytest.mark.parametrize("capture", CAPTURES, ids=name_of)


@pytest.fixture
def folder(capture, tmp_path):
    return unpack_schemas(capture.schemas_path.read_bytes(), tmp_path)


def parts_of(capture):
    """Yield the subject and the bytes of each key and value, as the default strategy of serializers names subjects."""
    for record in read_records(capture):
        for part in ("key", "value"):
            if record[part] is not None:
                yield f"{record['topic']}-{part}", bytes_of(record[part])


@each_framed
def test_each_key_and_value_is_read_whole_by_the_schema_of_its_id_which_is_one_of_its_subject(capture, folder):
    registered = registered_schemas(folder)
    schemas = {one.id: one.schema for one in registered}
    used = {(read_framed(part, schemas)[0], subject) for subject, part in parts_of(capture)}
    assert used == {(one.id, one.subject) for one in registered}


@each_framed
def test_a_topic_of_a_changed_table_has_several_ids_in_the_order_of_the_changes(capture, folder):
    schemas = {one.id: one.schema for one in registered_schemas(folder)}
    sent = defaultdict(list)
    for subject, part in parts_of(capture):
        number, _ = read_framed(part, schemas)
        if number not in sent[subject]:
            sent[subject].append(number)
    assert all(numbers == sorted(numbers) for numbers in sent.values())
    columns = [
        [field["name"] for field in row_of(schemas[number])["fields"] if not field["name"].startswith("__")]
        for subject, numbers in sent.items()
        if subject.endswith(".orders-value") and len(numbers) > 1
        for number in numbers
    ]
    assert len(set(map(tuple, columns))) > 1


def row_of(schema):
    """Return the record of the columns: that of the image before a change, or a row alone."""
    before = next((field["type"] for field in schema["fields"] if field["name"] == "before"), None)
    return schema if before is None else next(one for one in before if one != "null")


@each_framed
def test_keys_and_messages_have_the_values_that_the_json_converter_wrote(capture, folder):
    framed = messages_of_framed(read_records(capture), folder)
    plain = messages_of_json(read_records(plain_of(capture)))
    assert {topic: len(found) for topic, found in framed.items()} == {
        topic: len(found) for topic, found in plain.items()
    }
    assert unlike(framed, plain) == []


@each_framed
def test_a_changed_value_would_be_found(capture, folder):
    framed = messages_of_framed(read_records(capture), folder)
    plain = messages_of_json(read_records(plain_of(capture)))
    (topic,) = (topic for topic in framed if topic.endswith("numbers"))
    for message, held in zip(framed[topic], json.loads(json.dumps(plain[topic])), strict=True):
        row = held[1] and held[1].get("after", held[1])
        for column, value in (row or {}).items():
            row[column] = None if value is not None else 0
            assert len(unlike(message, held)) == 1
            row[column] = value


ROWS_ALONE = {"1.9.7": "debezium/flat@1", "3.5.0": "debezium/flat@2"}


def contract_of(capture):
    """The contract of a framed capture: of its rows alone, or of messages beside a schema block."""
    if capture.options == "unwrapped-avro":
        return ROWS_ALONE[capture.version]
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


def parameters_of(capture):
    mode = "postgresql" if capture.database == "postgresql" else "mysql"
    return {"source_mode": mode} if capture.options.startswith("unwrapped") else {}


def decoded(capture, reference, **options):
    return cdc.contract(reference, parameters=parameters_of(capture), **options).decode_batch(keyed_batch(capture))


@each_framed
def test_the_contract_of_framed_records_is_detected(capture, folder):
    values = [bytes_of(one["value"]) for one in read_records(capture) if one["value"] is not None]
    found = cdc.detect(values, schema_registry=folder)
    if capture.options == "unwrapped-avro" and capture.database == "mariadb":
        assert found.verdict == "mixed"  # its schema changes may be beside rows alone, or beside a schema block
    elif capture.options == "unwrapped-avro":  # rows say no release, and any product may write such
        assert (found.verdict, found.contract) == ("likely", contract_of(capture).partition("@")[0])
    else:
        assert (found.verdict, found.contract) == ("certain", contract_of(capture))


@each_framed
def test_one_framed_message_at_a_time_has_the_rows_that_a_batch_has(capture, folder):
    contract = cdc.contract(contract_of(capture), parameters=parameters_of(capture), schema_registry=folder)
    batch = contract.decode_batch(keyed_batch(capture))
    rows = defaultdict(list)
    for row in batch.changes.to_pylist():
        rows[row["offset"]].append((row["op"], *map(names_in, (row["before"], row["after"]))))
    for offset, value in enumerate(keyed_batch(capture)["value"].to_pylist()):
        if value is not None:
            found = contract.decode(value)
            held = [(one.op, *map(names_in, (one.before, one.after))) for one in found.changes]
            assert held == rows.get(offset, [])


@pytest.mark.parametrize("native", ["eager", "off"])
@each_framed
def test_framed_records_decode_to_the_rows_of_the_same_run_without_a_registry(capture, folder, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    framed = decoded(capture, contract_of(capture), schema_registry=folder)
    beside = decoded(plain_of(capture), contract_of(capture))

    assert refused(framed) == refused(beside)
    assert framed.control.num_rows == beside.control.num_rows
    assert rows_by_topic(framed.changes) == rows_by_topic(beside.changes)
