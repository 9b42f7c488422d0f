"""Row facts of records that are decoded in the same way: completeness, invalid values, changed columns, times, ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.time_zones import Zone
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.engine.columns.row_images import Mask, SideTexts
from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import open_tokens
from cdc_contracts.registry.core.message.envelope_times import (
    LAST_OF_LIST,
    EventTime,
    read_integer_times,
    read_listed_times,
    read_time,
)
from cdc_contracts.registry.core.message.reading import as_sent
from cdc_contracts.registry.core.records.output_schemas import INSTANT
from cdc_contracts.registry.core.values import Number

Places = NDArray[np.int64]
Values = Sequence[Any]
"""What rows have in a column: a list, or an array of the column's type."""
NAMES: Final = pa.list_(pa.string())
"""The type of columns that list names."""


_MANY: Final = 64
"""From this number of rows on, arrays of them are worth the calls that make them; what fewer rows have is in lists."""


def no_values(rows: int, type_: pa.DataType) -> Values:
    """Return what rows have in a column of a type where none of them has a value."""
    nothing: Values = pa.nulls(rows, type_) if rows >= _MANY else [None] * rows
    return nothing


def are_complete(
    side: SideTexts | None, types: dict[str, str] | None, rows: int, key_columns: Collection[str] = ()
) -> Values:
    """Return for each row whether its image holds every column that has a type; None if there is no image.

    A row of just `key_columns` does not: it may be what a Kafka key says of a longer row.
    """
    if side is None:
        return [None] * rows
    complete = _hold_columns(side, types)
    if key_columns:
        more = ~_have_just(side, key_columns)
        complete = more if complete is None else complete & more
    if complete is None:
        return [True] * rows
    listed: Values = pa.array(complete) if rows >= _MANY else complete.tolist()
    return listed


def _hold_columns(side: SideTexts, types: dict[str, str] | None) -> Mask | None:
    """Return the rows that hold every column that has a type, or every one that they name; None if all do."""
    if types is None:
        return None if side.left_out is None else ~side.left_out
    if not types.keys() <= set(side.names):
        return np.zeros(len(side.present), np.bool_)
    typed = [index for index, name in enumerate(side.names) if name in types]
    complete: Mask = np.all(side.present[:, typed], axis=1)
    return complete


def _have_just(side: SideTexts, columns: Collection[str]) -> Mask:
    """Return the rows that have some columns and no other."""
    named = np.array([name in columns for name in side.names], np.bool_)
    if np.count_nonzero(named) < len(columns):
        return np.zeros(len(side.present), np.bool_)
    just: Mask = (side.present == named).all(axis=1)
    return just


def find_invalid(before: SideTexts | None, after: SideTexts | None, rows: int) -> tuple[Values, Values]:
    """Return per row the columns that are kept as text, and the values kept as text of each image."""
    if rows >= _MANY and not any(side is not None and side.invalid.any() for side in (before, after)):
        none = pa.ListArray.from_arrays(pa.array(np.zeros(rows + 1, np.int32)), pa.array([], pa.string()))
        return none, none
    columns: list[list[str]] = [[] for _ in range(rows)]
    values: list[list[str]] = [[] for _ in range(rows)]
    for name, side in (("before", before), ("after", after)):
        if side is not None and side.invalid.any():
            order = sorted(range(len(side.names)), key=side.names.__getitem__)
            for row, column in zip(*np.nonzero(side.invalid[:, order]), strict=True):
                result = side.names[order[column]]
                values[row].append(f"{name}.{result}")
                if result not in columns[row]:
                    columns[row].append(result)
    return [sorted(names) if names else names for names in columns], values


def changed_columns(names: Sequence[str], sent: NDArray[np.bool_], partial: NDArray[np.bool_]) -> Values:
    """Return for each partially sent row the columns that were sent, in order of their names."""
    order = sorted(range(len(names)), key=names.__getitem__)
    named = [names[index] for index in order]
    known: dict[bytes, list[str]] = {}
    if len(partial) >= _MANY:
        many: Values = _changed_of_many(named, sent[:, order], partial)
        return many
    bits = np.packbits(sent[:, order], axis=1)
    changed: list[list[str] | None] = []
    for row, is_partial in enumerate(partial.tolist()):
        if not is_partial:
            changed.append(None)
            continue
        key = bits[row].tobytes()
        if key not in known:
            known[key] = [name for name, held in zip(named, sent[row, order].tolist(), strict=True) if held]
        changed.append(known[key])
    return changed


