"""What Confluent's own Python client does with the registry: every method but those of associations; and its serializers."""

from __future__ import annotations

import contextlib
import decimal
import json

import patient
import pytest
from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from registry_servers import serving

ORDER = json.dumps({
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
})  # fmt: skip
ORDER_OF_TEXT = Schema('{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"}]}')
PERSON = json.dumps({
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Person",
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
    "required": ["name"],
    "additionalProperties": False,
}, indent=2)  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as address:
        yield address


@pytest.fixture
def new_client(address):
    """A function that returns a client that remembers nothing."""
    with contextlib.ExitStack() as open_clients:
        yield lambda path="": open_clients.enter_context(
            SchemaRegistryClient({"url": address + path, "max.retries": 0})
        )


@pytest.fixture
def client(new_client):
    return new_client()


def code_of(call, *arguments, **options):
    with pytest.raises(SchemaRegistryError) as failure:
        call(*arguments, **options)
    return failure.value.http_status_code, failure.value.error_code


def test_schemas_are_registered_and_found_again(client, new_client):
    number = client.register_schema("orders/1 ü-value", Schema(ORDER))
    reported = new_client().register_schema_full_response("orders/1 ü-value", Schema(ORDER), normalize_schemas=False)
    assert (reported.schema_id, reported.subject, reported.version) == (number, "orders/1 ü-value", 1)
    assert new_client().register_schema("orders-copy", Schema(ORDER)) == number

    found = new_client().get_schema(number)
    assert json.loads(found.schema_str) == json.loads(ORDER)
    assert found.schema_type == "AVRO"
    assert new_client().get_schema(number, subject_name="orders/1 ü-value", fmt="resolved") == found
    assert new_client().get_schema(number, reference_format="qualified") == found
    assert new_client().get_schema_by_guid(reported.guid).schema_str == found.schema_str
    assert client.get_subjects_by_schema_id(number) == ["orders-copy", "orders/1 ü-value"]
    assert client.get_subjects_by_schema_id(number, subject_name="orders-copy", offset=0, limit=5) == ["orders-copy"]
    uses = client.get_schema_versions(number, deleted=True)
    assert [(use.subject, use.version) for use in uses] == [("orders-copy", 1), ("orders/1 ü-value", 1)]

    looked_up = new_client().lookup_schema("orders/1 ü-value", Schema(ORDER), normalize_schemas=False, deleted=False)
    assert (looked_up.schema_id, looked_up.version) == (number, 1)
    assert code_of(client.lookup_schema, "nobody", Schema(ORDER)) == (404, 40401)
    assert code_of(client.get_schema, 999) == (404, 40403)
    assert client.get_schema_types() == ["JSON", "AVRO"]


def test_versions_are_listed_read_and_deleted(client, new_client):
    client.set_compatibility("versions", "NONE")
    numbers = [client.register_schema("versions", Schema(text)) for text in ('"int"', '"long"', '"string"')]
    assert client.get_versions("versions") == [1, 2, 3]
    assert client.get_versions("versions", offset=1, limit=1) == [2]
    assert client.get_version("versions", 2).schema_id == numbers[1]
    assert client.get_version("versions").version == 3
    assert client.get_latest_version("versions").schema.schema_str == '"string"'
    assert client.delete_version("versions", 2) == 2
    assert client.get_versions("versions") == [1, 3]
    assert client.get_versions("versions", deleted=True) == [1, 2, 3]
    assert client.get_versions("versions", deleted_only=True) == [2]
    assert new_client().get_version("versions", 2, deleted=True).schema_id == numbers[1]
    assert code_of(new_client().get_version, "versions", 2) == (404, 40402)
    assert client.delete_version("versions", 2, permanent=True) == 2
    assert code_of(client.delete_version, "versions", 1, permanent=True) == (404, 40407)
    assert client.delete_subject("versions") == [1, 3]
    assert "versions" not in client.get_subjects()
    assert client.get_subjects(subject_prefix="vers", deleted=True) == ["versions"]
    assert client.get_subjects(subject_prefix="vers", deleted_only=True, offset=0, limit=1) == ["versions"]
    assert client.delete_subject("versions", permanent=True) == [1, 3]
    assert code_of(client.get_versions, "versions", deleted=True) == (404, 40401)


