"""Producers of tests: records written to a topic in order, alone or in transactions, and topics changed by others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confluent_kafka import Producer

    from cdc_contracts.spark_checks.kafka.broker import Broker

Record = tuple[int, bytes | None] | tuple[int, bytes | None, Mapping[str, Any]]
"""Partition, value, and more arguments of the producer: key, timestamp, headers."""
_SECONDS = 30


def write_records(broker: Broker, topic: str, records: Sequence[Record]) -> None:
    """The records are in the topic, those of a partition in their order."""
    # Without idempotence a batch that is sent again, as on a busy machine, may come after later ones.
    producer = _open_producer(broker, **{"enable.idempotence": True, "message.max.bytes": 100_000_000})
    for number, (partition, value, *more) in enumerate(records):
        if number % 10_000 == 9_999:
            producer.flush()
        producer.produce(topic, value, partition=partition, **(more[0] if more else {}))
    assert producer.flush(_SECONDS) == 0


def produce(broker: Broker, topic: str, values: Sequence[bytes | None], *, partition: int = 0) -> None:
    """The values are in a partition of the topic, in their order."""
    write_records(broker, topic, [(partition, value) for value in values])


def write_transactions(broker: Broker, topic: str, *transactions: tuple[Sequence[bytes], bool]) -> None:
    """Values are in the first partition in one transaction after another, each committed, or aborted where False."""
    producer = _open_transactions(broker, topic)
    for values, keep in transactions:
        _begin(producer, topic, values)
        (producer.commit_transaction if keep else producer.abort_transaction)(_SECONDS)


def add_partitions(broker: Broker, topic: str, total: int) -> None:
    """The topic has so many partitions.

    The client ends with the function. In a test it could outlive the broker, and complain: PySpark keeps the last error
    of a stream, and with it all that its callers hold.
    """
    from confluent_kafka.admin import AdminClient, NewPartitions

    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_partitions([NewPartitions(topic, total)])[topic].result(_SECONDS * 10)


def delete_records(broker: Broker, topic: str, partition: int, before: int) -> None:
    """The records of a partition before an offset are gone."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    (deleted,) = admin.delete_records([TopicPartition(topic, partition, before)]).values()
    assert deleted.result(_SECONDS * 10).low_watermark == before


@contextmanager
def open_transaction(broker: Broker, topic: str, values: Sequence[bytes]) -> Iterator[None]:
    """Values are in the first partition in a transaction that is open meanwhile, and aborted after that."""
    producer = _open_transactions(broker, topic)
    _begin(producer, topic, values)
    yield
    producer.abort_transaction(_SECONDS)


def _open_transactions(broker: Broker, topic: str) -> Producer:
    # A transaction ends with the tests that read it, before the broker aborts it, by default after a minute.
    producer = _open_producer(broker, **{"transactional.id": topic, "transaction.timeout.ms": 900_000})
    producer.init_transactions(_SECONDS)
    return producer


def _begin(producer: Producer, topic: str, values: Sequence[bytes]) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(_SECONDS) == 0


def _open_producer(broker: Broker, **properties: Any) -> Producer:
    from confluent_kafka import Producer

    return Producer({"bootstrap.servers": broker.bootstrap, **properties})
