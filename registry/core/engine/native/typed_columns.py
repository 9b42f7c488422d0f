"""Typed columns: values of typed columns read from the texts of images, where plain texts are all there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.native.native_interface import Buffer
from cdc_contracts.registry.core.engine.native.native_library import native_library

Places = NDArray[np.int64]

MOST_COLUMNS: Final = 256
"""Keys of more columns are not looked for one after the other."""
_WHOLE, _DECIMAL, _DATE, _CLOCK, _INSTANT, _FLOAT = range(6)
_WIDTHS: Final = (8, 16, 4, 8, 8, 8)


class PlacedKeys(NamedTuple):
    """Of maps, per column and row the entry with the name of the column, -1 if there is none, and the other entries."""

    places: Places
    others: Places


def place_keys(images: pa.MapArray, names: Sequence[str]) -> PlacedKeys | None:
    """Return where the entries of maps are, counted from the first; None if that is not for this library to say."""
    library = native_library()
    if library is None or len(names) > MOST_COLUMNS:
        return None
    validity, offsets = images.buffers()[:2]
    keys, listed = images.keys, pa.array(names, pa.string())
    first, last = (int(images.offsets[place].as_py()) for place in (0, len(images)))
    places, others = np.full((len(names), len(images)), -1, np.int64), np.empty(last - first, np.int64)
    count = library.cdc_place_keys(
        *texts_of(keys, first), Buffer.from_param(offsets).behind(4 * images.offset), validity, images.offset,
        len(images), *texts_of(listed), len(names), places, others,
    )  # fmt: skip
    return PlacedKeys(places, others[:count])


def read_texts(parts: Sequence[tuple[pa.StringArray, Places]], type_: pa.DataType) -> pa.Array | None:
    """Return the values of texts, one part after the other; -1 is the place of no text.

    None if one is not plainly a value of the type, or this library does not read such values.
    """
    library, kind = native_library(), _kind_of(type_)
    if library is None or (kind is None and type_ != pa.binary()):
        return None
    given = [
        (*texts_of(texts), texts.buffers()[0], texts.offset, np.ascontiguousarray(places)) for texts, places in parts
    ]
    total = sum(len(places) for _, places in parts)
    valid = np.zeros((total + 7) // 8, np.uint8)
    if kind is None:
        return _read_base64(library, given, total, valid)
    values = np.empty(total * _WIDTHS[kind], np.uint8)
    digits = (type_.precision, type_.scale) if kind == _DECIMAL else (0, 0)
    first = 0
    for part in given:
        if not library.cdc_read_texts(*part, kind, *digits, values, valid, first):
            return None
        first += len(part[-1])
    return pa.Array.from_buffers(type_, total, [pa.py_buffer(valid), pa.py_buffer(values)])


def _read_base64(library: Any, given: Sequence[Any], total: int, valid: NDArray[np.uint8]) -> pa.Array | None:
    """Return the bytes of Base64 texts; None if one is none."""
    size = 0
    for part in given:
        size = library.cdc_read_base64(*part, size, None, None, None, 0)
        if size < 0:
            return None
    ends, data = np.zeros(total + 1, np.int32), np.empty(max(size, 1), np.uint8)
    end = first = 0
    for part in given:
        end = library.cdc_read_base64(*part, end, ends[1:], data, valid, first)
        if end < 0:
            return None
        first += len(part[-1])
    return pa.Array.from_buffers(pa.binary(), total, [pa.py_buffer(valid), pa.py_buffer(ends), pa.py_buffer(data)])


def _kind_of(type_: pa.DataType) -> int | None:
    if pa.types.is_decimal(type_):
        return _DECIMAL
    if pa.types.is_timestamp(type_):
        return _INSTANT if type_.tz else _CLOCK
    return {pa.int64(): _WHOLE, pa.date32(): _DATE, pa.float64(): _FLOAT}.get(type_)


def texts_of(texts: pa.StringArray, first: int = 0) -> tuple[Buffer, pa.Buffer | None]:
    """Return the offsets of texts, from the first that is wanted on, and their bytes."""
    _, offsets, data = texts.buffers()
    return Buffer.from_param(offsets).behind(4 * (texts.offset + first)), data
