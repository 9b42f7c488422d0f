"""Record moments: the event time and the position of records, as numbers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.engine.group.row_facts import read_counts
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.statistics.batch_statistics import whole_numbers
from cdc_contracts.registry.core.message.envelope_times import read_time
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.record_facts import Track
from cdc_contracts.registry.core.values import Number

Numbers = NDArray[np.int64]
_LARGEST: Final = 2**63 - 1


def moments_of(decoded_batch: DecodedBatch, reading: Reading, positions: Numbers) -> list[Numbers]:
    """Return the event time and the position of each record of one group; 0 if it has none."""
    envelope, found = reading.meaning.envelope, []
    for place, read in ((envelope.event_time, _times), (envelope.position, _positions)):
        values = decoded_batch.members.get(place.at or "") if place is not None else None
        if place is None or values is None:
            found.append(np.zeros(len(positions), np.int64))
        else:
            found.append(read(values.select(positions), place, reading))
    return found


def _times(values: ParsedColumn, place: Place, reading: Reading) -> Numbers:
    counts = values.all_integers
    whole = read_counts(counts, place) if counts is not None else None
    if whole is not None:
        return whole
    zone = reading.reading_options.zone("time_zone")
    known: dict[Any, int] = {}
    for value in values:
        if value not in known:
            result = ABSENT if value is UNSET else Number(str(value)) if type(value) is int else value
            known[value] = read_time(result, place, zone).micros or 0
    return np.fromiter((known[value] for value in values), np.int64, len(values))


def _positions(values: ParsedColumn, place: Place, _reading: Reading) -> Numbers:
    if place.order != "integer":
        return np.zeros(len(values), np.int64)
    numbers, _ = whole_numbers(values, Track("", place.at or "", "", place.null_text, place.absent_value))
    if numbers.dtype == object:
        return np.array([number if abs(number) <= _LARGEST else 0 for number in numbers], np.int64)
    return numbers
