"""Input files: messages in files, planned once as byte ranges and row groups, then read piece by piece on any worker.

A `.jsonl` file has one message a line, cut at line feeds and at nothing else; a `.parquet` file one message a row,
with the columns of the Kafka source as far as it has them; a `.json` or `.avro` file is one message as a whole. Lines
may be compressed, and messages may be the elements of one JSON array (`file_forms.py`).
Each has a topic, a partition and an offset: the columns of those names, else file name, place among files of that name,
and line or row. Lines and whole files need no Arrow; `file_batches.py` reads all of them as batches.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.records import file_forms
from cdc_contracts.registry.core.records.file_plans import (
    BATCH_ROWS,
    FilePlan,
    LineSlice,
    StreamedFile,
    WholeFile,
    Window,
)
from cdc_contracts.registry.core.stats.partition_tallies import Source

if TYPE_CHECKING:
    from cdc_contracts.registry.core.records.parquet_messages import SeenOffsets

SLICE_BYTES: Final = 16 * 1024 * 1024
STDIN: Final = "-"
INPUT_NAME: Final = "stdin.jsonl"
"""The topic of records of standard input where they are read from a file."""

_BLANK: Final = b" \t\r"


def plan_files(paths: Sequence[Path], *, whole: bool = False) -> FilePlan:
    """Return what there is to read in files, or in all known files below folders, in the order of their paths.

    The topic of messages without one is the name of their file, and the partition tells files of one name apart. Other
    files must not change it: a later run over more files would not know which of them were decoded before.
    Raises UnavailableError if a file is missing or not readable, or names one record twice; UsageError if a
    file's kind is not known.
    """
    plan = FilePlan()
    seen: SeenOffsets | None = None
    same_name: Counter[str] = Counter()
    for path in _files_of(paths):
        number = same_name[path.name]
        same_name[path.name] += 1
        if not _is_utf8(str(path)):
            raise UsageError(
                "the file name is not UTF-8", where=str(path), hint="Rename it, or pass its content to standard input."
            )
        kind = "whole" if whole else _kind_of(path)
        if kind is None:
            raise UsageError(
                f"`{path.suffix or path.name}` is not a file type for messages",
                where=str(path),
                hint="Use .jsonl (one message per line, also .jsonl.gz or .jsonl.zst), .parquet, .json or .avro (one "
                "message), or --whole.",
            )
        if kind == "rows":
            from cdc_contracts.registry.core.records import parquet_messages  # here, as most input is no Parquet

            seen = seen or parquet_messages.SeenOffsets()
            parquet_messages.plan_row_groups(path, number, plan, seen)
            continue
        try:
            if not whole and path.suffix == ".json" and file_forms.has_lines(path):
                kind = "lines"
            form = None if whole or path.suffix == ".avro" else file_forms.form_of(path, one=kind == "whole")
            if form is not None:
                _plan_streamed(path, number, plan, form)
            else:
                (_plan_lines if kind == "lines" else _plan_whole)(path, number, plan)
        except OSError as error:
            raise UnavailableError(f"cannot be read: {error}", where=str(path)) from error
    if seen is not None:
        seen.refuse_duplicates()
    return plan


class RecordsWithoutArrow(NamedTuple):
    """Messages of one partition without key and timestamp, by their offsets."""

    topic: str
    partition: int
    offsets: list[int]
    values: list[bytes]


def read_slice_without_arrow(
    one: LineSlice | WholeFile | StreamedFile, windows: Mapping[Source, Window]
) -> Iterator[RecordsWithoutArrow]:
    """Yield the messages of lines or of a whole file that lie in the windows, at most BATCH_ROWS at a time."""
    window = windows.get(Source(one.topic, one.partition))
    if window is None:
        return
    if isinstance(one, WholeFile):
        yield RecordsWithoutArrow(one.topic, one.partition, [0], [Path(one.path).read_bytes()])
        return
    if isinstance(one, StreamedFile):
        yield from _read_streamed(one, window)
        return
    with Path(one.path).open("rb") as file:
        file.seek(one.start)
        data = file.read(one.size)
    yield from _cut_lines(data, one.topic, one.partition, one.first, window)


def read_input_without_arrow(data: bytes, *, whole: bool) -> Iterator[RecordsWithoutArrow]:
    """Yield the messages of standard input, read as lines, as a JSON array, or as one message.

    Raises UsageError if it is UTF-16, UnavailableError if it is compressed and damaged.
    """
    if whole:
        yield RecordsWithoutArrow(STDIN, 0, [0], [data])
        return
    lines = file_forms.unpack(data, STDIN)
    elements = file_forms.split_array(lines) if lines.lstrip()[:1] == b"[" else None
    if elements is not None:
        yield from _number(elements, STDIN, 0, (0, sys.maxsize))
        return
    yield from _cut_lines(lines, STDIN, 0, 0, (0, sys.maxsize))


def keep_input() -> Path:
    """Return a file with what standard input holds, for readings that start anywhere; it goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="cdc-contracts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / INPUT_NAME
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, SLICE_BYTES)
    return path


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the absolute paths of files, as slices may be read in another working directory; each file once."""
    given = {path.resolve(): path.absolute() for path in sorted(_expand(paths), reverse=True)}
    return sorted(given.values())


def _expand(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = [entry for entry in path.rglob("*") if entry.is_file() and _kind_of(entry)]
            if not found:
                raise UnavailableError("no .jsonl, .parquet, .json or .avro file below it", where=str(path))
            yield from found
        elif path.is_file():
            yield path
        elif path.exists():
            hint = "`check -` and `audit file -` read standard input; or write it to a file first."
            raise UnavailableError("this is a pipe or a device, which cannot be read twice", where=str(path), hint=hint)
        else:
            hint = (
                "`check -` and `audit file -` read standard input, alone; write it to a file first."
                if str(path) == STDIN
                else "Check the path."
            )
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


def _plan_streamed(path: Path, number: int, plan: FilePlan, form: str) -> None:
    """Plan a file that is read from its start: its messages are counted now. Raises UnavailableError if damaged."""
    source = Source(path.name, number)
    if form == file_forms.ARRAY:
        total = len(file_forms.split_array(path.read_bytes()) or ())
    else:
        total = sum(lines.count(b"\n") + (lines[-1:] not in (b"", b"\n"))
                    for lines in file_forms.read_unpacked(str(path), form))  # fmt: skip
        plan.line_partitions.add(source)
    plan.slices.append(StreamedFile(str(path), path.name, number, path.stat().st_size, form))
    plan.limits[source] = (0, total)


def _read_streamed(one: StreamedFile, window: Window) -> Iterator[RecordsWithoutArrow]:
    if one.form == file_forms.ARRAY:
        elements = file_forms.split_array(Path(one.path).read_bytes()) or []
        yield from _number(elements, one.topic, one.partition, window)
        return
    first = 0
    for lines in file_forms.read_unpacked(one.path, one.form):
        if first >= window[1]:
            return
        yield from _cut_lines(lines, one.topic, one.partition, first, window)
        first += lines.count(b"\n")


def _number(values: Sequence[bytes], topic: str, partition: int, window: Window) -> Iterator[RecordsWithoutArrow]:
    """Yield the elements of an array that lie in a window, with their places in it."""
    chosen = [(number, value) for number, value in enumerate(values) if window[0] <= number < window[1]]
    for start in range(0, len(chosen), BATCH_ROWS):
        numbers, found = zip(*chosen[start : start + BATCH_ROWS], strict=True)
        yield RecordsWithoutArrow(topic, partition, list(numbers), list(found))


def _cut_lines(data: bytes, topic: str, partition: int, first: int, window: Window) -> Iterator[RecordsWithoutArrow]:
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
            yield RecordsWithoutArrow(topic, partition, numbers, values)


def _kind_of(path: Path) -> str | None:
    """Return what a file holds by its name; a compressed file has lines. None if the name says nothing."""
    if path.suffix in file_forms.PACKED:
        return "lines" if _KINDS.get(Path(path.stem).suffix) in ("lines", "whole") else None
    return _KINDS.get(path.suffix)


_KINDS: Final = {
    **dict.fromkeys(file_forms.LINES, "lines"), file_forms.ROWS: "rows", **dict.fromkeys(file_forms.ONE, "whole")
}  # fmt: skip
