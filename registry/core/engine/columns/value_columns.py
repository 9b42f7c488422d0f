"""Value columns: the values of a batch by value form, whatever table or column they come from.

A form is checked once per batch over all its values, so that a topic of a thousand tables costs as much as one of a
single table. Each column gets back its slice: flags per value and, if texts are written, the indices of its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate, islice
from operator import is_not, itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
from msgspec import UNSET, Raw
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.form_parts import FormPart, join_flags, validate_parts
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import Odd, Unfit
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.parsed_values import KIND_NAMES, NOTHING, ParsedValues
from cdc_contracts.registry.core.engine.native.scanned_columns import ABSENT
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedPart, ScannedValues
from cdc_contracts.registry.core.message.unsent_values import StandIns
from cdc_contracts.registry.core.values.form_schemas import STRUCTURE

_IS_SENT: Final = partial(is_not, UNSET)
_FIRST: Final = itemgetter(0)
SHORT: Final = 2_048
"""Rows up to which columns are looked through together."""
_NULL, _MINUS, _ZERO, _NINE = b"n-09"


@dataclass(eq=False)
class _ValueColumn:
    """The values of one form, in parts: lists of objects, and scanned columns with the kinds that count."""

    use: FormUse
    parts: list[FormPart] = field(default_factory=list)
    length: int = 0
    flags: NDArray[np.uint8] | None = None
    clean: frozenset[int] = frozenset()
    """Where parts without flags begin."""
    base: int = 0

    def add(self, values: Sequence[Any] | ScannedPart) -> int:
        """Add values, and return the index of the first."""
        offset = self.length
        self.length += len(values)
        if isinstance(values, ScannedPart):
            self.parts.append(values)
        elif self.parts and isinstance(self.parts[-1], list):
            self.parts[-1] += values
        else:
            self.parts.append(list(values))
        return offset


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
    def flags(self) -> NDArray[np.uint8] | None:
        """Flag per row (`Flag`, or a kind the form does not accept); None if there are none."""
        part = self._read_flags
        if self.kinds is not None:
            part = self.kinds if part is None else np.where(self.kinds > 0, self.kinds, part)
        return part if part is None else self._spread(part, NOTHING)

    @property
    def read_flags(self) -> NDArray[np.uint8] | None:
        """Flag per row (`Flag`) of the values that the form accepts; None if there are none."""
        part = self._read_flags
        return part if part is None else self._spread(part, NOTHING)

    @property
    def _read_flags(self) -> NDArray[np.uint8] | None:
        column = self.value_column
        if column is None or column.flags is None or self.offset in column.clean:
            return None
        part = column.flags[self.offset : self.offset + len(self.values)]
        return part if part.any() else None

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
    present: NDArray[np.bool_] | None = None
    held: NDArray[np.int64] | None = None
    unfit_rows: list[int] = field(default_factory=list)
    odd_rows: dict[str, list[int]] = field(default_factory=dict)
    chunks: dict[FormUse, Chunk] = field(default_factory=dict)
    total: int = 0
    """The number of rows."""
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
        whole = np.zeros(len(self.present), found.dtype)
        whole[self.present] = found
        return whole


class ValueColumns:
    """The values of one batch, by form."""

    def __init__(self) -> None:
        self._pools: dict[FormUse, _ValueColumn] = {}
        self.texts: pa.Array = pa.array([None], pa.string())

    def add(
        self, values: Sequence[Any], decoder: str, uses: Sequence[FormUse], *, full: bool,
        stand_ins: StandIns | None = None,
    ) -> ColumnValues:  # fmt: skip
        """Add the values of one column, one per row, for every form in `uses`; `full` if no row lacks it.

        Those that are among `stand_ins` were not sent: their rows do not have the column.
        """
        total = len(values)
        if isinstance(values, ScannedValues):
            column = _open_scanned(values.widened())
        else:
            of_any = decoder in (decoder_kinds.RAW, decoder_kinds.WIDE)
            kept = of_any and any(use.form.wire & STRUCTURE for use in uses)
            column = _open_parsed(values, decoder, full=full, structures=kept)
        if stand_ins is not None:
            column = _leave_out(column, total, stand_ins)
        column.total, kinds = total, column.kinds
        for use in uses:
            wire = use.form.wire
            if wire.isdisjoint(kinds):
                continue
            value_column = self._pools.get(use)
            if value_column is None:
                value_column = self._pools[use] = _ValueColumn(use)
            offset = value_column.add(column.values.of_wire(wire))
            column.chunks[use] = Chunk(column.values, column.held, total, kinds - wire, value_column, offset)
        return column

    def validate(self, *, texts: bool) -> None:
        """Validate every value column; with `texts`, write canonical texts as well."""
        columns = [pa.array([None], pa.string())]
        size = 1
        asked = [one for one in self._pools.values() if texts or not one.use.takes_all]
        every = iter(validate_parts([(part, one.use) for one in asked for part in one.parts], texts=texts))
        for value_column in asked:
            found = list(islice(every, len(value_column.parts)))
            value_column.flags = join_flags(found, value_column.parts)
            begins = accumulate(map(len, value_column.parts), initial=0)
            each = zip(begins, value_column.parts, found, strict=False)
            value_column.clean = frozenset(begin for begin, part, (flags, _) in each if flags is None and len(part))
            if texts:
                value_column.base = size
                size += value_column.length
                columns += [text for _, text in found if text is not None]
        if texts:
            self.texts = pa.concat_arrays(columns)


def find_unsent(columns: Sequence[tuple[Sequence[Any], StandIns | None]]) -> Iterator[StandIns | None]:
    """Yield what stands for values of each column that were not sent; None for one that surely has none of these.

    Scanned columns of few rows are looked through together.
    """
    together: dict[tuple[StandIns, Any], list[int]] = {}
    for place, (values, stand_ins) in enumerate(columns):
        if stand_ins is not None and isinstance(values, ScannedValues) and len(values) <= SHORT:
            together.setdefault((stand_ins, values.joins_with), []).append(place)
    without = set[int]()
    for (stand_ins, _), places in together.items():
        (first, *others), ends = [columns[place][0] for place in places], [len(columns[place][0]) for place in places]
        marks = first.join(others).may_mark(stand_ins.texts, nulls=stand_ins.nulls)  # type: ignore[attr-defined]
        held = np.searchsorted(np.cumsum(ends), np.flatnonzero(marks), side="right")
        without.update(np.delete(places, held).tolist())
    yield from (None if place in without else stand_ins for place, (_, stand_ins) in enumerate(columns))


def _leave_out(column: ColumnValues, total: int, stand_ins: StandIns) -> ColumnValues:
    """Return a column without the values that stand for one that was not sent."""
    left_out = column.values.mark(stand_ins.texts, nulls=stand_ins.nulls)
    if not left_out.any():
        return column
    held = np.arange(total) if column.held is None else column.held
    odd = {row for rows in column.odd_rows.values() for row in rows} | set(column.unfit_rows)
    if odd:  # they count as null only because no form reads them
        left_out &= ~np.isin(held, list(odd))
    kept = np.flatnonzero(~left_out)
    present, lacking = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    present[held[kept]], lacking[held[left_out]] = True, True
    return replace(column, values=column.values.select(kept), present=present, held=held[kept], left_out=lacking)


def _open_scanned(values: ScannedValues) -> ColumnValues:
    """Return the values of a scanned column as they are in their messages."""
    if not values.holds(1 << ABSENT):
        return ColumnValues(values)
    picked, held, present = values.pick_present()
    return ColumnValues(picked, present, held)


def _open_parsed(values: Sequence[Any], decoder: str, *, full: bool, structures: bool) -> ColumnValues:
    present: NDArray[np.bool_] | None = None
    held: NDArray[np.int64] | None = None
    if not full and UNSET in values:
        present = np.fromiter(map(_IS_SENT, values), np.bool_, len(values))
        held = np.flatnonzero(present)
        values = [value for value in values if value is not UNSET]
    if decoder in (decoder_kinds.RAW, decoder_kinds.WIDE):
        values = _as_bytes(values)
    unfit, odd = list[int](), dict[str, list[int]]()
    if decoder == decoder_kinds.RAW:
        values, plain = _open_numbers(values)
        if not plain:
            decoder = decoder_kinds.WIDE
    if decoder == decoder_kinds.WIDE:
        values, unfit, odd = _open_wide(values, decoder_kinds.open_value if structures else decoder_kinds.open_token)
        if held is not None:
            unfit = held[unfit].tolist()
            odd = {kind: held[rows].tolist() for kind, rows in odd.items()}
    return ColumnValues(ParsedValues(values, decoder), present, held, unfit, odd)


def _as_bytes(values: Sequence[Any]) -> Sequence[Any]:
    if set(map(type, values)) == {Raw}:
        return list(map(bytes, values))
    return [bytes(value) if type(value) is Raw else value for value in values]


def _open_numbers(values: Sequence[Any]) -> tuple[Sequence[Any], bool]:
    """Return raw tokens with null tokens as None, and whether every token is a number or null."""
    firsts = set(map(_FIRST, filter(None, values)))
    if not all(first in (_MINUS, _NULL) or _ZERO <= first <= _NINE for first in firsts):
        return values, False
    if _NULL in firsts:
        values = [None if value == b"null" else value for value in values]
    return values, True


def _open_wide(
    values: Sequence[Any], open_token: Callable[[bytes], Any]
) -> tuple[list[Any], list[int], dict[str, list[int]]]:
    """Return the values of raw tokens, the rows that need the strict parser, and those with arrays and objects."""
    opened: list[Any] = []
    unfit: list[int] = []
    odd: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        if type(value) is not bytes:
            opened.append(value)
            continue
        try:
            found = open_token(value)
        except Unfit:
            unfit.append(row)
            found = None
        if isinstance(found, Odd):
            odd.setdefault(found.kind, []).append(row)
            found = None
        opened.append(found)
    return opened, unfit, odd
