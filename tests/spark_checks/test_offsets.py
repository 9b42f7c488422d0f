from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn

import pytest
from producing import open_transaction, write_transactions

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.spark_checks.kafka import spark_source as kafka_source
from cdc_contracts.spark_checks.kafka.offsets import parse_range, select, words_of
from cdc_contracts.spark_checks.kafka.spark_source import reading_options, resolve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cdc_contracts.spark_checks.kafka.broker import Broker

LIMITS = {0: (10, 20), 1: (0, 100), 2: (7, 7)}


def no_times(time: datetime) -> NoReturn:
    raise UsageError(f"no times here: {time}")


def choose(start: str = "earliest", end: str = "latest") -> dict[int, tuple[int, int]]:
    return select(parse_range(start, end), LIMITS, no_times)


@pytest.mark.parametrize(
    ("start", "end", "selected"),
    [
        ("earliest", "latest", {0: (10, 20), 1: (0, 100), 2: (7, 7)}),
        ("latest", "latest", {0: (20, 20), 1: (100, 100), 2: (7, 7)}),
        ("earliest", "earliest", {0: (10, 10), 1: (0, 0), 2: (7, 7)}),
        ("last:3", "latest", {0: (17, 20), 1: (97, 100), 2: (7, 7)}),
        ("last:50", "latest", {0: (10, 20), 1: (50, 100), 2: (7, 7)}),
        ("last:0", "latest", {0: (20, 20), 1: (100, 100), 2: (7, 7)}),
        ("offset:0=12,1=90", "latest", {0: (12, 20), 1: (90, 100)}),
        ('{"0": 12, "1": 90}', "latest", {0: (12, 20), 1: (90, 100)}),
        ("earliest", '{"1": 90}', {1: (0, 90)}),
        ("offset:0=12,1=90", "offset:1=95,2=7", {1: (90, 95)}),
        ("offset:0=12", "offset:1=95", {}),
        ("offset:0=20", "latest", {0: (20, 20)}),
        (" earliest ", " latest ", {0: (10, 20), 1: (0, 100), 2: (7, 7)}),
    ],
)
def test_words_choose_offsets(start: str, end: str, selected: Mapping[int, tuple[int, int]]) -> None:
    assert choose(start, end) == selected


def test_one_number_is_an_offset_of_each_partition() -> None:
    assert select(parse_range("offset:3", "offset:5"), {0: (0, 9), 4: (3, 5)}, no_times) == {0: (3, 5), 4: (3, 5)}


def test_what_was_resolved_can_be_asked_for_again() -> None:
    selected = choose("last:3", "latest")
    start, end = words_of(selected)
    assert json.loads(start) == {"0": 17, "1": 97, "2": 7}
    assert choose(start, end) == selected


@pytest.mark.parametrize(
    "word",
    [
        *("", "first", "Earliest", "offset", "offset:", "offset:-1", "offset:1.5", "offset:٣", "offset:0="),
        *("offset:0=1,",),
        *("offset:0=1,0=2", "offset:0=1;1=2", "last:", "last:-1", "last:x", "12", "-5", f"offset:{'9' * 5000}"),
        *("{}", "{", '{"0": -1}', '{"0": true}', '{"0": "1"}', '{"0": 1.0}', '{"0": 1, "0": 2}', '{"t": {"0": 1}}'),
        *('{"x": 1}', '{"0": 1} {}', '{"0": NaN}', "[1]", '{"0": ' + "9" * 5000 + "}", "{" * 100_000),
        *("2024-13-01T00:00:00Z", "2024-02-30T00:00:00Z", "yesterday", "1714521600000"),
    ],
)
@pytest.mark.parametrize("option", ["--from", "--until"])
def test_a_word_that_means_nothing_is_refused(option: str, word: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_range(*((word, "latest") if option == "--from" else ("earliest", word)))
    assert refusal.value.where.startswith(option)
    assert refusal.value.hint


@pytest.mark.parametrize("word", ["2024-05-01", "2024-05-01T00:00:00", "2024-05-01 00:00:00.123"])
def test_a_time_without_zone_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="no zone"):
        parse_range(word)


