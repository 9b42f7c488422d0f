"""The rows of `changes/` of one batch, collected column by column and turned into Arrow once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, groupby
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.row_images import SideTexts
from cdc_contracts.registry.core.engine.group.row_facts import Places, Values
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables, join_tables, table_of_all
from cdc_contracts.registry.core.engine.write.decoded_rows import (
    TYPED_COLUMNS,
    DecodedImages,
    DecodedRows,
    UntypedRows,
    make_changes,
)
from cdc_contracts.registry.core.engine.write.placed_images import ImageBlock, PlacedImages
from cdc_contracts.registry.core.message.canonical_changes import Change
from cdc_contracts.registry.core.message.reading import TableNames
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA, INSTANT
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.validate.verdicts import Verdict

_PER_RESULT: Final = (
    "contract", "undecided", "op", "primary_key", "column_types", "types_from", "update_part",
)  # fmt: skip
_OF_TABLE: Final = ("tenant", "database", "schema", "table")
_PER_ROW: Final = (
    "before_complete", "after_complete", "changed", "invalid", "invalid_values", "event_time", "event_time_text",
    "process_time", "position", "transaction", "pair_id",
)  # fmt: skip


@dataclass
class _Side:
    """The images of one side over all rows so far: a block for the rows that were added together."""

    blocks: list[ImageBlock | None] = field(default_factory=list)

    def add(self, side: SideTexts | None) -> None:
        if side is None:
            self.blocks.append(None)
            return
        present = None if side.present.all() else side.present
        self.blocks.append(ImageBlock(tuple(side.names), side.places, present))

    def add_one(self, image: dict[str, str | None] | None, texts: list[str | None], base: int) -> None:
        """Add the image of one row, and its texts to those that follow the `base` texts of the batch."""
        if image is None:
            self.blocks.append(None)
            return
        places = np.arange(len(image)) + base + len(texts)
        texts.extend(image.values())
        self.blocks.append(ImageBlock(tuple(image), places.reshape(1, -1), None))


@dataclass
class ChangeRows:
    """Row changes of a batch, collected column by column."""

    numbers: list[Places] = field(default_factory=list)
    within: list[Places] = field(default_factory=list)
    group_results: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _PER_RESULT})
    sizes: list[int] = field(default_factory=list)
    tables: list[Tables] = field(default_factory=list)
    rows: dict[str, list[Values]] = field(default_factory=lambda: {name: [] for name in _PER_ROW})
    before: _Side = field(default_factory=_Side)
    after: _Side = field(default_factory=_Side)
    own: list[tuple[_Side, dict[str, str | None] | None]] = field(default_factory=list)

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

    def as_rows(self, texts: pa.Array, batch: Batch) -> DecodedRows:
        """Return the rows in order of record and row."""
        own_texts: list[str | None] = []
        for side, image in self.own:
            side.add_one(image, own_texts, len(texts))
        if own_texts:
            texts = pa.concat_arrays([texts, pa.array(own_texts, pa.string())])
        numbers, within = _joined(self.numbers), _joined(self.within)
        order = np.lexsort((within, numbers))
        sizes = np.array(self.sizes, np.int64)
        starts, block_of = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        before, after = (
            PlacedImages(side.blocks, starts, block_of, order, texts) for side in (self.before, self.after)
        )
        found = _Columns(self, order, block_of[order], batch, pa.array(numbers[order]), within[order])
        images = DecodedImages(before, after, self.group_results["column_types"], block_of[order])
        untyped = UntypedRows(found.of(TYPED_COLUMNS), images, of_one_table=found.of_one_table)
        return DecodedRows(untyped, partial(make_changes, untyped, found.of))


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of rows that are put in order: all but the images."""

    rows: ChangeRows
    order: Places
    group_of: NDArray[np.int32]
    batch: Batch
    numbers: pa.Array
    within: Places

    def of(self, schema: pa.Schema) -> pa.RecordBatch:
        """Return some of the columns."""
        columns = {name: found for name in schema.names if (found := self._column(name)) is not None}
        batch = self.batch
        taken = {
            name: batch.column(sent, type_)
            for name, sent, type_ in (("kafka_timestamp", "timestamp", INSTANT), ("kafka_key", "key", pa.binary()))
            if name in schema.names
        }
        return batch.fill(schema, columns, self.numbers, taken)

    def _column(self, name: str) -> pa.Array | None:
        """Return a column; None if it is one of the records."""
        rows, type_ = self.rows, CHANGES_SCHEMA.field(name).type
        if name in _PER_RESULT:
            return pa.array(rows.group_results[name], type_).take(pa.array(self.group_of))
        if name in _PER_ROW:
            return _as_column(rows.rows[name], type_).take(pa.array(self.order))
        if name in _OF_TABLE:
            if not rows.tables:
                return pa.array([], type_)
            names, of_row = self._tables
            return pa.array([getattr(one, name) for one in names], type_).take(of_row)
        return pa.array(self.within, pa.int32()) if name == "row_index" else None

    @property
    def of_one_table(self) -> bool:
        """Whether all rows are of one table."""
        return bool(self.rows.tables) and len(set(self._tables[0])) == 1

    @cached_property
    def _tables(self) -> tuple[Sequence[TableNames], pa.Array]:
        tables = join_tables(self.rows.tables)
        return tables.names, pa.array(tables.codes[self.order])


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
