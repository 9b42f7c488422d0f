"""Message fingerprints: numbers that are the same for messages that are alike in some slices of their bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.records.message_values import MessageValues

Numbers = NDArray[np.int64]


def fingerprint_messages(
    values: MessageValues, numbers: Numbers, marks: Sequence[tuple[bytes, bytes | int]]
) -> Numbers:
    """Return the fingerprint of some values, numbered from 0 on in the order of the first value of each.

    A slice begins with a mark, a quoted name, and ends with the first of one or two bytes that end it, or so many bytes
    behind the mark. Values that differ may have the same one by chance: it only tells what is worth a try.
    """
    library, array = native_library(), values.array
    marks = marks[: library.constants["MOST_MARKS"]]
    starts = np.cumsum([0, *(len(text) for text, _ in marks)], dtype=np.int32)
    more = np.array([close if isinstance(close, int) else -1 for _, close in marks], np.int32)
    closes = b"".join(b"\0\0" if isinstance(close, int) else close.ljust(2, b"\0") for _, close in marks)
    _, offsets, data = array.buffers()
    begins, found = (
        np.frombuffer(offsets, np.int32, len(array) + 1, 4 * array.offset),
        np.empty(len(numbers), np.uint64),
    )
    text = b"".join(text for text, _ in marks)
    library.cdc_fingerprint(data, begins, np.ascontiguousarray(numbers), text, starts, more, closes, found)
    _, firsts, places = np.unique(found, return_index=True, return_inverse=True)
    ranks = np.empty(len(firsts), np.int64)
    ranks[np.argsort(firsts)] = np.arange(len(firsts))
    return ranks[places]
