"""Part counts: the parts of seconds in the timed columns of validated Avro records, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.statistics.string_bytes import Texts, are_digits
from cdc_contracts.registry.core.engine.statistics.written_columns import WrittenGroup
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.column_writing import TEXT
from cdc_contracts.registry.core.stats.second_parts import (
    NANO_DIGITS,
    PartsColumn,
    PartsOfColumn,
    SecondParts,
)
from cdc_contracts.registry.core.stats.topic_profiles import column_name

Numbers = NDArray[np.int64]


def note_parts(seen: SecondParts, found: Iterable[WrittenGroup], batch: Batch) -> None:
    """Count the parts of seconds in the rows of validated records."""
    opened: dict[tuple[int, str, int], Numbers | None] = {}
    for record_group, facts, tables in found:
        decoded_batch, timed = record_group.decoded_batch, facts.timed
        rows = decoded_batch.rows.get(timed.source) if timed is not None else None
        if timed is None or rows is None:
            continue
        mine, count = rows.of(record_group.positions), rows.count[record_group.positions]
        for (at, index), values in record_group.columns.items():
            if at != timed.source or rows.image.columns[index].name not in timed.names:
                continue
            key = (id(decoded_batch), at, index)
            if key not in opened:
                opened[key] = _nanos_of(values)
            nanos = opened[key]
            if nanos is None:
                continue
            name, parts = column_name(rows.image.columns[index].name), nanos[mine]
            table_of_row = np.repeat(tables.codes, count)
            for topic, chosen in batch.by_topic(np.repeat(record_group.numbers, count)):
                _count_column(seen, topic, name, parts[chosen], table_of_row[chosen], tables.called)


def _count_column(
    seen: SecondParts, topic: str, name: str, parts: Numbers, table_of_row: Numbers, called: Sequence[str | None]
) -> None:
    """Count the parts of a column, one a row, 0 for none."""
    there = np.flatnonzero(parts)
    if len(called) == 1:
        if len(there):
            seen.add(PartsColumn(topic, called[0], name), PartsOfColumn(len(there), int(parts.max())))
        return
    counts, most = np.bincount(table_of_row[there], minlength=len(called)), np.zeros(len(called), np.int64)
    np.maximum.at(most, table_of_row[there], parts[there])
    for code in np.flatnonzero(counts).tolist():
        seen.add(PartsColumn(topic, called[code], name), PartsOfColumn(int(counts[code]), int(most[code])))


def _nanos_of(values: ColumnValues) -> Numbers | None:
    """Return the part of a second in each row in nanoseconds, 0 for none; None if no row has one."""
    if TEXT not in values.kinds:
        return None
    found = _nanos_of_texts(values.values.as_texts)
    return values.spread(found) if found.any() else None


def _nanos_of_texts(texts: pa.StringArray) -> Numbers:
    """Return the same as `nanos_of` for each text, from the digits behind its first point."""
    points = pc.find_substring(texts, ".").fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    found, there = np.zeros(len(texts), np.int64), np.flatnonzero(points >= 0)
    if not len(there):
        return found
    data = Texts(texts)
    places, parts = data.starts[there] + points[there] + 1, np.zeros(len(there), np.int64)
    inside = np.ones(len(there), np.bool_)
    for place, digits in enumerate(data.window(NANO_DIGITS, places)):
        inside = inside & are_digits(digits) & (places + place < data.ends[there])
        parts = 10 * parts + np.where(inside, digits - np.uint8(ord("0")), 0)
    found[there] = parts
    return found
