"""Messages in the Avro form of their version: nothing is lost, and other readers read the same."""

from __future__ import annotations

import io
import json

import avro.io
import avro.schema
import fastavro
import pytest
from both_paths import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.avro_records import Codec, same_message
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator

VERSIONS = list(CATALOGUE.all_versions())
OF_JSON = [version for version in VERSIONS if version.meaning.transport == "json"]
ON_THE_WIRE = [version for version in VERSIONS if version.meaning.transport == "avro"]


def written(version):
    return version.folder.joinpath("message.avsc").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", [*VERSIONS, CATALOGUE.canonical], ids=str)
def test_apache_and_fastavro_take_every_schema(version):
    text = written(version)
    assert avro.schema.parse(text).fullname == fastavro.parse_schema(json.loads(text))["name"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", OF_JSON, ids=str)
def test_every_sample_goes_into_avro_and_back_and_apache_and_fastavro_read_the_same(version):
    schema = json.loads(written(version))
    codec, wire = Codec(schema), ReferenceValidator(version, ReadingOptions()).wire
    apache = avro.io.DatumReader(avro.schema.parse(json.dumps(schema)))
    parsed = fastavro.parse_schema(schema)
    samples = find_samples(version).messages
    assert samples
    for one in samples:
        message = wire.open(one.value)
        record = codec.write(message)
        assert same_message(codec.read(record), message), one.name
        theirs = apache.read(avro.io.BinaryDecoder(io.BytesIO(record)))
        assert fastavro.schemaless_reader(io.BytesIO(record), parsed, None) == theirs, one.name


@pytest.mark.parametrize("version", ON_THE_WIRE, ids=str)
def test_apache_reads_bare_records_on_the_wire_by_the_schema_of_their_version(version):
    reader = avro.io.DatumReader(avro.schema.parse(written(version)))
    wire = ReferenceValidator(version, ReadingOptions()).wire
    read = 0
    for one in find_samples(version).messages:
        message = wire.open(one.value)
        if one.value[:1] == b"\x00" or "bornTimestamp" not in message:  # framed, or of the older edition
            continue
        record = reader.read(avro.io.BinaryDecoder(io.BytesIO(one.value)))
        assert (str(record["id"]), record["operation"]) == (message["id"].token, message["operation"]), one.name
        read += 1
    assert read


def test_an_absent_member_is_its_default_and_null_stays_null():
    version = CATALOGUE.version("dts/canal@2")
    schema = json.loads(written(version))
    assert next(field for field in schema["fields"] if field["name"] == "gtid")["default"] == "ABSENT"
    sample = next(one for one in find_samples(version).messages if one.name == "insert-every-type")
    message = {**ReferenceValidator(version, ReadingOptions()).wire.open(sample.value), "gtid": None}
    assert Codec(schema).read(Codec(schema).write(message))["gtid"] is None
    del message["gtid"]
    assert "gtid" not in Codec(schema).read(Codec(schema).write(message))
    # a writer that does not know the member: whoever reads by the whole schema takes its default
    without = json.loads(written(version))
    without["fields"] = [field for field in without["fields"] if field["name"] != "gtid"]
    types = next(field for field in without["fields"] if field["name"] == "sqlType")["type"]
    types[0] = {"type": "enum", "name": "Absent", "symbols": ["ABSENT"]}  # defined where it is met first now
    record = Codec(without).write(message)
    read = fastavro.schemaless_reader(io.BytesIO(record), fastavro.parse_schema(without), fastavro.parse_schema(schema))
    assert read["gtid"] == "ABSENT"


def test_times_are_a_logical_type_where_every_number_is_a_time():
    kinds = {}
    for version in OF_JSON:
        text = written(version)
        kinds[version.reference] = text.count('"logicalType": "timestamp-millis"')
    assert kinds["dts/canal@2"] == 2
    assert kinds["dataworks/streamx@1"] == 0  # -1 stands for none there
