"""Consumer without a JVM: reads offset ranges as record batches, without joining a group or committing offsets."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NoReturn

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.extras import require_extra
from cdc_contracts.registry.core.records.output_schemas import HEADERS_TYPE
from cdc_contracts.spark_checks.kafka.connections import check_listening, find_protocol_fault, verify_broker
from cdc_contracts.spark_checks.kafka.credentials import hide
from cdc_contracts.spark_checks.kafka.failures import TIMEOUT_SECONDS, lost_records, raise_failure
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range, milliseconds, select
from cdc_contracts.spark_checks.kafka.property_names import translate_to_librdkafka
from cdc_contracts.spark_checks.kafka.topic_ids import normalize_ids

GROUP: Final = "cdc-contracts"
"""The client asks for a name; brokers that check rights may want another: `group.id` in the properties."""
BATCH_ROWS: Final = 8_192
BATCH_BYTES: Final = 16 * 1024 * 1024

_CHUNK_BYTES: Final = 4 * 1024 * 1024
_CHUNK_ROWS: Final = 1_000
_FIRST_CHUNK: Final = 8
_DEFAULTS: Final = {
    "group.id": GROUP,
    # Ranges end where a topic ends: no waiting for new records, and a queue that was full is refilled at once.
    "fetch.wait.max.ms": 10,
    "fetch.queue.backoff.ms": 20,
}
_WAIT_SECONDS: Final = 0.1
_SILENCE_SECONDS: Final = 60
_QUIET: Final = logging.getLogger("cdc_contracts.consumer")
_INSTANT: Final = pa.timestamp("us", tz="UTC")
_JAVA_NAMES: Final = {
    "UNKNOWN_TOPIC_OR_PART": "UnknownTopicOrPartitionException",
    "TOPIC_EXCEPTION": "InvalidTopicException",
    "_UNKNOWN_TOPIC": "UnknownTopicOrPartitionException",
    "_UNKNOWN_PARTITION": "UnknownTopicOrPartitionException",
    "_AUTHENTICATION": "SaslAuthenticationException",
    "SASL_AUTHENTICATION_FAILED": "SaslAuthenticationException",
    "TOPIC_AUTHORIZATION_FAILED": "TopicAuthorizationException",
    "CLUSTER_AUTHORIZATION_FAILED": "ClusterAuthorizationException",
    "_TIMED_OUT": "TimeoutException",
    "_TRANSPORT": "TimeoutException",
    "_ALL_BROKERS_DOWN": "TimeoutException",
    "_SSL": "SslAuthenticationException",
}
"""What this client calls a failure, in the words of the Java client, so that both are reported alike."""
_HOPELESS: Final = re.compile("_AUTHENTICATION|_RESOLVE|_SSL: .*(certificate|alert)|_TRANSPORT: .*alert .*certificate")
_AFTER_OTHERS: Final = "_ALL_BROKERS_DOWN"
"""Follows the failures of the single brokers, and is less informative."""


_Place = tuple[str, int]
"""A topic and a partition; unlike a `Source`, it costs next to nothing to make for each message."""


@dataclass
class OffsetStretch:
    """A part of a partition to read: from `start` to before `end`, at most `most` records; `count` are read so far."""

    topic: str
    partition: int
    start: int
    end: int
    most: int = -1
    count: int = 0


@dataclass
class PartitionReader:
    """Reads topics of one cluster; use it in the thread that opened it."""

    bootstrap: str
    properties: Mapping[str, str] = field(repr=False)
    consumer: Any = field(repr=False)
    admin: Any = field(repr=False)
    failures: list[Any] = field(default_factory=list, repr=False)
    """Failures that the client reported asynchronously, the latest last."""

    def topics(self) -> list[str]:
        """Return the names of all topics but internal ones, sorted. Raises UnavailableError without an answer."""
        return sorted(name for name in self._metadata().topics if not name.startswith("__"))

    def topic_ids(self, topics: Sequence[str]) -> dict[str, str]:
        """Return the ids of topics, if the broker provides them.

        Raises UnavailableError if the broker or a topic is not available, or rights are missing.
        """
        from confluent_kafka import KafkaException, TopicCollection

        answers = self.admin.describe_topics(TopicCollection(list(topics)), request_timeout=TIMEOUT_SECONDS)
        found = {}
        for topic, answer in answers.items():
            try:
                found[topic] = str(answer.result(TIMEOUT_SECONDS).topic_id)
            except KafkaException as error:
                self._fail(error.args[0], topic)
        return normalize_ids(found)

    def resolve(self, topic: str, wanted: Range) -> dict[int, tuple[int, int]]:
        """Return the range in offsets, as the topic is now.

        Raises UnavailableError if broker, topic or offsets are not available, or rights are missing; UsageError if
        start is after end.
        """
        return select(wanted, self.limits(topic), lambda time: self._offsets_at(topic, time))

    def limits(self, topic: str) -> dict[int, tuple[int, int]]:
        """Return the first offset of each partition and the offset after the last committed record."""
        partitions = self._partitions(topic)
        starts = self._list_offsets(topic, partitions, "earliest")
        ends = self._list_offsets(topic, partitions, "latest")
        return {each: (starts[each], max(starts[each], ends[each])) for each in partitions}

    def read(self, selected: Mapping[str, Limits], *, headers: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the records of ranges with the columns of the Kafka source, in order within each partition.

        Raises UnavailableError if records are gone, or the broker refuses or stops answering.
        """
        stretches = [
            OffsetStretch(topic, partition, start, end)
            for topic, partitions in selected.items()
            for partition, (start, end) in partitions.items()
        ]
        yield from self.read_stretches(stretches, headers=headers)

    def read_stretches(self, stretches: Sequence[OffsetStretch], *, headers: bool) -> Iterator[pa.RecordBatch]:
        """Yield the records of stretches, at most one per partition, as `read` does."""
        from confluent_kafka import TopicPartition

        waiting = {(one.topic, one.partition): one for one in stretches if one.start < one.end}
        self.consumer.assign([TopicPartition(*place, one.start) for place, one in waiting.items()])
        rows: list[Any] = []
        held, chunk, heard = 0, _FIRST_CHUNK, time.monotonic()
        while waiting:
            messages = self.consumer.consume(chunk, _WAIT_SECONDS)
            found, over = self._take(messages, waiting)
            rows += found
            size = sum(map(len, found))
            held += size
            if messages:
                heard = time.monotonic()
                self.failures.clear()
                # Few long messages or many short ones take the same memory.
                chunk = max(1, min(_CHUNK_ROWS, len(messages) * _CHUNK_BYTES // max(1, size)))
            elif self.failures and (self._hopeless() or time.monotonic() - heard > _SILENCE_SECONDS):
                self._fail(self._cause(), ", ".join(sorted({topic for topic, _ in waiting})), reading=True)
            if over and waiting:
                self.consumer.incremental_unassign([TopicPartition(*place) for place in over])
            if len(rows) >= BATCH_ROWS or held >= BATCH_BYTES or not messages:
                # If nothing arrives, an empty batch gives the reader a chance to stop.
                yield _as_batch(rows, headers=headers)
                rows, held = [], 0
        self.consumer.unassign()
        if rows:
            yield _as_batch(rows, headers=headers)

    def _take(self, messages: Sequence[Any], waiting: dict[_Place, OffsetStretch]) -> tuple[list[Any], list[_Place]]:
        """Return the requested messages, and the partitions that are finished with them."""
        found, over = [], []
        for message in messages:
            place = message.topic(), message.partition()
            stretch = waiting.get(place)
            if message.error() is not None:
                ends = self._ends(message, stretch)
            elif stretch is not None:
                offset = message.offset()
                if offset < stretch.end:
                    found.append(message)
                    stretch.count += 1
                ends = offset >= stretch.end - 1 or stretch.count == stretch.most
            else:
                ends = False
            if ends:
                del waiting[place]
                over.append(place)
        return found, over

    def _ends(self, message: Any, stretch: OffsetStretch | None) -> bool:
        """Return whether an event that is no record ends its partition. Raises UnavailableError if it is a failure."""
        from confluent_kafka import KafkaError

        error = message.error()
        if stretch is None or error.name().startswith("GROUP_"):
            return False  # no group is used
        if error.code() not in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):  # noqa: SLF001
            self._fail(error, stretch.topic, reading=True)
        if error.code() == KafkaError._PARTITION_EOF and message.offset() >= stretch.end:  # noqa: SLF001
            return True  # the last offsets of a range may be transaction markers, or compacted away
        limits = self.limits(stretch.topic).get(stretch.partition)
        raise lost_records(stretch.topic, stretch.partition, (stretch.start, stretch.end), limits)

    def _partitions(self, topic: str) -> list[int]:
        found = self._metadata(topic).topics.get(topic)
        if found is None or found.error is not None or not found.partitions:
            self._fail(found.error if found is not None else None, topic)
        return sorted(found.partitions)

    def _offsets_at(self, topic: str, moment: datetime) -> dict[int, int]:
        found = self._list_offsets(topic, self._partitions(topic), "for_timestamp", milliseconds(moment))
        return {partition: offset for partition, offset in found.items() if offset >= 0}

    def _list_offsets(self, topic: str, partitions: Sequence[int], spec: str, *of: int) -> dict[int, int]:
        """Return the broker's answer for every partition; -1 if no record matches."""
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition, admin

        wanted: Any = getattr(admin, "OffsetSpec")  # noqa: B009  it is offered, but not to type checkers
        asked = {TopicPartition(topic, partition): getattr(wanted, spec)(*of) for partition in partitions}
        answers = self.admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=TIMEOUT_SECONDS
        )
        try:
            return {place.partition: answer.result(TIMEOUT_SECONDS).offset for place, answer in answers.items()}
        except KafkaException as error:
            self._fail(error.args[0], topic)

    def _metadata(self, topic: str | None = None) -> Any:
        """Return the metadata of topics; with a short timeout if a hopeless failure was reported."""
        from confluent_kafka import KafkaException

        until, unfit = time.monotonic() + TIMEOUT_SECONDS, None
        while True:
            try:
                return self.consumer.list_topics(topic, timeout=1) if topic else self.consumer.list_topics(timeout=1)
            except KafkaException as error:
                self.consumer.poll(0)
                if unfit is None:
                    unfit = find_protocol_fault(self.bootstrap, self._protocol()) is not None
                if unfit or self._hopeless() or time.monotonic() > until:
                    self._fail(self._cause() or error.args[0], topic or "any")

    def _protocol(self) -> str:
        return self.properties.get("security.protocol", "PLAINTEXT").upper()

    def _hopeless(self) -> Any:
        """Return a reported failure that waiting does not fix, if there is one."""
        return next((one for one in self.failures if _HOPELESS.match(f"{one.name()}: {one.str()}")), None)

    def _cause(self) -> Any:
        """Return the most informative reported failure, None if there is none."""
        return self._hopeless() or next((one for one in reversed(self.failures) if one.name() != _AFTER_OTHERS), None)

    def _fail(self, error: Any, topic: str, *, reading: bool = False) -> NoReturn:
        name = error.name() if error is not None else "UNKNOWN_TOPIC_OR_PART"
        text = "" if error is None else hide(f"{name}: {error.str()}", self.properties)
        if name == "_RESOLVE":
            raise UnavailableError("the broker's address cannot be resolved", where=self.bootstrap, hint=f"| {text}")
        causes, result = [(_JAVA_NAMES.get(name, name), text)], [text]
        if name == "_TRANSPORT" and _HOPELESS.match(text):  # an alert that comes after the handshake
            causes = [(_JAVA_NAMES["_SSL"], text)]
        if name == "_SSL" and (reason := verify_broker(error.str(), translate_to_librdkafka(self.properties))):
            causes, result = [(_JAVA_NAMES[name], reason)], [f"{name}: {reason}"]
        raise_failure(
            self.topics, causes, result, self.properties, bootstrap=self.bootstrap, topic=topic, reading=reading
        )


