"""Image digests: digests of images, keys and columns, of all records of a batch at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, Rows
from cdc_contracts.registry.core.engine.layouts.parsed_values import ParsedValues
from cdc_contracts.registry.core.engine.layouts.text_digests import NULL, Digests, digest_values, mix
from cdc_contracts.registry.core.engine.native.row_digests import RowCells, RowDigester
from cdc_contracts.registry.core.engine.native.scanned_columns import ABSENT, ScannedBytes
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedValues
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats import digests_without_arrow
from cdc_contracts.registry.core.stats.digests_without_arrow import digest_name

Numbers = NDArray[np.int64]

NOTHING: Final = np.uint64(0)
_NO_DIGESTS: Final = np.zeros(0, np.uint64)
_LARGEST: Final = 2**63 - 1


class DigestedRows(NamedTuple):
    """One image of some records: the record of each row, and digests of the row, its columns and its key (0: none)."""

    records: Numbers
    image: Digests
    shape: Digests
    key: Digests


ImagePair = tuple[DigestedRows | None, DigestedRows | None]
"""The before and the after image of some records."""


@dataclass(eq=False)
class _Column:
    """The digests of a column, each of a value and the column's name, in the rows that have it; `rows` None: in all."""

    name: int
    digests: Digests
    rows: Numbers | None

    def spread(self, total: int) -> Digests:
        """Return the digest of each row, 0 where the row lacks the column."""
        if self.rows is None:
            return self.digests
        found = np.zeros(total, np.uint64)
        found[self.rows] = self.digests
        return found


class _Image(Protocol):
    """An image of some rows: sums of the digests of the values of each row, and of the names of its columns."""

    @property
    def sums(self) -> Digests: ...
    @property
    def shapes(self) -> Digests: ...
    def spread(self, name: str) -> Digests | None:
        """Return the digest of a column in each row, 0 where the row lacks it; None if all do."""


@dataclass(frozen=True, eq=False)
class _SentImage:
    """An image as it was sent, by its columns."""

    total: int
    columns: Mapping[str, _Column]

    @cached_property
    def sums(self) -> Digests:
        found = np.zeros(self.total, np.uint64)
        for column in self.columns.values():
            if column.rows is None:
                found += column.digests
            else:
                found[column.rows] += column.digests
        return found

    @cached_property
    def shapes(self) -> Digests:
        everywhere = [_mix_one(column.name) for column in self.columns.values() if column.rows is None]
        found = np.full(self.total, np.array(everywhere, np.uint64).sum(dtype=np.uint64))
        for column in self.columns.values():
            if column.rows is not None:
                found[column.rows] += _mix_one(column.name)
        return found

    @cached_property
    def is_full(self) -> bool:
        """Whether every row has every column."""
        return all(column.rows is None for column in self.columns.values())

    def spread(self, name: str) -> Digests | None:
        column = self.columns.get(name)
        return None if column is None else column.spread(self.total)


@dataclass(frozen=True, eq=False)
class _CompletedImage:
    """An image whose missing columns are those of the row of another image at its place; -1 if there is none."""

    top: _SentImage
    below: _SentImage
    places: Numbers

    @property
    def sums(self) -> Digests:
        return self._sums[0]

    @property
    def shapes(self) -> Digests:
        return self._sums[1]

    @cached_property
    def _sums(self) -> tuple[Digests, Digests]:
        """The sums of both images, less what the image below has in columns that were sent."""
        sums = self.top.sums + self._place(self.below.sums)
        shapes = self.top.shapes + self._place(self.below.shapes)
        for name, column in self.top.columns.items():
            below = self.below.spread(name)
            if below is None:
                continue
            rows = slice(None) if column.rows is None else column.rows
            hidden = self._place(below, rows)
            sums[rows] -= hidden
            shapes[rows] -= np.where(hidden == NOTHING, NOTHING, _mix_one(column.name))
        return sums, shapes

    def _place(self, digests: Digests, rows: slice | Numbers = slice(None)) -> Digests:
        """Return the digests of the rows below some rows, 0 where there is none."""
        places = self.places[rows]
        return np.where(places < 0, NOTHING, digests[places])

    def spread(self, name: str) -> Digests | None:
        top, below = self.top.spread(name), self.below.spread(name)
        if below is None:
            return top
        completed = self._place(below)
        return completed if top is None else np.where(top == NOTHING, completed, top)