def test_compatibility_is_set_and_asked_for(client):
    client.register_schema("compared", Schema(ORDER))
    assert client.test_compatibility("compared", Schema(ORDER)) is True
    assert client.test_compatibility("compared", ORDER_OF_TEXT, version=1, normalize=True) is False
    assert client.test_compatibility_all_versions("compared", ORDER_OF_TEXT, verbose=True) is False
    assert code_of(client.register_schema, "compared", ORDER_OF_TEXT) == (409, 409)
    assert client.set_compatibility("compared", "none") == {"compatibility": "NONE"}
    assert client.get_compatibility("compared") == "NONE"
    assert client.test_compatibility("compared", ORDER_OF_TEXT) is True
    assert code_of(client.set_compatibility, "compared", "sometimes") == (422, 42203)
    assert code_of(client.get_compatibility, "nobody") == (404, 40408)

    config = client.set_config(
        "compared", ServerConfig(compatibility=ConfigCompatibilityLevel.FULL, compatibility_group="major")
    )
    assert config == {"compatibility": "FULL", "compatibilityGroup": "major"}
    found = client.get_config("compared")
    assert (found.compatibility_level, found.compatibility_group) == ("FULL", "major")
    assert client.delete_config("compared").compatibility_level == "FULL"
    assert client.set_config(config=ServerConfig(compatibility=ConfigCompatibilityLevel.FORWARD)) == {
        "compatibility": "FORWARD"
    }
    assert client.get_config().compatibility_level == "FORWARD"
    assert client.get_compatibility() == "FORWARD"
    assert client.delete_config().compatibility_level == "FORWARD"
    assert client.set_compatibility(level="BACKWARD") == {"compatibility": "BACKWARD"}
    assert client.get_compatibility() == "BACKWARD"


def test_modes_are_set(client):
    assert client.get_global_mode() == "READWRITE"
    assert client.update_mode("moded", "READONLY", force=True) == "READONLY"
    assert client.get_mode("moded") == "READONLY"
    assert code_of(client.register_schema, "moded", Schema(ORDER)) == (422, 42205)
    assert client.delete_mode("moded") == "READONLY"
    assert code_of(client.get_mode, "moded") == (404, 40409)
    assert client.update_global_mode("READWRITE") == "READWRITE"
    assert code_of(client.update_global_mode, "SOMETIMES") == (422, 42204)


def test_contexts_are_listed(client):
    client.register_schema(":.shop:orders", Schema('"int"'))
    assert client.get_contexts() == [".", ".shop"]
    assert client.get_contexts(offset=1, limit=1) == [".shop"]


def test_a_client_of_a_context_needs_not_name_it(new_client, client):
    inside = new_client("/contexts/.till")
    number = inside.register_schema("bills", Schema('"int"'))
    assert inside.get_schema(number).schema_str == '"int"'
    assert client.get_latest_version(":.till:bills").schema_id == number
    assert inside.get_subjects() == [":.till:bills"]


def test_metadata_are_found(client):
    schema = Schema('"double"', metadata=Metadata(None, MetadataProperties({"owner": "shop & till"}), None))
    client.register_schema("owned", schema)
    found = client.get_latest_with_metadata("owned", {"owner": "shop & till"})
    assert found.schema.metadata.properties.properties == {"owner": "shop & till"}
    assert code_of(client.get_latest_with_metadata, "owned", {"owner": "nobody"}) == (404, 40403)


