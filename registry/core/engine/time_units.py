"""Time units: times of the envelope in another unit than documented, found for a whole batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.engine.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.decoder_kinds import RAW, Odd
from cdc_contracts.registry.core.engine.native.scanned_columns import INTEGER, TEXTS, ScannedColumn
from cdc_contracts.registry.core.engine.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.message.envelope_times import (
    BEYOND,
    LEAST_DIGITS,
    MOST_DIGITS,
    SPANS,
    count_in,
    is_beyond,
    limits_of,
    unit_of_form,
)
from cdc_contracts.registry.core.values import Number

_LIST_OF_COUNTS: Final = r"^\[\s*(?:[0-9]{1,18}\s*,\s*)*(?P<last>[0-9]{9,18})\s*\]$"

_LEAST_LISTED: Final = 10**8
"""The least last count of a list that the pattern accepts."""
_NO_MOMENT: Final = np.iinfo(np.int64).max


def unit_flags(decoded_batch: DecodedBatch, places: Sequence[Place]) -> list[tuple[ValueFlag, Mask]]:
    """Flag the records with a time in a unit that no version declares for that member."""
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for place in places:
        wanted, values = unit_of_form(place), decoded_batch.members.get(place.at or "")
        if wanted is None or values is None:
            continue
        counts = _counts(values, place)
        first, end = SPANS[wanted]
        if counts.min() >= first and counts.max() < end:
            continue
        for unit, (first, end) in SPANS.items():
            counted = (counts >= first) & (counts < end)
            if unit != wanted and counted.any():
                value_flags.append((("unit", place.at, unit), counted))
        beyond = _beyond(counts, place)
        if beyond.any():
            value_flags.append((("unit", place.at, BEYOND), beyond))
    return value_flags


def _beyond(counts: NDArray[np.int64], place: Place) -> NDArray[np.bool_]:
    """Return for each count whether it is implausible in every unit."""
    first, last = limits_of(place)
    beyond = (counts < first) | (counts > last)
    for start, end in SPANS.values():
        beyond &= (counts < start) | (counts >= end)
    return beyond


def _counts(values: Sequence[Any], place: Place) -> NDArray[np.int64]:
    """Return the time of each record as a count of its unit, 0 if it has none."""
    if isinstance(values, ScannedColumn) and values.are_all(1 << INTEGER):
        return values.integers
    if isinstance(values, ScannedColumn) and values.decoder == RAW and values.last_counts.min() >= _LEAST_LISTED:
        return values.last_counts
    texts_alone = isinstance(values, ScannedColumn) and values.decoder != RAW and values.are_all(TEXTS)
    kinds = {str} if texts_alone else set(map(type, values))
    try:
        if kinds == {int}:
            return np.fromiter(values, np.int64, len(values))
        if kinds == {str}:
            texts = values.texts(TEXTS) if isinstance(values, ScannedColumn) else pa.array(values, pa.string())
            lengths = pc.min_max(pc.binary_length(texts))
            plain = lengths["min"].as_py() >= LEAST_DIGITS and lengths["max"].as_py() <= MOST_DIGITS
            if plain and pc.all(pc.ascii_is_decimal(texts)).as_py():
                return texts.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
        if kinds == {bytes}:
            found = pc.extract_regex(pa.array(values, pa.binary()).cast(pa.string()), _LIST_OF_COUNTS)
            if not found.null_count:
                return pc.struct_field(found, "last").cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
    except (OverflowError, pa.ArrowInvalid):
        pass
    return np.array([_count(_as_parsed(value), place) for value in values], np.int64)


def _count(value: Any, place: Place) -> int:
    return _NO_MOMENT if is_beyond(value, place) else count_in(value, place) or 0


def _as_parsed(value: Any) -> Any:
    """Return a value as the reference validator has it."""
    if type(value) is int:
        return Number(str(value))
    token = value.token if type(value) is Odd else value
    if type(token) is not bytes:
        return token
    try:
        return json.loads(token, parse_int=Number, parse_float=Number)
    except (ValueError, RecursionError):
        return None  # the reference validates the whole record
