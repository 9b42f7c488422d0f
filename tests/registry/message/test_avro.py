"""JSON messages through Avro and back: nothing may get lost, and what would get lost is refused."""

from __future__ import annotations

import io
from pathlib import Path

import fastavro
import pytest

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.avro_records import AvroError, Codec, same_message
from cdc_contracts.registry.core.message.transport import open_transport

CATALOGUE = Catalogue([Path(__file__).parents[3] / "contracts"])
VERSIONS = list(CATALOGUE.all_versions())
ABSENT = {"type": "enum", "name": "Absent", "symbols": ["ABSENT"]}
NUMBER = {"type": "record", "name": "NumberText", "fields": [{"name": "token", "type": "string"}]}
SCHEMA = {
    "type": "record",
    "name": "Message",
    "fields": [
        {"name": "op", "type": "string"},
        {"name": "id", "type": "long"},
        {"name": "flag", "type": ["null", ABSENT, "boolean"]},
        {"name": "note", "type": ["null", "Absent", "string"]},
        {"name": "seq", "type": ["null", "Absent", "long", "string"]},
        {"name": "row", "type": ["null", "Absent", {"type": "map", "values": ["null", "boolean", "string", NUMBER]}]},
        {
            "name": "rows",
            "type": ["Absent", {"type": "array", "items": {"type": "map", "values": ["null", "NumberText"]}}],
        },
    ],
}


def message(text):
    return parse_message(text.encode())


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_every_sample_goes_through_and_back(version):
    samples = find_samples(version).messages
    wire = open_transport(version, ReadingOptions())
    codec = Codec(version.avro_schema) if wire.transport == "json" else None
    for sample in samples:
        parsed = wire.open(sample.value)
        again = codec.read(codec.write(parsed)) if codec else wire.open(wire.write(wire.text_of(sample.value).decode()))
        again = again if "bornTimestamp" in parsed else {k: v for k, v in again.items() if k != "bornTimestamp"}
        assert same_message(again, parsed), sample.file
    assert len(samples) >= 12


@pytest.mark.parametrize(
    "text",
    [
        '{"op":"a","id":1}',
        '{"op":"a","id":-9223372036854775808,"flag":null,"note":null,"seq":null,"row":null}',
        '{"op":"","id":0,"flag":true,"note":"ABSENT","seq":7,"row":{}}',
        '{"op":"\\u0000","id":9223372036854775807,"flag":false,"note":"","seq":"7","rows":[]}',
        '{"op":"a","id":1,"row":{"n":null,"b":false,"t":"12.10","d":12.10,"i":-0,"e":1.5E+3},"rows":[{"x":1},{"x":null}]}',
        '{"op":"a","id":1,"row":{"long":%s,"small":1e-999999999}}' % ("9" * 400),
        '{"op":"😀","id":1,"row":{"#row id#":"x","a b":"y","":"z","ABSENT":"ABSENT"}}',
    ],
)
def test_a_message_is_the_same_to_the_digit_afterwards(text):
    parsed = message(text)
    assert same_message(Codec(SCHEMA).read(Codec(SCHEMA).write(parsed)), parsed)


def test_a_record_is_what_any_reader_of_avro_sees():
    record = Codec(SCHEMA).write(message('{"op":"add","id":7,"note":null,"row":{"total":12.10,"name":"x"},"rows":[]}'))
    assert fastavro.schemaless_reader(io.BytesIO(record), fastavro.parse_schema(SCHEMA), None) == {
        "op": "add",
        "id": 7,
        "flag": "ABSENT",
        "note": None,
        "seq": "ABSENT",
        "row": {"total": {"token": "12.10"}, "name": "x"},
        "rows": [],
    }


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('{"a":1.0}', '{"a":1.00}'),
        ('{"a":null}', "{}"),
        ('{"a":"1"}', '{"a":1}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":[1]}', '{"a":[1,1]}'),
        ('{"a":{"b":0}}', '{"a":{"b":-0}}'),
    ],
)
def test_messages_that_differ_in_a_digit_or_a_kind_are_not_the_same(left, right):
    assert same_message(message(left), message(left))
    assert not same_message(message(left), message(right))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"op":"a","id":1,"more":2}', "/more"),
        ('{"op":"a"}', "/id"),
        ('{"op":null,"id":1}', "/op"),
        ('{"op":"a","id":"1"}', "/id"),
        ('{"op":"a","id":1.0}', "/id"),
        ('{"op":"a","id":-0}', "/id"),
        ('{"op":"a","id":9223372036854775808}', "/id"),
        ('{"op":"a","id":1,"seq":9223372036854775808}', "/seq"),
        ('{"op":"a","id":1,"flag":0}', "/flag"),
        ('{"op":"a","id":1,"row":[]}', "/row"),
        ('{"op":"a","id":1,"row":{"c":{}}}', "/row/c"),
        ('{"op":"a","id":1,"rows":null}', "/rows"),
        ('{"op":"a","id":1,"rows":[{"c":"x"}]}', "/rows/0/c"),
    ],
)
def test_what_the_schema_cannot_hold_is_refused_with_its_place(text, path):
    with pytest.raises(AvroError) as error:
        Codec(SCHEMA).write(message(text))
    assert error.value.path == path


