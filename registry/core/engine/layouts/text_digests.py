"""Text digests: texts as numbers of 64 bits, many at once and the same in every process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.stats import digests_without_arrow
from cdc_contracts.registry.core.stats.digests_without_arrow import BASE, PERIOD, as_text

Digests = NDArray[np.uint64]

NULL: Final = np.uint64(digests_without_arrow.NULL)
_FIRST, _SECOND = np.uint64(digests_without_arrow.FIRST), np.uint64(digests_without_arrow.SECOND)
_NO_BYTES: Final = np.zeros(0, np.uint8)


def digest_values(values: Sequence[Any]) -> Digests:
    """Return the digest of every value as it was sent: a text, a number, a boolean or None.

    Numbers are digested as texts; those with a fraction or exponent as the nearest float.
    """
    try:
        texts = pa.array(values, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        texts = pa.array([as_text(value) for value in values], pa.string())
    encoded = texts.dictionary_encode()
    digests = np.append(_digest_texts(encoded.dictionary), NULL)
    places: NDArray[np.int64] = encoded.indices.fill_null(len(digests) - 1).to_numpy(zero_copy_only=False)
    return digests[places]


def mix(digests: Digests) -> Digests:
    """Return digests in which every bit depends on every bit of the input."""
    mixed = (digests ^ (digests >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _digest_texts(texts: pa.Array) -> Digests:
    """Return a polynomial of the words of eight bytes of each text, independent of its position in memory."""
    if not len(texts):
        return np.zeros(0, np.uint64)
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    lengths = np.diff(places)
    total = int(places[-1] - places[0])
    held = np.frombuffer(data, np.uint8)[places[0] : places[-1]] if total else _NO_BYTES
    counts = (lengths + 7) // 8
    starts = np.append(0, np.cumsum(counts))
    padded = np.zeros(int(starts[-1]) * 8, np.uint8)
    padded[np.arange(total) + np.repeat(starts[:-1] * 8 - places[:-1] + places[0], lengths)] = held
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    sums = np.zeros(int(starts[-1]) + 1, np.uint64)
    np.cumsum((padded.view("<u8") + np.uint64(1)) * _powers()[within % PERIOD], out=sums[1:])
    return mix(sums[starts[1:]] - sums[starts[:-1]] + lengths.astype(np.uint64) * NULL)


@lru_cache(maxsize=1)
def _powers() -> Digests:
    steps = np.full(PERIOD, BASE, np.uint64)
    return np.multiply.accumulate(steps)