def test_last_is_for_the_start_only() -> None:
    with pytest.raises(UsageError, match="--from only"):
        parse_range("earliest", "last:5")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2024-05-01T00:00:00Z", "2024-05-01T07:59:59+08:00"),
        ("offset:15", "offset:14"),
        ("offset:0=15,1=3", "offset:0=15,1=2"),
        ("offset:15", '{"0": 14}'),
        ("latest", "earliest"),
        ("latest", "offset:0=15"),
        ("last:3", "offset:0=15"),
        ("offset:1=50", "earliest"),
    ],
)
def test_a_start_after_the_end_is_refused(start: str, end: str) -> None:
    with pytest.raises(UsageError, match="--from is after --until"):
        choose(start, end)


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("offset:0=9", "latest", "the log starts at 10"),
        ("offset:0=21", "latest", "the log ends at 20"),
        ("earliest", "offset:0=21", "the log ends at 20"),
        ("earliest", "offset:0=9", "the log starts at 10"),
        ("offset:7", "latest", "partition 0 has no offset 7"),
        ("offset:3=0", "latest", "there is no partition 3"),
        ("earliest", '{"3": 0}', "there is no partition 3"),
    ],
)
def test_an_offset_that_is_not_there_cannot_be_read(start: str, end: str, said: str) -> None:
    with pytest.raises(UnavailableError, match=said):
        choose(start, end)


def test_a_time_starts_at_the_first_record_that_is_not_earlier_and_else_at_the_end() -> None:
    asked: list[datetime] = []

    def at(time: datetime) -> dict[int, int]:
        asked.append(time)
        return {0: 15, 1: 101}

    # Partition 1 has a record at 101 that was written after the limits were read.
    wanted = parse_range("2024-05-01T08:00:00+08:00")
    assert select(wanted, LIMITS, at) == {0: (15, 20), 1: (100, 100), 2: (7, 7)}
    assert asked == [datetime.fromisoformat("2024-05-01T00:00:00Z")]


def test_a_source_may_refuse_times() -> None:
    with pytest.raises(UsageError, match="no times here"):
        choose("2024-05-01T00:00:00Z")


def login(broker: Broker, password: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{module} required username="reader" password="{password}";',
    }


def read(spark: SparkSession, bootstrap: str, topic: str, start: str = "earliest", **more: str) -> DataFrame:
    selected = resolve(spark, bootstrap, topic, parse_range(start), {})
    return spark.read.format("kafka").options(**(reading_options(bootstrap, topic, selected, {}) | more)).load()


@pytest.fixture(scope="module")
def orders(make_topic) -> str:  # type: ignore[no-untyped-def]
    """Five records in each of two partitions, a second apart from 1970-01-01T00:00:01Z on, in turn; a third is empty."""
    return make_topic(  # type: ignore[no-any-return]
        [(number % 2, b"%d" % number, {"timestamp": 1000 + 1000 * number}) for number in range(10)], partitions=3
    )


@pytest.fixture
def orders_at(broker: Broker, orders: str) -> tuple[str, str]:
    return broker.bootstrap, orders


@pytest.mark.parametrize(
    ("start", "end", "selected"),
    [
        ("earliest", "latest", {0: (0, 5), 1: (0, 5), 2: (0, 0)}),
        ("last:2", "latest", {0: (3, 5), 1: (3, 5), 2: (0, 0)}),
        ("offset:1=2", "latest", {1: (2, 5)}),
        ("1970-01-01T00:00:03Z", "1970-01-01T08:00:08+08:00", {0: (1, 4), 1: (1, 3), 2: (0, 0)}),
        ("1970-01-01T00:00:02.999Z", "latest", {0: (1, 5), 1: (1, 5), 2: (0, 0)}),
        ("1970-01-01T00:00:03.0001Z", "latest", {0: (2, 5), 1: (1, 5), 2: (0, 0)}),
        ("1960-01-01T00:00:00Z", "latest", {0: (0, 5), 1: (0, 5), 2: (0, 0)}),
        ("2030-01-01T00:00:00Z", "latest", {0: (5, 5), 1: (5, 5), 2: (0, 0)}),
    ],
)
def test_a_topic_resolves(
    spark: SparkSession, orders_at: tuple[str, str], start: str, end: str, selected: Mapping[int, tuple[int, int]]
) -> None:
    assert resolve(spark, *orders_at, parse_range(start, end), {}) == selected