def test_bytes_that_are_not_exactly_one_record_are_refused():
    record = Codec(SCHEMA).write(message('{"op":"add","id":7}'))
    with pytest.raises(AvroError, match="not a record"):
        Codec(SCHEMA).read(record[:-1])
    with pytest.raises(AvroError, match="2 bytes are left after the record"):
        Codec(SCHEMA).read(record + b"\x00\x00")
    with pytest.raises(AvroError, match="not a record"):
        Codec(SCHEMA).read(b"\xff" * 20)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "record", "name": "M", "fields": [{"name": "a", "type": "number"}]},
        {"type": "record", "name": "M", "fields": [{"name": "a", "type": "bytes"}]},
        {"type": "record", "name": "M", "fields": [{"name": "a b", "type": "string"}]},
        {"type": "record", "name": "M", "fields": [{"name": "a", "type": "string"}, {"name": "a", "type": "long"}]},
        {"type": "record", "name": "M", "fields": [{"name": "a", "type": "Absent"}]},
        "no schema",
    ],
)
def test_a_schema_that_no_message_can_be_written_by_is_refused(schema):
    with pytest.raises(AvroError):
        Codec(schema)


def test_a_field_is_the_member_that_it_names_or_the_one_of_its_escaped_name():
    fields = [{"name": "a_x002E_b", "type": "long"}, {"name": "c_x002E_d", "member": "c:d", "type": "long"}]
    codec = Codec({"type": "record", "name": "M", "fields": fields})
    parsed = message('{"a.b":1,"c:d":2}')
    assert same_message(codec.read(codec.write(parsed)), parsed)
    with pytest.raises(AvroError, match="the record has no such field"):
        codec.write(message('{"a_x002E_b":1,"c:d":2}'))


def test_two_fields_of_one_member_are_refused():
    fields = [{"name": "a_x002E_b", "type": "long"}, {"name": "other", "member": "a.b", "type": "long"}]
    with pytest.raises(AvroError, match="`member` of `other` is not a valid name, or occurs twice"):
        Codec({"type": "record", "name": "M", "fields": fields})


def test_a_float_is_taken_only_where_it_keeps_every_digit():
    schema = {"type": "record", "name": "M", "fields": [{"name": "a", "type": "double"}]}
    parsed = message('{"a":0.5}')
    assert same_message(Codec(schema).read(Codec(schema).write(parsed)), parsed)
    with pytest.raises(AvroError):
        Codec(schema).write(message('{"a":0.50}'))


@pytest.mark.parametrize("token", ["abc", "NaN", "1.", "", "01"])
def test_a_number_of_another_writer_that_json_cannot_write_is_refused(token):
    record = io.BytesIO()
    row = {"c": ("NumberText", {"token": token})}
    foreign = {"op": "a", "id": 1, "flag": None, "note": None, "seq": None, "row": row, "rows": ("Absent", "ABSENT")}
    fastavro.schemaless_writer(record, fastavro.parse_schema(SCHEMA), foreign)
    with pytest.raises(AvroError, match="a number that JSON cannot represent"):
        Codec(SCHEMA).read(record.getvalue())


def test_a_record_whose_columns_hide_a_member_with_a_field_is_refused():
    columns = {"name": "columns", "type": {"type": "map", "values": "string"}, "other-members": True}
    schema = {"type": "record", "name": "M", "fields": [{"name": "op", "type": "string"}, columns]}
    record = io.BytesIO()
    fastavro.schemaless_writer(record, fastavro.parse_schema(schema), {"op": "a", "columns": {"op": "b", "c": "d"}})
    with pytest.raises(AvroError, match="`columns` contains a member that has its own field"):
        Codec(schema).read(record.getvalue())
    written = Codec(schema).write(message('{"op":"a","columns":"x"}'))
    assert Codec(schema).read(written) == {"op": "a", "columns": "x"}
