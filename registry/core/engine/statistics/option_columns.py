"""Option columns: what the columns of validated rows say of the options of their producer, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.form_parts import validate_parts
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.parsed_values import NOTHING
from cdc_contracts.registry.core.engine.statistics.column_runs import CodedColumn, WrittenPart, note_columns
from cdc_contracts.registry.core.engine.statistics.written_columns import WrittenGroup, WrittenRecords
from cdc_contracts.registry.core.stats.option_evidence import (
    WRITTEN,
    Allowed,
    OpenColumn,
    OptionEvidence,
    allowing,
    null_allowed_by,
    takes_any_count,
)
from cdc_contracts.registry.core.values import Context, ValueForm

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
OpenForm = tuple[ColumnValues, ValueForm | None, Context]
"""A column, and a form that it may have; None for one that takes all values."""

_IS_WRITTEN: Final = np.isin(np.arange(256), WRITTEN)
"""By the flag of a value."""
_BYTE: Final = 8
"""The bits of a byte."""


def note_options(seen: OptionEvidence, records: WrittenRecords) -> None:
    """Count which values of options the columns of validated records allow."""
    parts = (
        WrittenPart(cells, _allowed_in(groups, rows, cells.rows, columns))
        for columns, groups, rows in records.by_image(attrgetter("open"))
        if (cells := records.cells_of(groups, rows)) is not None
    )
    note_columns(seen, parts, records.batch)


def _allowed_in(
    groups: Sequence[WrittenGroup], rows: Rows, chosen: Numbers, columns: Sequence[OpenColumn]
) -> Iterator[CodedColumn[Allowed]]:
    """Yield what the values of each open column allow in some rows."""
    by_name: dict[str, list[OpenColumn]] = {}
    asked: list[tuple[OpenColumn, ColumnValues]] = []
    for column in columns:
        by_name.setdefault(column.name, []).append(column)
    for (pointer, index), values in groups[0].record_group.columns.items():
        name = rows.image.columns[index].name
        asked += [(column, values) for column in by_name.get(name, ()) if pointer == rows.image.pointer]
    read = _read_by(asked)
    for column, values in asked:
        yield _code(column, values, chosen, read)


def _code(
    column: OpenColumn, values: ColumnValues, chosen: Numbers, read: Mapping[OpenForm, Mask]
) -> CodedColumn[Allowed]:
    """Return what each row allows as the index of a way; a bit for each value of the option tells them apart."""
    forms = _forms_of(column)
    ways = len(forms) + bool(column.null)
    bits: NDArray[Any] = np.zeros(len(values.values), np.uint8 if ways <= _BYTE else np.int64)
    for place, (form, context) in enumerate(forms):
        bits |= read[values, form, context].astype(bits.dtype) << place
    if values.valued is not None:
        bits[~values.valued] = 0
        if column.null:
            bits |= (~values.valued & ~_unread(values)).astype(bits.dtype) << len(forms)
    bits = values.spread(bits)[chosen]
    distinct = [some for some in np.flatnonzero(np.bincount(bits)).tolist() if some]
    codes = np.zeros(2 << len(forms), np.uint8)
    codes[distinct] = np.arange(1, len(distinct) + 1)
    return CodedColumn(column.name, codes[bits], [None, *(_way_of(column, some) for some in distinct)])


def _forms_of(column: OpenColumn) -> list[tuple[ValueForm | None, Context]]:
    """Return the forms that each have a bit: those of the values of the option, then those of likely counts."""
    return [
        *((form, context) for _, form, context in column.forms),
        *((likely, Context()) for _, likely in column.likely),
    ]


def _way_of(column: OpenColumn, bits: int) -> Allowed | None:
    of_values, of_likely = len(column.forms), len(column.likely)
    if bits >> (of_values + of_likely):
        return null_allowed_by(column)
    values = tuple(name for place, (name, *_) in enumerate(column.forms) if bits >> place & 1)
    likely = [
        name for place, (names, _) in enumerate(column.likely, of_values) if bits >> place & 1 for name in names
    ]  # fmt: skip
    return allowing(column, values, likely)


def _unread(values: ColumnValues) -> Mask:
    """Mark the values that count as null only because no form reads them."""
    rows = [*values.unfit_rows, *(row for rows in values.odd_rows.values() for row in rows)]
    held = np.arange(len(values.values)) if values.held is None else values.held
    return np.isin(held, rows)


def _read_by(columns: Iterable[tuple[OpenColumn, ColumnValues]]) -> dict[OpenForm, Mask]:
    """Mark the values of columns that each form reads or keeps, as `allowed_by` does for one; no form reads all."""
    read: dict[OpenForm, Mask] = {}
    asked: list[tuple[OpenForm, FormUse]] = []
    for values, form, context in dict.fromkeys(
        (values, form, context) for column, values in columns for form, context in _forms_of(column)
    ):
        held, kinds = values.values, frozenset(values.kinds)
        if form is None:
            mine = np.ones(len(held), np.bool_)
        elif form.wire.isdisjoint(kinds):
            mine = np.zeros(len(held), np.bool_)
        else:
            mine = np.ones(len(held), np.bool_) if kinds <= form.wire else held.flag_kinds(kinds - form.wire) == NOTHING
            if not takes_any_count(form):
                asked.append(((values, form, context), FormUse(form, context, lenient=False)))
        read[values, form, context] = mine
    parts = [(values.values.of_wire(use.form.wire), use) for (values, *_), use in asked]
    for (key, _), (flags, _) in zip(asked, validate_parts(parts, texts=False), strict=True):
        if flags is not None:
            read[key] &= _IS_WRITTEN[flags]
    return read
