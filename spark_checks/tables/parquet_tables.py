"""Parquet tables: typed tables as files, in one folder per table and run."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableLayout, TableName
from cdc_contracts.registry.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.spark_checks.engines import Engine
from cdc_contracts.spark_checks.file_sinks import TABLES, FilePart, SinkPlace, TableWriter, table_folder
from cdc_contracts.spark_checks.spark_tasks import as_result, attempt_name, read_results
from cdc_contracts.spark_checks.tables.part_files import read_part
from cdc_contracts.spark_checks.tables.typed_tables import TypedWrite, WriteOrder

_NOT_TYPED: Final = ("primary_key", "before_complete", "after_complete", "types_from", "kafka_timestamp", "kafka_key")
TYPED_FROM: Final = pa.schema([one for one in CHANGES_SCHEMA if one.name not in _NOT_TYPED])
"""What of `changes/` typed rows are made of."""
WAITING_BYTES: Final = 64 * 1024 * 1024
MOST_OPEN: Final = 200
"""So much may a task hold, however many tables there are: rows that wait, and files that are not finished."""


class ParquetTables:
    """Files of typed rows, which count only if the record of their run names them, so writing is repeatable.

    `above` is the folder that holds the folders of the tables.
    """

    name = "parquet"
    replaceable = True
    schema = None
    keeps_current = False

    def __init__(self, above: str = TABLES) -> None:
        self._above = above

    def prepare(self, engine: Engine) -> None:
        """Do nothing: files need no settings."""

    def write(self, engine: Engine, order: WriteOrder) -> TypedWrite:
        """Write the rows of the changes files, typed, to the table of each layout, with a task per file."""
        if not order.changes:
            return TypedWrite()
        job = pickle.dumps(WriteJob(order.place, tuple(order.changes), dict(order.layouts), self._above))

        def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
            yield as_result(_open_job(job).run(numbers))

        return join_writes(read_results(engine.run_shares(len(order.changes), work)))


def join_writes(writes: Iterable[TypedWrite]) -> TypedWrite:
    """Return the joint result of several writes."""
    parts: list[FilePart] = []
    rows: Counter[str] = Counter()
    raw: dict[str, Counter[str]] = {}
    for write in writes:
        parts += write.parts
        rows.update(write.rows)
        for table, counts in write.raw.items():
            raw.setdefault(table, Counter()).update(counts)
    return TypedWrite(tuple(parts), dict(rows), {table: dict(counts) for table, counts in raw.items()})


@dataclass(frozen=True)
class WriteJob:
    """The input that the tasks of a write share."""

    place: SinkPlace
    changes: tuple[FilePart, ...]
    layouts: Mapping[TableName, TableLayout]
    above: str = TABLES

    def run(self, numbers: Iterable[int]) -> TypedWrite:
        """Type the rows of some changes files; if that fails, no files are left."""
        files = _TypedFiles(self.place, self.layouts, self.above)
        try:
            for number in numbers:
                for changes in read_part(self.place, self.changes[number], TYPED_FROM):
                    for name, rows in split_by_table(changes):
                        files.add(name, rows if rows.num_rows == changes.num_rows else _copy(rows))
            return files.close()
        except BaseException:
            files.discard()
            raise


def _copy(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return a copy of rows, since a slice would keep the rows of other tables in memory."""
    return rows.take(pa.array(np.arange(rows.num_rows)))


@lru_cache(maxsize=2)
def _open_job(job: bytes) -> WriteJob:
    found: WriteJob = pickle.loads(job)  # noqa: S301  our own bytes
    return found


class _TypedFiles:
    """The rows of one task by table: buffered rows, and open files."""

    def __init__(self, place: SinkPlace, layouts: Layouts, above: str) -> None:
        self._place = place
        self._above = above
        self._layouts = layouts
        self._waiting: dict[TableName, list[pa.RecordBatch]] = {}
        self._bytes: Counter[TableName] = Counter()
        self._open: dict[TableName, TableWriter] = {}
        self._opened = 0
        self._done: list[TypedWrite] = []
        self._parts: list[FilePart] = []

    def add(self, name: TableName, rows: pa.RecordBatch) -> None:
        """Add rows of a table; if too many rows are buffered, those of the largest table are written."""
        self._waiting.setdefault(name, []).append(rows)
        self._bytes[name] += rows.nbytes
        if self._bytes.total() > WAITING_BYTES:
            self._write(self._bytes.most_common(1)[0][0])

    def close(self) -> TypedWrite:
        """Finish all files and return the result of the write."""
        for name in list(self._waiting):
            self._write(name)
        for name in list(self._open):
            self._finish(name)
        return join_writes([TypedWrite(tuple(self._parts)), *self._done])

    def discard(self) -> None:
        """Remove what was written."""
        for writer in self._open.values():
            writer.discard()
        filesystem, root = self._place.open()
        for part in self._parts:
            filesystem.delete_file(f"{root}/{part.path}")

    def _write(self, name: TableName) -> None:
        changes = pa.Table.from_batches(self._waiting.pop(name)).combine_chunks().to_batches()
        del self._bytes[name]
        for batch in changes:
            rows, raw = type_rows(batch, self._layouts[name])
            writer = self._writer(name)
            writer.write(rows)
            writer.flush()
            self._done.append(TypedWrite(rows={name.text: rows.num_rows}, raw={name.text: raw} if raw else {}))

    def _writer(self, name: TableName) -> TableWriter:
        writer = self._open.pop(name, None)
        if writer is None:
            # The number keeps file names unique if a filesystem ignores the case of folder names.
            attempt = f"{attempt_name()}-{self._opened}"
            writer = TableWriter(
                self._place, name.text, self._layouts[name].arrow, attempt, table_folder(name, self._above)
            )
            self._opened += 1
        self._open[name] = writer  # moved to the end: the least recently used writer is finished first
        if len(self._open) > MOST_OPEN:
            self._finish(next(iter(self._open)))
        return writer

    def _finish(self, name: TableName) -> None:
        self._parts += self._open.pop(name).close()
