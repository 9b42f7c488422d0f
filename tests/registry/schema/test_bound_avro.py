"""The Avro form of one table's messages: every row goes in and back, read by Apache's and fastavro's readers too."""

from __future__ import annotations

import io
import json
from itertools import islice

import avro.io
import avro.schema
import fastavro
import pytest
from both_paths import CATALOGUE
from mutations import replaced
from registry_tables import ODD, ORDERS_TABLE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.message.avro_records import AvroError, Codec, same_message
from cdc_contracts.registry.core.schema.message_schemas.bound_avro import bound_avro_schema
from cdc_contracts.registry.core.schema.message_schemas.table_examples import table_in, table_renderer
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import Number

OF_JSON = [version for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]
ON_THE_WIRE = [version for version in CATALOGUE.all_versions() if version.meaning.transport == "avro"]


def messages(version, table, count):
    renderer, can = table_renderer(version, table, ReadingOptions()), capabilities_of(version, ReadingOptions()).ops
    wire = ReferenceValidator(version, ReadingOptions()).wire
    events = row_stream(7, 3 * count, table=table_in(version, table), snapshot=4, controls=11)
    return [wire.open(renderer.render(event)) for event in islice((one for one in events if one.op in can), count)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", OF_JSON, ids=str)
@pytest.mark.parametrize("table", [ORDERS_TABLE, ODD], ids=["orders", "odd"])
def test_every_row_goes_into_avro_and_back_and_others_read_the_same(version, table, part):
    schema = json.loads(json.dumps(bound_avro_schema(version, table, ReadingOptions())))
    codec, parsed = Codec(schema), fastavro.parse_schema(schema)
    apache = avro.io.DatumReader(avro.schema.parse(json.dumps(schema)))
    for message in part(messages(version, table, 40), 6):
        record = codec.write(message)
        assert same_message(codec.read(record), message)
        theirs = apache.read(avro.io.BinaryDecoder(io.BytesIO(record)))
        assert fastavro.schemaless_reader(io.BytesIO(record), parsed, None) == theirs


def test_a_column_whose_name_reads_as_escaped_is_still_itself():
    columns = {"id": {"type": "bigint"}, "_x0041_": {"type": "varchar(9)"}, "a_x002E_b": {"type": "varchar(9)"}}
    table = TableContract.model_validate({"table": "shop.odd", "columns": columns, "primary_key": ["id"]})
    version = CATALOGUE.version("oms-community/canal@2")
    schema = bound_avro_schema(version, table, ReadingOptions())
    data = next(field for field in schema["fields"] if field["name"] == "data")["type"][2]["items"]
    assert [field.get("member") for field in data["fields"]][:3] == [None, "_x0041_", "a_x002E_b"]
    codec = Codec(schema)
    for message in messages(version, table, 9):
        assert same_message(codec.read(codec.write(message)), message)


def test_columns_are_fields_that_say_their_type_and_no_others_are_lost():
    version = CATALOGUE.version("oms-community/canal@2")
    schema = bound_avro_schema(version, ORDERS_TABLE, ReadingOptions())
    data = next(field for field in schema["fields"] if field["name"] == "data")["type"][2]["items"]
    assert (schema["namespace"], data["name"]) == ("cdc_contracts.oms_community_canal.v2.shop_orders", "Row")
    fields = {field["name"]: field for field in data["fields"]}
    assert list(fields) == [*ORDERS_TABLE.columns, "others"]
    assert fields["seen"]["type"] == ["Absent", "null", "string"]
    assert fields["id"]["type"][2]["name"] == "NumberText"
    assert fields["seen"]["doc"].startswith("`timestamp(6)`. An instant as text: seconds since 1970")
    message = next(one for one in messages(version, ORDERS_TABLE, 40) if one["data"])
    codec = Codec(schema)
    wider = replaced(message, ["data", 0, "not listed"], Number("7"))
    assert same_message(codec.read(codec.write(wider)), wider)
    with pytest.raises(AvroError, match="/data/0/seen"):
        codec.write(replaced(message, ["data", 0, "seen"], Number("7")))


def test_two_fields_for_one_member_are_refused():
    fields = [{"name": "a", "type": "int"}, {"name": "b", "member": "a", "type": "int"}]
    with pytest.raises(AvroError, match="occurs twice"):
        Codec({"type": "record", "name": "R", "fields": fields})


@pytest.mark.parametrize("version", ON_THE_WIRE, ids=str)
def test_records_on_the_wire_have_no_schema_of_a_table(version):
    with pytest.raises(UsageError, match="have one schema for all tables"):
        bound_avro_schema(version, ORDERS_TABLE, ReadingOptions())
