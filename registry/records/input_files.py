"""Input files: messages in files, planned once as byte ranges and row groups, then read piece by piece on any worker.

A `.jsonl` file has one message a line, cut at line feeds and at nothing else; a `.parquet` file one message a row,
with the columns of the Kafka source as far as it has them; a `.json` or `.avro` file is one message as a whole.
Each has a topic, a partition and an offset: the columns of those names, else file name, place of the file, and line
or row. Lines and whole files need no Arrow; `file_batches.py` reads all of them as batches.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.records.file_plans import BATCH_ROWS, FilePlan, LineSlice, WholeFile, Window
from cdc_contracts.registry.stats.partition_tallies import Source

if TYPE_CHECKING:
    from cdc_contracts.registry.records.parquet_messages import SeenOffsets

SLICE_BYTES: Final = 16 * 1024 * 1024
STDIN: Final = "-"

_BLANK: Final = b" \t\r"


def plan_files(paths: Sequence[Path], *, whole: bool = False) -> FilePlan:
    """Return what there is to read in files, or in all known files below folders, in the order of their names.

    Raises UnavailableError if a file is missing or not readable, or names one record twice; UsageError if a
    file's kind is not known.
    """
    plan = FilePlan()
    seen: SeenOffsets | None = None
    for number, given in enumerate(sorted(_expand(paths))):
        path = given.absolute()  # slices may be read in another working directory
        if not _is_utf8(str(path)):
            raise UsageError(
                "the file name is not UTF-8", where=str(path), hint="rename it, or pass its content to standard input"
            )
        kind = "whole" if whole else _KINDS.get(path.suffix)
        if kind is None:
            raise UsageError(
                f"`{path.suffix or path.name}` is not a file type for messages",
                where=str(path),
                hint=_UNPACK
                if path.suffix in _PACKED
                else "use .jsonl (one message per line), .parquet, .json or .avro (one message), or --whole",
            )
        if kind == "rows":
            from cdc_contracts.registry.records import parquet_messages  # here, as most input is no Parquet

            seen = seen or parquet_messages.SeenOffsets()
            parquet_messages.plan_row_groups(path, number, plan, seen)
            continue
        try:
            (_plan_lines if kind == "lines" else _plan_whole)(path, number, plan)
        except OSError as error:
            raise UnavailableError(f"cannot be read: {error}", where=str(path)) from error
    if seen is not None:
        seen.refuse_duplicates()
    return plan


class PlainRecords(NamedTuple):
    """Messages of one partition without key and timestamp, by their offsets."""

    topic: str
    partition: int
    offsets: list[int]
    values: list[bytes]


def read_plain_slice(one: LineSlice | WholeFile, windows: Mapping[Source, Window]) -> Iterator[PlainRecords]:
    """Yield the messages of lines or of a whole file that lie in the windows, at most BATCH_ROWS at a time."""
    window = windows.get(Source(one.topic, one.partition))
    if window is None:
        return
    if isinstance(one, WholeFile):
        yield PlainRecords(one.topic, one.partition, [0], [Path(one.path).read_bytes()])
        return
    with Path(one.path).open("rb") as file:
        file.seek(one.start)
        data = file.read(one.size)
    yield from _cut_lines(data, one.topic, one.partition, one.first, window)


def read_plain_input(data: bytes, *, whole: bool) -> Iterator[PlainRecords]:
    """Yield the messages of standard input, read as lines or as one message."""
    if whole:
        yield PlainRecords(STDIN, 0, [0], [data])
        return
    yield from _cut_lines(data, STDIN, 0, 0, (0, sys.maxsize))


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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


def _plan_lines(path: Path, number: int, plan: FilePlan) -> None:
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


def _plan_whole(path: Path, number: int, plan: FilePlan) -> None:
    with path.open("rb"):
        plan.slices.append(WholeFile(str(path), path.name, number, path.stat().st_size))
    plan.limits[Source(path.name, number)] = (0, 1)


def _cut_lines(data: bytes, topic: str, partition: int, first: int, window: Window) -> Iterator[PlainRecords]:
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
            yield PlainRecords(topic, partition, numbers, values)


_KINDS: Final = {".jsonl": "lines", ".ndjson": "lines", ".parquet": "rows", ".json": "whole", ".avro": "whole"}
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
_UNPACK: Final = "unpack it first, or pipe what it holds to `check -`, `detect -` or `why -`"
