"""Text image values: messages whose images are JSON texts, opened in C where it is sure what `TextImages` returns."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.native_library import is_eager, native_library
from cdc_contracts.registry.core.message.text_images import TextImages
from cdc_contracts.registry.core.records.message_values import MessageValues

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_LEAST: Final = 4
"""Fewer messages are not worth a call."""
_IMAGE: Final = -1


class TextImageValues(MessageValues):
    """Messages as they are sent, which `array` has; each that is asked for is opened.

    The row of one may be that of its key; keys that are not known may hold any row.
    """

    def __init__(self, sent: MessageValues, keys: pa.BinaryArray | None, images: TextImages) -> None:
        super().__init__(sent.array)
        self._keys, self._images = keys, images

    def __getitem__(self, number: Any) -> Any:
        value = super().__getitem__(number)
        if value is None:
            return None
        return self._images.open(value, self._images.any_key if self._keys is None else self._keys[number].as_py())

    def take(self, numbers: Numbers) -> MessageValues:
        return self.opened(numbers).take(numbers)

    def opened(self, numbers: Numbers) -> MessageValues:
        """Return some of the values opened, at their places, with null in the places of the others."""
        wanted = np.zeros(len(self), np.bool_)
        wanted[numbers] = True
        if self.array.null_count:
            wanted &= ~self._nulls()
        opened, left = self.open_natively(wanted)
        if not len(left):
            return MessageValues(opened)
        places, mask = pa.array(left), np.zeros(len(self), np.bool_)
        mask[left] = True
        keys = [self._images.any_key] * len(left) if self._keys is None else self._keys.take(places).to_pylist()
        pairs = zip(self.array.take(places).to_pylist(), keys, strict=True)
        rest = pa.array([self._images.open(value, key) for value, key in pairs], pa.binary())
        return MessageValues(pc.replace_with_mask(opened, pa.array(mask), rest))

    def open_natively(self, wanted: Mask) -> tuple[pa.BinaryArray, Numbers]:
        """Return the wanted values, opened where C is sure, and the numbers of those that it leaves as they came."""
        options, library, total = self._images.reading_options, native_library(), len(self)
        plan = None if library is None else _plan_of(self._images.places, library.constants["MOST_HOLDERS"])
        _, starts, data = self.array.buffers()
        few = wanted.sum() < (1 if is_eager() else _LEAST)
        if options.strict_json or plan is None or data is None or few:
            return pa.nulls(total, pa.binary()), np.flatnonzero(wanted)
        offsets = np.frombuffer(starts, np.int32, total + 1, 4 * self.array.offset)
        size = int(np.diff(offsets)[wanted].sum())
        opened, ends, left = pa.allocate_buffer(size), np.empty(total + 1, np.int32), np.empty(total, np.int64)
        refused = library.cdc_open_texts(
            data, offsets, wanted.view(np.uint8), self._keyed(), *plan, options.max_bytes, opened, ends, left
        )
        valid = pa.py_buffer(np.packbits(wanted, bitorder="little"))
        return pa.BinaryArray.from_buffers(pa.binary(), total, [valid, pa.py_buffer(ends), opened]), left[:refused]

    def _keyed(self) -> NDArray[np.uint8] | None:
        """Return which keys may hold the row of their message; None if none may."""
        if not self._images.takes_keys:
            return None
        if self._keys is None:
            return np.full(len(self), self._images.any_key is not None, np.uint8)
        return self._keys.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _plan_of(places: tuple[tuple[str, ...], ...], most_holders: int) -> tuple[NDArray[np.int32], bytes] | None:
    """Return the members that lead to images as C takes them, and their names; None if too many objects hold them."""
    holders: dict[tuple[str, ...], int] = {(): 0}
    for place in places:
        for depth in range(1, len(place)):
            holders.setdefault(place[:depth], len(holders))
    if len(holders) > most_holders:
        return None
    members, names = [], b""
    for path in dict.fromkeys((*holders, *places)):
        if path:
            name = path[-1].encode()
            members.append((len(names), len(name), holders[path[:-1]], holders.get(path, _IMAGE)))
            names += name
    return np.array(members, np.int32), names
