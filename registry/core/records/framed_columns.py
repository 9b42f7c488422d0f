"""Framed columns: values or keys of records behind the frames that the headers of their records stand for."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.records.record_batches import is_header_text, read_headers
from cdc_contracts.registry.core.writer_schemas.schema_headers import NAMES, PARTS, Header, Part, frame_in

_PATTERNS: Final = {part: rf'"key"\s*:\s*"(?:{"|".join(names)})"'.replace(".", "[.]") for part, names in NAMES.items()}
"""What the JSON text of headers has if one of them names a schema."""
_MOST: Final = 2**62


class HeaderFrames(NamedTuple):
    """What the headers of records say of the schema of their values or keys: for each the frame, empty if nothing.

    A frame is null where headers cannot be read; `refused` says why. `frames` is None if no header names a schema.
    """

    frames: pa.BinaryArray | None
    refused: Mapping[int, Unreadable]


class FramedColumn(NamedTuple):
    """The values or keys of records, each with its frame, and why the headers of some say nothing of a schema.

    Those are null, so that nothing takes their bytes for a frame.
    """

    array: pa.BinaryArray
    failures: Mapping[int, Unreadable]


class _Headers(NamedTuple):
    """Headers that name schemas, each combination of them once, and which of these each record has; -1 for none."""

    distinct: Sequence[Sequence[Header]]
    places: NDArray[np.int64]


def framed_column(records: pa.RecordBatch, part: Part) -> FramedColumn:
    """Return the values or keys of records with the frames of their headers; as they are if no header names a schema.

    `records` have the columns of the Kafka source, `headers` perhaps as JSON text with Base64 values.
    """
    array = records.column(part) if part in records.schema.names else pa.nulls(len(records))
    array = array if array.type == pa.binary() else array.cast(pa.binary())
    frames, refused = header_frames(records, part)
    if frames is None:
        return FramedColumn(array, {})
    if refused:
        held = array.is_valid().to_pylist()
        refused = {number: error for number, error in refused.items() if held[number]}
    return FramedColumn(pc.binary_join_element_wise(frames, array, pa.scalar(b"", pa.binary())), refused)


def with_frames(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records whose values and keys have the frames of their headers; as they are where none can be read."""
    for part in PARTS:
        place = records.schema.get_field_index(part)
        array, failures = framed_column(records, part)
        if failures:
            array = pc.if_else(array.is_valid(), array, records.column(part))
        records = records if place < 0 else records.set_column(place, part, array)
    return records


def header_frames(records: pa.RecordBatch, part: Part) -> HeaderFrames:
    """Return the frames that the headers of records stand for in front of values or keys."""
    found = _find_headers(records.column("headers"), part) if "headers" in records.schema.names else None
    if found is None:
        return HeaderFrames(None, {})
    frames, refused = list[bytes | None](), dict[int, Unreadable]()
    for place, headers in enumerate(found.distinct):
        try:
            frames.append(frame_in(headers, part))
        except Unreadable as error:
            frames.append(None)
            refused[place] = error
    distinct = pa.array([*frames, b""], pa.binary())
    failing = np.flatnonzero(np.isin(found.places, list(refused))).tolist() if refused else ()
    return HeaderFrames(
        distinct.take(pa.array(found.places % len(distinct))),
        {number: refused[int(found.places[number])] for number in failing},
    )


def _find_headers(column: pa.Array, part: Part) -> _Headers | None:
    """Return the headers that name schemas; None if there are none."""
    if column.null_count == len(column):
        return None
    found = _in_texts(column, part) if is_header_text(column) else _in_lists(read_headers(column), part)
    return None if found is None else _combine(found, len(column))


class _Named(NamedTuple):
    """Headers that name schemas, one after the other: whose each is, and which it is of the distinct ones."""

    owners: NDArray[np.int64]
    kinds: NDArray[np.int64]
    distinct: Sequence[Header]


def _in_texts(column: pa.Array, part: Part) -> _Named | None:
    """Find headers in JSON texts. Those of other names may be other ones in each record: they are not parsed."""
    held = pc.fill_null(pc.match_substring_regex(column, _PATTERNS[part]), False)  # noqa: FBT003  in place of nulls
    numbers = np.flatnonzero(held.to_numpy(zero_copy_only=False))
    if not len(numbers):
        return None
    pieces = pc.split_pattern_regex(column.take(pa.array(numbers)), r"\}\s*,\s*\{")  # of a key, its quotes are escaped
    items = pc.list_flatten(pieces)
    named = pc.match_substring_regex(items, _PATTERNS[part])
    texts = items.filter(named).dictionary_encode()
    documents = [json.loads("{" + text.strip(" \t\r\n[]{}") + "}") for text in texts.dictionary.to_pylist()]
    distinct = [(one["key"], b64decode(one["value"]) if "value" in one else None) for one in documents]
    return _Named(numbers[pc.list_parent_indices(pieces).filter(named).to_numpy()], texts.indices.to_numpy(), distinct)


def _in_lists(column: pa.Array, part: Part) -> _Named | None:
    items = pc.list_flatten(column)
    names = pc.struct_field(items, "key")
    named = pc.is_in(names, pa.array(NAMES[part]))
    if not pc.any(named).as_py():
        return None
    names, contents = (pc.struct_field(items, field).filter(named) for field in ("key", "value"))
    codes = pc.fill_null(contents.dictionary_encode().indices, -1).to_numpy() + 1
    pairs = names.dictionary_encode().indices.to_numpy() * np.int64(codes.max(initial=0) + 1) + codes
    _, first, kinds = np.unique(pairs, return_index=True, return_inverse=True)
    distinct = zip(*(held.take(pa.array(first)).to_pylist() for held in (names, contents)), strict=True)
    return _Named(pc.list_parent_indices(column).filter(named).to_numpy(), kinds, list(distinct))


def _combine(found: _Named, total: int) -> _Headers:
    """Return the combinations of headers that records have, in the order in which each has them."""
    owners, kinds, distinct = found
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    counts = np.diff(starts, append=len(owners))
    base = len(distinct) + 1
    weights = np.arange(len(owners)) - np.repeat(starts, counts)
    small = base ** int(counts.max()) < _MOST
    codes = np.add.reduceat((kinds + 1) * (np.int64(base) ** weights if small else 0), starts)
    if not small:  # so many of one record are at most in a few
        known: dict[bytes, int] = {}
        codes = np.array([known.setdefault(one.tobytes(), len(known)) for one in np.split(kinds, starts[1:])])
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    places = np.full(total, -1, np.int64)
    places[owners[starts]] = inverse
    return _Headers(
        [[distinct[kind] for kind in kinds[starts[one] : starts[one] + counts[one]].tolist()] for one in first], places
    )
