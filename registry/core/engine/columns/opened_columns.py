"""Opened columns: the values of columns as parsed or scanned, without those that are absent or were not sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import is_not, itemgetter
from typing import Any, Final

import numpy as np
from msgspec import UNSET, Raw
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import Odd, Unfit
from cdc_contracts.registry.core.engine.layouts.layout_parts import LayoutColumn
from cdc_contracts.registry.core.engine.layouts.parsed_values import ParsedValues
from cdc_contracts.registry.core.engine.native.scanned_columns import pick_present
from cdc_contracts.registry.core.engine.native.scanned_values import SHORT, ScannedValues
from cdc_contracts.registry.core.message.unsent_values import StandIns
from cdc_contracts.registry.core.values.form_schemas import STRUCTURE

_IS_SENT: Final = partial(is_not, UNSET)
_FIRST: Final = itemgetter(0)
_NULL, _MINUS, _ZERO, _NINE = b"n-09"


def open_columns(columns: Sequence[tuple[Sequence[Any], LayoutColumn, bool]]) -> Iterator[ColumnValues]:
    """Yield the values of columns, which have one per row, as forms read them.

    With each column comes whether no row of its image lacks one. Scanned columns are looked through together.
    """
    scanned = [values.widened() if isinstance(values, ScannedValues) else None for values, *_ in columns]
    lacking = pick_present([values for values in scanned if values is not None and values.absent])
    for (given, column, full), values in zip(columns, scanned, strict=True):
        if values is None:
            of_any = column.decoder in (decoder_kinds.RAW, decoder_kinds.WIDE)
            kept = of_any and any(use.form.wire & STRUCTURE for use in column.own_uses)
            yield _open_parsed(given, column.decoder, full=full, structures=kept)
        elif values.absent:
            picked, held, present = next(lacking)
            yield ColumnValues(picked, len(values), present, held)
        else:
            yield ColumnValues(values, len(values))


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


def leave_out(column: ColumnValues, stand_ins: StandIns) -> ColumnValues:
    """Return a column without the values that stand for one that was not sent."""
    total = column.total
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


def _open_parsed(values: Sequence[Any], decoder: str, *, full: bool, structures: bool) -> ColumnValues:
    total = len(values)
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
    return ColumnValues(ParsedValues(values, decoder), total, present, held, unfit, odd)


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
