"""Records as a source delivers them: batches with the columns of the Kafka source."""

from collections.abc import Callable, Iterable

import pyarrow as pa


def batch_of(
    records: Iterable[tuple[int, int, bytes | None]], *, topic: str = "orders", time: Callable[[int], int] | None = None
) -> pa.RecordBatch:
    """Records given by partition, offset and value; `time` gives the microseconds of an offset."""
    partitions, offsets, values = zip(*records, strict=True)
    columns = {
        "value": pa.array(values, pa.binary()),
        "topic": pa.array([topic] * len(values)),
        "partition": pa.array(partitions, pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
    }
    if time is not None:
        columns["timestamp"] = pa.array([time(offset) for offset in offsets], pa.timestamp("us", tz="UTC"))
    return pa.RecordBatch.from_pydict(columns)


def batch_of_values(values: Iterable[bytes | None], *, start: int = 0, topic: str = "orders") -> pa.RecordBatch:
    """The values of one partition, from an offset on."""
    return batch_of([(0, offset, value) for offset, value in enumerate(values, start)], topic=topic)
