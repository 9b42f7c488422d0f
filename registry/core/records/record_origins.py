"""Record origins: one message out of many: a line of a file or of standard input, a row of a capture."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.message.envelope_times import instant
from cdc_contracts.registry.core.records.file_plans import FilePlan, ParquetRowGroup, Slice, WholeFile, Window
from cdc_contracts.registry.core.records.input_files import (
    STDIN,
    RecordsWithoutArrow,
    plan_files,
    read_input_without_arrow,
    read_slice_without_arrow,
)
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.writer_schemas.schema_headers import Header

if TYPE_CHECKING:
    import pyarrow as pa


class FoundPlace(Struct, frozen=True):
    """Where a message is, as documents say it: file and line, or topic, partition, offset and timestamp."""

    file: Sometimes[str] = UNSET
    line: Sometimes[int | None] = UNSET
    topic: Sometimes[str] = UNSET
    partition: Sometimes[int] = UNSET
    offset: Sometimes[int] = UNSET
    timestamp: Sometimes[str] = UNSET


@dataclass(frozen=True, slots=True)
class Found:
    """The value of one message, and where it is. `line` is counted from 1, None if its source has no lines.

    `micros` is its timestamp, in microseconds since 1970 UTC. `whole` says that the source is this message, `more` that
    it holds others and none of them was asked for.
    """

    value: bytes | None
    topic: str
    partition: int
    offset: int
    line: int | None = None
    key: bytes | None = None
    micros: int | None = None
    headers: tuple[Header, ...] = ()
    whole: bool = False
    more: bool = False

    @property
    def timestamp(self) -> str | None:
        return None if self.micros is None else instant(self.micros)

    @property
    def place(self) -> FoundPlace:
        """Where the message is, as documents say it."""
        if self.line is not None or self.whole:
            return FoundPlace(file=self.topic, line=self.line)
        stamp = UNSET if self.timestamp is None else self.timestamp
        return FoundPlace(topic=self.topic, partition=self.partition, offset=self.offset, timestamp=stamp)

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.topic} line {self.line}"
        if self.whole:
            return self.topic
        at = f" of {self.timestamp}" if self.timestamp else ""
        return f"{self.topic} partition {self.partition} offset {self.offset}{at}"


def found_in(batch: pa.RecordBatch, row: int = 0) -> Found:
    """Return the record at a row of a batch with the columns of the Kafka source."""
    names = ("value", "topic", "partition", "offset", "key", "timestamp")
    value, topic, partition, offset, key, stamp = (batch.column(name)[row] for name in names)
    return Found(
        value=value.as_py(),
        topic=topic.as_py(),
        partition=partition.as_py(),
        offset=offset.as_py(),
        key=key.as_py(),
        micros=stamp.value,
        headers=_headers_in(batch, row),
    )


def _headers_in(batch: pa.RecordBatch, row: int) -> tuple[Header, ...]:
    if "headers" not in batch.schema.names:
        return ()
    from cdc_contracts.registry.core.records.record_batches import read_headers  # here, as most input is no Parquet

    (found,) = read_headers(batch.column("headers").slice(row, 1)).to_pylist()
    return tuple((header["key"], header["value"]) for header in found or ())


def find_in_file(
    path: str, *, line: int | None, whole: bool, partition: int | None = None, offset: int | None = None
) -> Found:
    """Return a message of a file, or of standard input: by its line, by partition and offset, or the first there is.

    In a capture the line is the row, counted from 1. Raises UnavailableError if there is no such file or message,
    UsageError if the file is of no known kind, the offset is not of one partition, or a line is given beside it.
    """
    if line is not None and offset is not None:
        raise UsageError("--line and --offset each name a message", where=path, hint="Give one of them.")
    if path == STDIN and (partition is not None or offset is not None):
        raise UsageError("standard input has no offsets and no partitions", hint="Select a message with --line.")
    if path == STDIN:
        records = _plain(read_input_without_arrow(sys.stdin.buffer.read(), whole=whole))
        of_lines, single = not whole, whole
    else:
        plan = plan_files([Path(path)], whole=whole)
        of_lines, single = bool(plan.line_partitions), any(isinstance(one, WholeFile) for one in plan.slices)
        windows = _windows(plan, path, line if of_lines else None, partition, offset)
        records = (found for one in plan.slices for found in _read(one, windows))
    asked = any(one is not None for one in (line, partition, offset))
    for number, found in enumerate(records, 1):
        at = found.offset + 1 if of_lines else number
        if line in (None, at):
            more = not asked and next(records, None) is not None
            return replace(found, line=at if of_lines else None, whole=single, more=more)
    raise UnavailableError(
        f"there is no message {'there' if asked else 'in it'}",
        where=path if line is None else f"{path} line {line}",
        hint="Lines, and rows of a capture, are counted from 1; blank lines are not messages." if asked else "",
    )


def _read(one: Slice, windows: Mapping[Source, Window]) -> Iterator[Found]:
    """Yield the messages of a slice that lie in the windows."""
    if not isinstance(one, ParquetRowGroup):
        yield from _plain(read_slice_without_arrow(one, windows))
        return
    from cdc_contracts.registry.core.records.parquet_messages import read_row_group  # here, as most input is no Parquet

    for batch in read_row_group(one, windows):
        for row in range(batch.num_rows):
            yield found_in(batch, row)


def _plain(parts: Iterable[RecordsWithoutArrow]) -> Iterator[Found]:
    for topic, partition, offsets, values in parts:
        for offset, value in zip(offsets, values, strict=True):
            yield Found(value, topic, partition, offset)


def _windows(
    plan: FilePlan, path: str, line: int | None, partition: int | None, offset: int | None
) -> Mapping[Source, tuple[int, int]]:
    """Return the offsets to read of each partition."""
    if offset is None and partition is None:
        return plan.limits if line is None else dict.fromkeys(plan.limits, (line - 1, line))
    window = (0, sys.maxsize) if offset is None else (offset, offset + 1)
    windows = {source: window for source in plan.limits if partition in (None, source.partition)}
    if len(windows) > 1:
        named = ", ".join(f"{source.topic} partition {source.partition}" for source in sorted(windows)[:5])
        raise UsageError(
            f"the file contains several partitions: {named}", where=path, hint="Give --partition and --offset."
        )
    return windows
