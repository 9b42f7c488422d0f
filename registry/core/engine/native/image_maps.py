"""Image maps: the images of rows, completed and as maps of texts, from the places of their texts in one pass."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.native_interface import Buffer
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.typed_columns import texts_of

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]


class ImageRows(NamedTuple):
    """Some rows of images: by row and column the index of each text, and whether it is there (None: all are).

    `rows` are those that are wanted, -1 where there is none.
    """

    places: Places
    present: Mask | None
    rows: Places


class CompletedImages(NamedTuple):
    """Images with the columns that they lacked: by row and column the index of each text.

    Masks of the same form say what was sent, and what is there; `partial` are the rows that were completed.
    """

    places: Places
    sent: Mask
    there: Mask
    partial: Mask


_MOST: Final = 2**31 - 1


class Block(Protocol):
    """The images of some rows with the same columns: by row and column the index of each text.

    `present` says which columns each row has; None if every row has all.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def places(self) -> Places: ...

    @property
    def present(self) -> Mask | None: ...


def write_maps(
    blocks: Sequence[Block | None],
    starts: Places,
    block_of: NDArray[np.int32],
    order: Places,
    texts: pa.StringArray,
) -> pa.MapArray | None:
    """Return the images of rows as maps of names and texts; None if there is no library, or they are too long for it.

    `block_of` has the block of each row, `starts` the first row of each block; rows of no block have no image. `order`
    are the rows that are wanted.
    """
    library = native_library()
    if library is None:
        return None
    known: dict[str, int] = {}
    held, make_block = [], library.structures["Block"]
    given = (make_block * max(1, len(blocks)))()
    # Rows of one table are of few of the blocks that those of all tables have.
    used = np.zeros(len(blocks), np.bool_)
    used[block_of[order]] = True
    for number in np.flatnonzero(used).tolist():
        block = blocks[number]
        if block is None:
            used[number] = False
        else:
            ids = np.array([known.setdefault(name, len(known)) for name in block.names], np.int64)
            places, present = np.ascontiguousarray(block.places), block.present
            present = None if present is None else np.ascontiguousarray(present)
            held.append((ids, places, present))  # has to outlive the calls
            memory = map(Buffer.from_param, (places, present, ids))
            given[number] = make_block(*memory, len(ids), int(starts[number]), 1)
    rows, totals, names = len(order), np.zeros(3, np.int64), pa.array(list(known), pa.string())
    order, block_of = np.ascontiguousarray(order), np.ascontiguousarray(block_of)
    common = given, block_of, order, *texts_of(names), *texts_of(texts), texts.buffers()[0], texts.offset, totals
    library.cdc_measure_images(*common)
    entries, key_bytes, item_bytes = totals.tolist()
    if max(entries, key_bytes, item_bytes) > _MOST:
        return None
    begins = np.empty(rows + 1, np.int32)
    keys, items = (
        (pa.allocate_buffer(4 * (entries + 1)), pa.allocate_buffer(size)) for size in (key_bytes, item_bytes)
    )
    valid = np.zeros((entries + 7) // 8, np.uint8)
    library.cdc_write_images(*common, begins, *keys, *items, valid)
    held_by = used[block_of[order]]
    missing = None if held_by.all() else np.append(~held_by, False)
    return pa.MapArray.from_arrays(
        pa.array(begins, mask=missing),
        pa.StringArray.from_buffers(entries, *keys),
        pa.StringArray.from_buffers(entries, *items, pa.py_buffer(valid)),
    )


def complete_images(image: ImageRows, under: ImageRows) -> CompletedImages | None:
    """Return images with what the images under them have of columns that they lack; None if there is no library."""
    library = native_library()
    if library is None:
        return None
    shape = len(image.rows), image.places.shape[1]
    sources = [_source_of(library, image), _source_of(library, under)]
    places, partial = np.empty(shape, np.int64), np.zeros(shape[0], np.bool_)
    sent, there = np.empty(shape, np.bool_), np.empty(shape, np.bool_)
    library.cdc_complete_images(*(ctypes.byref(source) for source, _ in sources), *shape, places, sent, there, partial)
    return CompletedImages(places, sent, there, partial)


def _source_of(library: Any, image: ImageRows) -> tuple[Any, tuple[NDArray[Any] | None, ...]]:
    """Return the memory of rows of images, and the arrays, which have to outlive the call."""
    held = tuple(None if part is None else np.ascontiguousarray(part) for part in image)
    return library.structures["Source"](*map(Buffer.from_param, held)), held
