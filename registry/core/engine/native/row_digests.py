"""Row digests: digests of the images of many rows, of their columns and of their keys, from the bytes of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.native_interface import Buffer
from cdc_contracts.registry.core.engine.native.scanned_columns import ScannedBytes
from cdc_contracts.registry.core.stats.digests_without_arrow import NULL, digest_name, mix

Digests = NDArray[np.uint64]
Numbers = NDArray[np.int64]

_MASK: Final = 2**64 - 1
_ROOM: Final = 4096
"""Bytes for a text with escapes; a longer one is given more."""
_BEFORE: Final = 8
"""Bytes that C reads before such a text."""
_EMPTY: Final = Buffer(None, 0)


class RowCells(NamedTuple):
    """The values of a column by row: cells, or digests with the name of the column, 0 where there is none."""

    cells: NDArray[np.uint64] | None
    digests: Digests | None = None


RowColumns = Mapping[str, RowCells]


class RowDigester:
    """Digests rows by their columns; a column that a row lacks is that of a row `below`, if there is one."""

    def __init__(self, source: ScannedBytes, top: RowColumns, below: RowColumns, key: Sequence[str]) -> None:
        self._source, self._held = source, (top, below)
        self._columns = b"".join(_describe(source.library, top, below, key))
        self._room = np.empty(_ROOM, np.uint8)

    def digest(self, rows: Numbers, below: Numbers | None) -> tuple[Digests, Digests | None]:
        """Return the digests of some rows, and of the rows below them: of values, of columns, and of keys (0: none).

        `below` has the row below each, -1 where there is none.
        """
        total, library = len(rows), self._source.library
        own, lower = np.empty((3, total), np.uint64), None if below is None else np.empty((3, total), np.uint64)
        given, rows = (self._source.memory, self._columns), np.ascontiguousarray(rows)
        longest = library.cdc_digest_rows(*given, rows, below, self._room, own, lower)
        if longest + _BEFORE > len(self._room):
            self._room = np.empty(longest + _BEFORE, np.uint8)
            library.cdc_digest_rows(*given, rows, below, self._room, own, lower)
        return own, lower


def _describe(library: Any, top: RowColumns, below: RowColumns, key: Sequence[str]) -> Iterator[Any]:
    """Yield the columns of an image as C takes them; a column of the key that it lacks is empty."""
    nothing = RowCells(None)
    for name in dict.fromkeys((*top, *below, *key)):
        held = top.get(name, nothing), below.get(name, nothing)
        memory = (_EMPTY if part is None else Buffer.from_param(part) for one in held for part in one)
        yield library.structures["DigestedColumn"](*memory, *_digests_of(name), key.count(name))


@lru_cache(maxsize=65_536)
def _digests_of(name: str) -> tuple[int, int, int]:
    """Return the digest of a name, the mix of it, and that of null with it."""
    digest = digest_name(name)
    return digest, mix(digest), mix((NULL + digest) & _MASK)
