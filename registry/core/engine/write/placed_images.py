"""Placed images: the images of rows as places of texts. They become maps only where `changes/` is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.image_maps import write_maps

T = TypeVar("T", bound=np.generic)
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]


class ImageBlock(NamedTuple):
    """The images of one side of some rows with the same columns: by row and column the index of each text.

    `present` says which columns each row has; None if every row has all.
    """

    names: tuple[str, ...]
    places: Places
    present: Mask | None


class NamedPlaces(NamedTuple):
    """Images by the columns of a layout: by column and row the index of each text, -1 where there is none.

    `there` are the rows that have an image. Entries of no column follow in their order: their rows, texts and names.
    """

    there: Mask
    places: Places
    other_rows: Places
    other_places: Places
    other_names: Sequence[str]


@dataclass(frozen=True, eq=False)
class PlacedImages:
    """The images of one side of some rows, by blocks of rows with the same columns; None stands for no image.

    `starts` has the first row of each block, `block_of` the block of each row; `order` are the rows that count, in
    their order.
    """

    blocks: Sequence[ImageBlock | None]
    starts: Places
    block_of: NDArray[np.int32]
    order: Places
    texts: pa.StringArray

    def select(self, rows: Places | slice) -> PlacedImages:
        """Return the images of some of the rows."""
        return replace(self, order=self.order[rows])

    @cached_property
    def nbytes(self) -> int:
        """The bytes of the places, without those of the texts."""
        return sum(block.places.nbytes for block in self.blocks if block is not None)

    def as_maps(self) -> pa.MapArray:
        """Return the images as maps of names and texts."""
        found = write_maps(self.blocks, self.starts, self.block_of, self.order, self.texts)
        return self._join_maps() if found is None else found

    def by_name(self, columns: Mapping[str, int]) -> NamedPlaces:
        """Return the images by column; `columns` has the number of each."""
        total = len(self.order)
        there, places = np.zeros(total, np.bool_), np.full((len(columns), total), -1, np.int64)
        others: list[tuple[Places, Places, list[str]]] = []
        for number, rows in self._by_block():
            block = self.blocks[number]
            if block is None:
                continue
            there[rows] = True
            own = self.order[rows] - self.starts[number]
            held, present = _take(block.places, own), None if block.present is None else _take(block.present, own)
            wanted = np.array([columns.get(name, -1) for name in block.names], np.int64)
            mine = held if present is None else np.where(present, held, -1)
            for place in np.flatnonzero(wanted >= 0).tolist():
                places[wanted[place], rows] = mine[:, place]
            if (wanted < 0).any():
                others.append(_others_of(block, held, present, wanted, np.arange(total)[rows]))
        return NamedPlaces(there, places, *_in_order(others))

    def _by_block(self) -> list[tuple[int, Places | slice]]:
        """Return the blocks, with the rows that are of each."""
        codes = self.block_of[self.order]
        if not len(codes):
            return []
        if (codes == codes[0]).all():
            return [(int(codes[0]), slice(None))]
        order = np.argsort(codes, kind="stable")
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        return [(int(codes[rows[0]]), rows) for rows in np.split(order, cuts)]

    def _join_maps(self) -> pa.MapArray:
        known: dict[str, int] = {}
        sizes = np.diff(np.append(self.starts, len(self.block_of)))
        counts, names, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for block, rows in zip(self.blocks, sizes.tolist(), strict=True):
            if block is None:
                counts.append(np.full(rows, -1, np.int64))
                continue
            ids = np.array([known.setdefault(name, len(known)) for name in block.names], np.int64)
            present = np.ones(block.places.shape, np.bool_) if block.present is None else block.present
            places.append(block.places[present])
            names.append(np.broadcast_to(ids, present.shape)[present])
            counts.append(present.sum(axis=1))
        of_row = np.concatenate(counts)
        held = np.maximum(of_row, 0)
        starts = (np.cumsum(held) - held)[self.order]
        of_row, held = of_row[self.order], held[self.order]
        offsets = np.concatenate([[0], np.cumsum(held)])
        chosen = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], held)
        keys = pa.array(list(known), pa.string()).take(pa.array(np.concatenate(names)[chosen]))
        items = self.texts.take(pa.array(np.concatenate(places)[chosen]))
        missing = np.append(of_row < 0, False)
        return pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32), mask=missing), keys, items)


def _take(values: NDArray[T], rows: Places) -> NDArray[T]:
    """Return some rows; all of them as they are."""
    if len(rows) == len(values) and bool((rows == np.arange(len(rows))).all()):
        return values
    return values[rows]


def _others_of(
    block: ImageBlock, places: Places, present: Mask | None, wanted: Places, rows: Places
) -> tuple[Places, Places, list[str]]:
    """Return the entries of a block that are of no wanted column, row after row."""
    columns = np.flatnonzero(wanted < 0)
    held = np.ones((len(rows), len(columns)), np.bool_) if present is None else present[:, columns]
    own, column = np.nonzero(held)
    return rows[own], places[own, columns[column]], [block.names[one] for one in columns[column].tolist()]


def _in_order(parts: Sequence[tuple[Places, Places, list[str]]]) -> tuple[Places, Places, Sequence[str]]:
    """Return entries in the order of their rows; those of one row are in one part."""
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), ()
    rows, places = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
    names = [name for part in parts for name in part[2]]
    order = np.argsort(rows, kind="stable")
    return rows[order], places[order], [names[place] for place in order.tolist()]
