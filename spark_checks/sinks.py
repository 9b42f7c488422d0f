"""Sinks: files of rows below a directory, written in bounded memory and on disk before anything names them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cdc_contracts.registry.canonical.layouts import TableName
from cdc_contracts.registry.errors import UnavailableError

COMPRESSION: Final = "zstd"
TABLES: Final = "tables"
_ROW_GROUP_BYTES: Final = 32 * 1024 * 1024
_NOT_PLAIN: Final = re.compile(rb"[^A-Za-z0-9_-]")
_CUT_ESCAPE: Final = re.compile(r"%[0-9A-F]?$")
_MOST_CHARACTERS: Final = 200
_UNNAMED: Final = "(unnamed)"  # as no name is written


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


def table_folder(name: TableName, above: str = TABLES) -> str:
    """Return where a typed table lies below an output directory: in a folder of its name."""
    return f"{above}/{encode_name(name)}"


def encode_name(name: TableName) -> str:
    """Return the name of a table in a path: its parts, with dots between.

    Every byte outside `[A-Za-z0-9_-]` is percent-encoded; a name too long for a filesystem ends in its digest.
    """
    encoded = ".".join(_NOT_PLAIN.sub(_percent, part.encode()).decode() for part in name if part) or _UNNAMED
    if len(encoded) > _MOST_CHARACTERS:
        digest = hashlib.sha256(encoded.encode()).hexdigest()[:16]
        encoded = f"{_CUT_ESCAPE.sub('', encoded[: _MOST_CHARACTERS - 17])}-{digest}"
    return encoded


def _percent(byte: re.Match[bytes]) -> bytes:
    return b"%%%02X" % byte[0][0]


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


def bring_to_disk(filesystem: fs.FileSystem, path: str) -> None:
    """Return when a file or folder would survive the loss of power; what is not local answers for itself."""
    if isinstance(filesystem, fs.LocalFileSystem):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(filesystem: fs.FileSystem, path: str, data: bytes) -> None:
    """Write a file that readers see whole or not at all: written aside, brought to disk, then renamed."""
    folder = path.rpartition("/")[0]
    filesystem.create_dir(folder, recursive=True)
    if not isinstance(filesystem, fs.LocalFileSystem):
        with filesystem.open_output_stream(path) as stream:
            stream.write(data)
        return
    aside = Path(f"{path}.tmp")
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    bring_to_disk(filesystem, folder)


def is_whole(filesystem: fs.FileSystem, path: str, size: int) -> bool:
    """Say whether a file is there, with all of its bytes."""
    info = filesystem.get_file_info(path)
    return bool(info.type == fs.FileType.File and info.size == size)


def check_whole(filesystem: fs.FileSystem, path: str, size: int, *, where: str, whose: str) -> None:
    """Raise UnavailableError where a file that counts is not whole; `where` and `whose` it is are told."""
    if not is_whole(filesystem, path, size):
        raise UnavailableError(
            "a file that a finished run has written is lost or cut off",
            where=where,
            mend=f"decode the range of {whose} again with --replace",
        )


class TableWriter:
    """Writes one task's rows of one table, in a file of its own name; nothing is written where there are no rows.

    `folder` is where the table lies below the directory, where that is not its name.
    """

    def __init__(self, place: Place, table: str, schema: pa.Schema, attempt: str, folder: str | None = None) -> None:
        self._place = place
        self._table = table
        self._schema = schema
        self._folder = place.folder(folder or table)
        self._path = f"{self._folder}/part-{attempt}-{place.token}.parquet"
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
                self.flush()

    def close(self) -> Iterator[Part]:
        """Finish the file and yield it, if there is one."""
        self.flush()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            filesystem, root = self._place.open()
            bring_to_disk(filesystem, f"{root}/{self._path}")
            info = filesystem.get_file_info(f"{root}/{self._path}")
            yield Part(self._table, self._path, self._rows, info.size)

    def discard(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            filesystem, root = self._place.open()
            filesystem.delete_file(f"{root}/{self._path}")

    def flush(self) -> None:
        """Write the rows that wait as one row group."""
        if not self._waiting:
            return
        if self._writer is None:
            filesystem, root = self._place.open()
            filesystem.create_dir(f"{root}/{self._folder}", recursive=True)
            self._writer = pq.ParquetWriter(
                f"{root}/{self._path}", self._schema, filesystem=filesystem, compression=COMPRESSION
            )
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._rows += table.num_rows
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._waiting.clear()
        self._bytes = 0
