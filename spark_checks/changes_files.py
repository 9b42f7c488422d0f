"""The files of `changes/` that a run has written, read again to be typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.outputs import CHANGES_SCHEMA
from cdc_contracts.spark_checks.sinks import Part, Place

BATCH_ROWS: Final = 32_768
_NOT_TYPED: Final = ("primary_key", "before_complete", "after_complete", "types_from", "kafka_timestamp", "kafka_key")
TYPED_FROM: Final = pa.schema([one for one in CHANGES_SCHEMA if one.name not in _NOT_TYPED])
"""What of `changes/` typed rows are made of."""


def read_changes(place: Place, part: Part, schema: pa.Schema = CHANGES_SCHEMA) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a changes file, in their order, with the columns of the schema."""
    filesystem, root = place.open()
    with filesystem.open_input_file(f"{root}/{part.path}") as source, pq.ParquetFile(source) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=schema.names):
            yield pa.RecordBatch.from_arrays([batch.column(name) for name in schema.names], schema=schema)
