"""Input files: messages in files, planned once as byte ranges and row groups, then read piece by piece on any worker.

A `.jsonl` file has one message a line, cut at line feeds and at nothing else; a `.parquet` file one message a row,
with the columns of the Kafka source as far as it has them; a `.json` or `.avro` file is one message as a whole.
Each has a topic, a partition and an offset: the columns of those names, else file name, place of the file, and line
or row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.records.output_schemas import INSTANT
from cdc_contracts.registry.stats.partition_tallies import Source

SLICE_BYTES: Final = 16 * 1024 * 1024
BATCH_ROWS: Final = 16_384
STDIN: Final = "-"

_BLANK: Final = b" \t\r"

Window = tuple[int, int]


@dataclass(frozen=True)
class LineSlice:
    """Whole lines of a file: from `start` for `size` bytes, the first of them line number `first`."""

    path: str
    topic: str
    partition: int
    start: int
    size: int
    first: int


@dataclass(frozen=True)
class WholeFile:
    """A file that is one message, of `size` bytes."""

    path: str
    topic: str
    partition: int
    size: int


@dataclass(frozen=True)
class ParquetRowGroup:
    """One row group of a Parquet file, of `size` bytes; its first row is row number `first` of the file."""

    path: str
    topic: str
    partition: int
    group: int
    first: int
    size: int


Slice = LineSlice | WholeFile | ParquetRowGroup


@dataclass
class FilePlan:
    """What there is to read: the slices, and per partition the first offset and the one after the last."""

    slices: list[Slice] = field(default_factory=list)
    limits: dict[Source, Window] = field(default_factory=dict)
    line_partitions: set[Source] = field(default_factory=set)


def plan_files(paths: Sequence[Path], *, whole: bool = False) -> FilePlan:
    """Return what there is to read in files, or in all known files below folders, in the order of their names.

    Raises UnavailableError if a file is missing or not readable, or names one record twice; UsageError if a
    file's kind is not known.
    """
    plan = FilePlan()
    seen = _Seen()
    for number, given in enumerate(sorted(_expand(paths))):
        path = given.absolute()  # whoever reads the slices may stand in another folder
        kind = "whole" if whole else _KINDS.get(path.suffix)
        if kind is None:
            raise UsageError(
                f"`{path.suffix or path.name}` is not a file type for messages",
                where=str(path),
                hint=_UNPACK
                if path.suffix in _PACKED
                else "use .jsonl (one message per line), .parquet, .json or .avro (one message), or --whole",
            )
        try:
            {"lines": _plan_lines, "whole": _plan_whole, "rows": _plan_rows}[kind](path, number, plan, seen)
        except (OSError, pa.ArrowException) as error:
            raise UnavailableError(f"cannot be read: {error}", where=str(path)) from error
    seen.refuse_twins()
    return plan


def read_slice(one: Slice, windows: Mapping[Source, Window]) -> Iterator[pa.RecordBatch]:
    """Yield the messages of a slice that lie in the windows, with the columns of the Kafka source."""
    match one:
        case LineSlice():
            yield from _read_lines(one, windows)
        case WholeFile():
            if Source(one.topic, one.partition) in windows:
                value = Path(one.path).read_bytes()
                yield _as_batch([value], one.topic, one.partition, np.zeros(1, np.int64))
        case ParquetRowGroup():
            yield from _read_rows(one, windows)


def read_input(data: bytes, *, whole: bool) -> Iterator[pa.RecordBatch]:
    """Yield the messages of standard input, read as lines or as one message."""
    if whole:
        yield _as_batch([data], STDIN, 0, np.zeros(1, np.int64))
        return
    yield from _batches_of_lines(data, STDIN, 0, 0, (0, sys.maxsize))


def _expand(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = [entry for entry in path.rglob("*") if entry.is_file() and entry.suffix in _KINDS]
            if not found:
                raise UnavailableError("no .jsonl, .parquet, .json or .avro file below it", where=str(path))
            yield from found
        elif path.is_file():
            yield path
        elif path.exists():
            hint = "`check -` reads standard input; or write it to a file first"
            raise UnavailableError("this is a pipe or a device, which cannot be read twice", where=str(path), hint=hint)
        else:
            hint = "standard input goes alone: give - and no files" if str(path) == STDIN else "check the path"
            raise UnavailableError("there is no such file", where=str(path), hint=hint)


def _plan_lines(path: Path, number: int, plan: FilePlan, seen: _Seen) -> None:
    source = Source(path.name, number)
    first = start = position = lines = 0
    tail = b""
    with path.open("rb") as file:
        while chunk := file.read(SLICE_BYTES):
            cut = chunk.rfind(b"\n") + 1
            lines += chunk.count(b"\n")
            if cut:
                end = position + cut
                plan.slices.append(LineSlice(str(path), path.name, number, start, end - start, first))
                start, first = end, lines
            position += len(chunk)
            tail = chunk[-1:]
    if start < position:
        plan.slices.append(LineSlice(str(path), path.name, number, start, position - start, first))
    plan.limits[source] = (0, lines + (tail not in (b"", b"\n")))
    plan.line_partitions.add(source)


def _plan_whole(path: Path, number: int, plan: FilePlan, seen: _Seen) -> None:
    with path.open("rb"):
        plan.slices.append(WholeFile(str(path), path.name, number, path.stat().st_size))
    plan.limits[Source(path.name, number)] = (0, 1)


def _plan_rows(path: Path, number: int, plan: FilePlan, seen: _Seen) -> None:
    import pyarrow.parquet as pq  # here, as most input is no Parquet and it takes long to import

    first = 0
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        if "value" not in names:
            raise UsageError(
                "has no column `value`",
                where=str(path),
                hint="a Parquet file of messages has the columns of the Kafka source; `capture` writes such files",
            )
        kind = file.schema_arrow.field("value").type
        if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_string(kind)):
            raise UsageError(f"its column `value` is {kind}, not binary", where=str(path))
        wanted = [name for name in ("topic", "partition", "offset") if name in names]
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            size = file.metadata.row_group(group).total_byte_size
            one = ParquetRowGroup(str(path), path.name, number, group, first, size)
            plan.slices.append(one)
            table = file.read_row_group(group, columns=wanted)
            for source, offsets in _coordinates(table, one, rows):
                seen.add(source, offsets, f"{path} row group {group}")
                low, high = plan.limits.get(source, (sys.maxsize, 0))
                plan.limits[source] = (min(low, int(offsets.min())), max(high, int(offsets.max()) + 1))
            first += rows
        if not file.num_row_groups:
            plan.limits.setdefault(Source(path.name, number), (0, 0))


class _Seen:
    """Which offsets were seen of each partition, kept as extents; looked into only where extents overlap."""

    def __init__(self) -> None:
        self._parts: dict[Source, list[tuple[int, int, str, np.ndarray[Any, np.dtype[np.int64]]]]] = {}

    def add(self, source: Source, offsets: np.ndarray[Any, np.dtype[np.int64]], place: str) -> None:
        """Note the offsets of one row group. Raises UnavailableError if one occurs twice in it."""
        rising = bool((np.diff(offsets) > 0).all())
        if not rising:
            ordered = np.sort(offsets)
            twins = ordered[1:][np.diff(ordered) == 0]
            if len(twins):
                raise _twice(source, int(twins[0]), place, place)
        self._parts.setdefault(source, []).append((int(offsets.min()), int(offsets.max()), place, offsets))

    def refuse_twins(self) -> None:
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
        hint="leave out one of the files: a record must be counted only once",
    )


def _coordinates(
    table: pa.Table, one: ParquetRowGroup, rows: int
) -> Iterator[tuple[Source, np.ndarray[Any, np.dtype[np.int64]]]]:
    if not rows:
        return
    topics, partitions, offsets = _columns(table, one, rows)
    codes, kinds = pc.dictionary_encode(topics), pc.dictionary_encode(pa.array(partitions))
    names, numbers = codes.dictionary.to_pylist(), kinds.dictionary.to_pylist()
    if len(names) == len(numbers) == 1:
        yield Source(names[0], numbers[0]), offsets
        return
    pairs = codes.indices.to_numpy().astype(np.int64) * len(numbers) + kinds.indices.to_numpy()
    for pair in np.unique(pairs).tolist():
        yield Source(names[pair // len(numbers)], numbers[pair % len(numbers)]), offsets[pairs == pair]


def _columns(table: pa.Table, one: ParquetRowGroup, rows: int) -> tuple[pa.Array, Any, Any]:
    def column(name: str, kind: pa.DataType, default: Any) -> pa.Array:
        if name not in table.column_names:
            return default()
        found = table.column(name).combine_chunks().cast(kind)
        if found.null_count:
            raise UsageError(f"its column `{name}` contains nulls", where=one.path)
        return found

    topics = column("topic", pa.string(), lambda: pa.array([one.topic] * rows, pa.string()))
    partitions = column("partition", pa.int32(), lambda: pa.array(np.full(rows, one.partition, np.int32)))
    offsets = column("offset", pa.int64(), lambda: pa.array(np.arange(one.first, one.first + rows)))
    return topics, partitions.to_numpy().astype(np.int64), offsets.to_numpy()


def _read_lines(one: LineSlice, windows: Mapping[Source, Window]) -> Iterator[pa.RecordBatch]:
    window = windows.get(Source(one.topic, one.partition))
    if window is None:
        return
    with Path(one.path).open("rb") as file:
        file.seek(one.start)
        data = file.read(one.size)
    yield from _batches_of_lines(data, one.topic, one.partition, one.first, window)


def _batches_of_lines(data: bytes, topic: str, partition: int, first: int, window: Window) -> Iterator[pa.RecordBatch]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for start in range(0, len(lines), BATCH_ROWS):
        numbers, values = [], []
        for number, line in enumerate(lines[start : start + BATCH_ROWS], first + start):
            if window[0] <= number < window[1] and line.strip(_BLANK):
                numbers.append(number)
                values.append(line)
        if values:
            yield _as_batch(values, topic, partition, np.array(numbers, np.int64))


def _read_rows(one: ParquetRowGroup, windows: Mapping[Source, Window]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq  # as above

    first = one.first
    with pq.ParquetFile(one.path) as file:
        wanted = [name for name in _SOURCE_COLUMNS if name in file.schema_arrow.names]
        for part in file.iter_batches(BATCH_ROWS, row_groups=[one.group], columns=wanted):
            table = pa.Table.from_batches([part])
            rows = table.num_rows
            shifted = replace(one, first=first)
            topics, partitions, offsets = _columns(table, shifted, rows)
            first += rows
            columns = {
                "key": _taken(table, "key", pa.binary(), rows),
                "value": _taken(table, "value", pa.binary(), rows),
                "topic": topics,
                "partition": pa.array(partitions, pa.int32()),
                "offset": pa.array(offsets, pa.int64()),
                "timestamp": _taken(table, "timestamp", INSTANT, rows),
                "timestampType": _taken(table, "timestampType", pa.int32(), rows),
            }
            if "headers" in table.column_names:
                columns["headers"] = table.column("headers").combine_chunks()
            batch = pa.RecordBatch.from_pydict(columns)
            inside = _inside(topics, partitions, offsets, windows)
            yield batch if inside.all() else batch.filter(pa.array(inside))


def _inside(
    topics: pa.Array, partitions: Any, offsets: Any, windows: Mapping[Source, Window]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    inside = np.zeros(len(offsets), np.bool_)
    for source, (start, end) in windows.items():
        mine = pc.equal(topics, source.topic).to_numpy(zero_copy_only=False) & (partitions == source.partition)
        inside |= mine & (offsets >= start) & (offsets < end)
    return inside


def _taken(table: pa.Table, name: str, kind: pa.DataType, rows: int) -> pa.Array:
    if name not in table.column_names:
        return pa.nulls(rows, kind)
    column = table.column(name).combine_chunks()
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(column.type) and column.type.tz is None:
        column = column.cast(pa.timestamp("us")).cast(pa.int64())  # a stored wall clock is taken as UTC
    return column.cast(kind)


def _as_batch(values: list[bytes], topic: str, partition: int, offsets: Any) -> pa.RecordBatch:
    total = len(values)
    return pa.RecordBatch.from_pydict({
        "key": pa.nulls(total, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "topic": pa.array([topic] * total, pa.string()),
        "partition": pa.array(np.full(total, partition, np.int32)),
        "offset": pa.array(offsets, pa.int64()),
        "timestamp": pa.nulls(total, INSTANT),
        "timestampType": pa.nulls(total, pa.int32()),
    })  # fmt: skip


_KINDS: Final = {".jsonl": "lines", ".ndjson": "lines", ".parquet": "rows", ".json": "whole", ".avro": "whole"}
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
_UNPACK: Final = "unpack it first, or pipe what it holds to `check -`, `detect -` or `why -`"
_SOURCE_COLUMNS: Final = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