def _changed_of_many(names: Sequence[str], sent: NDArray[np.bool_], partial: NDArray[np.bool_]) -> pa.Array:
    """Return the names of the columns that were sent, of the rows that were sent in part."""
    if not partial.any():
        return pa.nulls(len(partial), NAMES)
    held = sent & partial[:, None]
    ends = np.concatenate([[0], np.cumsum(held.sum(axis=1))]).astype(np.int32)
    missing = None if partial.all() else np.append(~partial, False)
    changed = pa.array(names, pa.string()).take(pa.array(np.nonzero(held)[1]))
    return pa.ListArray.from_arrays(pa.array(ends, mask=missing), changed)


def times_of(record_group: RecordGroup, place: Place | None, zone: Zone | None) -> tuple[Values, Values]:
    """Return the times of the records, and the texts of times that microseconds cannot represent in full."""
    nothing = [None] * len(record_group.positions)
    counts = record_group.integers(place.at) if place is not None else None
    if counts is not None and place is not None and (found := read_counts(counts, place)) is not None:
        times: Values = pa.array(found, INSTANT) if len(found) >= _MANY else found.tolist()
        return times, no_values(len(found), pa.string())
    listed = record_group.last_counts(place.at) if place is not None and place.form == LAST_OF_LIST else None
    if listed is not None and (micros := read_listed_times(listed)) is not None:
        return micros, nothing
    values = record_group.member(place.at) if place is not None else None
    if place is None or values is None:
        return nothing, nothing
    known: dict[Any, EventTime] = {}
    for value, parsed in zip(values, _as_parsed(values), strict=True):
        if value not in known:
            known[value] = read_time(parsed, place, zone)
    read = [known[value] for value in values]
    return [time.micros for time in read], [time.text for time in read]


def read_counts(counts: NDArray[np.int64], place: Place) -> NDArray[np.int64] | None:
    """Return many times at once in microseconds, as `read_integer_times` does; None where they are read one by one."""
    if not len(counts) or (place.absent_value is not None and (counts == place.absent_value).any()):
        return None
    found = read_integer_times([1, int(counts.min()), int(counts.max())], place)
    return None if found is None else counts * found[0]


def texts_sent(record_group: RecordGroup, place: Place | None) -> list[str | None]:
    """Return a member of each record as it was sent."""
    if place is None:
        return [None] * len(record_group.positions)
    values = record_group.member(place.at) or ()
    kinds = set(map(type, values))
    if kinds == {int} and place.absent_value is None:
        return [str(value) for value in values]
    if kinds == {str}:
        return [None if value == place.null_text else value for value in values]
    return [as_sent(value, place) for value in _as_parsed(values)]


def pair_ids(record_group: RecordGroup, version: int) -> list[str | None]:
    """Return for each record what the two parts of its split update have in common."""
    reading = record_group.cached_verdict.readings[version]
    split_update = reading.meaning.split_update
    if split_update is None:
        return [None] * len(record_group.positions)
    envelope = reading.meaning.envelope
    parts: list[Iterable[str | None]] = []
    for key in split_update.pair_by:
        if key == "table":
            parts.append([one.table for one in record_group.tables(version).each()])
        else:
            place = {"position": envelope.position, "transaction": envelope.transaction}.get(key) or Place(at=key)
            parts.append(texts_sent(record_group, place))
    joined = ["\u0001".join(text for text in texts if text is not None) for texts in zip(*parts, strict=True)]
    return [text or None for text in joined]


def _as_parsed(values: Sequence[Any]) -> Iterator[Any]:
    """Yield members as the strict parser makes them, whichever decoder was used."""
    raw = iter(open_tokens([value for value in values if type(value) is bytes]))
    for value in values:
        yield next(raw) if type(value) is bytes else Number(str(value)) if type(value) is int else value


def spread_over_rows(values: Values, records: Places) -> Values:
    """Expand one value per record to one per row."""
    if isinstance(values, pa.Array):
        taken: Values = values if len(values) == len(records) else values.take(pa.array(records))
        return taken
    if len(values) == len(records) and (not len(records) or records[-1] == len(values) - 1):
        return list(values)
    return [values[record] for record in records]
