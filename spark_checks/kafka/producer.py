"""Producer: records written to a topic unchanged, with key, headers, timestamp, partition and null values.

Spark's Kafka sink writes no timestamps, so that each record would have the time of the conversion.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.spark_checks.kafka.credentials import describe_right, hide
from cdc_contracts.spark_checks.kafka.property_names import translate_to_librdkafka

_DEFAULTS: Final = {
    "enable.idempotence": True,  # retried requests neither duplicate records nor change their order
    "linger.ms": 20,
    "message.max.bytes": 1_000_000_000,  # the broker enforces the real limit
    "queue.buffering.max.kbytes": 65_536,
}
_WAIT_SECONDS: Final = 0.5
_QUIET: Final = logging.getLogger("cdc_contracts.producer")


@dataclass
class Writer:
    """Writes to one topic; delivery is certain only after `finish`."""

    bootstrap: str
    topic: str
    producer: Any = field(repr=False)
    properties: Mapping[str, str] = field(repr=False)
    delivered: int = 0
    _sent: int = 0
    _failures: list[Any] = field(default_factory=list)

    def write(self, records: pa.RecordBatch) -> None:
        """Send records with the columns of a capture, in their order. Raises UnavailableError if one is refused."""
        stamps = records.column("timestamp").cast(pa.int64()).to_pylist()
        columns = (records.column(name).to_pylist() for name in ("key", "value", "partition", "headers"))
        for key, value, partition, headers, micros in zip(*columns, stamps, strict=True):
            result = [(one["key"], one["value"]) for one in headers or ()]
            time = {} if micros is None else {"timestamp": micros // 1_000}
            self._send(key=key, value=value, partition=partition, headers=result, **time)
        self.producer.poll(0)
        self._check()

    def finish(self) -> None:
        """Wait until all is delivered. Raises UnavailableError if a record is not."""
        self.producer.flush()
        self._check()
        if self.delivered != self._sent:
            raise UnavailableError(f"{self._sent - self.delivered:,} records were not delivered", where=self.topic)

    def _send(self, **record: Any) -> None:
        while True:
            try:
                self.producer.produce(self.topic, on_delivery=self._note, **record)
            except BufferError:  # the queue is full
                self.producer.poll(_WAIT_SECONDS)
                self._check()
            else:
                self._sent += 1
                return

    def _note(self, error: Any, _: Any) -> None:
        if error is None:
            self.delivered += 1
        else:
            self._failures.append(error)

    def _check(self) -> None:
        if self._failures:
            error = self._failures[0]
            result = hide(f"{error.name()}: {error.str()}", self.properties)
            hint = f"| {result}\n  What was written before stays in the topic."
            if error.name() == "TOPIC_AUTHORIZATION_FAILED":
                hint = f"{describe_right(self.properties, self.bootstrap, 'Write', [self.topic])}\n  {hint}"
            raise UnavailableError(f"records cannot be written to topic {self.topic}", where=self.bootstrap, hint=hint)


@contextmanager
def open_writer(bootstrap: str, topic: str, properties: Mapping[str, str]) -> Iterator[Writer]:
    """Open a writer to a topic; the properties are those of Kafka clients, by their Java names.

    Raises UsageError if the properties cannot be used. Records not sent by the end of the block are dropped.
    """
    from confluent_kafka import KafkaException, Producer

    _QUIET.propagate = False  # whatever matters is raised as an error
    _QUIET.addHandler(logging.NullHandler())
    try:
        given = translate_to_librdkafka(properties)
        producer = Producer({**_DEFAULTS, **given, "bootstrap.servers": bootstrap}, logger=_QUIET)
    except KafkaException as error:
        text = hide(error.args[0].str(), properties)
        raise UsageError("the Kafka properties cannot be used", hint=f"| {text}") from None
    try:
        yield Writer(bootstrap, topic, producer, properties)
    finally:
        producer.purge()
        producer.flush(_WAIT_SECONDS)
