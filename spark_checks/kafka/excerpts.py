"""Excerpts of a topic, read without a JVM: one record, or a sample of a range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.records.sample_windows import Window, share_windows
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.kafka.consumer import OffsetStretch, PartitionReader
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range, parse_range


def read_record(reader: PartitionReader, topic: str, partition: int, offset: int) -> pa.RecordBatch:
    """Return one record, with its headers.

    Raises UnavailableError if topic, partition or offset does not exist, or the offset holds no record.
    """
    wanted = parse_range(f"offset:{partition}={offset}", "latest")
    start, end = reader.resolve(topic, wanted)[partition]
    for batch in reader.read({topic: {partition: (start, min(end, start + 1))}}, headers=True):
        if batch.num_rows:
            return batch
    raise UnavailableError(
        f"there is no record at offset {offset}",
        where=f"{topic} partition {partition}",
        hint=f"The partition ends at {end}."
        if offset >= end
        else "The offset is a transaction marker, or its record was compacted away.",
    )


def read_sample(
    reader: PartitionReader, topic: str, limit: int, wanted: Range | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield at most `limit` records of a range of a topic, the same number from each partition if it has enough.

    They are taken from the beginning, the middle and the end of each partition's range, always the same ones in the
    same order: partitions answer in any order, and the first finding reported must not depend on that.
    Raises UnavailableError as `resolve` and `read` do.
    """
    selected = reader.resolve(topic, wanted or parse_range())
    for stretches in _rounds(topic, selected, limit):
        read = []
        for batch in reader.read_stretches(stretches, headers=True):
            if batch.num_rows:
                read.append(batch)
            else:
                yield batch
        yield from _in_order(read)


def _in_order(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the records sorted by partition and offset, a batch per partition."""
    parts = [
        batch.filter(pc.equal(batch.column("partition"), number))
        for batch in batches
        for number in pc.unique(batch.column("partition"))
    ]
    return sorted(parts, key=lambda part: [part.column(name)[0].as_py() for name in ("partition", "offset")])


def _rounds(topic: str, selected: Limits, limit: int) -> Iterator[list[OffsetStretch]]:
    """Yield the rounds of reading: each has a slice per partition, which over gaps may extend to the next slice."""
    limits = {Source(topic, partition): bounds for partition, bounds in selected.items()}
    windows = share_windows(limits, limit)
    for number, part in enumerate(windows):
        yield [
            OffsetStretch(
                topic, place.partition, start, _next_start(windows[number + 1 :], place, limits[place][1]), end - start
            )
            for place, (start, end) in part.items()
            if start < end
        ]


def _next_start(windows: Sequence[Mapping[Source, Window]], place: Source, end: int) -> int:
    return next((window[place][0] for window in windows if place in window), end)
