"""Confluent's producer and consumer with schemas from our registry, and our commands, over a real broker."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from framed_records import ENVELOPE, KEY, MESSAGE
from producing import write_records
from registry_servers import serving

from cdc_contracts.cli.app import main

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


@pytest.fixture
def named_topic(broker, make_topic, tmp_path):
    """A topic whose records name their schemas in headers, as Confluent's producer writes them, and its registry."""
    from confluent_kafka import SerializingProducer
    from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
    from confluent_kafka.schema_registry.avro import AvroSerializer

    topic = make_topic()
    plain = json.dumps(ENVELOPE).replace('"logicalType": "decimal"', '"was": "decimal"')
    with serving(f"sqlite:///{tmp_path}/registry.db") as address, SchemaRegistryClient({"url": address}) as registry:
        serializers = {
            f"{part}.serializer": AvroSerializer(
                registry, text, conf={"schema.id.serializer": header_schema_id_serializer}
            )
            for part, text in (("key", json.dumps(KEY)), ("value", plain))
        }
        with SerializingProducer({"bootstrap.servers": broker.bootstrap, **serializers}) as producer:
            for number in range(20):
                producer.produce(topic, key={"id": number}, value={**MESSAGE, "op": "r"}, headers=[("trace", b"x")])
            assert producer.flush(30) == 0
        write_records(broker, topic, [(0, b"bare", {"headers": [("__value_schema_id", b"\2")]})])
        yield topic, address


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.nightly)])
def test_a_topic_that_names_its_schemas_in_headers_is_read_by_either_engine(
    named_topic, broker, engine, tmp_path, capsys, request
):  # fmt: skip
    if engine == "spark":
        request.getfixturevalue("spark")
        capsys.readouterr()  # what Spark says when it starts
    topic, address = named_topic
    arguments = ["topic", topic, "-b", broker.bootstrap, "--schema-registry", address, "--engine", engine]
    assert main(["audit", *arguments, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ledger"]["conforming"], report["ledger"]["quarantined"]) == (20, 1)
    assert report["detection"]["verdict"] == "certain"
    assert main(["decode", *arguments, "--to", str(tmp_path / "out")]) == 1
    rows, refused = (
        [row for file in (tmp_path / "out").glob(f"{table}/**/*.parquet") for row in pq.read_table(file).to_pylist()]
        for table in ("changes", "quarantine")
    )
    assert [dict(row["after"])["id"] for row in rows] == ["7"] * 20
    assert [(row["value"], row["headers"]) for row in refused] == [
        (b"bare", [{"key": "__value_schema_id", "value": b"\2"}])
    ]


@pytest.mark.nightly
def test_a_stream_follows_a_topic_that_names_its_schemas_in_headers(named_topic, broker, spark, tmp_path, capsys):
    topic, address = named_topic
    follow = ["--follow", "--once", "--checkpoint", str(tmp_path / "ck")]
    arguments = ["audit", "topic", topic, "-b", broker.bootstrap, "--schema-registry", address, *follow, "--json"]
    assert main(arguments) == 1
    ledger = json.loads(capsys.readouterr().out)["ledger"]
    assert (ledger["conforming"], ledger["quarantined"]) == (20, 1)