def test_a_missing_topic_is_named_with_those_near_it(spark: SparkSession, broker: Broker, orders: str) -> None:
    with pytest.raises(UnavailableError, match="there is no topic") as failure:
        resolve(spark, broker.bootstrap, orders[:-1], parse_range(), {})
    assert orders in failure.value.hint


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-such-host.invalid:9092"])
def test_a_broker_out_of_reach_is_given_up(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(kafka_source, "TIMEOUT_SECONDS", 2)
    with pytest.raises(UnavailableError, match=r"no broker is listening|cannot be resolved") as failure:
        resolve(spark, address, "t", parse_range(), {})
    assert failure.value.where == address


@pytest.mark.timeout(120)
def test_a_wrong_password_ends_in_an_error_that_does_not_show_it(
    spark: SparkSession, broker: Broker, orders: str
) -> None:
    bootstrap = broker.addresses["login"]
    assert resolve(spark, bootstrap, orders, parse_range(), login(broker, "correcthorse"))[0] == (0, 5)
    with pytest.raises(UnavailableError, match="refuses the credentials") as failure:
        resolve(spark, bootstrap, orders, parse_range(), login(broker, "batterystaple"))
    assert "batterystaple" not in str(failure.value)
    options = reading_options(bootstrap, orders, {0: (0, 5)}, login(broker, "batterystaple"))
    with pytest.raises(Exception, match="Authentication failed"):
        spark.read.format("kafka").options(**options).load().count()


@pytest.mark.parametrize(
    "properties",
    [
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "bad batterystaple"},
        {"security.protocol": "SSL", "ssl.truststore.location": "/no.jks", "ssl.truststore.password": "batterystaple"},
        {"security.protocol": "batterystaple?"},
    ],
)
def test_properties_that_kafka_cannot_use_are_refused(
    spark: SparkSession, broker: Broker, properties: Mapping[str, str]
) -> None:
    with pytest.raises(UsageError, match=r"properties|/no\.jks") as failure:
        resolve(spark, broker.bootstrap, "t", parse_range(), properties)
    assert "batterystaple" not in str(failure.value).replace("batterystaple?", "")


def test_spark_reads_exactly_what_was_selected(spark: SparkSession, broker: Broker, orders: str) -> None:
    rows = read(spark, broker.bootstrap, orders, "offset:1=2").select("partition", "offset").collect()
    assert sorted(map(tuple, rows)) == [(1, 2), (1, 3), (1, 4)]


def test_settings_of_other_clients_in_the_properties_do_no_harm(
    spark: SparkSession, broker: Broker, orders: str
) -> None:
    shared = {"auto.offset.reset": "latest", "enable.auto.commit": "true", "bootstrap.servers": "elsewhere:1"}
    selected = resolve(spark, broker.bootstrap, orders, parse_range(), shared)
    options = reading_options(broker.bootstrap, orders, selected, shared)
    assert spark.read.format("kafka").options(**options).load().count() == 10


def test_records_that_are_gone_when_they_are_read_fail_the_job(spark: SparkSession, broker: Broker, make_topic) -> None:  # type: ignore[no-untyped-def]
    topic = make_topic([(0, b"x")])
    options = reading_options(broker.bootstrap, topic, {0: (0, 9)}, {})
    with pytest.raises(Exception, match="data may have been lost"):
        spark.read.format("kafka").options(**options, **{"kafkaConsumer.pollTimeoutMs": "2000"}).load().count()


def test_aborted_records_and_transaction_marks_are_gaps(spark: SparkSession, broker: Broker, make_topic) -> None:  # type: ignore[no-untyped-def]
    topic = make_topic()
    write_transactions(broker, topic, ([b"kept"], True), ([b"aborted"], False), ([b"kept too"], True))
    with open_transaction(broker, topic, [b"still open"]):
        assert resolve(spark, broker.bootstrap, topic, parse_range(), {}) == {0: (0, 6)}
        rows = read(spark, broker.bootstrap, topic).select("offset", "value").collect()
        assert [(row.offset, bytes(row.value)) for row in rows] == [(0, b"kept"), (4, b"kept too")]
    assert resolve(spark, broker.bootstrap, topic, parse_range(), {}) == {0: (0, 8)}
    assert read(spark, broker.bootstrap, topic, "offset:5").count() == 0


def test_a_lone_partition_is_cut_into_ranges_in_order(spark: SparkSession, broker: Broker, make_topic) -> None:  # type: ignore[no-untyped-def]
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    topic = make_topic([(0, b"%d" % number) for number in range(1000)])
    options = reading_options(broker.bootstrap, topic, {0: (0, 1000)}, {}, tasks=4)

    def ends(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen = [offset for batch in batches for offset in batch.column("offset").to_pylist()]
        yield pa.RecordBatch.from_pydict({"first": [seen[0]], "last": [seen[-1]], "ordered": [seen == sorted(seen)]})

    records = spark.read.format("kafka").options(**options).load()
    rows = records.mapInArrow(ends, "first long, last long, ordered boolean").collect()
    assert sorted(map(tuple, rows)) == [(low, low + 249, True) for low in range(0, 1000, 250)]
