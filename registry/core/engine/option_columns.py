"""Option columns: what the columns of validated rows say of the options of their producer, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.decoded_batches import Rows
from cdc_contracts.registry.core.engine.single_values import number_by_token
from cdc_contracts.registry.core.engine.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.written_columns import CodedColumn, WrittenGroup, cells_of, note_columns
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.option_evidence import Allowed, OpenColumn, OptionEvidence, allowed_by

Numbers = NDArray[np.int64]


def note_options(seen: OptionEvidence, found: Iterable[WrittenGroup], batch: Batch) -> None:
    """Count which values of options the columns of validated records allow."""
    alike: dict[tuple[int, str, tuple[OpenColumn, ...]], list[WrittenGroup]] = {}
    for one in found:
        decoded_batch, written = one.record_group.decoded_batch, one.facts.written
        if written is not None and written.open and written.source in decoded_batch.rows:
            alike.setdefault((id(decoded_batch), written.source, written.open), []).append(one)
    for (_, source, columns), groups in alike.items():
        rows = groups[0].record_group.decoded_batch.rows[source]
        cells = cells_of(groups, rows, batch)
        if cells is not None:
            note_columns(seen, cells, _allowed_in(groups, rows, cells.rows, columns), batch)


def _allowed_in(
    groups: Sequence[WrittenGroup], rows: Rows, chosen: Numbers, columns: Sequence[OpenColumn]
) -> Iterator[CodedColumn[Allowed]]:
    """Yield what the values of each open column allow in some rows, each distinct value asked once."""
    by_name: dict[str, list[OpenColumn]] = {}
    for column in columns:
        by_name.setdefault(column.name, []).append(column)
    for (pointer, index), values in groups[0].record_group.columns.items():
        name = rows.image.columns[index].name
        for column in by_name.get(name, ()) if pointer == rows.image.pointer else ():
            yield _code(column, values, chosen)


def _code(column: OpenColumn, values: ColumnValues, chosen: Numbers) -> CodedColumn[Allowed]:
    known: dict[object, int] = {}
    ways: dict[Allowed | None, int] = {None: 0}
    tokens, codes = values.tokens, np.zeros(len(chosen), np.uint8)
    for place, row in enumerate(chosen.tolist()):
        value = tokens[row]
        key = (type(value), value)
        code = known.get(key)
        if code is None:
            way = allowed_by(column, number_by_token(value))
            code = known[key] = ways.setdefault(way, len(ways))
        codes[place] = code
    return CodedColumn(column.name, codes, [*ways])
