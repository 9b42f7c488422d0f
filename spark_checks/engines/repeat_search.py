"""Repeat search: the search for rows of changes files that repeat earlier ones, as given to an engine, and its result.

A row repeats another of the same partition if subject, table, position, op and both images are equal, and rows with
other positions are in between, or the contract promises each position once: within one transaction a row may change
back and forth. Of several equal rows at one position the n-th repeats the n-th. Rows of a full load never count as
repeats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa

from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA, REPEATS_SCHEMA
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.positions import PositionLine
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace, TableWriter
from cdc_contracts.spark_checks.tasks.spark_tasks import attempt_name

REPEATS: Final = "repeats"
TABLE: Final = ("database", "schema", "table")
SAME: Final = (
    "topic", "partition", "subject", "tenant", *TABLE, "position", "transaction", "op", "update_part", "row_index",
    "images",
)  # fmt: skip
"""What is equal where a row repeats another; the subject and one value for both images are made of what is read."""

COMPARED: Final = pa.schema([
    CHANGES_SCHEMA.field(name)
    for name in (*SAME, "contract", "offset", "before", "after")
    if name not in {"subject", "images"}
])  # fmt: skip
"""What is read of changes files."""


@dataclass(frozen=True)
class RepeatSearch:
    """A search for rows of `changes` files that repeat others in these or in files of `earlier` runs.

    Only rows of `lines` are compared; `each_its_own` are the subjects whose messages never share a position. At the
    offsets of `skipped`, lines have rows with other positions, which are not read.
    """

    place: SinkPlace
    changes: Sequence[str]
    earlier: Sequence[str]
    lines: Collection[PositionLine]
    each_its_own: Collection[str]
    skipped: Collection[tuple[PositionLine, int]] = ()


class Repeated(NamedTuple):
    """Rows of a table that repeat others of their partition, and the first of them."""

    rows: int
    offset: int
    first_offset: int


class FoundRepeats(NamedTuple):
    """The result of a search, or of a task of one: files of repeats, and counts by partition and table."""

    parts: Sequence[FilePart]
    counts: Mapping[tuple[Source, TableName], Repeated]


def join_counts(found: Iterable[FoundRepeats]) -> dict[tuple[Source, TableName], Repeated]:
    """Return the joint counts of several tasks."""
    together: dict[tuple[Source, TableName], Repeated] = {}
    for one in found:
        for key, repeated in one.counts.items():
            together[key] = _join(together.get(key), repeated)
    return together


def write_repeats(place: SinkPlace, batches: Iterable[pa.RecordBatch]) -> FoundRepeats:
    """Write rows of repeats, whose columns are in the order of their schema, and count them."""
    writer = TableWriter(place, REPEATS, REPEATS_SCHEMA, attempt_name())
    counts: dict[tuple[Source, TableName], Repeated] = {}
    try:
        for batch in batches:
            rows = pa.RecordBatch.from_arrays(batch.columns, schema=REPEATS_SCHEMA)
            writer.write(rows)
            keys = ["topic", "partition", *TABLE]
            grouped = pa.Table.from_batches([rows.select([*keys, "offset", "first_offset"])]).sort_by("offset")
            result = grouped.group_by(keys, use_threads=False).aggregate([
                ([], "count_all"), ("offset", "first"), ("first_offset", "first")
            ])  # fmt: skip
            for one in result.to_pylist():
                key = (
                    Source(one["topic"], one["partition"]),
                    TableName.of(one["database"], one["schema"], one["table"]),
                )
                found = Repeated(one["count_all"], one["offset_first"], one["first_offset_first"])
                counts[key] = _join(counts.get(key), found)
        return FoundRepeats(list(writer.close()), counts)
    except BaseException:
        writer.discard()
        raise


def _join(one: Repeated | None, other: Repeated) -> Repeated:
    if one is None:
        return other
    first = min(one, other, key=lambda row: row.offset)
    return first._replace(rows=one.rows + other.rows)
