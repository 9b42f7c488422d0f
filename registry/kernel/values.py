"""The values of a batch: bytes as Arrow holds them, taken one by one or many at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_OPEN, _CLOSE = b"{}"


class Values(Sequence[bytes | None]):
    """The values of a batch; None is a tombstone."""

    def __init__(self, array: pa.Array | Iterable[bytes | None]) -> None:
        self.array: pa.BinaryArray = array if isinstance(array, pa.BinaryArray) else pa.array(array, pa.binary())

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, number: Any) -> Any:
        return self.array[number].as_py()

    def take(self, numbers: NDArray[np.int64]) -> Values:
        return Values(self.array.take(pa.array(numbers)))

    def tombstones(self) -> list[int]:
        """Return the numbers of the values that are null."""
        return np.flatnonzero(self._nulls()).tolist() if self.array.null_count else []

    def hold(self, part: bytes) -> NDArray[np.bool_]:
        """Say of each value whether some bytes stand in it; a null holds none."""
        found = pc.match_substring(self.array, part)
        return pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    def tidy(self, limit: int) -> NDArray[np.bool_]:
        """Say of each value whether it begins with `{`, ends with `}` and has at most `limit` bytes."""
        _, offsets_buffer, data_buffer = self.array.buffers()
        if not len(self) or data_buffer is None or not data_buffer.size:
            return np.zeros(len(self), np.bool_)
        first = self.array.offset
        offsets = np.frombuffer(offsets_buffer, np.int32, len(self) + 1, 4 * first)
        data = np.frombuffer(data_buffer, np.uint8)
        starts, ends = offsets[:-1], offsets[1:]
        lengths = ends - starts
        opened = data[np.minimum(starts, len(data) - 1)] == _OPEN
        closed = data[np.maximum(ends - 1, 0)] == _CLOSE
        found: NDArray[np.bool_] = opened & closed & (lengths > 1) & (lengths <= limit)
        return found if not self.array.null_count else found & ~self._nulls()

    def joined(self, start: int, stop: int) -> bytes:
        """Return the values from `start` to before `stop`, none of them null, with line feeds between them."""
        return b"\n".join(self.array.slice(start, stop - start).to_pylist())

    def _nulls(self) -> NDArray[np.bool_]:
        return self.array.is_null().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
