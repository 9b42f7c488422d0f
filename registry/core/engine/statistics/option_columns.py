"""Option columns: what the columns of validated rows say of the options of their producer, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.form_parts import validate_part
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.parsed_values import NOTHING, ParsedValues
from cdc_contracts.registry.core.engine.statistics.written_columns import (
    CodedColumn,
    WrittenGroup,
    cells_of,
    groups_by_image,
    note_columns,
)
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.option_evidence import (
    WRITTEN,
    Allowed,
    OpenColumn,
    OptionEvidence,
    null_allowed_by,
    takes_any_count,
)
from cdc_contracts.registry.core.values import Context, ValueForm

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_IS_WRITTEN: Final = np.isin(np.arange(256), WRITTEN)
"""By the flag of a value."""
_BYTE: Final = 8
"""The bits of a byte."""


def note_options(seen: OptionEvidence, found: Iterable[WrittenGroup], batch: Batch) -> None:
    """Count which values of options the columns of validated records allow."""
    for columns, groups, rows in groups_by_image(found, attrgetter("open")):
        cells = cells_of(groups, rows, batch)
        if cells is not None:
            note_columns(seen, cells, _allowed_in(groups, rows, cells.rows, columns), batch)


def _allowed_in(
    groups: Sequence[WrittenGroup], rows: Rows, chosen: Numbers, columns: Sequence[OpenColumn]
) -> Iterator[CodedColumn[Allowed]]:
    """Yield what the values of each open column allow in some rows."""
    by_name: dict[str, list[OpenColumn]] = {}
    for column in columns:
        by_name.setdefault(column.name, []).append(column)
    for (pointer, index), values in groups[0].record_group.columns.items():
        name = rows.image.columns[index].name
        for column in by_name.get(name, ()) if pointer == rows.image.pointer else ():
            yield _code(column, values, chosen)


def _code(column: OpenColumn, values: ColumnValues, chosen: Numbers) -> CodedColumn[Allowed]:
    """Return what each row allows as the index of a way; a bit for each value of the option tells them apart."""
    held = values.values
    read: dict[tuple[ValueForm | None, Context], Mask] = {}
    ways = len(column.forms) + bool(column.null)
    bits: NDArray[Any] = np.zeros(len(held), np.uint8 if ways <= _BYTE else np.int64)
    for place, (_, form, context) in enumerate(column.forms):
        if (form, context) not in read:
            read[form, context] = np.ones(len(held), np.bool_) if form is None else _reads(form, context, held)
        bits |= read[form, context].astype(bits.dtype) << place
    if values.valued is not None:
        bits[~values.valued] = 0
        if column.null:
            bits |= (~values.valued & ~_unread(values)).astype(bits.dtype) << len(column.forms)
    bits = values.spread(bits)[chosen]
    distinct = [some for some in np.flatnonzero(np.bincount(bits)).tolist() if some]
    codes = np.zeros(2 << len(column.forms), np.uint8)
    codes[distinct] = np.arange(1, len(distinct) + 1)
    return CodedColumn(column.name, codes[bits], [None, *(_way_of(column, some) for some in distinct)])


def _way_of(column: OpenColumn, bits: int) -> Allowed:
    if bits >> len(column.forms):
        return null_allowed_by(column)
    values = tuple(name for place, (name, *_) in enumerate(column.forms) if bits >> place & 1)
    return Allowed(column.option, values, of_null=bool(column.null))


def _unread(values: ColumnValues) -> Mask:
    """Mark the values that count as null only because no form reads them."""
    rows = [*values.unfit_rows, *(row for rows in values.odd_rows.values() for row in rows)]
    held = np.arange(len(values.values)) if values.held is None else values.held
    return np.isin(held, rows)


def _reads(form: ValueForm, context: Context, values: ParsedValues) -> Mask:
    """Mark the values that a form reads or keeps, as `allowed_by` does for one."""
    if form.wire.isdisjoint(values.json_kinds):
        return np.zeros(len(values), np.bool_)
    foreign = frozenset(values.json_kinds) - form.wire
    mine = np.ones(len(values), np.bool_) if not foreign else values.flag_kinds(foreign) == NOTHING
    if takes_any_count(form):
        return mine
    flags, _ = validate_part(values.of_wire(form.wire), FormUse(form, context, lenient=False), texts=False)
    if flags is None:
        return mine
    return mine & _IS_WRITTEN[flags]
