"""Column runs: rows of a table that are alike in how they have a column, found for the columns of many tables at once.

Of each run of rows there is how many they are, and the first and the last of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.scanned_values import SHORT
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.column_ways import ColumnWays, JoinedStretches, WrittenTable
from cdc_contracts.registry.core.stats.position_sequences import Point, Stretch
from cdc_contracts.registry.core.stats.record_facts import Facts

Numbers = NDArray[np.int64]
Codes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Way = TypeVar("Way")

_MOST_HELD: Final = 2**17
"""Rows of short columns at once."""
_MOST_KEYS: Final = 4
"""Keys for each row up to which there is an entry for every key."""
_FEW_STRETCHES: Final = 64
"""Ways in all cells up to which each is looked for by itself."""


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


class CodedColumn(NamedTuple, Generic[Way]):
    """How each row has a value of a column, by its index among the ways; None if it has none."""

    name: str
    codes: Codes
    ways: list[Way | None]


_Named = tuple[str, list[Way | None]]
"""The name of a column, and its ways by code."""


class WrittenPart(NamedTuple, Generic[Way]):
    """Columns of the rows of some cells, whose codes have the rows in the order of the cells.

    All rows are `alike` in some columns more. Of others, whose values are `masked`, `there` says by column and row
    whether there is one.
    """

    cells: Cells
    columns: Iterable[CodedColumn[Way]]
    alike: Sequence[tuple[str, Way]] = ()
    masked: Sequence[tuple[str, Way]] = ()
    there: Mask | None = None


class Runs(NamedTuple):
    """Rows by a key: of each key how many have it, and the places of the first and the last of them."""

    keys: Numbers
    totals: Numbers
    firsts: Numbers
    lasts: Numbers


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
        cells, total = part.cells, len(part.cells.rows)
        if part.alike:
            self._take(cells, [(name, [way]) for name, way in part.alike], 1, runs_of(cells.of_row))
        if part.there is not None:
            self._take_masked(cells, part.masked, part.there)
        for column in part.columns:
            ways = len(column.ways)
            named: list[_Named[Way]] = [(column.name, column.ways)]
            if total <= SHORT and len(cells.tables) * ways <= _MOST_KEYS * total:
                keys = column.codes if len(cells.tables) == 1 else cells.of_row * ways + column.codes
                self._wait(cells, named, ways, keys)
            elif (column.codes == column.codes[0]).all():
                way = column.ways[int(column.codes[0])]
                self._take(cells, [(column.name, [way])], 1, runs_of(cells.of_row))
            elif len(cells.tables) * ways <= _FEW_STRETCHES:
                self._take(cells, named, ways, _few_runs_of(cells, column))
            else:
                self._take(cells, named, ways, runs_of(cells.of_row * ways + column.codes))

    def count(self) -> None:
        """Count what was added."""
        self._look_through()
        totals = [total for _, _, total, *_ in self._found]
        ends = (self._batch.points(np.array([key[at] for key in self._found], np.int64)) for at in (3, 4))
        joined = JoinedStretches()
        for ((cells, cell, *_), ways), total, first, last in zip(self._found.items(), totals, *ends, strict=True):
            self._seen.add_ways(
                cells.tables[cell], ways, stretch_of_rows(cells.facts[cell], total, first, last), joined
            )
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
        runs = runs_of(np.concatenate([keys for *_, keys in short]) + np.repeat(bases, lengths))
        begins = np.cumsum(lengths) - lengths
        bounds = np.searchsorted(runs.keys, [*bases, int(sizes.sum())]).tolist()
        each = zip(short, bases.tolist(), begins.tolist(), pairwise(bounds), strict=True)
        for (cells, columns, parts, _), base, begin, (start, stop) in each:
            mine = Runs(*(part[start:stop] for part in runs))
            self._take(
                cells, columns, parts, Runs(mine.keys - base, mine.totals, mine.firsts - begin, mine.lasts - begin)
            )

    def _take_masked(self, cells: Cells, columns: Sequence[tuple[str, Way]], there: Mask) -> None:
        """Take the ways of columns in the rows of each cell that have a value."""
        for cell, (begin, end) in enumerate(pairwise(cells.begins)):
            mine = there[:, begin:end]
            totals = np.count_nonzero(mine, axis=1).tolist()
            firsts = cells.numbers[begin + mine.argmax(axis=1)].tolist()
            lasts = cells.numbers[end - 1 - mine[:, ::-1].argmax(axis=1)].tolist()
            for column, total, first, last in zip(columns, totals, firsts, lasts, strict=True):
                if total:
                    self._found.setdefault((cells, cell, total, first, last), []).append(column)

    def _take(self, cells: Cells, columns: Sequence[_Named[Way]], parts: int, runs: Runs) -> None:
        """Take the ways of columns that have the same in the same rows; the key of a run is its cell and its way."""
        ends = cells.numbers[runs.firsts].tolist(), cells.numbers[runs.lasts].tolist()
        for key, total, *two in zip(runs.keys.tolist(), runs.totals.tolist(), *ends, strict=True):
            cell, code = divmod(key, parts)
            found = [(name, way) for name, ways in columns if (way := ways[code]) is not None]
            if found:
                held = self._found.setdefault((cells, cell, total, *two), [])
                held += found


def _few_runs_of(cells: Cells, column: CodedColumn[Way]) -> Runs:
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
    return Runs(*np.array(found, np.int64).reshape(-1, 4).T)


def runs_of(keys: Numbers) -> Runs:
    """Return the rows of each key."""
    held, most = None, int(keys.max()) + 1
    if most > _MOST_KEYS * len(keys):
        held, keys = np.unique(keys, return_inverse=True)
        most = len(held)
    firsts, lasts = ends_of(keys, most)
    totals = np.bincount(keys, minlength=most)
    there = np.flatnonzero(totals)
    return Runs(there if held is None else held, totals[there], firsts[there], lasts[there])


def stretch_of_rows(facts: Facts, total: int, first: Point, last: Point) -> Stretch:
    """Return some rows of one kind of records as a stretch."""
    ops = {facts.code: total} if facts.code is not None else {}
    return Stretch(total, first, last, {facts.contract: total}, ops)


def ends_of(keys: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """Return where each key stands first and last."""
    firsts, lasts, places = np.zeros(most, np.int64), np.zeros(most, np.int64), np.arange(len(keys))
    firsts[keys[::-1]] = places[::-1]
    lasts[keys] = places
    return firsts, lasts
