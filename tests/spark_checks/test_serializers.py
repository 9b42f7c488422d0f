"""Confluent's producer and consumer with schemas from our registry, over a real broker."""

from __future__ import annotations

import json

import pytest
from registry_servers import serving

SCHEMAS = {
    "avro": '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}',
    "json": '{"title":"Order","type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}}}',
}


@pytest.mark.parametrize("language", SCHEMAS)
def test_what_a_producer_wrote_with_a_schema_of_the_registry_a_consumer_reads(language, broker, make_topic, tmp_path):
    from confluent_kafka import DeserializingConsumer, SerializingProducer
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer

    schema, topic = SCHEMAS[language], make_topic()
    orders = [{"id": number, "note": f"order {number}"} for number in range(3)]
    with (
        serving(f"sqlite:///{tmp_path}/registry.db") as address,
        SchemaRegistryClient({"url": address}) as writes,
        SchemaRegistryClient({"url": address}) as reads,
    ):
        if language == "avro":
            serializer, deserializer = AvroSerializer(writes, schema), AvroDeserializer(reads)
        else:
            serializer = JSONSerializer(schema, writes)
            deserializer = JSONDeserializer(None, schema_registry_client=reads)
        with SerializingProducer({"bootstrap.servers": broker.bootstrap, "value.serializer": serializer}) as producer:
            for order in orders:
                producer.produce(topic, value=order)
            assert producer.flush(30) == 0
        consumer = DeserializingConsumer({
            "bootstrap.servers": broker.bootstrap,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "value.deserializer": deserializer,
        })  # fmt: skip
        consumer.subscribe([topic])
        read = [consumer.poll(30).value() for _ in orders]
        consumer.close()
        latest = reads.get_latest_version(f"{topic}-value")
    assert read == orders
    assert json.loads(latest.schema.schema_str) == json.loads(schema)
