"""Flags of values: the records in which a column is absent, or a value is unusual in one of its possible forms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_structures import ArrayText, ObjectText
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, Rows
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.parsed_values import KIND_NAMES
from cdc_contracts.registry.core.engine.layouts.struct_layouts import AskedColumn
from cdc_contracts.registry.core.validate.table_constraints import ZERO_DATE
from cdc_contracts.registry.core.values import FIRST_RECORD, Flag

ValueFlag = tuple[Any, ...]
Mask = NDArray[np.bool_]
ODD: Final = "odd"
"""The first part of the flag of an array or an object."""
_UNUSUAL: Final = tuple(
    map(int, (Flag.BROKEN, Flag.NOTED, Flag.TOO_LONG, Flag.NO_INSTANT, Flag.NO_SCALE, Flag.NOT_WHOLE))
)
_INVALID: Final = int(Flag.INVALID)
_MARKED: Final = (*_UNUSUAL, *KIND_NAMES)


def column_flags(
    decoded_batch: DecodedBatch,
    rows: Rows,
    index: int,
    values: ColumnValues,
    whole: Mask | None,
    optional: Collection[str],
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a column is absent, or its value has none of its possible forms.

    `whole` are the records whose image holds every column (`whole_records`), but for the `optional` ones.
    """
    column, pointer = rows.image.columns[index], rows.image.pointer
    value_flags: list[tuple[ValueFlag, Mask]] = []
    if values.unfit_rows:
        decoded_batch.unfit.update(rows.record_of_row[values.unfit_rows].tolist())
    if values.odd_rows:
        value_flags += _odd_flags(decoded_batch, rows, index, values)
    if values.present is not None and whole is not None and column.name not in optional:
        absent = records_of_rows(decoded_batch, rows, ~values.present) & whole
        if absent.any():
            value_flags.append((("absent", pointer, column.name), absent))
    if values.left_out is not None:  # another column than one that the message does not name
        value_flags.append((("unsent", pointer, column.name), records_of_rows(decoded_batch, rows, values.left_out)))
    if column.name in rows.image.named:
        value_flags += kind_flags(decoded_batch, rows, index, values)
    if not (column.typed or column.by_kind):
        there = np.ones(rows.total, np.bool_) if values.present is None else values.present
        value_flags.append((("untyped", pointer, column.name), records_of_rows(decoded_batch, rows, there)))
    if column.typed:
        chunks = [(use, values.chunk_of(use)) for use in column.own_uses]
        each = [(use, chunk.flags) for use, chunk in chunks if chunk.is_flagged]
    else:  # of which kind its values are is no finding
        each = [(use, chunk.read_flags) for use, chunk in values.chunks.items()]
    flagged = [(use, flags) for use, flags in each if flags is not None]
    if column.never_null or flagged:
        value_flags += _constraint_flags(decoded_batch, rows, index, values, flagged)
    return value_flags + _form_flags(decoded_batch, rows, index, flagged) if flagged else value_flags


