"""Value columns: the values of a batch by value form, whatever table or column they come from.

A form is checked once per batch over all its values, so that a topic of a thousand tables costs as much as one of a
single table. Each column gets back its slice: flags per value and, where texts are wanted, the place of its texts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import is_not, itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET, Raw
from numpy.typing import NDArray

from cdc_contracts.registry.engine import decoder_kinds
from cdc_contracts.registry.engine.decoder_kinds import Odd, Unfit
from cdc_contracts.registry.engine.layout_parts import FormUse
from cdc_contracts.registry.values import FIRST_MISFIT, NOTED_MISFIT, BrokenValue, Flag, FormColumn, Number
from cdc_contracts.registry.values.type_bounds import TypeBound

KIND_FLAGS: Final = {"text": 16, "number": 17, "boolean": 18}
KIND_NAMES: Final = {16: "string", 17: "number", 18: "boolean"}
NOTHING: Final = 0
_TAKES_ANY: Final = ("text", "json", "opaque")

_KIND_OF_TYPE: Final = {str: "text", int: "number", float: "number", bytes: "number", bool: "boolean"}
_KINDS_OF_DECODER: Final = {
    decoder_kinds.TEXT: {"text"},
    decoder_kinds.INT: {"number"},
    decoder_kinds.FLOAT: {"number"},
    decoder_kinds.BOOL: {"boolean"},
    decoder_kinds.RAW: {"number"},
}
_IS_VALUE: Final = partial(is_not, None)
_IS_SENT: Final = partial(is_not, UNSET)
_FIRST: Final = itemgetter(0)
_NULL, _MINUS, _ZERO, _NINE = b"n-09"


@dataclass(eq=False)
class _ValueColumn:
    use: FormUse
    values: list[Any] = field(default_factory=list)
    flags: NDArray[np.uint8] | None = None
    base: int = 0


@dataclass(eq=False)
class Chunk:
    """The values of one column in one form: flags per row, and where its texts stand among the batch's texts.

    `held` are the rows that have a value in the value column, of `total`; None if all have.
    """

    value_column: _ValueColumn
    offset: int
    length: int
    held: NDArray[np.int64] | None
    total: int
    kinds: NDArray[np.uint8] | None = None

    @property
    def flags(self) -> NDArray[np.uint8] | None:
        """Flag per row (`Flag`, or a kind the form does not take); None if all is well."""
        own = self.value_column.flags
        part = None if own is None else own[self.offset : self.offset + self.length]
        if part is not None and not part.any():
            part = None
        if self.kinds is not None:
            part = self.kinds if part is None else np.where(self.kinds > 0, self.kinds, part)
        return part if part is None else self._spread(part, NOTHING)

    @property
    def places(self) -> NDArray[np.int64]:
        """Where the text of each row stands; 0, the place of null, for a row without the column."""
        base = self.value_column.base + self.offset
        return self._spread(np.arange(base, base + self.length), 0)

    @property
    def foreign(self) -> NDArray[np.bool_] | None:
        """Which rows have a value of a kind the form does not take; None if none has."""
        return None if self.kinds is None else self._spread(self.kinds >= min(KIND_NAMES), nothing=False)

    def _spread(self, values: NDArray[Any], nothing: int) -> NDArray[Any]:
        if self.held is None:
            return values
        spread = np.full(self.total, nothing, values.dtype)
        spread[self.held] = values
        return spread


@dataclass(eq=False)
class ColumnValues:
    """One column of a decoded batch: which rows have it, and its chunk in each form that some version needs.

    `kinds` are those that its values may be of besides null, `held` the rows that have it, where not all have.
    """

    present: NDArray[np.bool_] | None
    chunks: dict[FormUse, Chunk]
    values: Sequence[Any]
    unfit_rows: list[int]
    kinds: Collection[str]
    held: NDArray[np.int64] | None

    @cached_property
    def valued(self) -> NDArray[np.bool_] | None:
        """Which of `values` are not null; None if all are."""
        if all(self.values):  # zeros and empty texts are looked at twice
            return None
        return np.fromiter(map(_IS_VALUE, self.values), np.bool_, len(self.values))

    @cached_property
    def tokens(self) -> Sequence[Any]:
        """The value of each row as it was sent; None where the row does not have the column."""
        if self.present is None:
            return self.values
        values = iter(self.values)
        return [next(values) if there else None for there in self.present.tolist()]


class ValueColumns:
    """The values of one batch, by form."""

    def __init__(self) -> None:
        self._pools: dict[FormUse, _ValueColumn] = {}
        self.texts: pa.Array = pa.array([None], pa.string())

    def add(self, values: Sequence[Any], decoder: str, uses: Sequence[FormUse], *, full: bool) -> ColumnValues:
        """Take the values of one column, one per row, for every form in `uses`; `full` where none is missing."""
        present: NDArray[np.bool_] | None = None
        held: NDArray[np.int64] | None = None
        total = len(values)
        if not full and UNSET in values:
            present = np.fromiter(map(_IS_SENT, values), np.bool_, total)
            held = np.flatnonzero(present)
            values = [value for value in values if value is not UNSET]
        if decoder in (decoder_kinds.RAW, decoder_kinds.WIDE):
            values = _as_bytes(values)
        unfit: list[int] = []
        if decoder == decoder_kinds.RAW:
            values, plain = _open_numbers(values)
            if not plain:
                decoder = decoder_kinds.WIDE
        if decoder == decoder_kinds.WIDE:
            values, unfit = _open_wide(values)
            unfit = unfit if held is None else held[unfit].tolist()
        kinds = _KINDS_OF_DECODER.get(decoder) or {
            _KIND_OF_TYPE.get(kind, "number") for kind in set(map(type, values)) if kind is not type(None)
        }
        chunks = {}
        for use in uses:
            value_column, offset, flags = self._pool(values, use, kinds, wide=decoder == decoder_kinds.WIDE)
            chunks[use] = Chunk(value_column, offset, len(values), held, total, flags)
        return ColumnValues(present, chunks, values, unfit, kinds, held)

    def validate(self, *, texts: bool) -> None:
        """Validate every value column; with `texts`, write canonical texts as well."""
        columns = [pa.array([None], pa.string())]
        size = 1
        for value_column in self._pools.values():
            if not texts and value_column.use.form.kind in _TAKES_ANY and not value_column.use.form.records:
                continue
            array = _as_array(value_column.values, value_column.use.form.decoder)
            if not texts and value_column.use.bound is None:
                value_column.flags = value_column.use.form.check(array, value_column.use.context)
                continue
            column = value_column.use.form.column(array, value_column.use.context)
            value_column.flags = (
                column.flags if value_column.use.bound is None else _mark_misfits(column, value_column.use.bound)
            )
            if not texts:
                continue
            text = column.text
            if value_column.use.lenient and column.flags is not None:
                text = pc.if_else(pa.array(column.flags == Flag.BROKEN), array.cast(pa.string()), text)
            value_column.base = size
            size += len(text)
            columns.append(text)
        if texts:
            self.texts = pa.concat_arrays(columns)

    def _pool(
        self, values: Sequence[Any], use: FormUse, kinds: set[str], *, wide: bool
    ) -> tuple[_ValueColumn, int, NDArray[np.uint8] | None]:
        """Add values to the column of a form. Returns it, where they begin, and which of them it does not take."""
        foreign = kinds - use.form.wire
        flags: NDArray[np.uint8] | None = None
        if foreign and foreign == kinds and len(kinds) == 1:
            (kind,) = kinds
            there = np.fromiter(map(_IS_VALUE, values), np.bool_, len(values))
            flags = np.where(there, np.uint8(KIND_FLAGS[kind]), np.uint8(NOTHING))
            values = [None] * len(values)
        elif foreign:
            flags = np.fromiter(
                (_kind_flag(value) if _kind_of(value) in foreign else NOTHING for value in values),
                np.uint8,
                len(values),
            )
            values = [None if flag else value for value, flag in zip(values, flags, strict=True)]
        if wide:
            values, broken = _as_decoder(values, use)
            if broken is not None:
                flags = broken if flags is None else np.maximum(flags, broken)
        value_column = self._pools.get(use)
        if value_column is None:
            value_column = self._pools[use] = _ValueColumn(use)
        offset = len(value_column.values)
        value_column.values += values
        return value_column, offset, flags


def _mark_misfits(column: FormColumn, bound: TypeBound) -> NDArray[np.uint8] | None:
    """Return the flags of a column with those of values that can be read but exceed the declared type."""
    misfits = bound.judge_column(column.text)
    if not misfits.any():
        return column.flags
    flags = np.zeros(len(misfits), np.uint8) if column.flags is None else column.flags
    noted = flags == Flag.NOTED
    marked = FIRST_MISFIT + misfits + np.where(noted, NOTED_MISFIT, 0)
    return np.where((misfits > 0) & (noted | (flags == Flag.OK)), marked, flags).astype(np.uint8)


def _as_bytes(values: Sequence[Any]) -> Sequence[Any]:
    if set(map(type, values)) == {Raw}:
        return list(map(bytes, values))
    return [bytes(value) if type(value) is Raw else value for value in values]


def _open_numbers(values: Sequence[Any]) -> tuple[Sequence[Any], bool]:
    """Raw tokens with the null tokens as None; False if some token is neither number nor null."""
    firsts = set(map(_FIRST, filter(None, values)))
    if not all(first in (_MINUS, _NULL) or _ZERO <= first <= _NINE for first in firsts):
        return values, False
    if _NULL in firsts:
        values = [None if value == b"null" else value for value in values]
    return values, True


def _open_wide(values: Sequence[Any]) -> tuple[list[Any], list[int]]:
    opened: list[Any] = []
    unfit: list[int] = []
    for row, value in enumerate(values):
        if type(value) is not bytes:
            opened.append(value)
            continue
        try:
            found = decoder_kinds.open_token(value)
        except Unfit:
            found = Odd("object", value)
        if isinstance(found, Odd):
            unfit.append(row)
            found = None
        opened.append(found)
    return opened, unfit


def _as_decoder(values: Sequence[Any], use: FormUse) -> tuple[list[Any], NDArray[np.uint8] | None]:
    """Values of a wide column as the form's decoder takes them; what it cannot take is validated here and left out."""
    fit: list[Any] = []
    flags = np.zeros(len(values), np.uint8)
    for row, value in enumerate(values):
        taken = _fit_value(value, use.form.decoder)
        if taken is Ellipsis:
            try:
                flags[row] = use.form.read(value, use.context).flag
            except BrokenValue as error:
                flags[row] = error.flag
            taken = None
        fit.append(taken)
    return fit, flags if flags.any() else None


