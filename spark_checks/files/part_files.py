"""Part files: the row files of runs, read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace

BATCH_ROWS: Final = 32_768


def read_part(
    place: SinkPlace, part: FilePart, schema: pa.Schema, *, most: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in order, in batches of limited size, with the columns of the schema.

    A nullable column that the file of an earlier release lacks is null.
    """
    filesystem, root = place.open()
    path = f"{root}/{part.path}"
    with filesystem.open_input_file(path) as source:
        held = set(pq.read_schema(source).names)
    wanted = [one.name for one in schema if one.name in held or not one.nullable]
    for rows in read_columns(filesystem, path, wanted, most=most):
        columns = [rows.column(one.name) if one.name in wanted else pa.nulls(rows.num_rows, one.type) for one in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def read_columns(
    filesystem: fs.FileSystem, path: str, columns: Sequence[str], *, most: int
) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, in this order."""
    with filesystem.open_input_file(path) as source, pq.ParquetFile(source) as file:
        for rows in file.iter_batches(most, columns=list(columns)):
            yield rows.select(list(columns))