def _digest_keys(image: _Image, names: Sequence[str]) -> Digests:
    """Return the digest of each row's key: 0 if a key column is missing or null."""
    found, missing = np.zeros(len(image.sums), np.uint64), np.full(len(image.sums), not names)
    for name in names:
        digests = image.spread(name)
        if digests is None:
            return np.zeros(len(found), np.uint64)
        missing |= (digests == NOTHING) | (digests == _mix_one(int(NULL) + digest_name(name)))
        found += digests
    return np.where(missing, NOTHING, _something(found))


@dataclass(eq=False)
class DigestedBatch:
    """The digests of the images of a decoded batch.

    If its messages were scanned, rows are digested when they are asked for. Otherwise, if only some of its records were
    digested, `positions` has them, rising; `rows` are the rows of these.
    """

    decoded_batch: DecodedBatch
    rows: dict[str, Rows]
    sent: dict[str, _SentImage]
    positions: Numbers | None = None
    scanned: _ScannedImages | None = None
    _completed: dict[tuple[str, str], _CompletedImage] = field(default_factory=dict)
    _sides: dict[Any, tuple[Numbers, DigestedRows]] = field(default_factory=dict)

    def images(self, reading: Reading, positions: Numbers) -> ImagePair:
        """Return the images of the records of one group."""
        before, after = reading.images.completed
        if self._is_completed(after):
            self._side(reading, after, positions)  # with the rows that complete it
        return self._side(reading, before, positions), self._side(reading, after, positions)

    def _is_completed(self, side: Side | None) -> bool:
        """Return whether rows of an image lack columns that those of another have."""
        if side is None or side.completed_from not in self.sent:
            return False
        return side.at in self.sent and not self.sent[side.at].is_full

    def _side(self, reading: Reading, side: Side | None, positions: Numbers) -> DigestedRows | None:
        source = reading.source(side) if side is not None else None
        if side is None or source is None or source not in self.sent:
            return None
        below = side.completed_from if source == side.at and side.completed_from in self.sent else None
        if self.sent[source].is_full:
            below = None
        key = tuple(reading.primary_key or ())
        asked = (source, below, key, id(positions))
        if asked not in self._sides:  # the positions are kept alive, so that their id is not reused
            self._sides[asked] = positions, self._read_side(source, below, key, positions)
        return self._sides[asked][1]

    def _read_side(self, source: str, below: str | None, key: tuple[str, ...], positions: Numbers) -> DigestedRows:
        if self.positions is not None:
            positions = np.searchsorted(self.positions, positions)
        rows = self.rows[source]
        chosen, (records, _) = rows.of(positions), rows.within(positions)
        if self.scanned is not None:
            places = chosen if below is None else self._places_below(source, below)[chosen]
            own, lower = self.scanned.digest(self.sent, (source, below), key, chosen, None if below is None else places)
            if lower is not None and below is not None and np.array_equal(places, self.rows[below].of(positions)):
                self._sides[below, None, key, id(positions)] = positions, DigestedRows(records, *lower)
            return DigestedRows(records, *own)
        image = self._image(source, below)
        keys = _digest_keys(image, key)
        return DigestedRows(records, _something(image.sums[chosen]), _something(image.shapes[chosen]), keys[chosen])

    def _image(self, source: str, below: str | None) -> _Image:
        if below is None:
            return self.sent[source]
        if (source, below) not in self._completed:
            places = self._places_below(source, below)
            self._completed[source, below] = _CompletedImage(self.sent[source], self.sent[below], places)
        return self._completed[source, below]

    def _places_below(self, source: str, below: str) -> Numbers:
        """Return the row of another image at the place of each row, -1 if there is none."""
        rows, lower = self.rows[source], self.rows[below]
        within = np.arange(rows.total) - rows.start[rows.record_of_row]
        places: Numbers = lower.start[rows.record_of_row] + within
        places[within >= lower.count[rows.record_of_row]] = -1
        return places


@dataclass(eq=False)
class _ScannedImages:
    """Digests the rows of scanned messages from their bytes; values whose tokens do not identify them have digests."""

    source: ScannedBytes
    cells: dict[tuple[str, str], RowCells] = field(default_factory=dict)
    """By image and column."""
    _digesters: dict[Any, RowDigester] = field(default_factory=dict)

    def digest(
        self, sent: Mapping[str, _SentImage], images: tuple[str, str | None], key: Sequence[str], rows: Numbers,
        below: Numbers | None,
    ) -> tuple[Digests, Digests | None]:  # fmt: skip
        """Return the digests of some rows of an image, and of those of another that complete them, if there are any."""
        asked = (*images, *key)
        if asked not in self._digesters:
            top, lower = ({} if one is None else self._columns(one, sent[one]) for one in images)
            self._digesters[asked] = RowDigester(self.source, top, lower, key)
        return self._digesters[asked].digest(rows, below)

    def _columns(self, pointer: str, image: _SentImage) -> dict[str, RowCells]:
        return {
            name: self.cells.get((pointer, name)) or RowCells(None, digests=column.spread(image.total))
            for name, column in image.columns.items()
        }


