"""Written columns: the value layouts of the columns of validated rows, whole columns at a time.

A decoder accepts values of one kind, so for most columns only the first and the last row with a value have to be
found. Once a value of a column of a table in a partition has no characteristic layout, layouts are not determined
there any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.engine import decoder_kinds
from cdc_contracts.registry.engine.batch_results import RecordGroup
from cdc_contracts.registry.engine.batch_tables import Tables
from cdc_contracts.registry.engine.decoded_batches import Rows
from cdc_contracts.registry.engine.native.scanned_columns import TEXTS
from cdc_contracts.registry.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.engine.value_columns import ColumnValues
from cdc_contracts.registry.records.record_batches import Batch
from cdc_contracts.registry.stats.column_writing import (
    BOOLEAN,
    DIGITS,
    FIRST_SECOND,
    ISO,
    LAST_SECOND,
    LEAST_DATE_TIME,
    MOST_DIGITS,
    PLAIN,
    SECOND_DIGITS,
    SECONDS,
    SQL,
    TEXT,
    ColumnWriting,
    Writing,
    WrittenTable,
    layout_of,
    layout_of_token,
    writing_of,
)
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.position_sequences import Stretch
from cdc_contracts.registry.stats.record_facts import Facts, written_table
from cdc_contracts.registry.values import Number
from cdc_contracts.registry.values.arrow_columns import Texts, are_digits

Numbers = NDArray[np.int64]
Codes = NDArray[np.uint8]

_LAYOUTS: Final = (PLAIN, ISO, SQL, SECONDS, DIGITS)
_PLAIN, _ISO, _SQL, _SECONDS, _DIGITS = range(len(_LAYOUTS))
_DASH, _COLON, _POINT, _MOST, _T, _SPACE = b"-:.4T "
_FEW: Final = 8
"""Values up to which each is looked at by itself."""
_MOST_KNOWN: Final = 4096
_TOKENS: Final = (decoder_kinds.RAW, decoder_kinds.INT)
"""Decoders of numbers that keep their tokens."""


class WrittenGroup(NamedTuple):
    """Records with one verdict, with their facts and their tables."""

    record_group: RecordGroup
    facts: Facts
    tables: Tables


@dataclass(frozen=True, eq=False)
class _Cells:
    """Rows by table and partition, and in order of their offsets: their places, and the numbers of their records.

    `cells` has for each row the number of its cell, `sources` and `tables` for each cell the places of both.
    """

    rows: Numbers
    numbers: Numbers
    cells: Numbers
    sources: list[int]
    tables: list[int]

    def slices(self) -> Iterator[slice]:
        """Yield where the rows of each cell stand."""
        ends = np.append(np.flatnonzero(np.diff(self.cells)) + 1, len(self.cells)).tolist()
        yield from map(slice, [0, *ends[:-1]], ends)


def note_writing(seen: ColumnWriting, found: Iterable[WrittenGroup], batch: Batch) -> None:
    """Count how the columns of validated records are written."""
    for one in found:
        facts, decoded_batch, positions = one.facts, one.record_group.decoded_batch, one.record_group.positions
        rows = decoded_batch.rows.get(facts.written.source) if facts.written is not None else None
        if facts.written is None or rows is None:
            continue
        mine = rows.of(positions)
        if not len(mine):
            continue
        codes = one.tables.codes if rows.one_each else np.repeat(one.tables.codes, rows.count[positions])
        cells = _by_cell(mine, decoded_batch.numbers[rows.record_of_row[mine]], codes, batch)
        tables = [
            written_table(one.tables.called[table], facts, facts.written, Source(*batch.sources[source]))
            for source, table in zip(cells.sources, cells.tables, strict=True)
        ]
        note = _note_many if len(mine) > _FEW * len(tables) else _note_few
        note(seen, one, rows, cells, tables, batch)


def _by_cell(rows: Numbers, numbers: Numbers, codes: Numbers, batch: Batch) -> _Cells:
    offsets, sources = batch.offsets[numbers], batch.source_of[numbers]
    keys = sources * (int(codes.max()) + 1) + codes
    if (keys == keys[0]).all():
        if (np.diff(offsets) < 0).any():
            order = np.argsort(offsets, kind="stable")
            rows, numbers = rows[order], numbers[order]
        return _Cells(rows, numbers, np.zeros(len(rows), np.int64), [int(sources[0])], [int(codes[0])])
    order = np.lexsort((offsets, keys))
    begins = np.append(True, np.diff(keys[order]) != 0)
    firsts = order[begins]
    return _Cells(
        rows[order], numbers[order], np.cumsum(begins) - 1, sources[firsts].tolist(), codes[firsts].tolist()
    )  # fmt: skip


def _note_many(
    seen: ColumnWriting,
    one: WrittenGroup,
    rows: Rows,
    cells: _Cells,
    tables: Sequence[WrittenTable],
    batch: Batch,
) -> None:
    """Count the values of many records of each table a column at a time."""
    facts, record_group = one.facts, one.record_group
    known_plain = record_group.cached_verdict.plain
    if len(known_plain) > _MOST_KNOWN:
        known_plain.clear()
    result = [
        (table, cells.numbers[part], cells.rows[part], stretch_of(facts, batch, cells.numbers[part]))
        for table, part in zip(tables, cells.slices(), strict=True)
    ]
    for (pointer, index), values in record_group.columns.items():
        if pointer == rows.image.pointer and values.kinds:
            column = _Column(values)
            for table, numbers, places, whole in result:
                known = known_plain.setdefault(table, set())
                plain = {kind for kind in values.kinds if (pointer, index, kind) in known}
                for writing, which in column.ways(places, plain):
                    stretch = whole if which is None else stretch_of(facts, batch, numbers[which])
                    seen.add(table, rows.image.columns[index].name, writing, stretch)
                known.update((pointer, index, kind) for kind in plain)


def _note_few(
    seen: ColumnWriting,
    one: WrittenGroup,
    rows: Rows,
    cells: _Cells,
    tables: Sequence[WrittenTable],
    batch: Batch,
) -> None:
    """Count the values of many tables with few records each: all columns of all of them, then table by table."""
    written: list[tuple[str, NDArray[Any], list[Writing | None]]] = []
    keys = cells.cells
    for (pointer, index), values in one.record_group.columns.items():
        if pointer == rows.image.pointer:
            codes, ways = _Column(values).coded(cells.rows)
            written.append((rows.image.columns[index].name, codes, ways))
            if (codes != codes[0]).any():
                _, keys = np.unique(keys * len(ways) + codes, return_inverse=True)
    order = np.argsort(keys, kind="stable")  # of equal keys, that of their offsets
    begins = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
    firsts, lasts = order[begins], order[np.append(begins[1:], len(order)) - 1]
    totals = np.diff(np.append(begins, len(order))).tolist()
    names = [name for name, _, _ in written]
    each = [[ways[code] for code in codes[firsts].tolist()] for _, codes, ways in written]
    stretches = _stretches_of(one.facts, batch, cells.numbers[firsts], cells.numbers[lasts], totals)
    for cell, stretch, *ways in zip(cells.cells[firsts].tolist(), stretches, *each, strict=True):
        seen.add_ways(tables[cell], zip(names, ways, strict=True), stretch)


def _stretches_of(
    facts: Facts, batch: Batch, firsts: Numbers, lasts: Numbers, totals: Sequence[int]
) -> Iterator[Stretch]:
    points = zip(batch.points(firsts), batch.points(lasts), totals, strict=True)
    for first, last, total in points:
        ops = {facts.code: total} if facts.code is not None else {}
        yield Stretch(total, first, last, {facts.contract: total}, ops)


def stretch_of(facts: Facts, batch: Batch, numbers: Numbers | Sequence[int]) -> Stretch:
    """Return some records of one kind as a stretch; they are of one partition, in order of their offsets."""
    total = len(numbers)
    first, last = batch.points(np.array([numbers[0], numbers[-1]]))
    ops = {facts.code: total} if facts.code is not None else {}
    return Stretch(total, first, last, {facts.contract: total}, ops)


class _Column:
    """The values of one column of a decoded batch, by the ways in which they are written."""

    def __init__(self, values: ColumnValues) -> None:
        self._values = values

    def ways(self, rows: Numbers, plain: set[str]) -> Iterator[tuple[Writing, NDArray[Any] | None]]:
        """Yield the ways in which the values of some rows are written, each with its rows (None: all).

        `plain` are the kinds that are known to have no layout there; more are added to it.
        """
        held, which = self._held(rows)
        if not len(held):
            return
        kinds = self._values.kinds
        if len(kinds) > 1:
            yield from self._mixed(held, which)
            return
        (kind,) = kinds
        if kind == BOOLEAN or kind in plain:
            yield Writing(kind), which
            return
        values = self._take(held)
        codes = _codes_of(kind, values) if len(values) > _FEW else _codes_of_few(kind, values)
        found = sorted(set(codes.tolist()))
        if _PLAIN in found:
            plain.add(kind)
            yield Writing(kind), which
            return
        for code in found:
            of_code = None if len(found) == 1 else np.flatnonzero(codes == code)
            chosen = which if of_code is None else of_code if which is None else which[of_code]
            yield Writing(kind, _LAYOUTS[code]), chosen

    def coded(self, rows: Numbers) -> tuple[NDArray[np.uint8], list[Writing | None]]:
        """Return how the value of each of some rows is written, by its place among the ways; None if nothing is."""
        held, which = self._held(rows)
        codes = np.zeros(len(rows), np.uint8)
        if not len(held):
            return codes, [None]
        ways: list[Writing | None] = [None]
        values, kinds = self._take(held), self._values.kinds
        if len(kinds) > 1:
            places: dict[Writing | None, int] = {None: 0}
            found = [writing_of(_as_parsed(value)) for value in values]
            own = np.array([places.setdefault(writing, len(places)) for writing in found], np.uint8)
            ways = [*places]
        else:
            (kind,) = kinds
            own = np.ones(len(values), np.uint8) if kind == BOOLEAN else _codes_of_each(kind, values) + np.uint8(1)
            ways += [Writing(kind, layout) for layout in _LAYOUTS]
        if which is None:
            return own, ways
        codes[which] = own
        return codes, ways

    def _held(self, rows: Numbers) -> tuple[Numbers, NDArray[Any] | None]:
        """Return the indices of the non-null values of some rows, and which of the rows have them."""
        which: NDArray[Any] | None = None
        present = self._values.present
        if present is not None and self._values.held is not None:
            which = np.flatnonzero(present[rows])
            rows = np.searchsorted(self._values.held, rows[which])
        if self._values.valued is None or (valued := self._values.valued[rows]).all():
            return rows, which
        return rows[valued], np.flatnonzero(valued) if which is None else which[valued]

    def _mixed(self, places: Numbers, which: NDArray[Any] | None) -> Iterator[tuple[Writing, NDArray[Any]]]:
        """Classify values of several kinds one by one."""
        found: dict[Writing, list[int]] = {}
        for at, value in enumerate(self._take(places)):
            writing = writing_of(_as_parsed(value))
            if writing is not None:
                found.setdefault(writing, []).append(at)
        for writing, chosen in found.items():
            yield writing, np.asarray(chosen) if which is None else which[chosen]

    def _take(self, places: Numbers) -> Sequence[Any]:
        values = self._values.values
        if len(places) == len(values) and (np.diff(places) == 1).all():
            return values
        if isinstance(values, ScannedValues):
            return values.select(places)
        return itemgetter(*places.tolist())(values) if len(places) > 1 else [values[int(places[0])]]


def _codes_of_each(kind: str, values: Sequence[Any]) -> Codes:
    """Return the layout of each value of one kind."""
    if len(values) <= _FEW:
        return _codes_of_few(kind, values)
    if kind == TEXT:
        return _layouts_of_texts(values)
    if isinstance(values, ScannedValues) and values.column.decoder in _TOKENS:
        codes = np.full(len(values), _PLAIN, np.uint8)
        long = np.flatnonzero(values.column.lengths == SECOND_DIGITS)
        if len(long):
            codes[long] = _codes_of_few(kind, values.select(long).objects)
        return codes
    return _codes_of_few(kind, values)


def _codes_of(kind: str, values: Sequence[Any]) -> Codes:
    """Return the layout of each value; if one has none, a single layout for all."""
    nothing = np.zeros(1, np.uint8)
    if kind == TEXT:
        return _layouts_of_texts(values) if _has_layout(values[0]) else nothing
    same = np.full(1, _SECONDS, np.uint8)
    if type(values[0]) is int:
        if isinstance(values, ScannedValues):
            values = values.column.integers().tolist()
        first, last = int(FIRST_SECOND), int(LAST_SECOND)
        return same if first <= min(values) and max(values) <= last else nothing
    if type(values[0]) is bytes and set(map(len, values)) == {SECOND_DIGITS}:
        digits = b"".join(values).isdigit()
        within = FIRST_SECOND.encode() <= min(values) and max(values) <= LAST_SECOND.encode()
        return same if digits and within else nothing
    if all(isinstance(value, Number) and layout_of_token(value.token) for value in values):  # of a column of all kinds
        return same
    return nothing


def _codes_of_few(kind: str, values: Sequence[Any]) -> Codes:
    """Return the layout of each value, one by one: for a row of one table among many that is faster than arrays."""
    if kind == TEXT:
        return np.array([_LAYOUTS.index(layout_of(value)) for value in values], np.uint8)
    tokens = [value.decode() if type(value) is bytes else getattr(value, "token", value) for value in values]
    return np.array([_LAYOUTS.index(layout_of_token(str(token))) for token in tokens], np.uint8)


def _has_layout(text: str) -> bool:
    writing = writing_of(text)
    return writing is not None and bool(writing.layout)


def _layouts_of_texts(values: Sequence[str]) -> Codes:
    array = values.column.texts(TEXTS) if isinstance(values, ScannedValues) else pa.array(values, pa.string())
    texts = Texts(array)
    window = texts.window(LEAST_DATE_TIME)
    codes = np.zeros(len(values), np.uint8)
    dated = (texts.lengths >= LEAST_DATE_TIME) & (window[4] == _DASH) & (window[7] == _DASH) & (window[13] == _COLON)
    codes[dated & (window[10] == _T)] = _ISO
    codes[dated & (window[10] == _SPACE)] = _SQL
    if dated.all():
        return codes
    counted = ~dated & (texts.lengths > SECOND_DIGITS + 1) & (window[SECOND_DIGITS] == _POINT) & (window[0] <= _MOST)
    for place in range(SECOND_DIGITS):
        counted &= are_digits(window[place])
    codes[counted] = _SECONDS
    rest = ~dated & ~counted
    if rest.any():
        digits = pc.ascii_is_decimal(array).to_numpy(zero_copy_only=False) & (texts.lengths <= MOST_DIGITS)
        codes[rest & digits & (texts.lengths > 0)] = _DIGITS
    return codes


def _as_parsed(value: Any) -> Any:
    if type(value) is bytes:
        return Number(value.decode())
    return Number(repr(value)) if type(value) in (int, float) else value
