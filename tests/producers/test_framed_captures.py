"""Records that real producers framed for a schema registry are Avro of its schemas, with the values of the JSON ones."""

import json
from collections import defaultdict

import pytest
from producers.captures import Capture, list_captures, read_records
from producers.framed_captures import (
    id_and_body,
    messages_of_framed,
    messages_of_json,
    plain_of,
    read_whole,
    registered_schemas,
    unlike,
)
from producers.schema_registries import unpack_schemas
from producers.test_captures import name_of

CAPTURES = [one for one in list_captures() if one.is_framed]
each_framed = pytest.mark.parametrize("capture", CAPTURES, ids=name_of)


@pytest.fixture
def folder(capture, tmp_path):
    return unpack_schemas(capture.schemas_path.read_bytes(), tmp_path)


def parts_of(capture):
    """Yield the subject, id and body of each key and value, as the default strategy of serializers names subjects."""
    for record in read_records(capture):
        for name in ("key", "value"):
            if record[name] is not None:
                yield f"{record['topic']}-{name}", *id_and_body(capture.options, record, name)


@each_framed
def test_each_key_and_value_is_read_whole_by_the_schema_of_its_id_which_is_one_of_its_subject(capture, folder):
    registered = registered_schemas(folder)
    schemas = {one.id: one.schema for one in registered}
    used = set()
    for subject, number, body in parts_of(capture):
        read_whole(body, schemas[number])
        used.add((number, subject))
    assert used == {(one.id, one.subject) for one in registered}


@each_framed
def test_a_topic_of_a_changed_table_has_several_ids_in_the_order_of_the_changes(capture, folder):
    schemas = {one.id: one.schema for one in registered_schemas(folder)}
    sent = defaultdict(list)
    for subject, number, _ in parts_of(capture):
        if number not in sent[subject]:
            sent[subject].append(number)
    assert all(numbers == sorted(numbers) for numbers in sent.values())
    columns = {
        tuple(field["name"] for field in row_of(schemas[number])["fields"])
        for subject, numbers in sent.items()
        if subject.endswith(".orders-value") and len(numbers) > 1
        for number in numbers
    }
    assert len(columns) > 1


def row_of(schema):
    """Return the record of the columns: that of the image before a change, or a row alone."""
    before = next((field["type"] for field in schema["fields"] if field["name"] == "before"), None)
    return schema if before is None else next(one for one in before if one != "null")


@each_framed
def test_keys_and_messages_have_the_values_that_the_json_converter_wrote(capture, folder):
    framed = messages_of_framed(capture.options, read_records(capture), folder)
    plain = messages_of_json(read_records(plain_of(capture)))
    assert {topic: len(found) for topic, found in framed.items()} == {
        topic: len(found) for topic, found in plain.items()
    }
    assert unlike(framed, plain) == []


@each_framed
def test_a_changed_value_would_be_found(capture, folder):
    framed = messages_of_framed(capture.options, read_records(capture), folder)
    plain = messages_of_json(read_records(plain_of(capture)))
    (topic,) = (topic for topic in framed if topic.endswith("numbers"))
    for message, held in zip(framed[topic], json.loads(json.dumps(plain[topic])), strict=True):
        row = held[1] and held[1].get("after", held[1])
        for column, value in (row or {}).items():
            row[column] = None if value is not None else 0
            assert len(unlike(message, held)) == 1
            row[column] = value


@pytest.mark.parametrize("options", ["apicurio-avro", "headers-avro"])
def test_the_same_events_have_the_same_ids_and_bodies_in_each_frame(options):
    run = ("debezium", "3.5.0", "postgresql")
    first, other = ([one[1:] for one in parts_of(Capture(*run, name))] for name in ("defaults-avro", options))
    assert len(first) > 300
    assert first == other
