"""Sinks: where rows go, and the record that makes a run's files count.

    DIR/{changes,control,quarantine,ledger}/run=<id>/part-*.parquet      files of all attempts, counted or not
    DIR/_runs/<id>.json                                                  written last: the files that count

A reader trusts `_runs` alone. A task that is tried again writes other names; files that no record names are removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cdc_contracts.registry.errors import UnavailableError
from cdc_contracts.registry.report import Span
from cdc_contracts.registry.tally import Source

TABLES: Final = ("changes", "control", "quarantine", "ledger")
RUNS: Final = "_runs"
COMPRESSION: Final = "zstd"
_ROW_GROUP_BYTES: Final = 32 * 1024 * 1024


@dataclass(frozen=True)
class Part:
    """One file of a run: its path below the directory, its rows and bytes."""

    table: str
    path: str
    rows: int
    size: int


@dataclass(frozen=True)
class Place:
    """A run's part of an output directory, local or on any filesystem that pyarrow reaches."""

    directory: str
    run: str
    token: str

    def open(self) -> tuple[fs.FileSystem, str]:
        """Return the filesystem and the path of the directory on it. Raises UnavailableError where there is none."""
        return open_directory(self.directory)

    def folder(self, table: str) -> str:
        return f"{table}/run={self.run}"


def open_directory(directory: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem that a directory is on, and its path there.

    Raises UnavailableError where pyarrow knows no such filesystem.
    """
    if not urlparse(directory).scheme or Path(directory).drive:
        return fs.LocalFileSystem(), str(Path(directory).absolute())
    try:
        filesystem, path = fs.FileSystem.from_uri(directory)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnavailableError(f"cannot write there: {error}", where=directory) from error
    return filesystem, path


class TableWriter:
    """Writes one task's rows of one table, in files of its own names; nothing is written where there are no rows."""

    def __init__(self, place: Place, table: str, schema: pa.Schema, attempt: str) -> None:
        self._place = place
        self._table = table
        self._schema = schema
        self._path = f"{place.folder(table)}/part-{attempt}-{place.token}.parquet"
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        self._rows = 0
        self._writer: pq.ParquetWriter | None = None

    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows; they are written in row groups of a fixed size, so that memory stays flat."""
        if rows.num_rows:
            self._waiting.append(rows)
            self._bytes += rows.nbytes
            if self._bytes >= _ROW_GROUP_BYTES:
                self._flush()

    def close(self) -> Iterator[Part]:
        """Finish the file and yield it, if there is one."""
        self._flush()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            filesystem, root = self._place.open()
            info = filesystem.get_file_info(f"{root}/{self._path}")
            yield Part(self._table, self._path, self._rows, info.size)

    def discard(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            filesystem, root = self._place.open()
            filesystem.delete_file(f"{root}/{self._path}")

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._writer is None:
            filesystem, root = self._place.open()
            filesystem.create_dir(f"{root}/{self._place.folder(self._table)}", recursive=True)
            self._writer = pq.ParquetWriter(
                f"{root}/{self._path}", self._schema, filesystem=filesystem, compression=COMPRESSION
            )
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._rows += table.num_rows
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._waiting.clear()
        self._bytes = 0


@dataclass(frozen=True)
class RunRecord:
    """What a finished run read and wrote."""

    run: str
    contract: str
    fingerprint: str
    spans: Mapping[Source, Span]
    counts: Mapping[str, int]
    parts: tuple[Part, ...]

    def as_document(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "contract": self.contract,
            "contract_fingerprint": self.fingerprint,
            "range": [
                {"topic": source.topic, "partition": source.partition, "start": span.start, "end": span.end}
                for source, span in sorted(self.spans.items())
            ],
            "counts": dict(self.counts),
            "files": [asdict(part) for part in sorted(self.parts, key=lambda part: part.path)],
        }


class RunDirectory:
    """The runs of an output directory."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._filesystem, self._root = open_directory(directory)

    @property
    def root(self) -> str:
        """The directory as every worker finds it: a local one by its absolute path."""
        return self._root if isinstance(self._filesystem, fs.LocalFileSystem) else self.directory

    def records(self) -> list[dict[str, Any]]:
        """Return the records of all finished runs."""
        listing = self._filesystem.get_file_info(fs.FileSelector(f"{self._root}/{RUNS}", allow_not_found=True))
        found = []
        for entry in sorted(listing, key=lambda entry: entry.path):
            if entry.base_name.endswith(".json"):
                with self._filesystem.open_input_stream(entry.path) as file:
                    found.append(json.loads(file.readall()))
        return found

    def refuse_overlap(self, run: str, spans: Mapping[Source, Span]) -> list[str]:
        """Return the other runs that read some of the same records; see `replace` of `commit`."""
        overlapping = []
        for record in self.records():
            if record["run"] == run:
                continue
            for one in record["range"]:
                span = spans.get(Source(one["topic"], one["partition"]))
                if span is not None and span.start < one["end"] and one["start"] < span.end:
                    overlapping.append(record["run"])
                    break
        return overlapping

    def write_part(self, place: Place, table: str, rows: pa.RecordBatch) -> Iterator[Part]:
        """Write a table that the driver holds; yields the file."""
        writer = TableWriter(place, table, rows.schema, "00000")
        writer.write(rows)
        yield from writer.close()

    def commit(self, record: RunRecord, *, replaced: Iterable[str] = ()) -> None:
        """Make a run count: write its record, then remove what no record names any more."""
        path = f"{self._root}/{RUNS}/{record.run}.json"
        self._filesystem.create_dir(f"{self._root}/{RUNS}", recursive=True)
        text = json.dumps(record.as_document(), indent=2, ensure_ascii=False) + "\n"
        self._write_whole(path, text.encode())
        for run in replaced:
            self._filesystem.delete_file(f"{self._root}/{RUNS}/{run}.json")
            self._sweep(run, set())
        self._sweep(record.run, {part.path for part in record.parts})

    def discard(self, place: Place) -> None:
        """Remove the files that this attempt at a run has written."""
        for table in TABLES:
            for path in self._files(place.folder(table)):
                if path.endswith(f"-{place.token}.parquet"):
                    self._filesystem.delete_file(path)
            self._remove_if_empty(place.folder(table))

    def _sweep(self, run: str, kept: set[str]) -> None:
        for table in TABLES:
            folder = f"{table}/run={run}"
            for path in self._files(folder):
                if path.removeprefix(f"{self._root}/") not in kept:
                    self._filesystem.delete_file(path)
            self._remove_if_empty(folder)

    def _files(self, folder: str) -> list[str]:
        selector = fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
        return [entry.path for entry in self._filesystem.get_file_info(selector) if entry.type == fs.FileType.File]

    def _remove_if_empty(self, folder: str) -> None:
        info = self._filesystem.get_file_info(f"{self._root}/{folder}")
        if info.type == fs.FileType.Directory and not self._files(folder):
            self._filesystem.delete_dir(f"{self._root}/{folder}")

    def _write_whole(self, path: str, data: bytes) -> None:
        """A reader sees the whole file or none: written aside, brought to disk, then renamed."""
        aside = f"{path}.tmp"
        if isinstance(self._filesystem, fs.LocalFileSystem):
            with Path(aside).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(aside).replace(path)
            return
        with self._filesystem.open_output_stream(path) as file:
            file.write(data)
