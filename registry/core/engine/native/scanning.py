"""Scanning: messages of a known shape, split into values without creating an object for any of them.

The scanner accepts only messages that surely have the shape. The parser decides on all others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.layouts.batch_tables import BatchTables
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, Rows
from cdc_contracts.registry.core.engine.layouts.layout_parts import Layout, Leaf, RowShape
from cdc_contracts.registry.core.engine.layouts.listed_values import UNLISTED
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.engine.native.native_interface import buffers_of
from cdc_contracts.registry.core.engine.native.native_library import is_eager, native_library
from cdc_contracts.registry.core.engine.native.scan_plans import NoScanPlan, ScanPlan, free_names, make_scan_plan
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    STATE,
    ScannedBytes,
    ScannedColumn,
    ScannedMember,
    find_kinds,
)
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.core.engine.native.text_image_values import TextImageValues
from cdc_contracts.registry.core.engine.native.value_index import IndexedValues
from cdc_contracts.registry.core.records.message_values import MessageValues

Numbers = NDArray[np.int64]

_MOST_PLANS: Final = 1_024
_MOST_TRIED: Final = 8
"""Shapes looked for in all messages of a batch."""
_LEAST_GUESSED: Final = 8
"""Fewer messages that look alike are not worth a scan."""
_PATIENCE: Final = 256
_LEAST: Final = 32
"""Fewer messages are not worth a scan, nor a batch of their own."""
_FULL: Final = -1
_MOST_INT: Final = 2**40
_MOST_CELLS: Final = 2**24
"""Cells for the rows of a batch, 128 MiB: empty rows are three bytes each and take as many cells as any other."""


class _CompiledPlan:
    """A plan in the library's memory."""

    def __init__(self, library: Any, layout: Layout, plan: ScanPlan) -> None:
        self.library, self.layout, self.plan = library, layout, plan
        nodes, members, names = plan.arrays()
        self.handle = library.cdc_make_plan(nodes, members, names, len(plan.images), len(plan.slots))
        if not self.handle:
            raise NoScanPlan

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.library.cdc_free_plan(self.handle)


@dataclass(frozen=True, eq=False)
class _Found:
    """The values of the messages that match a plan: cells by slot, by column and row, rows by image.

    There are cells for all messages that were asked for; the first of them are those of the messages taken. `row_names`
    are by column and row the names of records, if the messages have a value index. The cells of rows point into
    `row_bytes`.
    """

    taken: Numbers
    left: Numbers
    cells: NDArray[np.uint64]
    row_cells: list[NDArray[np.uint64]]
    row_names: list[NDArray[np.uint8]]
    states: NDArray[np.int32]
    rows: list[int]
    row_bytes: pa.Buffer


