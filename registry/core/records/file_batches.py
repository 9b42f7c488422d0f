"""File batches: the messages of files and of standard input as Arrow batches, with the columns of the Kafka source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.records.file_plans import ParquetRowGroup, Slice, Window
from cdc_contracts.registry.core.records.input_files import (
    RecordsWithoutArrow,
    read_input_without_arrow,
    read_slice_without_arrow,
)
from cdc_contracts.registry.core.records.output_schemas import INSTANT
from cdc_contracts.registry.core.stats.partition_tallies import Source


def read_slice(one: Slice, windows: Mapping[Source, Window]) -> Iterator[pa.RecordBatch]:
    """Yield the messages of a slice that lie in the windows, with the columns of the Kafka source."""
    if isinstance(one, ParquetRowGroup):
        from cdc_contracts.registry.core.records.parquet_messages import (
            read_row_group,  # here, as it takes long to import
        )

        yield from read_row_group(one, windows)
    else:
        yield from map(as_batch, read_slice_without_arrow(one, windows))


def read_input(data: bytes, *, whole: bool) -> Iterator[pa.RecordBatch]:
    """Yield the messages of standard input, read as lines or as one message."""
    yield from map(as_batch, read_input_without_arrow(data, whole=whole))


def as_batch(records: RecordsWithoutArrow) -> pa.RecordBatch:
    """Return plain records as a batch with the columns of the Kafka source."""
    total = len(records.values)
    return pa.RecordBatch.from_pydict({
        "key": pa.nulls(total, pa.binary()),
        "value": pa.array(records.values, pa.binary()),
        "topic": pa.array([records.topic] * total, pa.string()),
        "partition": pa.array(np.full(total, records.partition, np.int32)),
        "offset": pa.array(records.offsets, pa.int64()),
        "timestamp": pa.nulls(total, INSTANT),
        "timestampType": pa.nulls(total, pa.int32()),
    })  # fmt: skip
