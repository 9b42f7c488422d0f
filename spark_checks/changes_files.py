"""The files of `changes/` that a run has written, read again to be typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.outputs import CHANGES_SCHEMA
from cdc_contracts.spark_checks.sinks import Part, Place

BATCH_ROWS: Final = 32_768


def read_changes(place: Place, part: Part) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a changes file (`CHANGES_SCHEMA`), in their order."""
    filesystem, root = place.open()
    with filesystem.open_input_file(f"{root}/{part.path}") as source, pq.ParquetFile(source) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=CHANGES_SCHEMA)
