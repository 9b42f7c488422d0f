"""Parquet messages: files with one message a row, with the columns of the Kafka source as far as they have them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.records.file_plans import BATCH_ROWS, FilePlan, ParquetRowGroup, Window
from cdc_contracts.registry.core.records.output_schemas import INSTANT
from cdc_contracts.registry.core.records.record_batches import Batch, is_number
from cdc_contracts.registry.core.stats.partition_tallies import Source

_SOURCE_COLUMNS: Final = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")


def plan_row_groups(path: Path, number: int, plan: FilePlan, seen: SeenOffsets) -> None:
    """Add the row groups of a Parquet file to a plan.

    Raises UnavailableError if it cannot be read or names a record twice, UsageError if it has no column of messages.
    """
    try:
        _plan_row_groups(path, number, plan, seen)
    except (OSError, pa.ArrowException) as error:
        raise UnavailableError(f"cannot be read: {error}", where=str(path)) from error


def _plan_row_groups(path: Path, number: int, plan: FilePlan, seen: SeenOffsets) -> None:
    first = 0
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        if "value" not in names:
            raise UsageError(
                "has no column `value`",
                where=str(path),
                hint="A Parquet file of messages has the columns of the Kafka source; `capture` writes such files.",
            )
        kind = file.schema_arrow.field("value").type
        if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_string(kind)):
            raise UsageError(f"its column `value` is {kind}, not binary", where=str(path))
        time = file.schema_arrow.field("timestamp").type if "timestamp" in names else INSTANT
        if is_number(time):
            raise UsageError(
                f"its column `timestamp` is {time}, which does not say what it counts",
                where=str(path),
                hint="Write it as a timestamp, such as timestamp[ms]; Kafka counts milliseconds.",
            )
        wanted = [name for name in ("topic", "partition", "offset") if name in names]
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            size = file.metadata.row_group(group).total_byte_size
            one = ParquetRowGroup(str(path), path.name, number, group, first, size)
            plan.slices.append(one)
            table = file.read_row_group(group, columns=wanted)
            columns = pa.RecordBatch.from_arrays([column.combine_chunks() for column in table.columns], wanted)
            places = Batch(_coordinates(columns, one, rows))
            for source, chosen in places.by_source(np.arange(rows)):
                offsets = places.offsets[chosen]
                seen.add(source, offsets, f"{path} row group {group}")
                low, high = plan.limits.get(source, (sys.maxsize, 0))
                plan.limits[source] = (min(low, int(offsets.min())), max(high, int(offsets.max()) + 1))
            first += rows
        if not file.num_row_groups:
            plan.limits.setdefault(Source(path.name, number), (0, 0))


class SeenOffsets:
    """Which offsets were seen of each partition, kept as extents; looked into only where extents overlap."""

    def __init__(self) -> None:
        self._parts: dict[Source, list[tuple[int, int, str, np.ndarray[Any, np.dtype[np.int64]]]]] = {}

    def add(self, source: Source, offsets: np.ndarray[Any, np.dtype[np.int64]], place: str) -> None:
        """Note the offsets of one row group. Raises UnavailableError if one occurs twice in it."""
        rising = bool((np.diff(offsets) > 0).all())
        if not rising:
            ordered = np.sort(offsets)
            duplicates = ordered[1:][np.diff(ordered) == 0]
            if len(duplicates):
                raise _twice(source, int(duplicates[0]), place, place)
        self._parts.setdefault(source, []).append((int(offsets.min()), int(offsets.max()), place, offsets))

    def refuse_duplicates(self) -> None:
        """Raise UnavailableError if two row groups hold the same offset of one partition."""
        for source, parts in self._parts.items():
            parts.sort(key=lambda part: (part[0], part[1]))
            reach = parts[:1]
            for part in parts[1:]:
                for other in reach:
                    if other[1] >= part[0]:
                        shared = np.intersect1d(other[3], part[3])
                        if len(shared):
                            raise _twice(source, int(shared[0]), other[2], part[2])
                reach = [other for other in reach if other[1] > part[0]] + [part]


def _twice(source: Source, offset: int, first: str, second: str) -> UnavailableError:
    return UnavailableError(
        f"offset {offset} of {source.topic} partition {source.partition} occurs twice in the input",
        where=first if first == second else f"{first} and {second}",
        hint="Leave out one of the files: a record must be counted only once.",
    )


def _coordinates(records: pa.RecordBatch, one: ParquetRowGroup, rows: int) -> pa.RecordBatch:
    """Return the topic, partition and offset of rows. Raises UsageError if a column has nulls."""

    def column(name: str, kind: pa.DataType, default: Any) -> pa.Array:
        if name not in records.schema.names:
            return default()
        found = records.column(name).cast(kind)
        if found.null_count:
            raise UsageError(f"its column `{name}` contains nulls", where=one.path)
        return found

    return pa.RecordBatch.from_pydict({
        "topic": column("topic", pa.string(), lambda: pa.array([one.topic] * rows, pa.string())),
        "partition": column("partition", pa.int32(), lambda: pa.array(np.full(rows, one.partition, np.int32))),
        "offset": column("offset", pa.int64(), lambda: pa.array(np.arange(one.first, one.first + rows))),
    })  # fmt: skip


def read_row_group(one: ParquetRowGroup, windows: Mapping[Source, Window]) -> Iterator[pa.RecordBatch]:
    """Yield the messages of a row group that lie in the windows, with the columns of the Kafka source."""
    first = one.first
    with pq.ParquetFile(one.path) as file:
        wanted = [name for name in _SOURCE_COLUMNS if name in file.schema_arrow.names]
        for part in file.iter_batches(BATCH_ROWS, row_groups=[one.group], columns=wanted):
            rows = part.num_rows
            shifted = replace(one, first=first)
            places = _coordinates(part, shifted, rows)
            first += rows
            columns = {
                "key": _taken(part, "key", pa.binary(), rows),
                "value": _taken(part, "value", pa.binary(), rows),
                **{name: places.column(name) for name in places.schema.names},
                "timestamp": _taken(part, "timestamp", INSTANT, rows),
                "timestampType": _taken(part, "timestampType", pa.int32(), rows),
            }
            if "headers" in part.schema.names:
                columns["headers"] = part.column("headers")
            batch = pa.RecordBatch.from_pydict(columns)
            inside = _inside(Batch(batch), windows)
            yield batch if inside.all() else batch.filter(pa.array(inside))


def _inside(records: Batch, windows: Mapping[Source, Window]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    inside = np.zeros(len(records), np.bool_)
    for source, chosen in records.by_source(np.arange(len(records))):
        if source in windows:
            start, end = windows[source]
            inside[chosen] = (records.offsets[chosen] >= start) & (records.offsets[chosen] < end)
    return inside


def _taken(records: pa.RecordBatch, name: str, kind: pa.DataType, rows: int) -> pa.Array:
    if name not in records.schema.names:
        return pa.nulls(rows, kind)
    column = records.column(name)
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(column.type) and column.type.tz is None:
        column = column.cast(pa.timestamp("us")).cast(pa.int64())  # a stored wall clock is taken as UTC
    return column.cast(kind)
