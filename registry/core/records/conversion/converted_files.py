"""Converted files: files of messages in the other form, JSON or Avro: what is read and what is written.

Containers and lines hold only messages; a `.parquet` file is a capture, which keeps keys, headers, times, coordinates
and null values. A file is written whole or not at all.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.core.common.atomic_files import put_whole
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.records.conversion.avro_containers import MAGIC, ContainerReader, ContainerWriter
from cdc_contracts.registry.core.records.conversion.conversion_forms import Framing, MessageForm
from cdc_contracts.registry.core.records.conversion.converted_records import (
    REFUSED_SCHEMA,
    Converted,
    Counts,
    convert_batch,
)
from cdc_contracts.registry.core.records.conversion.converter import Conversion, write_message
from cdc_contracts.registry.core.records.file_batches import as_batch, read_input, read_slice
from cdc_contracts.registry.core.records.file_forms import LINES
from cdc_contracts.registry.core.records.file_plans import (
    FilePlan,
    LineSlice,
    ParquetRowGroup,
    Slice,
    StreamedFile,
    WholeFile,
)
from cdc_contracts.registry.core.records.input_files import STDIN, RecordsWithoutArrow
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA
from cdc_contracts.registry.core.stats.partition_tallies import Source

_ROWS: Final = 4_096


class Sink(Protocol):
    """Where converted records go."""

    def write(self, records: pa.RecordBatch) -> None: ...

    def finish(self) -> None: ...


class _Container:
    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._writer = ContainerWriter(file, schema)

    def write(self, records: pa.RecordBatch) -> None:
        for value in records.column("value").drop_null().to_pylist():
            self._writer.write(value)

    def finish(self) -> None:
        self._writer.finish()


class _Lines:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, records: pa.RecordBatch) -> None:
        self._file.writelines(value + b"\n" for value in records.column("value").drop_null().to_pylist())

    def finish(self) -> None: ...


class _OneMessage:
    """A file that is one message; a second one is refused."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file, self._where = file, where
        self._full = False

    def write(self, records: pa.RecordBatch) -> None:
        for value in records.column("value").drop_null().to_pylist():
            if self._full:
                raise UsageError(
                    "this file type holds one message, but there are several",
                    where=self._where,
                    hint="Write to a .parquet file, a .jsonl file (JSON) or an .avro container.",
                )
            self._file.write(value)
            self._full = True

    def finish(self) -> None: ...


class _Capture:
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(file, schema, compression="zstd")

    def write(self, records: pa.RecordBatch) -> None:
        if records.num_rows:
            self._writer.write_batch(records)

    def finish(self) -> None:
        self._writer.close()


def check_target(target: str, form: MessageForm, framing: Framing | None) -> None:
    """Raise UsageError if no file of that name is written, or none with that framing; `-` is standard output."""
    suffix = Path(target).suffix
    kinds = {MessageForm.AVRO: (".avro", ".parquet"), MessageForm.JSON: (*LINES, ".json", ".parquet")}[form]
    if target != STDIN and suffix not in kinds:
        raise UsageError(
            f"`{suffix or target}` is not a file type for {form.value}", where=target, hint=f"Use {', '.join(kinds)}."
        )
    if form is MessageForm.AVRO and suffix == ".parquet" and framing is Framing.CONTAINER:
        raise UsageError("a container is a separate file, not a column", where=target, hint="Name it .avro.")


def default_framing(target: str) -> Framing:
    """Return how Avro records are framed by default in a file that is written."""
    return Framing.CONFLUENT if Path(target).suffix == ".parquet" else Framing.CONTAINER


@contextmanager
def open_sink(file: IO[bytes], target: str, conversion: Conversion) -> Iterator[Sink]:
    """Where converted records are written to a file that is open; `target` is its name, or `-`."""
    suffix = Path(target).suffix
    sink: Sink
    if suffix == ".parquet":
        sink = _Capture(file, CAPTURE_SCHEMA)
    elif conversion.form is MessageForm.JSON:
        sink = _OneMessage(file, target) if suffix == ".json" else _Lines(file)
    else:
        sink = (
            _Container(file, conversion.schema)
            if conversion.framing is Framing.CONTAINER
            else _OneMessage(file, target)
        )
    yield sink
    sink.finish()


def write_records(found: Iterable[Converted], sink: Sink, quarantine: Path | None) -> Counts:
    """Write what was converted to the sink, and what was refused to a capture with reasons if one is named.

    Raises UnavailableError if a file cannot be read or written.
    """
    counts = Counts()
    with ExitStack() as stack:
        refused: Sink | None = None
        if quarantine is not None:
            file = stack.enter_context(stack.enter_context(put_whole(quarantine)).open("wb"))
            refused = _Capture(file, REFUSED_SCHEMA)
        for converted in found:
            counts.note(converted)
            sink.write(converted.records)
            if refused is not None:
                refused.write(converted.refused)
        if refused is not None:
            refused.finish()
    return counts


def convert_files(plan: FilePlan, conversion: Conversion) -> Iterator[Converted]:
    """Yield the records of files, converted. Raises UsageError if a file is not of the form that is read."""
    convert = conversion.open()
    for one in plan.slices:
        _check_form(one, conversion)
    for one in plan.slices:
        if isinstance(one, WholeFile) and _may_be_container(conversion):
            with Path(one.path).open("rb") as file:
                if _is_container(file.read(len(MAGIC)), conversion):
                    file.seek(0)
                    yield from _read_container(file, one.path, Source(one.topic, one.partition), conversion)
                    continue
        for batch in read_slice(one, plan.limits):
            yield convert_batch(batch, convert)


def convert_input(data: bytes, conversion: Conversion, *, whole: bool) -> Iterator[Converted]:
    """Yield the records of standard input, converted: lines, one message, or a container."""
    if _may_be_container(conversion) and _is_container(data[: len(MAGIC)], conversion):
        yield from _read_container(io.BytesIO(data), STDIN, Source(STDIN, 0), conversion)
        return
    convert = conversion.open()
    for batch in read_input(data, whole=whole or conversion.form is MessageForm.JSON):
        yield convert_batch(batch, convert)


def _check_form(one: Slice, conversion: Conversion) -> None:
    if conversion.form is MessageForm.AVRO and isinstance(one, WholeFile) and Path(one.path).suffix == ".avro":
        raise UsageError("this is already Avro", where=one.path, hint="Give --to json to convert it to JSON.")
    if conversion.form is MessageForm.JSON and isinstance(one, LineSlice | StreamedFile):
        raise UsageError("lines hold JSON, not Avro", where=one.path, hint="Give --to avro to convert them to Avro.")
    if (
        conversion.form is MessageForm.JSON
        and isinstance(one, ParquetRowGroup)
        and conversion.framing is Framing.CONTAINER
    ):
        raise UsageError("a column cannot contain containers", where=one.path, hint="Give --framing confluent or bare.")


def _may_be_container(conversion: Conversion) -> bool:
    return conversion.form is MessageForm.JSON and conversion.framing in (None, Framing.CONTAINER)


def _is_container(beginning: bytes, conversion: Conversion) -> bool:
    return beginning == MAGIC or conversion.framing is Framing.CONTAINER


def _read_container(file: IO[bytes], where: str, place: Source, conversion: Conversion) -> Iterator[Converted]:
    messages = iter(ContainerReader(file, where).check(conversion.schema))
    first = 0
    while found := [write_message(message) for message in islice(messages, _ROWS)]:
        offsets = list(range(first, first + len(found)))
        batch = as_batch(RecordsWithoutArrow(place.topic, place.partition, offsets, found))
        first += len(found)
        yield convert_batch(batch, bytes)
