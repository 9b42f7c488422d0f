"""Records that real producers framed for a schema registry are Avro of its schemas, with the values of the JSON ones."""

import json
from collections import defaultdict

import pytest
from producers.captures import bytes_of, list_captures, read_records
from producers.framed_captures import (
    messages_of_framed,
    messages_of_json,
    plain_of,
    read_framed,
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
