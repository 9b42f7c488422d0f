"""Typed files: typed rows of many tables as Parquet, in bounded memory and with a bounded number of open files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.engine.write.decoded_rows import UntypedRows
from cdc_contracts.registry.core.records.output_schemas import TYPED_FROM
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace, TableWriter, table_folder
from cdc_contracts.spark_checks.tables.typed_tables import TypedWrite

WAITING_BYTES: Final = 64 * 1024 * 1024
MOST_OPEN: Final = 200
"""The most that a task may hold, however many tables there are: waiting rows and unfinished files."""
_ENOUGH_BYTES: Final = 4 * 1024 * 1024
"""The bytes of rows of a table that are typed at once: few enough for a cache, many enough to be worth the calls."""
_FEW_ROWS: Final = 1_024


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


class TypedFiles:
    """The rows of one task, table by table: those that wait, and the files that are open.

    `layout_of` returns the layout of a table whenever rows of it are typed; None leaves the table out from then on.
    `patience` is how many bytes of rows wait before the layout of a table is first needed; rows of the shards of one
    of the `families` are those of its table.
    """

    def __init__(
        self,
        place: SinkPlace,
        layout_of: Callable[[TableName], TableLayout | None],
        above: str,
        attempt: str,
        *,
        families: TableFamilies,
        patience: int = 0,
    ) -> None:
        self._families = families
        self._place = place
        self._layout_of = layout_of
        self._above = above
        self._attempt = attempt
        self._patience = max(patience, _ENOUGH_BYTES)
        self._waiting: dict[TableName, list[pa.RecordBatch | UntypedRows]] = {}
        self._untyped: Counter[TableName] = Counter()
        self._bytes: Counter[TableName] = Counter()
        self._begun: set[TableName] = set()
        self._refused: set[TableName] = set()
        self._open: dict[TableName, TableWriter] = {}
        self._opened = 0
        self._rows: Counter[TableName] = Counter()
        self._raw: dict[TableName, Counter[str]] = {}
        self._parts: dict[TableName, list[FilePart]] = {}

    def add(self, changes: pa.RecordBatch | UntypedRows, wanted: AbstractSet[TableName] | None = None) -> None:
        """Add row changes, of all tables or those that are wanted.

        Where too many wait in all, the table with the most is written.
        """
        for name, rows in split_by_table(changes, self._families):
            if name in self._refused or (wanted is not None and name not in wanted):
                continue
            begun = name in self._begun
            at_once = begun and isinstance(rows, UntypedRows) and len(rows) >= _FEW_ROWS
            if not at_once and len(rows) < len(changes):
                rows = _copy(rows)  # noqa: PLW2901
            self._waiting.setdefault(name, []).append(rows)
            self._untyped[name] += rows.nbytes
            self._bytes[name] += rows.nbytes
            if at_once or self._untyped[name] >= (_ENOUGH_BYTES if begun else self._patience):
                self._type(name)
            if self._bytes.total() > WAITING_BYTES:
                self._write(self._bytes.most_common(1)[0][0])

    def refuse(self, name: TableName) -> None:
        """Remove what was written of a table, and take no more rows of it."""
        self._refused.add(name)
        self._waiting.pop(name, None)
        self._raw.pop(name, None)
        for counts in (self._untyped, self._bytes, self._rows):
            del counts[name]
        writer = self._open.pop(name, None)
        if writer is not None:
            writer.discard()
        remove_parts(self._place, self._parts.pop(name, ()))

    def close(self) -> TypedWrite:
        """Finish all files and return the result of the write."""
        for name in list(self._bytes):
            self._write(name)
        for name in list(self._open):
            self._finish(name)
        return TypedWrite(
            tuple(part for parts in self._parts.values() for part in parts),
            {name.text: rows for name, rows in self._rows.items()},
            {name.text: dict(counts) for name, counts in self._raw.items() if counts},
        )

    def discard(self) -> None:
        """Remove what was written."""
        for name in {*self._open, *self._parts}:
            self.refuse(name)

    def _write(self, name: TableName) -> None:
        """Type the rows of a table that wait, and write those that are typed as one row group."""
        self._type(name)
        if name in self._open:
            self._open[name].flush()
        del self._bytes[name]

    def _type(self, name: TableName) -> None:
        waiting = self._waiting.pop(name, [])
        layout = self._layout_of(name) if waiting else None
        if layout is None:
            if waiting:
                self.refuse(name)
            return
        self._begun.add(name)
        self._bytes[name] -= self._untyped.pop(name)
        for batch in _in_batches(waiting):
            rows, raw = type_rows(batch, layout)
            self._writer(name, layout).write(rows)
            self._bytes[name] += rows.nbytes
            self._rows[name] += rows.num_rows
            self._raw.setdefault(name, Counter()).update(raw)

    def _writer(self, name: TableName, layout: TableLayout) -> TableWriter:
        writer = self._open.pop(name, None)
        if writer is None:
            # The number keeps file names unique if a filesystem ignores the case of folder names.
            attempt = f"{self._attempt}-{self._opened}"
            writer = TableWriter(self._place, name.text, layout.arrow, attempt, table_folder(name, self._above))
            self._opened += 1
        self._open[name] = writer  # moved to the end: the least recently used writer is finished first
        if len(self._open) > MOST_OPEN:
            self._finish(next(iter(self._open)))
        return writer

    def _finish(self, name: TableName) -> None:
        self._parts.setdefault(name, []).extend(self._open.pop(name).close())
        self._bytes[name] = self._untyped[name]


def remove_parts(place: SinkPlace, parts: Iterable[FilePart]) -> None:
    """Remove files."""
    filesystem, root = place.open()
    for part in parts:
        filesystem.delete_file(f"{root}/{part.path}")


def _in_batches(waiting: list[pa.RecordBatch | UntypedRows]) -> Sequence[pa.RecordBatch | UntypedRows]:
    """Return rows in batches that are worth a call each."""
    if sum(map(len, waiting)) >= _FEW_ROWS * len(waiting):
        return waiting
    batches = [rows.as_batch() if isinstance(rows, UntypedRows) else rows.select(TYPED_FROM.names) for rows in waiting]
    joined: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined


def _copy(rows: pa.RecordBatch | UntypedRows) -> pa.RecordBatch:
    """Return a copy of rows, since a part would keep the rows of other tables in memory."""
    batch = rows.as_batch() if isinstance(rows, UntypedRows) else rows
    return batch.take(pa.array(np.arange(batch.num_rows)))
