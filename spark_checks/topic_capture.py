"""Topic capture: a range of a topic as one Parquet file with the columns of the Kafka source, byte for byte."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.core.common.atomic_files import check_folder
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA, as_capture
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.engines.stopping import halt
from cdc_contracts.spark_checks.inputs.sources import TopicInput
from cdc_contracts.spark_checks.tasks.spark_tasks import Work, attempt_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def capture_topic(session: SparkSession, source: TopicInput, target: Path, *, replace: bool = False) -> int:
    """Write every record of the range to one Parquet file, in order of topic, partition and offset.

    Returns the number of records. The file is written atomically.
    Raises UsageError if the target exists and not `replace`, UnavailableError if it cannot be written.
    """
    check_target(target, replace=replace)
    try:
        target = target.absolute()  # workers have another working directory
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UnavailableError(f"cannot write there: {error}", where=str(target)) from error
    try:
        parts = source.run(session, _write_parts(str(folder)), "path string, rows bigint")
        aside = folder / target.name
        rows = join_parts([folder / row.path for row in parts], aside, CAPTURE_SCHEMA)
        aside.replace(target)
    except BaseException:
        halt(session)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def check_target(target: Path, *, replace: bool) -> None:
    """Raise UsageError if the target exists and may not be replaced, UnavailableError if it cannot be written."""
    if target.suffix != ".parquet":
        raise UsageError("a capture is a .parquet file", where=str(target))
    if target.is_dir():
        raise UsageError("this is a folder, not a file", where=str(target))
    if target.exists() and not replace:
        raise UsageError("the file exists already", where=str(target), hint="Choose another name, or give --replace.")
    check_folder(target.parent)


def _write_parts(folder: str) -> Work:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        name = f"part-{attempt_name()}.parquet"
        rows = 0
        with pq.ParquetWriter(f"{folder}/{name}", CAPTURE_SCHEMA, compression="zstd") as writer:
            for batch in batches:
                if batch.num_rows:
                    writer.write_batch(as_capture(batch))
                    rows += batch.num_rows
        yield pa.RecordBatch.from_pydict({"path": [name], "rows": [rows]})

    return work


def join_parts(parts: list[Path], target: Path, schema: pa.Schema) -> int:
    """Write captures as one file in order of their first records, and return the number of records.

    One row group is in memory at a time.
    """
    groups: list[tuple[Source, int, Path, int]] = []
    for part in parts:
        with pq.ParquetFile(part) as file:
            for group in range(file.num_row_groups):
                first = file.read_row_group(group, columns=["topic", "partition", "offset"]).slice(0, 1).to_pylist()[0]
                groups.append((Source(first["topic"], first["partition"]), first["offset"], part, group))
    rows = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for _, _, part, group in sorted(groups):
            with pq.ParquetFile(part) as file:
                table = file.read_row_group(group)
            writer.write_table(table)
            rows += table.num_rows
    return rows
