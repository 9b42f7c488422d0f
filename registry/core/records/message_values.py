"""Message values of a batch: bytes as Arrow holds them, taken one by one or many at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_messages import depth_exceeds

_OPEN, _CLOSE = b"{}"
_LOWER = 0x20
"""Turns `[` into `{` and leaves `{` unchanged."""
_CACHED = 64 * 1024
"""How many bytes fit in the cache of a processor."""


class MessageValues(Sequence[bytes | None]):
    """The values of a batch; None is a tombstone."""

    def __init__(self, array: pa.Array | Iterable[bytes | None]) -> None:
        self.array: pa.BinaryArray = array if isinstance(array, pa.BinaryArray) else pa.array(array, pa.binary())

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, number: Any) -> Any:
        return self.array[number].as_py()

    def take(self, numbers: NDArray[np.int64]) -> MessageValues:
        return MessageValues(self.array.take(pa.array(numbers)))

    def tombstones(self) -> list[int]:
        """Return the numbers of the values that are null."""
        return np.flatnonzero(self._nulls()).tolist() if self.array.null_count else []

    def hold(self, part: bytes) -> NDArray[np.bool_]:
        """Return for each value whether it contains some bytes; a null contains none."""
        found = pc.match_substring(self.array, part)
        return pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    def are_objects(self, limit: int) -> NDArray[np.bool_]:
        """Return for each value whether it begins with `{`, ends with `}` and has at most `limit` bytes."""
        data, offsets = self._data, self._offsets
        if not len(data):
            return np.zeros(len(self), np.bool_)
        starts, ends = offsets[:-1], offsets[1:]
        lengths = ends - starts
        opened = data[np.minimum(starts, len(data) - 1)] == _OPEN
        closed = data[np.maximum(ends - 1, 0)] == _CLOSE
        found: NDArray[np.bool_] = opened & closed & (lengths > 1) & (lengths <= limit)
        return found if not self.array.null_count else found & ~self._nulls()

    def are_readable(self, depth: int) -> NDArray[np.bool_]:
        """Return for each value whether it is valid UTF-8 and nests no deeper than `depth`; true for a null.

        The parser does not look into the first of two members with the same name.
        """
        found = np.ones(len(self), np.bool_)
        try:
            self.array.cast(pa.string())
        except pa.ArrowInvalid:
            found &= [value is None or _is_utf8(value) for value in self]
        for number in self._holding_brackets(depth):
            found[number] &= not depth_exceeds(self[number], depth)
        return found

    def _holding_brackets(self, most: int) -> list[int]:
        """Return the indexes of the values that contain more than a number of opening brackets."""
        data, offsets = self._data, self._offsets
        if len(data) <= most:
            return []
        opened = np.concatenate([
            np.flatnonzero((data[start : start + _CACHED] | _LOWER) == _OPEN) + start
            for start in range(0, len(data), _CACHED)
        ] or [np.zeros(0, np.int64)])  # fmt: skip
        longest = int((offsets[1:] - offsets[:-1]).max())
        if len(opened) <= most or (opened[most:] - opened[:-most]).min() >= longest:
            return []  # mostly: so many brackets are spread over several values
        places = np.searchsorted(opened, offsets)
        return np.flatnonzero(np.diff(places) > most).tolist()

    def joined(self, start: int, stop: int) -> bytes:
        """Return the values from `start` to before `stop`, none of them null, with line feeds between them."""
        ends = (self._offsets[start : stop + 1] - self._offsets[start]).tolist()
        text = self._data[self._offsets[start] : self._offsets[stop]].tobytes()
        return b"\n".join([text[first:last] for first, last in pairwise(ends)])

    @cached_property
    def _offsets(self) -> NDArray[np.int32]:
        """Where each value begins in the text of all, and where the last ends."""
        buffer = self.array.buffers()[1]
        if not len(self) or buffer is None:
            return np.zeros(1, np.int32)
        offsets = np.frombuffer(buffer, np.int32, len(self) + 1, 4 * self.array.offset)
        return offsets - offsets[0]  # type: ignore[no-any-return]

    @cached_property
    def _data(self) -> NDArray[np.uint8]:
        """The bytes of all values, one after the other."""
        _, offsets, data = self.array.buffers()
        if not len(self) or data is None or not data.size:
            return np.zeros(0, np.uint8)
        first = int(np.frombuffer(offsets, np.int32, 1, 4 * self.array.offset)[0])
        return np.frombuffer(data, np.uint8, int(self._offsets[-1]), first)

    def _nulls(self) -> NDArray[np.bool_]:
        return self.array.is_null().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