class DigestedPart(NamedTuple):
    """What is digested of a decoded batch: the columns with these names, of the records at these positions."""

    names: Collection[str] | None = None
    positions: Numbers | None = None


EVERYTHING: Final = DigestedPart()


def digest_batches(
    record_groups: Sequence[RecordGroup], parts: Mapping[int, DigestedPart] = MappingProxyType({})
) -> dict[int, DigestedBatch]:
    """Return the decoded batches of some records with the digests of their values, all or those of a part, by id."""
    opened: dict[int, DigestedBatch] = {}
    values: list[Any] = []
    left: list[tuple[_Column, slice]] = []
    for number, one in {id(one.decoded_batch): one for one in record_groups}.items():
        part, held = parts.get(number, EVERYTHING), one.decoded_batch.rows
        scanned = _scanned_images(one.decoded_batch)
        rows = held
        if part.positions is not None and scanned is None:
            rows = {pointer: of.select(part.positions) for pointer, of in held.items()}
        columns: dict[str, dict[str, _Column]] = {}
        for (pointer, index), column in one.columns.items():
            name = held[pointer].image.columns[index].name
            if not rows[pointer].total:
                continue
            sent = columns.setdefault(pointer, {})
            if part.names is not None and name not in part.names:
                continue
            cells = None if scanned is None else _cells_of(column, held[pointer].columns[index])
            if scanned is not None and cells is not None:
                scanned.cells[pointer, name] = cells
                sent[name] = _Column(digest_name(name), _NO_DIGESTS, column.held)
                continue
            mine, chosen = _SentColumn(column.values, column.present), None
            if part.positions is not None:
                chosen = held[pointer].of(part.positions)
                mine = mine.select(chosen)
            there = None if mine.present is None else np.flatnonzero(mine.present)
            if scanned is not None and chosen is not None:
                there = chosen if there is None else chosen[there]
            sent[name] = digested = _Column(digest_name(name), _NO_DIGESTS, there)
            left.append((digested, slice(len(values), len(values) + len(mine.values))))
            values += mine.values
        images = {pointer: _SentImage(rows[pointer].total, found) for pointer, found in columns.items()}
        positions = part.positions if scanned is None else None
        opened[number] = DigestedBatch(one.decoded_batch, rows, images, positions, scanned)
    digests_of_all = digest_values(values)
    for digested, mine_of_all in left:
        digested.digests = mix(digests_of_all[mine_of_all] + np.uint64(digested.name))
    return opened


def _scanned_images(decoded_batch: DecodedBatch) -> _ScannedImages | None:
    """Return what digests the rows of a batch from the bytes of its messages; None if these were not scanned."""
    columns = (column for rows in decoded_batch.rows.values() for column in rows.columns)
    first = next(columns, None)
    return _ScannedImages(first.source) if isinstance(first, ScannedValues) else None


def _cells_of(column: ColumnValues, sent: Sequence[Any]) -> RowCells | None:
    """Return the values of a column by row; None if their tokens do not identify them."""
    values = column.values
    if not isinstance(values, ScannedValues) or not isinstance(sent, ScannedValues) or not values.tokens_identify:
        return None
    cells = sent.cells
    if column.left_out is not None:
        cells = np.where(column.left_out, np.uint64(ABSENT), cells)
    return RowCells(cells)


class _SentColumn(NamedTuple):
    """The values of a column in the rows that have it; `present` marks them, None if all rows do."""

    values: ParsedValues
    present: NDArray[np.bool_] | None

    def select(self, rows: Numbers) -> _SentColumn:
        """Return the column in some of the rows."""
        if self.present is None:
            return _SentColumn(self.values.select(rows), None)
        present = self.present[rows]
        return _SentColumn(self.values.select(np.cumsum(self.present)[rows[present]] - 1), present)


def _something(digests: Digests) -> Digests:
    """Return digests none of which is 0, which means no value."""
    return np.where(digests == NOTHING, np.uint64(1), digests)


def _mix_one(digest: int) -> np.uint64:
    return np.uint64(digests_without_arrow.mix(digest))