class Scanner:
    """Scans batches for the most recent shapes; keeps a plan for each."""

    def __init__(
        self, plan: LayoutPlan, pointers: Sequence[str | None], reading_options: ReadingOptions,
        tables_of: Callable[[DecodedBatch], BatchTables],
    ) -> None:  # fmt: skip
        self._library: Any = None if reading_options.strict_json else native_library()
        self._plan, self._pointers, self._most_bytes = plan, pointers, reading_options.max_bytes
        self._tables, self._tables_of = reading_options.tables, tables_of
        self._plans: OrderedDict[Any, _CompiledPlan | None] = OrderedDict()
        self._recent: list[RowShape] = []
        self._least, self._patience = (1, _MOST_INT) if is_eager() else (_LEAST, _PATIENCE)

    @property
    def works(self) -> bool:
        """Whether there is a library to scan with."""
        return self._library is not None

    def scan(
        self, values: MessageValues, numbers: Numbers, met: Collection[RowShape] = ()
    ) -> tuple[list[DecodedBatch], Numbers]:
        """Return the messages with one of the most recent shapes, and the numbers of the others.

        A shape that none has is no longer recent, but for those that are `met`.
        """
        found: list[DecodedBatch] = []
        for shape in self._by_priority():
            if len(numbers) < self._least:
                break
            batches, numbers = self._scan(shape, values, numbers, self._least)
            found += batches
            if not batches and shape not in met:
                self._recent.remove(shape)
        return found, numbers

    def scan_texts(self, values: TextImageValues, numbers: Numbers) -> tuple[list[DecodedBatch], Numbers]:
        """Return the messages that have one of the most recent shapes in their texts, and the numbers of the others."""
        found: list[DecodedBatch] = []
        for shape in self._by_priority() if self.works else ():
            batches, numbers = self._scan(shape, values, numbers, self._least)
            found += batches
        return found, numbers

    def _by_priority(self) -> list[RowShape]:
        """Return the most recent shapes; those of unlisted tables, which take any names, come last."""
        return sorted(self._recent, key=lambda shape: not shape.listed)

    def scan_for(self, shape: RowShape, values: MessageValues, numbers: Numbers) -> tuple[list[DecodedBatch], Numbers]:
        """Return the messages of one shape, which is remembered if there are any, and the numbers of the others."""
        free = free_names(self._plan, shape)
        if any(one is shape or (free and _take_the_same(one, shape)) for one in self._recent):
            return [], numbers
        found, left = self._scan(shape, values, numbers, self._least)
        if found:
            self._remember(shape)
        return found, left

    def scan_guessed(
        self, shape: RowShape, values: MessageValues, numbers: Numbers
    ) -> tuple[list[DecodedBatch], Numbers]:
        """Return the messages with a shape that all of some messages look to have, and the numbers of the others."""
        found, left = self._scan(shape, values, numbers, min(self._least, _LEAST_GUESSED))
        taken = len(numbers) - len(left)
        if found and shape not in self._recent and self._is_frequent(taken, len(values) - taken):
            self._remember(shape)
        return found, left

    def _remember(self, shape: RowShape) -> None:
        self._recent.insert(0, shape)
        del self._recent[_MOST_TRIED:]

    def _scan(
        self, shape: RowShape, values: MessageValues, numbers: Numbers, least: int
    ) -> tuple[list[DecodedBatch], Numbers]:
        """Return the messages with a shape as a batch, if there are enough of them, and the numbers of the others."""
        plan = self._compiled(shape) if len(numbers) >= least else None
        result = None if plan is None else self._run(plan, values, numbers)
        batch = None
        if plan is not None and result is not None and self._is_worth(result, least):
            batch = self._lay_out(shape, plan, result, values.array)
            listed = self._are_listed(plan, batch)
            if listed.any():  # scanned again without the messages that are of other shapes
                apart = result.taken[listed]
                batch, result = None, self._run(plan, values, numbers[~np.isin(numbers, apart)])
                if result is not None and self._is_worth(result, least):
                    batch = self._lay_out(shape, plan, result, values.array)
                    result = replace(result, left=np.sort(np.concatenate([result.left, apart])))
        return ([], numbers) if batch is None or result is None else ([batch], result.left)

    def _is_worth(self, result: _Found, least: int) -> bool:
        """Return whether enough messages were taken; where the scan gave up, those of a shape are guessed."""
        return len(result.taken) >= least and self._is_frequent(len(result.taken), len(result.left))

    def _is_frequent(self, taken: int, others: int) -> bool:
        """Return whether a scan of all messages would not give up, if so many have a shape and the others do not."""
        return others <= self._patience + int(self._library.constants["MOST_OTHERS"]) * taken

    def _compiled(self, shape: RowShape) -> _CompiledPlan | None:
        known = self._plans.get(shape.key)
        if shape.strict is None:
            return None
        if shape.key in self._plans and (known is None or known.layout is shape.strict):
            self._plans.move_to_end(shape.key)
            return known
        try:
            plan = _CompiledPlan(self._library, shape.strict, make_scan_plan(self._plan, shape, self._pointers))
        except NoScanPlan:
            plan = None
        self._plans[shape.key] = plan
        if len(self._plans) > _MOST_PLANS:
            self._plans.popitem(last=False)
        return plan

    def _are_listed(self, compiled: _CompiledPlan, batch: DecodedBatch) -> NDArray[np.bool_]:
        """Return which messages have a kind of source or a table that is listed, where the plan takes any other."""
        listed = np.zeros(len(batch), np.bool_)
        kind_at = self._plan.names_at[-1] if self._plan.by_kind else None
        if kind_at in compiled.plan.unlisted:
            codes, kinds = batch.members[kind_at].distinct
            listed |= np.array([self._plan.kind_of(kind) is not UNLISTED for kind in kinds], np.bool_)[codes]
        if self._tables and compiled.plan.takes_names(self._plan.plain_names):
            listed |= self._tables_of(batch).tables.marked(self._tables.lists)
        return listed

    def _run(self, compiled: _CompiledPlan, values: MessageValues, numbers: Numbers) -> _Found | None:
        """Scan; None if memory is short, or there are too many rows to be worth it."""
        plan, total, array = compiled.plan, len(numbers), values.array
        index = values.entries if isinstance(values, IndexedValues) else None
        _, offsets, data = array.buffers()
        if data is None:
            return None
        starts = np.frombuffer(offsets, np.int32, len(array) + 1, 4 * array.offset)
        texts = None
        if isinstance(values, TextImageValues):
            if any(image.beside for image in plan.images):
                return None  # members beside columns are in the bytes of texts, and others are not
            texts = pa.allocate_buffer(int((starts[numbers + 1] - starts[numbers]).sum()))
        columns = np.array([len(image.columns) for image in plan.images], np.int32)
        cells = np.empty((len(plan.slots), total), np.uint64)
        states = np.empty((len(plan.images), total), np.int32)
        taken, left, rows = np.empty(total, np.int64), np.empty(total, np.int64), np.zeros(len(columns) + 1, np.int64)
        capacity = total + _LEAST
        while capacity * columns.sum(dtype=np.int64) <= _MOST_CELLS:
            row_cells = [np.empty((count, capacity), np.uint64) for count in columns.tolist()]
            row_names = [np.empty((count, capacity), np.uint8) for count in columns.tolist() if index is not None]
            held = self._library.cdc_scan(
                compiled.handle, data, starts, numbers, self._most_bytes, self._patience, cells, capacity,
                buffers_of(row_cells), columns, states, rows, taken, left,
                None if index is None else index.program.address, None if index is None else index.address,
                buffers_of(row_names), texts,
            )  # fmt: skip
            if held >= 0:
                return _Found(
                    taken[:held], left[: total - held].copy(), cells, row_cells, row_names,
                    states[:, :held], rows[: len(columns)].tolist(), data if texts is None else texts,
                )  # fmt: skip
            if held != _FULL:
                break
            capacity *= 4
        return None

    def _lay_out(self, shape: RowShape, compiled: _CompiledPlan, found: _Found, array: pa.BinaryArray) -> DecodedBatch:
        batch = DecodedBatch(shape, compiled.layout, found.taken)
        source = ScannedBytes(self._library, array.buffers()[2])
        row_source = ScannedBytes(self._library, found.row_bytes)
        held = len(found.taken)
        kinds = find_kinds(self._library, found.cells, held)
        for part, cells, (of_kinds, absent) in zip(compiled.plan.slots, found.cells, kinds, strict=True):
            if isinstance(part, Leaf):
                column: ScannedColumn = ScannedMember(source, cells[:held], part.decoder)
                batch.members[part.pointer] = column
            else:
                column = ScannedColumn(source, cells[:held], STATE)
                batch.states[part.pointer] = column
            column.held, column.absent = of_kinds, absent
        for place, image in enumerate(compiled.plan.images):
            state, total = found.states[place], found.rows[place]
            count = np.maximum(state, 0).astype(np.int64)
            ends = np.cumsum(count)
            records = np.arange(len(state)) if total == len(state) and (count == 1).all() else None
            columns = tuple(
                ScannedValues(
                    row_source,
                    found.row_cells[place][index, :total],
                    column.decoder,
                    found.row_names[place][index, :total] if found.row_names else None,
                )
                for index, column in enumerate(image.columns)
            )
            kinds = find_kinds(self._library, found.row_cells[place], total)
            for values, (of_kinds, absent) in zip(columns, kinds, strict=True):
                values.held, values.absent = of_kinds, absent
            batch.rows[image.pointer] = Rows(
                image,
                state,
                np.where(count > 0, ends - count, -1),
                count,
                np.repeat(np.arange(len(state)), count) if records is None else records,
                columns,
            )
        return batch


def _take_the_same(one: RowShape, other: RowShape) -> bool:
    """Return whether plans of two shapes take the same messages, if they take any names."""
    return one.strict is other.strict and [*map(type, one.key)] == [*map(type, other.key)]
