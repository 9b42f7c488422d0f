"""Captures: records with their keys, headers and coordinates, in the columns of the Kafka source."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from cdc_contracts.registry.records.output_schemas import HEADERS_TYPE
from cdc_contracts.registry.records.record_batches import read_headers

CAPTURE_SCHEMA: Final = pa.schema([
    ("key", pa.binary()),
    ("value", pa.binary()),
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", tz="UTC")),
    ("timestampType", pa.int32()),
    ("headers", HEADERS_TYPE),
])  # fmt: skip


def as_capture(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return records with exactly the columns of `CAPTURE_SCHEMA`; those that they lack are null."""
    arrays = []
    for field in CAPTURE_SCHEMA:
        if field.name not in batch.schema.names:
            arrays.append(pa.nulls(batch.num_rows, field.type))
        elif field.name == "headers":
            arrays.append(read_headers(batch.column("headers")))
        else:
            arrays.append(batch.column(field.name).cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=CAPTURE_SCHEMA)
