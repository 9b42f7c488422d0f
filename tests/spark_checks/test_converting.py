"""`cdc-contracts convert topic` against a real broker: what arrives in the other topic, record by record."""

import io
import json

import avro.io
import avro.schema
import fastavro
import pyarrow.parquet as pq
import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.message_samples import sample_messages
from cdc_contracts.registry.core.message.avro_records import same_message
from cdc_contracts.spark_checks.kafka.consumer import open_reader
from cdc_contracts.spark_checks.kafka.offsets import parse_range

VERSION = shipped_catalogue().version("dts/canal@2")
START = 1_790_000_000_000
MESSAGES = list(sample_messages(VERSION, 60, seed=9, reading_options=ReadingOptions()))
ENGINES = ("spark", "local")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def records(values, partitions):
    """Values in turn over the partitions, each with a time of its own; keys and headers on some."""
    made = []
    for number, value in enumerate(values):
        more = {"timestamp": START + number * 1_000}
        if number % 2:
            more["key"] = b"k%d" % number
        if number % 3 == 0:
            more["headers"] = [("trace", b"\x00\xff"), ("trace", None)]
        made.append((number % partitions, value, more))
    return made


def read_all(broker, topic):
    """The records of a topic without their offsets, by partition, in order."""
    with open_reader(broker.bootstrap, {}) as reader:
        batches = list(reader.read({topic: reader.resolve(topic, parse_range("earliest", "latest"))}, headers=True))
    found = {}
    for row in (row for batch in batches for row in batch.to_pylist()):
        kept = {name: row[name] for name in ("key", "value", "timestamp", "timestampType", "headers")}
        found.setdefault(row["partition"], []).append(kept)
    return found


def convert(broker, topic, target, to, *arguments, engine="local"):
    return main([
        "convert", "topic", topic, "--output-topic", target, "-b", broker.bootstrap, "--contract", "dts/canal@2",
        "--to", to, "--engine", engine, *arguments,
    ])  # fmt: skip


def without_values(found):
    return {
        place: [{name: one for name, one in row.items() if name != "value"} for row in rows]
        for place, rows in found.items()
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_a_topic_goes_into_avro_and_back_with_keys_headers_times_and_partitions(
    engine, spark, broker, make_topic, capsys
):
    values = [*MESSAGES, None, MESSAGES[0], None]
    source = make_topic(records(values, 3), partitions=3)
    framed, back = make_topic(partitions=3), make_topic(partitions=4)

    assert convert(broker, source, framed, "avro", "--schema-id", "258", engine=engine) == 0
    assert "63 read: 61 converted, 0 refused, 2 tombstones" in capsys.readouterr().err
    assert convert(broker, framed, back, "json", "--schema-id", "258", engine=engine) == 0

    first, avro_form, again = (read_all(broker, topic) for topic in (source, framed, back))
    assert without_values(avro_form) == without_values(first)
    assert without_values(again) == without_values(first)
    reader = avro.io.DatumReader(avro.schema.parse(VERSION.folder.joinpath("message.avsc").read_text(encoding="utf-8")))
    parsed = fastavro.parse_schema(json.loads(VERSION.folder.joinpath("message.avsc").read_text(encoding="utf-8")))
    for place, rows in first.items():
        for one, framed_one, other in zip(rows, avro_form[place], again[place], strict=True):
            if one["value"] is None:
                assert framed_one["value"] is other["value"] is None
                continue
            assert same_message(parse_message(one["value"]), parse_message(other["value"]))
            assert framed_one["value"][:5] == b"\x00\x00\x00\x01\x02"
            record = framed_one["value"][5:]
            theirs = reader.read(avro.io.BinaryDecoder(io.BytesIO(record)))
            assert fastavro.schemaless_reader(io.BytesIO(record), parsed, None) == theirs


@pytest.mark.parametrize("engine", ENGINES)
def test_exactly_the_range_is_converted_and_what_is_refused_is_kept(engine, spark, broker, make_topic, here, capsys):
    source = make_topic(records([MESSAGES[0], MESSAGES[1], b"{", MESSAGES[2], b"[]", MESSAGES[3], MESSAGES[4]], 1))
    target = make_topic()
    code = convert(
        broker, source, target, "avro", "--framing", "bare", "--from", "offset:1", "--until", "offset:6",
        "--quarantine", "q.parquet", engine=engine,
    )  # fmt: skip

    assert code == 1
    reported = capsys.readouterr().err
    assert f"{source}/0@2 refused: no JSON message: not one JSON text" in reported
    assert f"{source}/0@4 refused: no JSON message: array" in reported
    assert "5 read: 3 converted, 2 refused, 0 tombstones" in reported
    assert [row["timestamp"].timestamp() * 1_000 - START for row in read_all(broker, target)[0]] == [1000, 3000, 5000]
    kept = pq.read_table(here / "q.parquet").to_pylist()
    assert [(one["offset"], one["value"]) for one in kept] == [(2, b"{"), (4, b"[]")]
    assert kept[0]["headers"] is None
    assert [path.name for path in here.iterdir()] == ["q.parquet"]


def test_a_partition_of_many_records_keeps_its_order_in_spark(spark, broker, make_topic):
    values = MESSAGES * 60
    source = make_topic(records(values, 1))
    target = make_topic()
    assert convert(broker, source, target, "avro", "--framing", "bare", engine="spark") == 0
    stamps = [row["timestamp"] for row in read_all(broker, target)[0]]
    assert len(stamps) == 3_600
    assert stamps == sorted(stamps)


def test_what_cannot_be_done_is_reported_before_anything_is_written(broker, make_topic, capsys):
    source, narrow = make_topic(records(MESSAGES[:4], 2), partitions=2), make_topic()
    assert convert(broker, source, narrow, "avro") == 3
    assert f"topic {narrow} has 1 partitions, and partition 1 is needed" in capsys.readouterr().err
    assert convert(broker, source, source, "avro") == 2
    assert "a topic cannot be converted into itself" in capsys.readouterr().err
    assert convert(broker, source, f"{source}-none", "avro") == 3
    assert f"there is no topic {source}-none" in capsys.readouterr().err
    assert convert(broker, source, narrow, "avro", "--framing", "container") == 2
    assert "a Kafka record cannot be an Avro container" in capsys.readouterr().err
    assert read_all(broker, narrow) == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_record_that_the_broker_refuses_ends_the_run_with_its_reason(engine, spark, broker, make_topic, capsys):
    source = make_topic(records(MESSAGES[:4], 1))
    small = make_topic(config={"max.message.bytes": "100"})
    assert convert(broker, source, small, "avro", engine=engine) == 3
    reported = capsys.readouterr().err
    assert f"records cannot be written to topic {small}" in reported
    assert "MSG_SIZE_TOO_LARGE" in reported


def test_the_groups_of_the_broker_are_as_before(broker, make_topic):
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    before = {one.group_id for one in admin.list_consumer_groups().result(60).valid}
    source, target = make_topic(records(MESSAGES[:4], 1)), make_topic()
    assert convert(broker, source, target, "avro") == 0
    assert {one.group_id for one in admin.list_consumer_groups().result(60).valid} == before
