"""Time units: times of the envelope in another unit than documented, found for a whole batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import Odd
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.message.envelope_times import (
    BEYOND,
    LEAST_DIGITS,
    SPANS,
    count_in,
    is_beyond,
    limits_of,
    unit_of_form,
)
from cdc_contracts.registry.core.values import Number

_LEAST_COUNTED: Final = 10 ** (LEAST_DIGITS - 1)
"""The least count in a text or a list that is taken for a time."""
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


def _counts(values: ParsedColumn, place: Place) -> NDArray[np.int64]:
    """Return the time of each record as a count of its unit, 0 if it has none."""
    if values.all_integers is not None:
        return values.all_integers
    counts = values.all_last_counts if values.all_digits is None else values.all_digits
    if counts is not None and counts.min() >= _LEAST_COUNTED:
        return counts
    codes, found = values.few_distinct or (None, values)
    each = np.array([_count(_as_parsed(value), place) for value in found], np.int64)
    return each if codes is None else each[codes]


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
