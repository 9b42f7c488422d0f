"""Written columns: the value layouts of the columns of validated rows, whole columns at a time.

A decoder accepts values of one kind, so for most columns only the first and the last row with a value have to be
found. Once a value of a column of a table in a partition has no characteristic layout, layouts are not determined
there any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables, join_tables
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.statistics.column_layouts import (
    CODE_OF_PLAIN,
    Codes,
    WrittenColumn,
    find_layouts,
)
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.column_ways import ColumnWays, JoinedStretches, RowWays, WrittenTable
from cdc_contracts.registry.core.stats.column_writing import TEXT, ColumnWriting, Writing
from cdc_contracts.registry.core.stats.position_sequences import Point, Stretch
from cdc_contracts.registry.core.stats.record_facts import Facts, WrittenRows, written_table

Numbers = NDArray[np.int64]
Way = TypeVar("Way")
Part = TypeVar("Part", bound=Hashable)

_FEW: Final = 8
"""Rows of each table up to which whole rows are noted at once."""
_FEW_TABLES: Final = 64
_FEW_STRETCHES: Final = 64
"""Ways in all cells up to which each is looked for by itself."""
_SHORT: Final = 2_048
"""Rows up to which columns are looked through together."""
_MOST_HELD: Final = 2**17
"""Rows of such columns at once."""
_MOST_KNOWN: Final = 4096
_MOST_KEYS: Final = 4
"""Keys for each row up to which there is an entry for every key."""


class WrittenGroup(NamedTuple):
    """Records with one verdict, with their facts and their tables."""

    record_group: RecordGroup
    facts: Facts
    tables: Tables


class CodedColumn(NamedTuple, Generic[Way]):
    """How each row has a value of a column, by its index among the ways; None if it has none."""

    name: str
    codes: Codes
    ways: list[Way | None]


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows by table, partition and kind of record, and in order of their offsets.

    Of each row the index and the number of its record, and its cell; of each cell its table and its facts.
    """

    rows: Numbers
    numbers: Numbers
    of_row: Numbers
    tables: list[WrittenTable]
    facts: list[Facts]

    @cached_property
    def begins(self) -> list[int]:
        """Where the rows of each cell begin, and where the last end."""
        return [*np.flatnonzero(np.diff(self.of_row, prepend=-1)).tolist(), len(self.of_row)]


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


_Named = tuple[str, list[Way | None]]
"""The name of a column, and its ways by code."""


class WrittenPart(NamedTuple, Generic[Way]):
    """Columns of the rows of some cells, whose codes have the rows in the order of the cells.

    All rows are `alike` in some columns more.
    """

    cells: Cells
    columns: Iterable[CodedColumn[Way]]
    alike: Sequence[tuple[str, Way]] = ()


class _Runs(NamedTuple):
    """Rows by a key: of each key how many have it, and the places of the first and the last of them."""

    keys: Numbers
    totals: Numbers
    firsts: Numbers
    lasts: Numbers


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
        known, alike, others = record_group.cached_verdict.plain, list[tuple[str, Writing]](), list[WrittenColumn]()
        for column in columns:
            if (way := column.way_of_all) is None:
                others.append(column)
            else:
                alike.append((column.name, way))
        coded = (_code_column(column, rows, cells, known) for column in others)
        if len(cells.rows) > _FEW * len(cells.tables):
            yield WrittenPart(cells, coded, alike)
        else:
            _note_rows(seen, cells, coded, batch, alike)


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
    order = np.lexsort((offsets, keys))
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


def note_columns(seen: ColumnWays[Way], written: Iterable[WrittenPart[Way]], batch: Batch) -> None:
    """Count the values of records of each table, a column at a time."""
    found = _FoundWays(seen, batch)
    for part in written:
        found.add(part)
    found.count()


