"""Deduplicated changes of a run: temporary files without repeated rows, from which typed tables are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace, TableWriter
from cdc_contracts.spark_checks.files.part_files import read_part
from cdc_contracts.spark_checks.tasks.spark_tasks import as_result, attempt_name, read_results

UNREPEATED: Final = "unrepeated"
_PLACE: Final = ("topic", "partition", "offset", "row_index")


def drop_repeats(
    engine: Engine, place: SinkPlace, changes: Sequence[FilePart], repeats: Sequence[FilePart]
) -> list[FilePart]:
    """Write the rows of changes files without the repeats, and return the files."""

    def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
        for number in numbers:
            yield as_result(_rewrite(place, changes[number], repeats, f"{attempt_name()}-{number}"))

    rows = read_results(engine.run_shares(len(changes), work))
    return [part for parts in rows for part in parts]


def _rewrite(place: SinkPlace, part: FilePart, repeats: Sequence[FilePart], name: str) -> list[FilePart]:
    writer = TableWriter(place, UNREPEATED, CHANGES_SCHEMA, name)
    try:
        for rows in read_part(place, part, CHANGES_SCHEMA):
            known = _coordinates(_repeats_among(place, rows, repeats))
            again = pc.is_in(_coordinates(rows), value_set=known)
            writer.write(rows.filter(pc.invert(again)) if len(known) else rows)
        return list(writer.close())
    except BaseException:
        writer.discard()
        raise


def _repeats_among(place: SinkPlace, rows: pa.RecordBatch, repeats: Sequence[FilePart]) -> pa.Table:
    """Return the repeats whose offsets are among those of some rows; only they are read."""
    filesystem, root = place.open()
    ends = pc.min_max(rows.column("offset")).as_py()
    within = [("offset", ">=", ends["min"]), ("offset", "<=", ends["max"])]
    paths = [f"{root}/{part.path}" for part in repeats]
    return pa.concat_tables([
        pq.read_table(path, columns=list(_PLACE), filters=within, filesystem=filesystem, partitioning=None)
        for path in paths
    ])  # fmt: skip


def _coordinates(rows: pa.RecordBatch | pa.Table) -> pa.Array:
    """Return the coordinates of each row as one text."""
    texts = [rows.column(name).cast(pa.string()) for name in _PLACE]
    joined = pc.binary_join_element_wise(*texts, "\n")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
