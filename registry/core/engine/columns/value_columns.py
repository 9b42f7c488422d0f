"""Value columns: the values of a batch by value form, whatever table or column they come from.

A form is checked once per batch over all its values, so that a topic of a thousand tables costs as much as one of a
single table. Each column gets back its slice: flags per value and, if texts are written, the indices of its texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.form_parts import FormPart, join_flags, validate_parts
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.parsed_values import KIND_NAMES, NOTHING, ParsedValues
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedPart, ScannedValues, kinds_of_wire


@dataclass(eq=False)
class _ValueColumn:
    """The values of one form, in parts: lists of objects, and scanned columns with the kinds that count."""

    use: FormUse
    parts: list[FormPart] = field(default_factory=list)
    length: int = 0
    begins: list[int] = field(default_factory=list)
    """Where the values of each column begin that has any."""
    flags: NDArray[np.uint8] | None = None
    flagged: frozenset[int] = frozenset()
    """Where the values of columns with flags begin."""
    base: int = 0

    def add(self, values: ParsedValues) -> int:
        """Add the values of a column, and return the index of the first."""
        offset, total, form = self.length, len(values), self.use.form
        if total:
            self.begins.append(offset)
            self.length += total
        last = self.parts[-1] if self.parts else None
        if isinstance(values, ScannedValues):
            if not (isinstance(last, ScannedPart) and last.take(values)):
                self.parts.append(ScannedPart([values], kinds_of_wire(form.wire), form.numbers is not None))
        elif isinstance(last, list):
            last += values.of_wire(form.wire)
        else:
            self.parts.append(list(values.of_wire(form.wire)))
        return offset

    def keep_flags(self, flags: NDArray[np.uint8] | None) -> None:
        """Keep the flags of all values, None if there are none."""
        self.flags = flags
        if flags is not None and self.begins:
            marked = np.flatnonzero(np.maximum.reduceat(flags, self.begins))
            self.flagged = frozenset([self.begins[place] for place in marked.tolist()])


@dataclass(eq=False)
class Chunk:
    """The values of one column in one form: flags per row, and the indices of its texts among the batch's texts.

    `held` are the rows, of `total`, that have a value; None if all have. Without a value column the form accepts none
    of the values: to it all are null. `not_taken` are the kinds of values that it does not accept. It does not refer
    to its column: in a cycle, all values would stay in memory until garbage is collected.
    """

    values: ParsedValues
    held: NDArray[np.int64] | None
    total: int
    not_taken: frozenset[str]
    value_column: _ValueColumn | None = None
    offset: int = 0

    @cached_property
    def kinds(self) -> NDArray[np.uint8] | None:
        """The flag of the kind of each value that the form does not accept; None if it accepts all kinds."""
        return self.values.flag_kinds(self.not_taken) if self.not_taken else None

    @property
    def is_flagged(self) -> bool:
        """Whether some value has a flag, or is of a kind that the form does not accept."""
        return bool(self.not_taken) or self._is_read_flagged

    @property
    def _is_read_flagged(self) -> bool:
        column = self.value_column
        return column is not None and self.offset in column.flagged and len(self.values) > 0

    @property
    def flags(self) -> NDArray[np.uint8] | None:
        """Flag per row (`Flag`, or a kind the form does not accept); None if there are none."""
        part, kinds = self._read_flags, self.kinds if self.not_taken else None
        if kinds is not None:
            part = kinds if part is None else np.where(kinds > 0, kinds, part)
        return part if part is None else self._spread(part, NOTHING)

    @property
    def read_flags(self) -> NDArray[np.uint8] | None:
        """Flag per row (`Flag`) of the values that the form accepts; None if there are none."""
        part = self._read_flags
        return part if part is None else self._spread(part, NOTHING)

    @property
    def _read_flags(self) -> NDArray[np.uint8] | None:
        column = self.value_column
        if column is None or column.flags is None or not self._is_read_flagged:
            return None
        return column.flags[self.offset : self.offset + len(self.values)]

    @property
    def places(self) -> NDArray[np.int64]:
        """The index of the text of each row; 0, the index of null, for a row without the column."""
        if self.value_column is None:
            return np.zeros(self.total, np.int64)
        base = self.value_column.base + self.offset
        return self._spread(np.arange(base, base + len(self.values)), 0)

    @property
    def foreign(self) -> NDArray[np.bool_] | None:
        """Mask of the rows with a value of a kind that the form does not accept; None if there are none."""
        return None if self.kinds is None else self._spread(self.kinds >= min(KIND_NAMES), nothing=False)

    def _spread(self, values: NDArray[Any], nothing: int) -> NDArray[Any]:
        if self.held is None:
            return values
        spread = np.full(self.total, nothing, values.dtype)
        spread[self.held] = values
        return spread


@dataclass(eq=False)
class ColumnValues:
    """One column of a decoded batch: its values in the rows that have it, and its chunk in each form that takes some.

    `present` is a mask of the rows that have it, `held` their indices; None if all have. Arrays and objects that no
    form reads count as null; `odd_rows` are the rows that have one, by its kind, `unfit_rows` those that need the
    strict parser.
    """

    values: ParsedValues
    total: int
    """The number of rows."""
    present: NDArray[np.bool_] | None = None
    held: NDArray[np.int64] | None = None
    unfit_rows: list[int] = field(default_factory=list)
    odd_rows: dict[str, list[int]] = field(default_factory=dict)
    chunks: dict[FormUse, Chunk] = field(default_factory=dict)
    left_out: NDArray[np.bool_] | None = None
    """Mask of the rows with a value that stands for one that was not sent; None if there are none."""

    def chunk_of(self, use: FormUse) -> Chunk:
        """Return its chunk in a form of some version, whether the form takes any of its values or none."""
        chunk = self.chunks.get(use)
        if chunk is None:
            chunk = Chunk(self.values, self.held, self.total, self.kinds - use.form.wire)
        return chunk

    @property
    def kinds(self) -> frozenset[str]:
        """The possible kinds of its values besides null."""
        return self.values.json_kinds

    @property
    def valued(self) -> NDArray[np.bool_] | None:
        """Mask of the `values` that are not null; None if none is null."""
        return self.values.valued

    @cached_property
    def tokens(self) -> Sequence[Any]:
        """The value of each row as it was sent; None if the row does not have the column."""
        if self.present is None:
            return self.values
        values = iter(self.values)
        return [next(values) if there else None for there in self.present.tolist()]

    def spread(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return what was found for each value by row, with zeros for the rows that do not have the column."""
        if self.present is None:
            return found
        whole = np.zeros(self.total, found.dtype)
        whole[self.present] = found
        return whole


