"""Substitute columns: the values of validated rows that are also sent in place of others, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.layouts.single_values import number_by_token
from cdc_contracts.registry.core.engine.statistics.column_runs import CodedColumn, WrittenPart, note_columns
from cdc_contracts.registry.core.engine.statistics.written_columns import WrittenGroup, WrittenRecords
from cdc_contracts.registry.core.stats.substitute_evidence import (
    Substitute,
    SubstituteColumn,
    SubstituteEvidence,
    substitute_of,
)
from cdc_contracts.registry.core.values import Flag

Numbers = NDArray[np.int64]


def note_substitutes(seen: SubstituteEvidence, records: WrittenRecords) -> None:
    """Count the substitutes in the columns of validated records."""
    note_columns(seen, _parts_of(records), records.batch)


def _parts_of(records: WrittenRecords) -> Iterator[WrittenPart[Substitute]]:
    for columns, groups, rows in records.by_image(attrgetter("substitutes")):
        marked = [*_marked_in(groups, rows, {column.name: column for column in columns})]
        cells = records.cells_of(groups, rows) if marked else None
        if cells is not None:
            yield WrittenPart(cells, [_code(column, values, flags, cells.rows) for column, values, flags in marked])


def _marked_in(
    groups: Sequence[WrittenGroup], rows: Rows, columns: dict[str, SubstituteColumn]
) -> Iterator[tuple[SubstituteColumn, ColumnValues, NDArray[np.bool_]]]:
    """Yield the columns that hold a substitute in some row, with a mask of these rows."""
    for (pointer, index), values in groups[0].record_group.columns.items():
        column = columns.get(rows.image.columns[index].name) if pointer == rows.image.pointer else None
        for use, chunk in values.chunks.items() if column is not None else ():
            if use.form is not column.form or use.context.substitutes != column.context.substitutes:  # type: ignore[union-attr]
                continue
            flags = chunk.flags
            if flags is not None and (marked := flags == Flag.SUBSTITUTE).any():
                yield column, values, marked  # type: ignore[misc]
            break


def _code(
    column: SubstituteColumn, values: ColumnValues, marked: NDArray[np.bool_], chosen: Numbers
) -> CodedColumn[Substitute]:
    """Return the substitute of each row by its index, 0 for a row that has none."""
    codes, ways = marked.astype(np.uint8), list[Substitute | None]([None])
    if len(column.context.substitutes) == 1:
        ways.append(substitute_of(column.context, column.context.substitutes[0][0]))
    else:
        known: dict[Substitute, int] = {}
        for row in np.flatnonzero(marked).tolist():
            substitute = substitute_of(column.context, column.form.token_read(number_by_token(values.tokens[row])))
            codes[row] = known.setdefault(substitute, len(known) + 1)
        ways += known
    return CodedColumn(column.name, codes[chosen], ways)
