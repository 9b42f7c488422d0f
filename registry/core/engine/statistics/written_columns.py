"""Written columns: the value layouts of the columns of validated rows, whole columns at a time.

A decoder accepts values of one kind, so for most columns only the first and the last row with a value have to be
found. Once a value of a column of a table in a partition has no characteristic layout, layouts are not determined
there any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables, join_tables
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.native.scanned_values import SHORT, stack_valued
from cdc_contracts.registry.core.engine.statistics.column_layouts import (
    CODE_OF_PLAIN,
    WrittenColumn,
    find_layouts,
)
from cdc_contracts.registry.core.engine.statistics.column_runs import (
    Cells,
    CodedColumn,
    WrittenPart,
    ends_of,
    note_columns,
    runs_of,
    stretch_of_rows,
)
from cdc_contracts.registry.core.records.code_orders import order_by_code_and_offset
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.column_ways import JoinedStretches, RowWays, WrittenTable
from cdc_contracts.registry.core.stats.column_writing import TEXT, ColumnWriting, Writing
from cdc_contracts.registry.core.stats.position_sequences import Stretch
from cdc_contracts.registry.core.stats.record_facts import Facts, WrittenRows, written_table

Numbers = NDArray[np.int64]
Part = TypeVar("Part", bound=Hashable)

_FEW: Final = 8
"""Rows of each table up to which whole rows are noted at once."""
_FEW_TABLES: Final = 64
_MOST_KNOWN: Final = 4096


class WrittenGroup(NamedTuple):
    """Records with one verdict, with their facts and their tables."""

    record_group: RecordGroup
    facts: Facts
    tables: Tables


@dataclass(frozen=True, eq=False)
class WrittenRecords:
    """The validated records of a batch by their facts, and the cells of their rows, made when first asked for."""

    groups: Sequence[WrittenGroup]
    batch: Batch
    _cells: dict[tuple[int, ...], Cells | None] = field(default_factory=dict)

    def by_image(self, part_of: Callable[[WrittenRows], Part]) -> Iterator[tuple[Part, list[WrittenGroup], Rows]]:
        """Yield the groups with rows of one image that are alike in a part of their facts, with this part and the rows.

        Groups without that part are left out.
        """
        alike: dict[tuple[int, str, Part], list[WrittenGroup]] = {}
        for one in self.groups:
            decoded_batch, written = one.record_group.decoded_batch, one.facts.written
            if written is not None and written.source in decoded_batch.rows and (part := part_of(written)):
                alike.setdefault((id(decoded_batch), written.source, part), []).append(one)
        for (_, source, part), groups in alike.items():
            yield part, groups, groups[0].record_group.decoded_batch.rows[source]

    def cells_of(self, groups: Sequence[WrittenGroup], rows: Rows) -> Cells | None:
        """Return the rows of some groups by cell, None if there are none."""
        key = tuple(map(id, groups))
        if key not in self._cells:
            self._cells[key] = _cells_of(groups, rows, self.batch)
        return self._cells[key]


def note_writing(seen: ColumnWriting, records: WrittenRecords) -> None:
    """Count how the columns of validated records are written."""
    opened = [
        (groups[0].record_group, rows, cells, _open_columns(groups[0].record_group, rows, cells))
        for _, groups, rows in records.by_image(lambda written: not written.described)
        if (cells := records.cells_of(groups, rows)) is not None
    ]
    find_layouts([column for *_, columns in opened for column in columns])
    note_columns(seen, _parts_of(seen, opened, records.batch), records.batch)


def _parts_of(
    seen: ColumnWriting, opened: Iterable[tuple[RecordGroup, Rows, Cells, list[WrittenColumn]]], batch: Batch
) -> Iterator[WrittenPart[Writing]]:
    """Yield the columns of tables of many rows; few rows of each are noted at once."""
    for record_group, rows, cells, columns in opened:
        known, alike = record_group.cached_verdict.plain, list[tuple[str, Writing]]()
        others, masked = list[WrittenColumn](), list[WrittenColumn]()
        whole = len(cells.rows) <= _FEW * len(cells.tables)
        for column in columns:
            if (way := column.way_of_all) is not None:
                alike.append((column.name, way))
            elif column.is_plain_or_null and not whole and len(cells.rows) <= SHORT and len(cells.tables) <= _FEW:
                masked.append(column)
            else:
                others.append(column)
        coded = (_code_column(column, rows, cells, known) for column in others)
        if whole:
            _note_rows(seen, cells, coded, batch, alike)
        else:
            named = [(column.name, Writing(column.kind)) for column in masked]
            there = stack_valued([column.values.values for column in masked], cells.rows) if masked else None
            yield WrittenPart(cells, coded, alike, named, there)


def _cells_of(groups: Sequence[WrittenGroup], rows: Rows, batch: Batch) -> Cells | None:
    positions = np.concatenate([one.record_group.positions for one in groups])
    count = rows.count[positions]
    mine = rows.of(positions)
    if not len(mine):
        return None
    known: dict[Any, int] = {}
    kinds = [known.setdefault(_kind_of(one.facts), len(known)) for one in groups]
    of_group = np.repeat(kinds, [len(one.record_group.positions) for one in groups])
    facts = [groups[kinds.index(kind)].facts for kind in range(len(known))]
    tables = join_tables([one.tables for one in groups])
    numbers = groups[0].record_group.decoded_batch.numbers[rows.record_of_row[mine]]
    codes, of_kind = np.repeat(tables.codes, count), np.repeat(of_group, count)
    offsets, sources = batch.offsets[numbers], batch.source_of[numbers]
    keys = (of_kind * len(batch.sources) + sources) * len(tables.called) + codes
    order = order_by_code_and_offset(keys, offsets)
    begins = np.append(True, np.diff(keys[order]) != 0)
    firsts = order[begins]
    of_cell = [facts[kind] for kind in of_kind[firsts].tolist()]
    places = zip(of_cell, sources[firsts].tolist(), codes[firsts].tolist(), strict=True)
    written = [
        written_table(tables.called[code], one, one.written, batch.sources[source])
        for one, source, code in places
        if one.written is not None
    ]
    return Cells(mine[order], numbers[order], np.cumsum(begins) - 1, written, of_cell)


def _kind_of(facts: Facts) -> tuple[Any, ...]:
    """Return all that decides where and how values of records are counted, their table apart."""
    return facts.code, facts.contract, facts.subject, facts.written


def _open_columns(record_group: RecordGroup, rows: Rows, cells: Cells) -> list[WrittenColumn]:
    """Return the columns of an image that have values.

    What has no layout in any table it may be in is not looked at again: the layouts of other values tell nothing there.
    """
    known = record_group.cached_verdict.plain
    if len(known) > _MOST_KNOWN:
        known.clear()
    found = []
    tables = _few_tables(cells)
    for (pointer, index), values in record_group.columns.items():
        if pointer != rows.image.pointer or not values.kinds:
            continue
        column = WrittenColumn(rows.image.columns[index].name, values, plain=False, texts=None)
        kind = (column.name, column.kind)
        column.plain = bool(tables) and all(kind in known.get(table, ()) for table in tables)
        if column.kind == TEXT and not column.plain:
            valued = values.valued
            column.texts = values.values if valued is None else values.values.select(np.flatnonzero(valued))
        found.append(column)
    return found


def _few_tables(cells: Cells) -> set[WrittenTable]:
    """Return the tables of some rows; none if they are many."""
    return set(cells.tables) if len(cells.tables) <= _FEW_TABLES else set()


def _code_column(
    column: WrittenColumn, rows: Rows, cells: Cells, known: dict[WrittenTable, set[tuple[str, str]]]
) -> CodedColumn[Writing]:
    """Return how the values of a column are written, and note the tables in which they have no layout."""
    codes, ways = column.code(rows.total)
    codes = codes[cells.rows]
    if column.kind and not column.plain and (tables := _few_tables(cells)):
        plain_cells = np.unique(cells.of_row[codes == CODE_OF_PLAIN]).tolist()
        for table in tables & {cells.tables[cell] for cell in plain_cells}:
            known.setdefault(table, set()).add((column.name, column.kind))
    return CodedColumn(column.name, codes, ways)


def _note_rows(
    seen: ColumnWriting, cells: Cells, columns: Iterable[CodedColumn[Writing]], batch: Batch,
    alike: Sequence[tuple[str, Writing]],
) -> None:  # fmt: skip
    """Count the values of few records of each table, all columns of a row at once; they are `alike` in some."""
    listed = list(columns)
    combined, total = np.zeros(len(cells.rows), np.int64), 1
    for column in listed:
        if (column.codes != column.codes[0]).any():
            distinct, combined = np.unique(combined * len(column.ways) + column.codes, return_inverse=True)
            total = len(distinct)
    firsts, _ = ends_of(combined, total)
    each = [[(column.name, column.ways[code]) for code in column.codes[firsts].tolist()] for column in listed]
    rows = zip(*each, strict=True) if each else [()] * bool(alike)
    ways, joined = [RowWays((*alike, *columns)) for columns in rows], JoinedStretches()
    if not ways:
        return
    runs = runs_of(cells.of_row * total + combined)
    ends = (batch.points(cells.numbers[places]) for places in (runs.firsts, runs.lasts))
    for key, count, *two in zip(runs.keys.tolist(), runs.totals.tolist(), *ends, strict=True):
        cell, way = divmod(key, total)
        seen.add_rows(cells.tables[cell], ways[way], stretch_of_rows(cells.facts[cell], count, *two), joined)


def stretch_of(facts: Facts, batch: Batch, number: int) -> Stretch:
    """Return one record as a stretch."""
    (point,) = batch.points(np.array([number]))
    return stretch_of_rows(facts, 1, point, point)
