"""Image changes: the row changes that the images of some records show by two readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.count.image_digests import (
    NOTHING,
    DigestedRows,
    ImagePair,
    Numbers,
)
from cdc_contracts.registry.core.engine.layouts.text_digests import Digests
from cdc_contracts.registry.core.stats.row_changes import CHANGE


class ImageChanges(NamedTuple):
    """Row changes of some records, and the record of each."""

    changes: NDArray[Any]
    records: Numbers


_IMAGES: Final = (("before", "after"), ("other_before", "other_after"))
"""The members of a change that hold the images of each reading."""


def read_changes(images: Sequence[ImagePair], kind: int) -> ImageChanges | None:
    """Return the row changes of records that two readings agree on; None if their rows do not correspond.

    If a key changes, the change is one of both rows, each with its own image only. A row without a key is known by its
    image.
    """
    shown = list_sides(images)
    if not shown:
        return None
    records = shown[0].records
    starts = np.flatnonzero(np.append(True, np.diff(records) != 0)) if len(records) else records
    keys = [np.where(side.key == NOTHING, side.image, side.key) for side in shown]
    alike = np.logical_and.reduce([side.shape == shown[0].shape for side in shown])
    stays = np.logical_and.reduce([key == keys[0] for key in keys])
    moves = np.flatnonzero(~stays & alike)
    total = len(records)
    both = np.zeros(total + len(moves), CHANGE)  # a change of a key is one of both rows: the second stands at the end
    rows = both[:total]
    rows["kind"] = kind
    rows["within"] = np.arange(total) - np.repeat(starts, np.diff(np.append(starts, total)))
    rows["shape"] = np.where(alike & (shown[0].key != NOTHING), shown[0].shape, NOTHING)
    rows["key"] = keys[0]
    for sides, names in zip(images, _IMAGES, strict=True):
        for side, name in zip(sides, names, strict=True):
            if side is not None:
                rows[name] = side.image
    if len(moves):
        one, other = _both(keys, moves)
        both[moves], both[total:] = _moved(rows[moves], images, moves, one), _moved(rows[moves], images, moves, other)
    kept = stays | alike
    if kept.all():
        return ImageChanges(both, np.append(records, records[moves]))
    kept = np.append(kept, np.ones(len(moves), np.bool_))
    return ImageChanges(both[kept], np.append(records, records[moves])[kept])


def list_sides(images: Sequence[ImagePair]) -> list[DigestedRows]:
    """Return the images of some readings; none if their rows do not correspond."""
    shown = [side for sides in images for side in sides if side is not None]
    return shown if all(np.array_equal(side.records, shown[0].records) for side in shown) else []


def _both(keys: Sequence[Digests], moves: Numbers) -> tuple[Digests, Digests]:
    """Return the two keys of changes of a key."""
    one = keys[0][moves]
    other = one
    for key in keys[1:]:
        other = np.where(other == one, key[moves], other)
    return one, other


def _moved(mine: NDArray[Any], images: Sequence[ImagePair], moves: Numbers, key: Digests) -> NDArray[Any]:
    """Return changes of a key as the changes of one of its two rows."""
    mine["key"] = key
    for sides, names in zip(images, _IMAGES, strict=True):
        for side, name in zip(sides, names, strict=True):
            if side is not None:
                own = np.where(side.key == NOTHING, side.image, side.key)[moves]
                mine[name] = np.where(own == key, mine[name], NOTHING)
    return mine