def _fit_value(value: Any, decoder: str) -> Any:
    if not isinstance(value, Number):
        return value
    if decoder == "raw":
        return value.token.encode()
    if decoder == "float":
        return float(value.token) if decoder_kinds.decoder_takes(decoder_kinds.FLOAT, value) else ...
    if decoder_kinds.decoder_takes(decoder_kinds.INT, value):
        return int(value.token)
    return ...


def _as_array(values: list[Any], decoder: str) -> pa.Array:
    match decoder:
        case "int":
            try:
                return pa.array(values, pa.int64())
            except (OverflowError, pa.ArrowInvalid):
                return pa.array([None if value is None else str(value) for value in values], pa.string())
        case "float":
            if bytes in set(map(type, values)):
                tokens = [
                    value if value is None else value.decode() if type(value) is bytes else repr(value)
                    for value in values
                ]
                return pa.array(tokens, pa.string())
            return pa.array(values, pa.float64())
        case "bool":
            return pa.array(values, pa.bool_())
        case "raw":
            return pa.array([value.encode() if type(value) is str else value for value in values], pa.binary()).cast(
                pa.string()
            )
        case "text-or-int":
            if int in set(map(type, values)):
                values = [str(value) if type(value) is int else value for value in values]
            return pa.array(values, pa.string())
        case _:
            return pa.array(values, pa.string())


def _kind_of(value: Any) -> str | None:
    return None if value is None else "number" if isinstance(value, Number) else _KIND_OF_TYPE[type(value)]


def _kind_flag(value: Any) -> int:
    kind = _kind_of(value)
    return NOTHING if kind is None else KIND_FLAGS[kind]