class ValueColumns:
    """The values of one batch, by form."""

    def __init__(self) -> None:
        self._pools: dict[FormUse, _ValueColumn] = {}
        self.texts: pa.Array = pa.array([None], pa.string())

    def add(self, column: ColumnValues, uses: Sequence[FormUse]) -> None:
        """Add the values of one column for every form in `uses` that takes some of them."""
        kinds = column.kinds
        for use in uses:
            wire = use.form.wire
            if wire.isdisjoint(kinds):
                continue
            value_column = self._pools.get(use)
            if value_column is None:
                value_column = self._pools[use] = _ValueColumn(use)
            offset = value_column.add(column.values)
            column.chunks[use] = Chunk(column.values, column.held, column.total, kinds - wire, value_column, offset)

    def validate(self, *, texts: bool) -> None:
        """Validate every value column; with `texts`, write canonical texts as well."""
        columns = [pa.array([None], pa.string())]
        size = 1
        asked = [one for one in self._pools.values() if texts or not one.use.takes_all]
        every = iter(validate_parts([(part, one.use) for one in asked for part in one.parts], texts=texts))
        for value_column in asked:
            found = list(islice(every, len(value_column.parts)))
            value_column.keep_flags(join_flags(found, value_column.parts))
            if texts:
                value_column.base = size
                size += value_column.length
                columns += [text for _, text in found if text is not None]
        if texts:
            self.texts = pa.concat_arrays(columns)
