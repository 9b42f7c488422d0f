"""Spark's Kafka source: topic metadata from its own client, and the options for reading topics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.spark_checks.kafka.connections import check_listening
from cdc_contracts.spark_checks.kafka.failures import TIMEOUT_SECONDS, causes_of, describe_causes, raise_failure
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range, milliseconds, select
from cdc_contracts.spark_checks.kafka.property_names import translate_to_java
from cdc_contracts.spark_checks.kafka.topic_ids import normalize_ids

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLIENT_DEFAULTS: Final = {
    # Records of aborted transactions are not data.
    "isolation.level": "read_committed",
    # The defaults, 1 MiB and 500 records, cost a third more CPU for records of 780 bytes.
    "max.partition.fetch.bytes": str(8 * 1024 * 1024),
    "max.poll.records": "5000",
}
# Files shared with other clients may have these; Spark rejects them because it sets them itself.
NOT_FOR_SPARK: Final = frozenset(
    {"auto.offset.reset", "bootstrap.servers", "enable.auto.commit", "interceptor.classes"}
    | {"key.deserializer", "value.deserializer", "key.serializer", "value.serializer"}
)


def resolve(
    session: SparkSession, bootstrap: str, topic: str, wanted: Range, properties: Mapping[str, str]
) -> dict[int, tuple[int, int]]:
    """Return the range in offsets, as the topic is now. `properties` are those of any Kafka client.

    Raises:
        UnavailableError: no answer, no such topic, no right to it, wrong credentials, offsets that do not exist.
        UsageError: start is after end, or the properties cannot be used.

    """
    jvm: Any = session._jvm  # noqa: SLF001  the Kafka client that comes with the connector
    with _admin(jvm, bootstrap, topic, properties) as admin:
        partitions = _partitions(jvm, admin, topic)
        spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
        log_starts = _offsets(jvm, admin, topic, partitions, spec.earliest())
        log_ends = _offsets(jvm, admin, topic, partitions, spec.latest())
        limits = {each: (log_starts[each], max(log_starts[each], log_ends[each])) for each in partitions}

        def offsets_at_time(time: datetime) -> dict[int, int]:
            found = _offsets(jvm, admin, topic, partitions, spec.forTimestamp(milliseconds(time)))
            return {partition: offset for partition, offset in found.items() if offset >= 0}

        return select(wanted, limits, offsets_at_time)


def list_topics(session: SparkSession, bootstrap: str, properties: Mapping[str, str]) -> list[str]:
    """Return the names of all topics but internal ones, sorted. Raises as `resolve` does."""
    with _admin(session._jvm, bootstrap, "any", properties) as admin:  # noqa: SLF001  as above
        return sorted(name for name in _names(admin) if not name.startswith("__"))


def topic_ids(
    session: SparkSession, bootstrap: str, topics: Sequence[str], properties: Mapping[str, str]
) -> dict[str, str]:
    """Return the ids of topics, if the broker provides them. Raises as `resolve` does."""
    jvm: Any = session._jvm  # noqa: SLF001  as above
    with _admin(jvm, bootstrap, ", ".join(topics), properties) as admin:
        names = jvm.java.util.ArrayList()
        for topic in topics:
            names.add(topic)
        described = admin.describeTopics(names).allTopicNames().get()
        return normalize_ids({topic: described.get(topic).topicId().toString() for topic in topics})


def reading_options(
    bootstrap: str,
    topic: str,
    selected: Limits,
    properties: Mapping[str, str],
    *,
    tasks: int | None = None,
    most: int | None = None,
) -> dict[str, str]:
    """Return options with which Spark's Kafka source reads exactly these offsets, or fails if some are gone.

    `tasks` is the minimum number of ranges that the offsets are divided into, `most` the maximum length of a range.
    """
    starts, ends = ({str(each): bounds[end] for each, bounds in selected.items()} for end in (0, 1))
    return client_options(bootstrap, properties) | {
        "assign": json.dumps({topic: sorted(selected)}),
        "startingOffsets": json.dumps({topic: starts}),
        "endingOffsets": json.dumps({topic: ends}),
        **({} if tasks is None else {"minPartitions": str(tasks)}),
        # With enough partitions the first option cuts none, however many of the offsets lie in one of them.
        **({} if most is None else {"maxRecordsPerPartition": str(most)}),
    }


def client_options(bootstrap: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return the options of Spark's Kafka source for the connection, and to fail if records are gone."""
    own = {key: value for key, value in translate_to_java(properties).items() if key not in NOT_FOR_SPARK}
    client = CLIENT_DEFAULTS | own
    return {f"kafka.{key}": value for key, value in client.items()} | {
        "kafka.bootstrap.servers": bootstrap,
        "failOnDataLoss": "true",
    }


@contextmanager
def _admin(jvm: Any, bootstrap: str, topic: str, properties: Mapping[str, str]) -> Iterator[Any]:
    """Open an admin client of the Kafka connector; its failures are raised as our errors, without any password."""
    patience = str(TIMEOUT_SECONDS * 1000)
    settings = jvm.java.util.Properties()
    kept = {key: value for key, value in translate_to_java(properties).items() if key not in NOT_FOR_SPARK}
    limits = {"default.api.timeout.ms": patience, "request.timeout.ms": patience, "bootstrap.servers": bootstrap}
    for key, value in (kept | limits).items():
        settings.setProperty(key, value)
    check_listening(bootstrap)
    admin = None
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
        yield admin
    except CdcContractsError:
        raise
    except Exception as error:
        thrown = getattr(error, "java_exception", None)
        if thrown is None:
            raise
        causes = list(causes_of(thrown))
        result = describe_causes(causes, properties)
        topics = None if admin is None else lambda: _names(admin)
        raise_failure(topics, causes, result, properties, bootstrap=bootstrap, topic=topic)
    finally:
        if admin is not None:
            admin.close(jvm.java.time.Duration.ZERO)


def _names(admin: Any) -> list[str]:
    return list(admin.listTopics().names().get())


def _partitions(jvm: Any, admin: Any, topic: str) -> list[int]:
    described = admin.describeTopics(jvm.java.util.List.of(topic)).allTopicNames().get()
    return sorted(info.partition() for info in described.get(topic).partitions())


def _offsets(jvm: Any, admin: Any, topic: str, partitions: Sequence[int], spec: Any) -> dict[int, int]:
    """Return the broker's answer for every partition; -1 if no record matches."""
    kafka = jvm.org.apache.kafka
    asked = jvm.java.util.HashMap()
    for partition in partitions:
        asked.put(kafka.common.TopicPartition(topic, partition), spec)
    # As Spark reads: up to the first transaction that is still open.
    committed = kafka.common.IsolationLevel.READ_COMMITTED
    answer = admin.listOffsets(asked, kafka.clients.admin.ListOffsetsOptions(committed)).all().get()
    return {entry.getKey().partition(): entry.getValue().offset() for entry in answer.entrySet()}
