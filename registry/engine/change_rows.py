"""The rows of `changes/` of one batch, collected column by column and turned into Arrow once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any, Final

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.engine.batch_tables import Tables, join_tables, table_of_all
from cdc_contracts.registry.engine.row_facts import Places, Values
from cdc_contracts.registry.engine.row_images import SideTexts
from cdc_contracts.registry.message.canonical_changes import Change
from cdc_contracts.registry.message.reading import TableNames
from cdc_contracts.registry.records.output_schemas import CHANGES_SCHEMA, INSTANT
from cdc_contracts.registry.records.record_batches import Batch
from cdc_contracts.registry.validate.verdicts import Verdict

_PER_RESULT: Final = (
    "contract", "undecided", "op", "primary_key", "column_types", "types_from", "update_part",
)  # fmt: skip
_OF_TABLE: Final = ("tenant", "database", "schema", "table")
_PER_ROW: Final = (
    "before_complete", "after_complete", "changed", "invalid", "invalid_values", "event_time", "event_time_text",
    "process_time", "position", "transaction", "pair_id",
)  # fmt: skip


@dataclass
class _ImageColumns:
    """The images of one side over all rows so far: the index and name of each text, and the number of texts per row."""

    places: list[Places] = field(default_factory=list)
    names: list[Places] = field(default_factory=list)
    counts: list[Places] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    spelled: list[tuple[str, str | None]] = field(default_factory=list)

    def add(self, side: SideTexts | None, rows: int) -> None:
        if side is None:
            self.counts.append(np.full(rows, -1, np.int64))
            return
        ids = np.array([self._name(name) for name in side.names], np.int64)
        if side.present.all():
            self.places.append(side.places.ravel())
            self.names.append(np.tile(ids, rows))
            self.counts.append(np.full(rows, len(ids), np.int64))
        else:
            self.places.append(side.places[side.present])
            self.names.append(np.broadcast_to(ids, side.present.shape)[side.present])
            self.counts.append(side.present.sum(axis=1))

    def add_one(self, image: dict[str, str | None] | None, texts: list[str | None], base: int) -> None:
        if image is None:
            self.counts.append(np.array([-1]))
            return
        self.places.append(np.arange(len(image)) + base + len(texts))
        self.names.append(np.array([self._name(name) for name in image], np.int64))
        self.counts.append(np.array([len(image)]))
        texts.extend(image.values())

    def as_array(self, texts: pa.Array, order: Places) -> pa.Array:
        """Return the images in the order of the rows."""
        counts = _joined(self.counts)
        held = np.maximum(counts, 0)
        starts = (np.cumsum(held) - held)[order]
        counts, held = counts[order], held[order]
        offsets = np.concatenate([[0], np.cumsum(held)])
        chosen = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], held)
        names = pa.array(list(self.known), pa.string()).take(pa.array(_joined(self.names)[chosen]))
        items = texts.take(pa.array(_joined(self.places)[chosen]))
        missing = np.append(counts < 0, False)
        return pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32), mask=missing), names, items)

    def _name(self, name: str) -> int:
        return self.known.setdefault(name, len(self.known))


@dataclass
class ChangeRows:
    """Row changes of a batch, collected column by column."""

    numbers: list[Places] = field(default_factory=list)
    within: list[Places] = field(default_factory=list)
    group_results: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _PER_RESULT})
    sizes: list[int] = field(default_factory=list)
    tables: list[Tables] = field(default_factory=list)
    rows: dict[str, list[Values]] = field(default_factory=lambda: {name: [] for name in _PER_ROW})
    before: _ImageColumns = field(default_factory=_ImageColumns)
    after: _ImageColumns = field(default_factory=_ImageColumns)
    own_texts: list[str | None] = field(default_factory=list)
    own: list[tuple[_ImageColumns, dict[str, str | None] | None]] = field(default_factory=list)

    def add_change(self, number: int, index: int, change: Change, verdict: Verdict) -> None:
        """Add one row that the reference decoded."""
        self.numbers.append(np.array([number]))
        self.within.append(np.array([index]))
        self.sizes.append(1)
        reference = verdict.version.reference if verdict.version else ""
        for name in _PER_RESULT:
            value = {"contract": reference, "undecided": verdict.undecided}.get(name, getattr(change, name, None))
            self.group_results[name].append(value)
        names = TableNames(change.tenant, change.database, change.schema, change.table)
        self.tables.append(table_of_all(names, 1))
        for name in _PER_ROW:
            self.rows[name].append([getattr(change, name)])
        self.own += [(self.before, change.before), (self.after, change.after)]

    def add_facts(self, name: str, values: Values) -> None:
        """Add what the rows that were added last have in a column."""
        self.rows[name].append(values)

    def as_batch(self, texts: pa.Array, batch: Batch) -> pa.RecordBatch:
        """Return the rows as Arrow, in order of record and row."""
        for images, image in self.own:
            images.add_one(image, self.own_texts, len(texts))
        if self.own_texts:
            texts = pa.concat_arrays([texts, pa.array(self.own_texts, pa.string())])
        numbers, within = _joined(self.numbers), _joined(self.within)
        order = np.lexsort((within, numbers))
        ordered = pa.array(order)
        spread = pa.array(np.repeat(np.arange(len(self.sizes)), self.sizes)[order])
        columns: dict[str, Any] = {
            name: pa.array(values, CHANGES_SCHEMA.field(name).type).take(spread)
            for name, values in self.group_results.items()
        }
        if self.tables:
            tables = join_tables(self.tables)
            of_row = pa.array(tables.codes[order])
            for name in _OF_TABLE:
                names = pa.array([getattr(one, name) for one in tables.names], CHANGES_SCHEMA.field(name).type)
                columns[name] = names.take(of_row)
        else:
            columns |= {name: pa.array([], CHANGES_SCHEMA.field(name).type) for name in _OF_TABLE}
        for name, values in self.rows.items():
            columns[name] = _as_column(values, CHANGES_SCHEMA.field(name).type).take(ordered)
        columns["before"] = self.before.as_array(texts, order)
        columns["after"] = self.after.as_array(texts, order)
        columns["row_index"] = pa.array(within[order], pa.int32())
        taken = {
            "kafka_timestamp": batch.column("timestamp", INSTANT),
            "kafka_key": batch.column("key", pa.binary()),
        }
        return batch.fill(CHANGES_SCHEMA, columns, pa.array(numbers[order]), taken)


def _as_column(parts: list[Values], type_: pa.DataType) -> pa.Array:
    """Return what the parts of a column hold: arrays of its type, or lists, which are joined first."""
    arrays: list[pa.Array] = []
    for listed, some in groupby(parts, lambda part: not isinstance(part, pa.Array)):
        alike = list(some)
        arrays += [pa.array(list(chain.from_iterable(alike)), type_)] if listed else alike
    if len(arrays) == 1:
        return arrays[0]
    return pa.concat_arrays(arrays) if arrays else pa.array([], type_)


def _joined(parts: list[Places]) -> Places:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