@contextmanager
def open_reader(bootstrap: str, properties: Mapping[str, str]) -> Iterator[PartitionReader]:
    """Open a reader of topics, closed after the block. Properties are those of Kafka clients, by their Java names.

    Raises UnavailableError if confluent-kafka is not installed or nothing listens at the address, UsageError if
    properties cannot be used. The first request shows whether a broker answers.
    """
    require_extra("kafka")
    from confluent_kafka import Consumer, KafkaException
    from confluent_kafka.admin import AdminClient

    result: list[Any] = []
    given = translate_to_librdkafka(properties)
    common: dict[str, Any] = {**given, "bootstrap.servers": bootstrap, "error_cb": result.append}
    own = {
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
    }
    _QUIET.propagate = False  # whatever matters is raised as an error
    _QUIET.addHandler(logging.NullHandler())
    try:
        consumer = Consumer({**_DEFAULTS, **common, **own}, logger=_QUIET)
        admin = AdminClient(common, logger=_QUIET)
    except KafkaException as error:
        text = hide(error.args[0].str(), properties)
        raise UsageError("the Kafka properties cannot be used", hint=f"| {text}") from None
    try:
        check_listening(bootstrap)
        yield PartitionReader(bootstrap, properties, consumer, admin, result)
    finally:
        consumer.close()


def _as_batch(messages: Sequence[Any], *, headers: bool) -> pa.RecordBatch:
    stamps = [message.timestamp() for message in messages]
    columns = {
        "key": pa.array([message.key() for message in messages], pa.binary()),
        "value": pa.array([message.value() for message in messages], pa.binary()),
        "topic": pa.array([message.topic() for message in messages], pa.string()),
        "partition": pa.array([message.partition() for message in messages], pa.int32()),
        "offset": pa.array([message.offset() for message in messages], pa.int64()),
        "timestamp": pa.array([stamp * 1_000 for _, stamp in stamps], pa.int64()).cast(_INSTANT),
        # The client counts from "none" = 0; Kafka itself from -1.
        "timestampType": pa.array([kind - 1 for kind, _ in stamps], pa.int32()),
    }
    if headers:
        result = [message.headers() for message in messages]
        columns["headers"] = pa.array(
            [[{"key": key, "value": value} for key, value in one] if one else None for one in result], HEADERS_TYPE
        )
    return pa.RecordBatch.from_pydict(columns)