class _FoundWays(Generic[Way]):
    """The ways of the columns of some parts, until they are counted: once for all that the same rows have.

    Columns of few rows are looked through together, whatever part they are of.
    """

    def __init__(self, seen: ColumnWays[Way], batch: Batch) -> None:
        self._seen, self._batch = seen, batch
        self._short: list[tuple[Cells, Sequence[_Named[Way]], int, NDArray[Any]]] = []
        self._held = 0
        self._found: dict[tuple[Cells, int, int, int, int], list[tuple[str, Way]]] = {}
        """By cell, by the number of rows, and by the records of the first and the last of these."""

    def add(self, part: WrittenPart[Way]) -> None:
        """Add the values of a part."""
        cells, columns, alike = part
        total = len(cells.rows)
        of_all: list[_Named[Way]] = [(name, [way]) for name, way in alike]
        if total > _SHORT:
            self._take(cells, of_all, 1, _runs_of(cells.of_row))
        elif of_all:
            self._wait(cells, of_all, 1, cells.of_row)
        for column in columns:
            ways = len(column.ways)
            named: list[_Named[Way]] = [(column.name, column.ways)]
            if total <= _SHORT and len(cells.tables) * ways <= _MOST_KEYS * total:
                keys = column.codes if len(cells.tables) == 1 else cells.of_row * ways + column.codes
                self._wait(cells, named, ways, keys)
            elif (column.codes == column.codes[0]).all():
                way = column.ways[int(column.codes[0])]
                self._take(cells, [(column.name, [way])], 1, _runs_of(cells.of_row))
            elif len(cells.tables) * ways <= _FEW_STRETCHES:
                self._take(cells, named, ways, _few_runs_of(cells, column))
            else:
                self._take(cells, named, ways, _runs_of(cells.of_row * ways + column.codes))

    def count(self) -> None:
        """Count what was added."""
        self._look_through()
        totals = [total for _, _, total, *_ in self._found]
        ends = (self._batch.points(np.array([key[at] for key in self._found], np.int64)) for at in (3, 4))
        joined = JoinedStretches()
        for ((cells, cell, *_), ways), total, first, last in zip(self._found.items(), totals, *ends, strict=True):
            self._seen.add_ways(cells.tables[cell], ways, _stretch_of(cells.facts[cell], total, first, last), joined)
        self._found.clear()

    def _wait(self, cells: Cells, columns: Sequence[_Named[Way]], parts: int, keys: NDArray[Any]) -> None:
        """Keep columns of few rows until there are enough to look through."""
        self._short.append((cells, columns, parts, keys))
        self._held += len(keys)
        if self._held > _MOST_HELD:
            self._look_through()

    def _look_through(self) -> None:
        short, self._short, self._held = self._short, [], 0
        if not short:
            return
        sizes = np.array([len(cells.tables) * parts for cells, _, parts, _ in short])
        bases, lengths = np.cumsum(sizes) - sizes, [len(keys) for *_, keys in short]
        runs = _runs_of(np.concatenate([keys for *_, keys in short]) + np.repeat(bases, lengths))
        begins = np.cumsum(lengths) - lengths
        bounds = np.searchsorted(runs.keys, [*bases, int(sizes.sum())]).tolist()
        each = zip(short, bases.tolist(), begins.tolist(), pairwise(bounds), strict=True)
        for (cells, columns, parts, _), base, begin, (start, stop) in each:
            mine = _Runs(*(part[start:stop] for part in runs))
            self._take(
                cells, columns, parts, _Runs(mine.keys - base, mine.totals, mine.firsts - begin, mine.lasts - begin)
            )

    def _take(self, cells: Cells, columns: Sequence[_Named[Way]], parts: int, runs: _Runs) -> None:
        """Take the ways of columns that have the same in the same rows; the key of a run is its cell and its way."""
        ends = cells.numbers[runs.firsts].tolist(), cells.numbers[runs.lasts].tolist()
        for key, total, *two in zip(runs.keys.tolist(), runs.totals.tolist(), *ends, strict=True):
            cell, code = divmod(key, parts)
            found = [(name, way) for name, ways in columns if (way := ways[code]) is not None]
            if found:
                held = self._found.setdefault((cells, cell, total, *two), [])
                held += found


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
    firsts, _ = _ends_of(combined, total)
    each = [[(column.name, column.ways[code]) for code in column.codes[firsts].tolist()] for column in listed]
    rows = zip(*each, strict=True) if each else [()] * bool(alike)
    ways, joined = [RowWays((*alike, *columns)) for columns in rows], JoinedStretches()
    if not ways:
        return
    runs = _runs_of(cells.of_row * total + combined)
    ends = (batch.points(cells.numbers[places]) for places in (runs.firsts, runs.lasts))
    for key, count, *two in zip(runs.keys.tolist(), runs.totals.tolist(), *ends, strict=True):
        cell, way = divmod(key, total)
        seen.add_rows(cells.tables[cell], ways[way], _stretch_of(cells.facts[cell], count, *two), joined)


def _few_runs_of(cells: Cells, column: CodedColumn[Way]) -> _Runs:
    """Return the rows of each cell and way, by the number of the cell times the ways, plus the way.

    A pass over the codes of a cell for each way takes less than an entry for every row, if there are few of both.
    """
    found: list[tuple[int, int, int, int]] = []
    for cell, (begin, end) in enumerate(pairwise(cells.begins)):
        codes = column.codes[begin:end]
        for way, writing in enumerate(column.ways):
            if writing is None:
                continue
            mine = codes == way
            if total := int(np.count_nonzero(mine)):
                last = end - 1 - int(mine[::-1].argmax())
                found.append((cell * len(column.ways) + way, total, begin + int(mine.argmax()), last))
    return _Runs(*np.array(found, np.int64).reshape(-1, 4).T)


def _runs_of(keys: Numbers) -> _Runs:
    """Return the rows of each key."""
    held, most = None, int(keys.max()) + 1
    if most > _MOST_KEYS * len(keys):
        held, keys = np.unique(keys, return_inverse=True)
        most = len(held)
    firsts, lasts = _ends_of(keys, most)
    totals = np.bincount(keys, minlength=most)
    there = np.flatnonzero(totals)
    return _Runs(there if held is None else held, totals[there], firsts[there], lasts[there])


def _stretch_of(facts: Facts, total: int, first: Point, last: Point) -> Stretch:
    ops = {facts.code: total} if facts.code is not None else {}
    return Stretch(total, first, last, {facts.contract: total}, ops)


def _ends_of(keys: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """Return where each key stands first and last."""
    firsts, lasts, places = np.zeros(most, np.int64), np.zeros(most, np.int64), np.arange(len(keys))
    firsts[keys[::-1]] = places[::-1]
    lasts[keys] = places
    return firsts, lasts


def stretch_of(facts: Facts, batch: Batch, number: int) -> Stretch:
    """Return one record as a stretch."""
    (point,) = batch.points(np.array([number]))
    return _stretch_of(facts, 1, point, point)
