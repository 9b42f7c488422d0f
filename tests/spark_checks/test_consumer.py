"""Topics read without a JVM: the same records as Spark reads, from a real broker."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from producing import delete_records, open_transaction, write_transactions

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.extras import install_command
from cdc_contracts.registry.core.records.record_batches import read_headers
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka import consumer
from cdc_contracts.spark_checks.kafka.consumer import open_reader
from cdc_contracts.spark_checks.kafka.excerpts import _in_order, read_record, read_sample
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.kafka.property_names import translate_to_librdkafka

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def login(password="correcthorse"):
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} required username="reader" password="{password}";',
    }


@pytest.fixture
def reader(broker):
    with open_reader(broker.bootstrap, {}) as opened:
        yield opened


def read(reader, topic, start="earliest", end="latest", *, headers=False):
    batches = list(reader.read({topic: reader.resolve(topic, parse_range(start, end))}, headers=headers))
    return pa.Table.from_batches(batches).to_pylist() if batches else []


def places(rows):
    return sorted((row["partition"], row["offset"]) for row in rows)


@pytest.fixture(scope="module")
def varied(make_topic):
    """Three partitions, the last of them empty; keys, headers, times, tombstones, and Snappy over all."""
    records = [
        (number % 2, None if number % 5 == 0 else b"%d" % number, {
            "key": None if number % 3 == 0 else b"k%d" % number,
            "timestamp": 1_700_000_000_000 + 1_000 * number,
            "headers": [("h", b"%d" % number), ("empty", b""), ("none", None)] if number % 7 == 0 else None,
        })
        for number in range(200)
    ]  # fmt: skip
    return make_topic(records, partitions=3, config={"compression.type": "snappy"})


def test_the_records_are_those_that_spark_reads_column_for_column(spark, broker, reader, varied):
    frame = read_topics(SparkEngine(spark), broker.bootstrap, [varied], parse_range(), {}, headers=True).frame(spark)
    by_spark = frame.toArrow()
    headers = read_headers(by_spark.column("headers").combine_chunks())
    by_spark = by_spark.set_column(by_spark.schema.get_field_index("headers"), "headers", headers)
    here = pa.Table.from_batches(reader.read({varied: reader.resolve(varied, parse_range())}, headers=True))
    assert here.schema.names == by_spark.schema.names
    order = [("partition", "ascending"), ("offset", "ascending")]
    assert here.sort_by(order).to_pylist() == by_spark.cast(here.schema).sort_by(order).to_pylist()
    assert here.num_rows == 200


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("offset:0=3,1=3", "offset:0=5,1=4", [(0, 3), (0, 4), (1, 3)]),
        ("last:2", "latest", [(0, 98), (0, 99), (1, 98), (1, 99)]),
        ("2023-11-14T22:16:37Z", "latest", [(0, 99), (1, 98), (1, 99)]),
        ("earliest", "2023-11-14T22:13:22Z", [(0, 0), (1, 0)]),
        ("latest", "latest", []),
        ('{"2": 0}', "latest", []),
    ],
)
def test_ranges_are_the_words_that_spark_runs_take(reader, varied, start, end, expected):
    assert places(read(reader, varied, start, end)) == expected


def test_records_of_a_partition_come_in_order_in_batches_of_bounded_size(reader, make_topic, monkeypatch):
    monkeypatch.setattr(consumer, "BATCH_BYTES", 4_000_000)
    topic = make_topic([(0, b"x" * 500_000) for _ in range(60)])
    sizes = []
    offsets = []
    for batch in reader.read({topic: {0: (0, 60)}}):
        sizes.append(batch.nbytes)
        offsets += batch.column("offset").to_pylist()
    assert offsets == list(range(60))
    assert max(sizes) < 10_000_000


@pytest.fixture(scope="module")
def transactional(broker, make_topic):
    topic = make_topic()
    write_transactions(broker, topic, ([b"kept"], True), ([b"aborted"], False), ([b"kept too"], True))
    with open_transaction(broker, topic, [b"still open"]):
        yield topic


def test_aborted_open_and_marking_records_are_not_read(reader, transactional):
    assert reader.resolve(transactional, parse_range()) == {0: (0, 6)}
    assert [(row["offset"], row["value"]) for row in read(reader, transactional)] == [(0, b"kept"), (4, b"kept too")]
    assert read(reader, transactional, "offset:5") == []


def test_one_record_is_read_with_its_headers(reader, varied):
    (row,) = read_record(reader, varied, 0, 7).to_pylist()
    assert (row["value"], row["headers"][0]) == (b"14", {"key": "h", "value": b"14"})
    assert row["timestamp"] == datetime(2023, 11, 14, 22, 13, 34, tzinfo=UTC)


@pytest.mark.parametrize(
    ("partition", "offset", "told"),
    [(0, 100, "no record at offset 100"), (0, 101, "has no offset 101"), (9, 0, "no partition 9")],
)
def test_a_record_that_is_not_there_is_reported(reader, varied, partition, offset, told):
    with pytest.raises(UnavailableError, match=told):
        read_record(reader, varied, partition, offset)


def test_a_mark_of_a_transaction_is_no_record(reader, transactional):
    with pytest.raises(UnavailableError, match="no record at offset 1 ") as failure:
        read_record(reader, transactional, 0, 1)
    assert "transaction marker" in failure.value.hint


def test_a_sample_takes_the_beginning_the_middle_and_the_end_of_each_partition(reader, make_topic):
    topic = make_topic([(0 if number < 100 else 1, b"x") for number in range(103)], partitions=3)
    sampled = [place for batch in read_sample(reader, topic, 12) for place in places(batch.to_pylist())]
    first, middle, last = [0, 1, 2], [48, 49, 50], [97, 98, 99]
    second = [(1, 0), (1, 1), (1, 2)]
    assert sampled == [*((0, at) for at in first), *second, *((0, at) for at in (*middle, *last))]
    again = [place for batch in read_sample(reader, topic, 12) for place in places(batch.to_pylist())]
    assert again == sampled
    whole = [place for batch in read_sample(reader, topic, 1_000) for place in places(batch.to_pylist())]
    assert len(whole) == 103


def test_a_sample_has_one_order_whichever_partition_answers_first():
    answers = [
        pa.record_batch({"partition": pa.array(numbers, pa.int32()), "offset": pa.array(offsets, pa.int64())})
        for numbers, offsets in [([2, 0, 2], [7, 0, 9]), ([0, 1], [1, 4]), ([1, 2], [5, 10])]
    ]
    ordered = [place for batch in _in_order(answers) for place in places(batch.to_pylist())]
    assert ordered == [(0, 0), (0, 1), (1, 4), (1, 5), (2, 7), (2, 9), (2, 10)]


def test_nothing_is_joined_or_committed(broker, reader, varied):
    from confluent_kafka.admin import AdminClient

    read(reader, varied)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})  # kept: a client that is gone answers nothing
    groups = admin.list_consumer_groups().result(timeout=300)
    assert [group.group_id for group in groups.valid if group.group_id == consumer.GROUP] == []


def test_a_password_lets_in_and_a_wrong_one_is_reported_at_once_and_not_shown(broker, varied):
    with open_reader(broker.addresses["login"], login()) as opened:
        assert len(read(opened, varied, "last:1")) == 2
    with open_reader(broker.addresses["login"], login("hunter2")) as opened, pytest.raises(UnavailableError) as failure:
        opened.resolve(varied, parse_range())
    assert failure.value.what == "the broker refuses the credentials"
    assert "hunter2" not in str(failure.value)


def test_a_topic_that_is_not_there_is_reported_with_similar_ones_and_not_created(reader, varied):
    with pytest.raises(UnavailableError) as failure:
        reader.resolve(varied + "x", parse_range())
    assert failure.value.what == f"there is no topic {varied}x"
    assert varied in failure.value.hint
    assert varied + "x" not in reader.topics()
    assert varied in reader.topics()


@pytest.mark.parametrize(
    ("bootstrap", "told"),
    [("127.0.0.1:9", "no broker is listening at this address"), ("no-such-host.invalid:9092", "address")],
)
def test_a_broker_that_is_not_there_is_reported(monkeypatch, bootstrap, told):
    monkeypatch.setattr(consumer, "TIMEOUT_SECONDS", 2)
    with pytest.raises(UnavailableError, match=told) as failure, open_reader(bootstrap, {}) as opened:
        opened.resolve("t", parse_range())
    assert failure.value.where == bootstrap


def test_records_that_are_deleted_before_they_are_read_are_reported(broker, reader, make_topic):
    topic = make_topic([(0, b"x")] * 200)
    selected = reader.resolve(topic, parse_range())
    delete_records(broker, topic, 0, before=150)
    with pytest.raises(UnavailableError) as failure:
        list(reader.read({topic: selected}))
    assert failure.value.what == "records were deleted from the topic before they were read"
    assert failure.value.where == f"{topic} partition 0, offsets 0 to 150"  # not what the range or a task was to read


def test_a_property_that_no_client_knows_is_refused_without_its_value():
    with pytest.raises(UsageError, match="cannot be used") as failure, open_reader("h:1", {"no.such": "hunter2"}):
        pass
    assert "no.such" in failure.value.hint
    assert "hunter2" not in str(failure.value)


def test_names_of_java_clients_are_translated(authority):
    assert translate_to_librdkafka({
        "sasl.jaas.config": 'org.apache.kafka.common.security.scram.ScramLoginModule required\n username="a b" '
        'password="c\\"d";',
        "sasl.mechanism": "SCRAM-SHA-512",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "ssl.truststore.password": "x",
        "ssl.endpoint.identification.algorithm": "",
        "max.poll.records": "7",
        "value.deserializer": "x.Y",
        "fetch.max.wait.ms": "9",
    }) == {
        "sasl.username": "a b",
        "sasl.password": 'c"d',
        "sasl.mechanisms": "SCRAM-SHA-512",
        "ssl.ca.location": str(authority.file),
        "ssl.endpoint.identification.algorithm": "none",
        "fetch.wait.max.ms": "9",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("properties", "hint"),
    [
        ({"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"}, "sasl.kerberos.keytab"),
        ({"sasl.login.callback.handler.class": "x.Y"}, "--engine spark"),
    ],
)
def test_what_only_a_java_client_can_use_is_reported_with_what_to_give_instead(properties, hint):
    with pytest.raises(UsageError) as failure:
        translate_to_librdkafka(properties)
    assert failure.value.where == next(iter(properties))
    assert hint in failure.value.hint


def test_without_the_client_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(UnavailableError, match="not installed") as failure, open_reader("h:1", {}):
        pass
    assert install_command("kafka") in failure.value.hint


def test_reading_a_topic_imports_no_spark(broker, varied):
    program = (
        "import sys\n"
        "from cdc_contracts.spark_checks.kafka.consumer import open_reader\n"
        f"with open_reader({broker.bootstrap!r}, {{}}) as reader:\n"
        f"    print(sum(batch.num_rows for batch in reader.read({{{varied!r}: {{0: (0, 9)}}}})))\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('pyspark', 'py4j')])\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2] / ".src"), "PATH": ""},
    )  # fmt: skip
    assert (found.stdout, found.stderr) == ("9\n[]\n", "")
