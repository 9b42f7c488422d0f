"""String bytes: the bytes of an Arrow column of texts, looked at by position."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

DIGITS: Final = 10
PAD: Final = 32
"""Zero bytes kept before and after the bytes of a column, so that windows may reach over its ends."""


class Texts:
    """The bytes of a `pa.string()` array of n rows.

    `starts` and `ends` (n) are positions in the bytes, `lengths` (n) counts bytes. Null rows hold any bytes.
    """

    def __init__(self, values: pa.Array) -> None:
        _, offsets, data = values.buffers()
        bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        self.data: Bytes = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[first:last]
        self.bounds = bounds if first == 0 else bounds - np.int32(first)
        self.starts: Ints = self.bounds[:-1].astype(np.int64)
        self.ends: Ints = self.bounds[1:].astype(np.int64)
        self.lengths: Ints = self.ends - self.starts

    @cached_property
    def padded(self) -> Bytes:
        edge = np.zeros(PAD, np.uint8)
        return np.concatenate((edge, self.data, edge))

    def window(self, width: int, places: Ints | None = None) -> Bytes:
        """Give `width` (at most PAD) bytes from each place as an array (width, n): one contiguous row per position.

        Bytes beyond the end of a row are those of its neighbours.
        """
        return slide(self.padded, width, (self.starts if places is None else places) + PAD)


def are_digits(data: Bytes) -> Mask:
    """Mark the bytes that are ASCII digits."""
    fits: Mask = (data - np.uint8(ord("0"))) < DIGITS  # a smaller byte wraps round to a large one
    return fits


def slide(buffer: Bytes, width: int, places: Ints) -> Bytes:
    """Give `width` bytes from each of n places as an array (width, n)."""
    sliding: NDArray[np.void] = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, 0, (1,))
    return np.ascontiguousarray(sliding[places].view(np.uint8).reshape(len(places), width).T)