def _form_flags(
    decoded_batch: DecodedBatch, rows: Rows, index: int, flagged: list[tuple[FormUse, NDArray[np.uint8]]]
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which the value of a column is unusual in one of its forms."""
    column, pointer = rows.image.columns[index], rows.image.pointer
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for use, flags in flagged:
        found = np.flatnonzero(np.bincount(flags)).tolist()
        result = [flag for flag in found if flag >= FIRST_RECORD] if _names_records(use) else []
        for flag in (*[flag for flag in (_MARKED if column.typed else _UNUSUAL) if flag in found], *result):
            value_flag = ("value", pointer, column.name, use.form.name, flag)
            value_flags.append((value_flag, records_of_rows(decoded_batch, rows, flags == flag)))
    return value_flags


def kind_flags(
    decoded_batch: DecodedBatch, rows: Rows, index: int, values: ColumnValues
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a column has a value, and of which kind it is."""
    place = (rows.image.pointer, rows.image.columns[index].name)
    held = np.ones(rows.total, np.bool_) if values.present is None else values.present
    value_flags: list[tuple[ValueFlag, Mask]] = [(("held", *place), records_of_rows(decoded_batch, rows, held))]
    codes, firsts = values.values.by_kind
    for kind in dict.fromkeys(map(type, firsts)):
        of_kind = np.array([type(first) is kind for first in firsts])[codes]
        value_flags.append((("kind", *place, kind), records_of_rows(decoded_batch, rows, values.spread(of_kind))))
    return value_flags


def asked_flags(
    decoded_batch: DecodedBatch, rows: Rows, index: int, values: ColumnValues, asked: Mapping[str, AskedColumn]
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the kinds of a column in which tests of the contract look, for what it is in other messages.

    Where a test may depend on more than the kind, the reference validates the record: on what is in an array or object,
    or on a text that it asks for.
    """
    test = asked.get(rows.image.places[index]) if asked else None
    if test is None:
        return []
    deciding = [row for row, one in enumerate(values.tokens) if one in test.texts] if test.texts else []
    if test.inside:
        deciding += [row for row, one in enumerate(values.tokens) if isinstance(one, ArrayText | ObjectText)]
        deciding += [row for places in values.odd_rows.values() for row in places]
    decoded_batch.unfit.update(rows.record_of_row[deciding].tolist())
    return kind_flags(decoded_batch, rows, index, values)


def _odd_flags(
    decoded_batch: DecodedBatch, rows: Rows, index: int, values: ColumnValues
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a column has an array or an object, which no form reads: a verdict depends on the kind.

    Where it also depends on which values are null, the reference validates the record.
    """
    column, value_flags = rows.image.columns[index], list[tuple[ValueFlag, Mask]]()
    for kind, places in values.odd_rows.items():
        if column.never_null or column.name in rows.image.named:
            decoded_batch.unfit.update(rows.record_of_row[places].tolist())
            continue
        odd = np.zeros(rows.total, np.bool_)
        odd[places] = True
        value_flags.append(((ODD, rows.image.pointer, column.name, kind), records_of_rows(decoded_batch, rows, odd)))
    return value_flags


def _constraint_flags(
    decoded_batch: DecodedBatch, rows: Rows, index: int, values: ColumnValues,
    flagged: list[tuple[FormUse, NDArray[np.uint8]]],
) -> list[tuple[ValueFlag, Mask]]:  # fmt: skip
    """Mark the records in which a column breaks its table contract in something other than its type."""
    column, pointer = rows.image.columns[index], rows.image.pointer
    value_flags: list[tuple[ValueFlag, Mask]] = []
    if column.never_null and values.valued is not None:
        nulls = np.zeros(rows.total, np.bool_)
        nulls[np.arange(rows.total) if values.held is None else values.held] = ~values.valued
        value_flags.append((("null", pointer, column.name), records_of_rows(decoded_batch, rows, nulls)))
    for use, flags in [(use, flags) for use, flags in flagged if use.declared]:
        invalid = flags == _INVALID
        if not invalid.any():
            continue
        zero = np.zeros(rows.total, np.bool_)
        for row in np.flatnonzero(invalid).tolist():
            zero[row] = str(values.tokens[row]).startswith(ZERO_DATE)
        for says, mask in (("zero", invalid & zero), ("no-such-time", invalid & ~zero)):
            value_flags.append(
                ((says, pointer, column.name, use.form.name), records_of_rows(decoded_batch, rows, mask))
            )
    return value_flags


def _names_records(use: FormUse) -> bool:
    """Return whether flags may identify single records, or say why a value does not fit its declared type."""
    return bool(use.form.records) or use.bound is not None


def records_of_rows(decoded_batch: DecodedBatch, rows: Rows, flagged: Mask) -> Mask:
    """Return a mask of the records from a mask of their rows."""
    if rows.one_each:
        return flagged
    marked = np.zeros(len(decoded_batch), np.bool_)
    marked[rows.record_of_row[flagged]] = True
    return marked
