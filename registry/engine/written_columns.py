"""Written columns: the value layouts of the columns of validated rows, whole columns at a time.

A decoder accepts values of one kind, so for most columns only the first and the last row with a value have to be
found. Once a value of a column of a table in a partition has no characteristic layout, layouts are not determined
there any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.engine.batch_results import RecordGroup
from cdc_contracts.registry.engine.decoded_batches import Rows
from cdc_contracts.registry.engine.native.scanned_columns import TEXTS
from cdc_contracts.registry.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.engine.value_columns import ColumnValues
from cdc_contracts.registry.records.record_batches import NO_TIMESTAMP, Batch
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
    layout_of,
    layout_of_token,
    writing_of,
)
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.position_sequences import Point, Stretch
from cdc_contracts.registry.stats.record_facts import Facts, WrittenRows, written_table
from cdc_contracts.registry.values import Number
from cdc_contracts.registry.values.arrow_columns import Texts, are_digits

Numbers = NDArray[np.int64]
Codes = NDArray[np.uint8]

_LAYOUTS: Final = (PLAIN, ISO, SQL, SECONDS, DIGITS)
_PLAIN, _ISO, _SQL, _SECONDS, _DIGITS = range(len(_LAYOUTS))
_DASH, _COLON, _POINT, _MOST, _T, _SPACE = b"-:.4T "
_FEW: Final = 8
"""Values up to which each is looked at by itself."""


def note_writing(seen: ColumnWriting, found: Iterable[tuple[RecordGroup, Facts]], batch: Batch) -> None:
    """Count the value layouts in the columns of validated records, given as groups of one verdict with their facts."""
    few: dict[tuple[int, str], list[tuple[RecordGroup, Facts]]] = {}
    for record_group, facts in found:
        rows = record_group.decoded_batch.rows.get(facts.written.source) if facts.written is not None else None
        if facts.written is None or rows is None or not rows.total:
            continue
        if len(record_group.positions) <= _FEW:
            few.setdefault((id(rows), facts.written.source), []).append((record_group, facts))
        else:
            _note_many(seen, record_group, facts, facts.written, rows, batch)
    for (_, source), alike_ones in few.items():
        _note_few(seen, alike_ones, source, batch)


def _note_many(
    seen: ColumnWriting, record_group: RecordGroup, facts: Facts, written: WrittenRows, rows: Rows, batch: Batch
) -> None:
    """Count the values of many records a column at a time."""
    mine = rows.of(record_group.positions)
    if not len(mine):
        return
    result = [
        (written_table(facts, written, source), numbers, places, stretch_of(facts, batch, numbers))
        for source, numbers, places in _by_source(
            mine, record_group.decoded_batch.numbers[rows.record_of_row[mine]], batch
        )
    ]
    for (pointer, index), values in record_group.columns.items():
        if pointer == written.source and values.kinds:
            column = _Column(values)
            for table, numbers, places, whole in result:
                known = record_group.cached_verdict.plain.setdefault(table, set())
                plain = {kind for kind in values.kinds if (pointer, index, kind) in known}
                for writing, which in column.ways(places, plain):
                    stretch = whole if which is None else stretch_of(facts, batch, numbers[which])
                    seen.add(table, rows.image.columns[index].name, writing, stretch)
                known.update((pointer, index, kind) for kind in plain)


def _note_few(seen: ColumnWriting, found: Sequence[tuple[RecordGroup, Facts]], source: str, batch: Batch) -> None:
    """Count the values of many tables with few records each, from one decoded batch: all columns, then row by row."""
    decoded_batch, columns = found[0][0].decoded_batch, found[0][0].columns
    rows = decoded_batch.rows[source]
    positions = np.concatenate([record_group.positions for record_group, _ in found])
    mine = rows.of(positions)
    if not len(mine):
        return
    of_record = np.repeat(np.arange(len(found)), [len(record_group.positions) for record_group, _ in found])
    of_row = np.repeat(of_record, rows.count[positions])
    held = [(index, values) for (pointer, index), values in columns.items() if pointer == source]
    names = [rows.image.columns[index].name for index, _ in held]
    ways = zip(*(_Column(values).each(mine) for _, values in held), strict=True)
    numbers = decoded_batch.numbers[rows.record_of_row[mine]]
    for place, number, result in zip(of_row.tolist(), numbers.tolist(), ways, strict=True):
        facts = found[place][1]
        if facts.written is not None:
            table = written_table(facts, facts.written, batch.source(number))
            seen.add_ways(table, zip(names, result, strict=True), stretch_of(facts, batch, [number]))


def _by_source(rows: Numbers, numbers: Numbers, batch: Batch) -> Iterator[tuple[Source, Numbers, Numbers]]:
    """Yield the rows of each partition in order of their offsets: the numbers of their records, and their places."""
    offsets = batch.offsets[numbers]
    if (np.diff(offsets) < 0).any():
        order = np.argsort(offsets, kind="stable")
        rows, numbers = rows[order], numbers[order]
    for source, mine in batch.by_source(numbers):
        yield source, numbers[mine], rows[mine]


def stretch_of(facts: Facts, batch: Batch, numbers: Numbers | Sequence[int]) -> Stretch:
    """Return some records of one kind as a stretch; they are of one partition, in order of their offsets."""
    total, first, last = len(numbers), numbers[0], numbers[-1]
    ops = {facts.code: total} if facts.code is not None else {}
    return Stretch(total, _point(batch, first), _point(batch, last), {facts.contract: total}, ops)


def _point(batch: Batch, number: Any) -> Point:
    timestamp = int(batch.timestamps[number])
    return Point(int(batch.offsets[number]), None if timestamp == NO_TIMESTAMP else timestamp)


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

    def each(self, rows: Numbers) -> Sequence[Writing | None]:
        """Return how the value of each of some rows is written; None if it is null or absent."""
        held, which = self._held(rows)
        found: list[Writing | None] = [None] * len(rows)
        if not len(held):
            return found
        values, kinds = self._take(held), self._values.kinds
        if len(kinds) > 1:
            result = [writing_of(_as_parsed(value)) for value in values]
        else:
            result = _ways_of(next(iter(kinds)), values)
        if which is None:
            return result
        for place, writing in zip(which.tolist(), result, strict=True):
            found[place] = writing
        return found

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


def _ways_of(kind: str, values: Sequence[Any]) -> list[Writing | None]:
    """Return how each value of one kind is written."""
    if kind == BOOLEAN:
        return [Writing(kind)] * len(values)
    many = kind == TEXT and len(values) > _FEW
    codes = _layouts_of_texts(values) if many else _codes_of_few(kind, values)
    ways = [Writing(kind, layout) for layout in _LAYOUTS]
    return [ways[code] for code in codes.tolist()]


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
