"""Demo topic: the producer is upgraded mid-stream, then some messages are faulty; generated from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cdc_contracts.spark_checks.kafka.broker import Broker

TOPIC: Final = "shop.changes"
SUBJECT: Final = "oms-community/canal"
PARTITIONS: Final = 4

_FOREIGN: Final = ("dts/canal", "oms-community/dataworks")
_FIRST_TIMESTAMP: Final = datetime(2024, 6, 10, 6, 13, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Scenario:
    """The events in the topic, and the fraction of the stream at which each happens."""

    upgrades: tuple[float, ...] = (0.55, 0.48, 0.61, 0.52)
    new_member: float = 0.85
    truncated: tuple[float, ...] = (0.2, 0.7)
    foreign: tuple[float, ...] = (0.6,)
    tombstone: tuple[float, ...] = (0.4,)


def demo_messages(catalogue: Catalogue, *, seed: int, messages: int, subject: str = SUBJECT) -> Iterator[pa.Table]:
    """Yield the records of each partition as a table with the columns of the Kafka source.

    In each partition the producer is upgraded, at its fraction in `upgrades`, from the version before the last to the
    last, if there are two, and from `new_member` on writes an undocumented member, if possible. A few messages are
    truncated, of another dialect, or tombstones.
    """
    result = Scenario()
    versions = catalogue.versions(subject)
    before, after = versions[-2:] if len(versions) > 1 else versions * 2
    old, new, foreign = (Renderer(one, ReadingOptions()) for one in (before, after, _foreign_to(after)))
    size = messages // PARTITIONS
    for partition in range(PARTITIONS):
        values: list[bytes | None] = []
        for number, event in enumerate(row_stream(seed + partition, size)):
            if number in _at(result.tombstone, size):
                values.append(None)
                continue
            renderer = old if number < int(result.upgrades[partition] * size) else new
            renderer = foreign if number in _at(result.foreign, size) else renderer
            value = renderer.render(event)
            if number >= int(result.new_member * size) and value.startswith(b"{"):
                value = b'{"shard":3,' + value[1:]
            values.append(value[: len(value) // 2] if number in _at(result.truncated, size) else value)
        yield _as_table(partition, values, row_stream(seed + partition, size))


def _foreign_to(version: Version) -> Version:
    """Return a version of another subject whose messages cannot be confused with this one's."""
    near = {version.subject, *version.meaning.not_separable_from}
    subject = next(subject for subject in _FOREIGN if subject not in near)
    return version.catalogue.versions(subject)[-1]


def write_capture(tables: Iterator[pa.Table], target: Path) -> int:
    """Write the records as a capture, and return their number. Raises UnavailableError if the folder cannot be made."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        result = f"cannot make the folder: {error.strerror}"
        raise UnavailableError(result, where=str(target.parent), hint="Name another.") from error
    rows = 0
    with pq.ParquetWriter(target, CAPTURE_SCHEMA, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)
            rows += table.num_rows
    return rows


def produce(session: SparkSession, broker: Broker, capture: Path, topic: str = TOPIC) -> None:
    """Write the records of a capture to a new topic of the broker, each to its partition, in order."""
    broker.create_topic(topic, PARTITIONS)
    frame = session.read.parquet(str(capture.absolute())).select("key", "value", "partition", "offset")
    ordered: DataFrame = frame.repartition(PARTITIONS, "partition").sortWithinPartitions("partition", "offset")
    writer = ordered.select("key", "value", "partition").write.format("kafka")
    writer.option("kafka.bootstrap.servers", broker.bootstrap).option("topic", topic).save()


def _at(shares: Sequence[float], size: int) -> frozenset[int]:
    return frozenset(int(share * size) for share in shares)


def _as_table(partition: int, values: list[bytes | None], events: Iterator[Event]) -> pa.Table:
    keys = []
    for event in events:
        image = event.after or event.before or {}
        keys.append((image.get("id") or "").encode())
    total = len(values)
    times = [_FIRST_TIMESTAMP + timedelta(milliseconds=5 * number) for number in range(total)]
    columns = {
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "topic": pa.array([TOPIC] * total),
        "partition": pa.array([partition] * total, pa.int32()),
        "offset": pa.array(range(total), pa.int64()),
        "timestamp": pa.array(times, pa.timestamp("us", tz="UTC")),
        "timestampType": pa.array([0] * total, pa.int32()),
        "headers": pa.nulls(total, CAPTURE_SCHEMA.field("headers").type),
    }
    return pa.Table.from_pydict(columns, schema=CAPTURE_SCHEMA)
