"""Row images of many records at once: the text of each column of each row, as an index into the batch's texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.engine.columns.value_columns import Chunk, ColumnValues
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.native.image_maps import CompletedImages, ImageRows, complete_images
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.known_rows import completing_columns, is_completed
from cdc_contracts.registry.core.values import KEPT_AS_SENT, Flag

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

ColumnTable = dict[tuple[str, int], ColumnValues]


@dataclass(frozen=True, eq=False)
class SideTexts:
    """One completed image of some records: per row and column the index of its text among the batch's texts.

    `records` is the record of each row, `within` its number in the record. `sent` marks the columns of a partial
    image, of the rows that did not hold all columns (`partial`). `left_out` marks the rows of which some value was not
    sent, or is not known; None if there are none.
    """

    names: tuple[str, ...]
    records: Places
    within: Places
    places: Places
    present: Mask
    invalid: Mask
    sent: Mask
    partial: Mask
    left_out: Mask | None = None


Sides = tuple[SideTexts | None, SideTexts | None]


class ImageTexts:
    """The images of one decoded batch as one version reads them; what records have in common is computed once."""

    def __init__(self, decoded_batch: DecodedBatch, columns: ColumnTable, version: int) -> None:
        self._decoded = decoded_batch
        self._columns = columns
        self._version = version
        self._matrices: dict[str, _Matrix] = {}

    def sides(self, reading: Reading, positions: Places) -> Sides:
        """Return the before and after image of the records of one group."""
        sides = reading.images.before, reading.images.after
        before, after = (self._side(reading, positions, side) if side else None for side in sides)
        return before, after

    def _side(self, reading: Reading, positions: Places, side: Side) -> SideTexts | None:
        source = reading.source(side)
        if source is None:
            return None
        image = self._decoded.rows[source]
        records, within = image.within(positions)
        top = self._matrix(source)
        rows = image.start[positions][records] + within
        under_rows: Places | None = None
        taken = completing_columns(reading) if is_completed(reading, side) else None
        if side.completed_from is not None and source == side.at and self._decoded.rows[side.completed_from].total:
            below = self._decoded.rows[side.completed_from]
            there = within < below.count[positions][records]
            under_rows = np.where(there, below.start[positions][records] + within, -1)
            under_image = self._matrix(side.completed_from)
            completed = self._complete(top, under_image, rows, under_rows) if taken is None else None
            if completed is not None:
                places, sent, present, partial = completed
                return SideTexts(top.names, records, within, places, present, np.zeros_like(sent), sent, partial)
        places, present, invalid = top.take(rows)
        sent = present
        partial = np.zeros(len(records), np.bool_)
        if under_rows is not None and side.completed_from is not None:
            there, under_rows = under_rows >= 0, np.maximum(under_rows, 0)
            under_places, under, under_invalid = self._matrix(side.completed_from).take(under_rows)
            under = under & there[:, None]
            partial = np.any(under & ~present, axis=1)
            if taken is not None:
                under = under & np.array([name in taken for name in top.names], np.bool_)
            places = np.where(present, places, under_places)
            invalid = np.where(present, invalid, under_invalid)
            present = present | under
        places = np.where(present, places, 0)
        left_out = None if top.left_out is None else top.left_out[rows]
        if taken is not None:
            left_out = np.ones(len(records), np.bool_)
        return SideTexts(top.names, records, within, places, present, invalid & present, sent, partial, left_out)

    @staticmethod
    def _complete(top: _Matrix, below: _Matrix, rows: Places, under_rows: Places) -> CompletedImages | None:
        """Return images completed by the native part; None if it cannot, or if values are kept as text."""
        if top.kept is not None or below.kept is not None or top.left_out is not None or top.names != below.names:
            return None
        return complete_images(
            ImageRows(top.places, top.present, rows), ImageRows(below.places, below.present, under_rows)
        )

    def _matrix(self, pointer: str) -> _Matrix:
        if pointer not in self._matrices:
            self._matrices[pointer] = self._build(pointer)
        return self._matrices[pointer]

    def _build(self, pointer: str) -> _Matrix:
        rows = self._decoded.rows[pointer]
        known = [
            (index, column)
            for index, column in enumerate(rows.image.columns)
            if column.uses and (not column.typed or column.uses[self._version] is not None)
        ]
        shape = (rows.total, len(known))
        places = np.zeros(shape, np.int64)
        present: Mask | None = None
        kept: Mask | None = None
        left_out: Mask | None = None
        for at, (index, column) in enumerate(known):
            values = self._columns[pointer, index]
            if values.left_out is not None:
                left_out = values.left_out if left_out is None else left_out | values.left_out
            if values.present is not None:
                present = np.ones(shape, np.bool_) if present is None else present
                present[:, at] = values.present
            if not column.typed:
                places[:, at], flagged = _by_kind(column.uses, values), None
            else:
                use = column.uses[self._version]
                chunk = values.chunk_of(use)  # type: ignore[arg-type]
                places[:, at] = chunk.places
                flagged = _kept(chunk, lenient=use is not None and use.lenient)
            if flagged is not None:
                kept = np.zeros(shape, np.bool_) if kept is None else kept
                kept[:, at] = flagged
        return _Matrix(tuple(column.name for _, column in known), places, present, kept, left_out)


@dataclass(frozen=True, eq=False)
class _Matrix:
    """All rows of an image by column; None stands for all present, and for none kept as text."""

    names: tuple[str, ...]
    places: Places
    present: Mask | None
    kept: Mask | None
    left_out: Mask | None

    def take(self, rows: Places) -> tuple[Places, Mask, Mask]:
        shape = (len(rows), len(self.names))
        present = np.ones(shape, np.bool_) if self.present is None else self.present[rows]
        kept = np.zeros(shape, np.bool_) if self.kept is None else self.kept[rows]
        return self.places[rows], present, kept


def differing(left: Sides, right: Sides, texts: pa.Array, records: int) -> Mask:
    """Return a mask of the records for which two readings give different rows."""
    differs = np.zeros(records, np.bool_)
    for mine, other in zip(left, right, strict=True):
        if mine is None or other is None:
            if mine is not other:
                differs[:] = True
            continue
        if len(mine.records) != len(other.records) or (mine.records != other.records).any():
            differs[:] = True
            continue
        unlike = (mine.present != other.present) | (mine.invalid != other.invalid)
        apart = (mine.places != other.places) & mine.present & other.present
        if apart.any():
            mine_texts, other_texts = (
                texts.take(pa.array(mine.places[apart])),
                texts.take(pa.array(other.places[apart])),
            )
            same = pc.equal(mine_texts, other_texts).fill_null(fill_value=False).to_numpy(zero_copy_only=False)
            both_null = pc.and_(pc.is_null(mine_texts), pc.is_null(other_texts)).to_numpy(zero_copy_only=False)
            unlike[apart] |= ~(same | both_null)
        differs[mine.records[unlike.any(axis=1)]] = True
    mine_sent, other_sent = sent_columns(left), sent_columns(right)
    if mine_sent is not None and other_sent is not None:
        (rows, mine_mask, mine_partial), (_, other_mask, other_partial) = mine_sent, other_sent
        if len(mine_mask) == len(other_mask):
            unlike_rows = (mine_partial != other_partial) | ((mine_mask != other_mask).any(axis=1) & mine_partial)
            differs[rows[unlike_rows]] = True
    elif (mine_sent is None) != (other_sent is None):
        result = mine_sent or other_sent
        if result is not None:
            differs[result[0][result[2]]] = True
    return differs


def sent_columns(sides: Sides) -> tuple[Places, Mask, Mask] | None:
    """Return per row the columns of its partial image, and whether it has one; of two sides the first partial one."""
    found: tuple[Places, Mask, Mask] | None = None
    for side in sides:
        if side is None:
            continue
        if found is None:
            found = (side.records, side.sent.copy(), side.partial.copy())
        elif len(found[2]) == len(side.partial):
            later = ~found[2] & side.partial
            found[1][later] = side.sent[later]
            found[2][later] = True
    return found


def _by_kind(uses: Any, values: ColumnValues) -> Places:
    """Return the text index of values read by kind: from the chunk of the one form that accepts each."""
    found: Places | None = None
    for use in uses:
        chunk = values.chunk_of(use)
        foreign = chunk.foreign
        mine = chunk.places if foreign is None else np.where(foreign, 0, chunk.places)
        found = mine if found is None else np.where(found == 0, mine, found)
    return np.zeros(0, np.int64) if found is None else found


def _kept(chunk: Chunk, *, lenient: bool) -> Mask | None:
    flags = chunk.flags
    if flags is None:
        return None
    kept: Mask = np.isin(flags, (*KEPT_AS_SENT, Flag.BROKEN) if lenient else KEPT_AS_SENT)
    return kept