def test_schemas_that_refer_to_others_are_known(client):
    client.register_schema("address", Schema('{"type":"record","name":"Address","fields":[]}'))
    person = '{"type":"record","name":"Person","fields":[{"name":"home","type":"Address"}]}'
    references = [SchemaReference("Address", "address", 1)]
    number = client.register_schema("person", Schema(person, "AVRO", references))
    assert client.get_referenced_by("address") == [number]
    assert client.get_referenced_by("address", 1, offset=1) == []
    assert client.get_schema(number).references == references
    assert code_of(client.delete_subject, "address") == (422, 42206)


def test_avro_messages_are_written_and_read_back(new_client):
    order = {"id": 7, "amount": decimal.Decimal("12.30"), "note": None}
    at = SerializationContext("avro-orders", MessageField.VALUE)
    message = AvroSerializer(new_client(), ORDER)(order, at)
    assert message[0] == 0
    assert AvroDeserializer(new_client())(message, at) == order
    assert AvroDeserializer(new_client(), ORDER)(message, at) == order
    assert new_client().get_versions("avro-orders-value") == [1]


def test_a_message_may_carry_its_schema_in_a_header(new_client):
    order = {"id": 7, "amount": decimal.Decimal("0.01"), "note": "new"}
    at = SerializationContext("header-orders", MessageField.VALUE, {})
    config = {"schema.id.serializer": header_schema_id_serializer}
    message = AvroSerializer(new_client(), ORDER, conf=config)(order, at)
    assert message[0] != 0
    assert AvroDeserializer(new_client())(message, at) == order


def test_a_producer_that_may_not_register_finds_what_another_registered_in_other_words(new_client):
    reordered = json.dumps(dict(reversed(json.loads(ORDER).items())), indent=1)
    new_client().register_schema("lookup-orders-value", Schema(reordered))
    at = SerializationContext("lookup-orders", MessageField.VALUE)
    serializer = AvroSerializer(new_client(), ORDER, conf={"auto.register.schemas": False})
    message = serializer({"id": 1, "amount": decimal.Decimal("1.00"), "note": "a"}, at)
    assert AvroDeserializer(new_client())(message, at)["note"] == "a"


def test_json_messages_are_written_and_read_back(new_client):
    person = {"name": "Ada", "age": None}
    at = SerializationContext("json-people", MessageField.VALUE)
    message = JSONSerializer(PERSON, new_client())(person, at)
    assert JSONDeserializer(PERSON, schema_registry_client=new_client())(message, at) == person
    assert JSONDeserializer(None, schema_registry_client=new_client())(message, at) == person


def test_json_schemas_that_refer_to_others_are_resolved_by_the_client(new_client):
    client = new_client()
    client.register_schema("person.json", Schema(PERSON, "JSON"))
    couple = '{"type":"object","properties":{"one":{"$ref":"person.json"},"other":{"$ref":"person.json"}}}'
    schema = Schema(couple, "JSON", [SchemaReference("person.json", "person.json", 1)])
    at = SerializationContext("json-couples", MessageField.VALUE)
    message = JSONSerializer(schema, client)({"one": {"name": "Ada"}, "other": {"name": "Bob"}}, at)
    assert JSONDeserializer(None, schema_registry_client=new_client())(message, at)["other"] == {"name": "Bob"}


def test_what_kcat_asks_for_is_an_id_and_a_text(address, client):
    number = client.register_schema("kcat-value", Schema(ORDER))
    v1 = "application/vnd.schemaregistry.v1+json"
    answer = patient.get(f"{address}/schemas/ids/{number}", headers={"Accept": v1, "Content-Type": v1})
    assert answer.headers["Content-Type"] == v1
    assert set(answer.json()) == {"schema", "schemaType"}
    latest = patient.get(f"{address}/subjects/kcat-value/versions/latest", headers={"Accept": v1, "Content-Type": v1})
    assert (latest.json()["id"], type(latest.json()["schema"])) == (number, str)
