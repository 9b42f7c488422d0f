"""File sinks: files of rows below a directory, written in bounded memory and flushed before a record names them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.files.folders import Folder, bring_to_disk, open_directory

COMPRESSION: Final = "zstd"
TABLES: Final = "tables"
_ROW_GROUP_BYTES: Final = 32 * 1024 * 1024
_NOT_PLAIN: Final = re.compile(rb"[^A-Za-z0-9_-]")
_CUT_ESCAPE: Final = re.compile(r"%[0-9A-F]?$")
_MOST_CHARACTERS: Final = 200
_UNNAMED: Final = "(unnamed)"  # cannot be an encoded name
_RISING: Final = ("offset", "event_time", "process_time", "kafka_timestamp")
"""Columns whose values mostly rise from row to row, as `changes/` names them; in typed tables they begin with `_`."""


@dataclass(frozen=True)
class FilePart:
    """One file of a run: its path below the directory, its rows and bytes."""

    table: str
    path: str
    rows: int
    size: int


@dataclass(frozen=True)
class SinkPlace:
    """A run's part of an output directory, local or on any filesystem that pyarrow supports."""

    directory: str
    run: str
    token: str

    def open(self) -> tuple[fs.FileSystem, str]:
        """Return the filesystem and the path of the directory on it. Raises UnavailableError if there is none."""
        return open_directory(self.directory)

    def folder(self, table: str) -> str:
        return f"{table}/run={self.run}"


def table_folder(name: TableName, above: str = TABLES) -> str:
    """Return the path of a typed table below an output directory: a folder with its name."""
    return f"{above}/{encode_name(name)}"


def encode_name(name: TableName) -> str:
    """Return the name of a table in a path: its parts, separated by dots.

    Every byte outside `[A-Za-z0-9_-]` is percent-encoded; a name too long for a filesystem ends in its digest.
    """
    encoded = ".".join(_NOT_PLAIN.sub(_percent, part.encode()).decode() for part in name if part) or _UNNAMED
    if len(encoded) > _MOST_CHARACTERS:
        digest = hashlib.sha256(encoded.encode()).hexdigest()[:16]
        encoded = f"{_CUT_ESCAPE.sub('', encoded[: _MOST_CHARACTERS - 17])}-{digest}"
    return encoded


def _percent(byte: re.Match[bytes]) -> bytes:
    return b"%%%02X" % byte[0][0]


def check_whole(folder: Folder, path: str, size: int, *, where: str, whose: str) -> None:
    """Raise UnavailableError if a recorded file is incomplete; `where` and `whose` name it in the message."""
    if not folder.holds(path, size):
        raise UnavailableError(
            "a file written by a finished run is missing or truncated",
            where=where,
            hint=f"Decode the range of {whose} again with --replace.",
        )


class TableWriter:
    """Writes one task's rows of one table to a file with a unique name; without rows, no file is written.

    `folder` is the path of the table below the directory, if it is not its name.
    """

    def __init__(
        self, place: SinkPlace, table: str, schema: pa.Schema, attempt: str, folder: str | None = None
    ) -> None:
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
        """Add rows; they are written in row groups of a fixed size, so that memory stays flat."""
        if rows.num_rows:
            self._waiting.append(rows)
            self._bytes += rows.nbytes
            if self._bytes >= _ROW_GROUP_BYTES:
                self.flush()

    def close(self) -> Iterator[FilePart]:
        """Finish the file and yield it, if there is one."""
        self.flush()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            filesystem, root = self._place.open()
            bring_to_disk(filesystem, f"{root}/{self._path}")
            info = filesystem.get_file_info(f"{root}/{self._path}")
            yield FilePart(self._table, self._path, self._rows, info.size)

    def discard(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            filesystem, root = self._place.open()
            filesystem.delete_file(f"{root}/{self._path}")

    def flush(self) -> None:
        """Write the buffered rows as one row group."""
        if not self._waiting:
            return
        if self._writer is None:
            filesystem, root = self._place.open()
            filesystem.create_dir(f"{root}/{self._folder}", recursive=True)
            self._writer = pq.ParquetWriter(
                f"{root}/{self._path}", self._schema, filesystem=filesystem, compression=COMPRESSION,
                **_written_as(self._schema),
            )  # fmt: skip
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._rows += table.num_rows
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._waiting.clear()
        self._bytes = 0


def _written_as(schema: pa.Schema) -> dict[str, Any]:
    """Return how Parquet writes columns: what rises by its steps, all else by a dictionary, as far as that pays.

    Steps take a tenth of the time of a dictionary of values that are all different, and hardly any space. No reader
    skips rows by the least and the greatest entry of lists or maps, and these cost a seventh of a write.
    """
    rising = [
        one.name
        for one in schema
        if one.name.removeprefix("_") in _RISING and (pa.types.is_int64(one.type) or pa.types.is_timestamp(one.type))
    ]
    leaves = list(_leaves(schema))
    return {
        "use_dictionary": [path for path, _ in leaves if path not in rising] or False,
        "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED") or None,
        "write_statistics": [path for path, single in leaves if single],
    }


def _leaves(fields: Iterable[pa.Field], above: str = "", *, single: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the path of each column in a file, and whether it has a single value for each row."""
    for one in fields:
        path, kind = above + one.name, one.type
        if pa.types.is_struct(kind):
            yield from _leaves(kind, f"{path}.", single=single)
        elif pa.types.is_map(kind):
            entry = (pa.field("key", kind.key_type), pa.field("value", kind.item_type))
            yield from _leaves(entry, f"{path}.key_value.", single=False)
        elif pa.types.is_list(kind):
            yield from _leaves([pa.field("element", kind.value_type)], f"{path}.list.", single=False)
        else:
            yield path, single


def write_table(place: SinkPlace, table: str, rows: pa.RecordBatch) -> Iterator[FilePart]:
    """Write a table from the driver's memory; yields the file, if there is one."""
    writer = TableWriter(place, table, rows.schema, "00000")
    writer.write(rows)
    yield from writer.close()
