"""Base64 columns decoded as a whole: Arrow has no kernel for it, and a call per value takes ten times as long."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PAD: Final = ord("=")
_NONE: Final = 255

_SIXES: Final = np.full(256, _NONE, np.uint8)
_SIXES[np.frombuffer(_ALPHABET, np.uint8)] = np.arange(64, dtype=np.uint8)


def read_base64(texts: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Return the bytes of padded Base64 texts, and which texts are none; these and nulls are null.

    A text whose last digit holds bits that belong to no byte is not Base64: its bytes would be encoded differently.
    """
    texts = pa.concat_arrays([texts])  # of its own: no slice of a longer array
    held = texts.is_valid().to_numpy(zero_copy_only=False)
    letters, starts, lengths = _letters(texts)
    sixes = _SIXES[letters]
    pads = _pads(letters, starts, lengths)
    sixes[_places(starts + lengths - pads, pads)] = 0

    broken = held & ((lengths % 4 != 0) | (_sums(sixes == _NONE, starts, lengths) > 0))
    broken |= _spills(sixes, starts, lengths, pads)
    kept = held & ~broken
    sixes = sixes if kept.all() else sixes[np.repeat(kept, lengths)]
    quads = sixes.reshape(-1, 4).astype(np.uint32)
    joined = quads[:, 0] << 18 | quads[:, 1] << 12 | quads[:, 2] << 6 | quads[:, 3]
    octets = np.stack([joined >> 16, joined >> 8, joined], axis=1).astype(np.uint8).ravel()

    full = np.where(kept, lengths // 4 * 3, 0)
    ends = np.cumsum(full)
    padded = np.where(kept, pads, 0)
    octets = np.delete(octets, _places(ends - padded, padded)) if padded.any() else octets
    offsets = np.concatenate([[0], np.cumsum(full - padded)]).astype(np.int32)
    validity = pa.py_buffer(np.packbits(kept, bitorder="little").tobytes())
    buffers = [validity, pa.py_buffer(offsets.tobytes()), pa.py_buffer(octets.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers), broken


def _letters(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return the letters of all texts one after another, where each begins and how many it has; nulls have none."""
    texts = texts.fill_null("")
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    letters = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data is not None else np.zeros(0, np.uint8)
    return letters, ends[:-1] - ends[0], np.diff(ends)


def _pads(letters: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of its last two letters are `=`, for each text."""
    pads = np.zeros(len(starts), np.int64)
    there = np.flatnonzero(lengths >= 4)  # noqa: PLR2004  a text of Base64 has whole quads
    ends = starts[there] + lengths[there]
    last = letters[ends - 1] == _PAD
    pads[there] = last.astype(np.int64) + (last & (letters[ends - 2] == _PAD))
    return pads


def _places(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `counts` places from each of `firsts` on; a count is 0, 1 or 2."""
    return np.concatenate([firsts[counts >= 1], firsts[counts == 2] + 1])  # noqa: PLR2004


def _sums(marked: NDArray[np.bool_], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.concatenate([[0], np.cumsum(marked)])
    found: NDArray[np.int64] = sums[starts + lengths] - sums[starts]
    return found


def _spills(
    sixes: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], pads: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which texts have a last digit before the padding with bits that belong to no byte."""
    spilt = np.zeros(len(starts), np.bool_)
    padded = np.flatnonzero(pads)
    last = sixes[starts[padded] + lengths[padded] - pads[padded] - 1]
    spilt[padded] = (last & np.where(pads[padded] == 1, 0b11, 0b1111).astype(np.uint8)) != 0
    return spilt
