"""Image digests: digests of images, keys and columns, of all records of a batch at once, or of one message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup
from cdc_contracts.registry.core.engine.group.row_facts import read_counts
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.layouts.text_digests import NULL, Digests, digest_names, digest_values, mix
from cdc_contracts.registry.core.engine.statistics.batch_statistics import whole_numbers
from cdc_contracts.registry.core.message.envelope_times import read_time
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.record_facts import Track
from cdc_contracts.registry.core.validate.rule_view import complete_rows
from cdc_contracts.registry.core.values import Number

Numbers = NDArray[np.int64]

NOTHING: Final = np.uint64(0)
_LARGEST: Final = 2**63 - 1


class DigestedRows(NamedTuple):
    """One image of some records: the record of each row, and digests of the row, its columns and its key (0: none)."""

    records: Numbers
    image: Digests
    shape: Digests
    key: Digests


ImagePair = tuple[DigestedRows | None, DigestedRows | None]
"""The before and the after image of some records."""


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The values of an image as digests, one array per column; `present` is None if every row has every column."""

    names: tuple[str, ...]
    values: Digests
    mixed: Digests
    present: NDArray[np.bool_] | None

    @cached_property
    def image(self) -> Digests:
        """The digest of each row."""
        return _something(self.mixed.sum(axis=0, dtype=np.uint64))

    @cached_property
    def shape(self) -> Digests:
        """The digest of each row's columns."""
        shapes = mix(digest_names(self.names))
        if self.present is None:
            return np.full(self.mixed.shape[1], shapes.sum(dtype=np.uint64), np.uint64)
        return _something(np.where(self.present, shapes[:, None], NOTHING).sum(axis=0, dtype=np.uint64))

    def key(self, names: Sequence[str]) -> Digests:
        """The digest of each row's key: 0 if a key column is missing or null."""
        places = [self.names.index(name) if name in self.names else -1 for name in names]
        if not places or -1 in places:
            return np.zeros(self.mixed.shape[1], np.uint64)
        missing = (self.values[places] == NULL).any(axis=0)
        if self.present is not None:
            missing |= ~self.present[places].all(axis=0)
        return np.where(missing, NOTHING, _something(self.mixed[places].sum(axis=0, dtype=np.uint64)))


@dataclass(eq=False)
class DigestedBatch:
    """Values computed once for a decoded batch: the digests of its images, the times and positions of its records."""

    decoded_batch: DecodedBatch
    matrices: dict[str, _Matrix]
    _sides: dict[Any, tuple[Numbers, DigestedRows]] = field(default_factory=dict)
    _moments: dict[Any, Numbers] = field(default_factory=dict)

    def images(self, reading: Reading, positions: Numbers) -> ImagePair:
        """Return the images of the records of one group."""
        before, after = (self._side(reading, side, positions) for side in reading.images.completed)
        return before, after

    def moments(self, reading: Reading) -> tuple[Numbers, Numbers]:
        """Return the event time and the position of each record; 0 if it has none."""
        envelope = reading.meaning.envelope
        return self._moment(envelope.event_time, _times, reading), self._moment(envelope.position, _positions, reading)

    def _moment(self, place: Place | None, read: Any, reading: Reading) -> Numbers:
        values = self.decoded_batch.members.get(place.at or "") if place is not None else None
        if place is None or values is None:
            return np.zeros(len(self.decoded_batch), np.int64)
        if (place, read) not in self._moments:
            self._moments[place, read] = read(values, place, reading)
        return self._moments[place, read]

    def _side(self, reading: Reading, side: Side | None, positions: Numbers) -> DigestedRows | None:
        source = reading.source(side) if side is not None else None
        if side is None or source is None or source not in self.matrices:
            return None
        below = side.completed_from if source == side.at and side.completed_from in self.matrices else None
        if self.matrices[source].present is None:
            below = None
        key = (source, below, tuple(reading.primary_key or ()), id(positions))
        if key not in self._sides:  # the positions are kept alive, so that their id is not reused
            self._sides[key] = positions, self._read_side(source, below, reading.primary_key or (), positions)
        return self._sides[key][1]

    def _read_side(self, source: str, below: str | None, key: Sequence[str], positions: Numbers) -> DigestedRows:
        top, rows = self.matrices[source], self.decoded_batch.rows[source]
        records, within = rows.within(positions)
        chosen = rows.start[positions][records] + within
        if below is None or top.present is None:
            return DigestedRows(records, top.image[chosen], top.shape[chosen], top.key(key)[chosen])
        under, lower = self.matrices[below], self.decoded_batch.rows[below]
        there = within < lower.count[positions][records]
        places = np.where(there, lower.start[positions][records] + within, 0)
        present = top.present[:, chosen]
        held = np.ones(under.mixed.shape, np.bool_) if under.present is None else under.present
        whole = _Matrix(
            top.names,
            np.where(present, top.values[:, chosen], under.values[:, places]),
            np.where(present, top.mixed[:, chosen], np.where(there, under.mixed[:, places], NOTHING)),
            present | (held[:, places] & there),
        )
        return DigestedRows(records, whole.image, whole.shape, whole.key(key))


def digest_batches(record_group: Sequence[RecordGroup]) -> dict[int, DigestedBatch]:
    """Return the decoded batches of some records with the digests of all their values, computed at once."""
    decoded_batches = {id(one.decoded_batch): one for one in record_group}
    values: list[Any] = []
    places: dict[tuple[int, str, int], slice] = {}
    found: dict[tuple[int, str, int], Digests] = {}
    for name, one in decoded_batches.items():
        for (pointer, index), column in one.columns.items():
            own = column.values.value_digests()
            if own is not None:
                found[name, pointer, index] = own
                continue
            places[name, pointer, index] = slice(len(values), len(values) + len(column.values))
            values += column.values
    digests = digest_values(values)
    found |= {place: digests[part] for place, part in places.items()}
    opened = {}
    for name, one in decoded_batches.items():
        matrices = {}
        for pointer, rows in one.decoded_batch.rows.items():
            columns = [(index, column.name) for index, column in enumerate(rows.image.columns)]
            held = [(index, result) for index, result in columns if (name, pointer, index) in found]
            if rows.total and held:
                parts = [(found[name, pointer, index], one.columns[pointer, index].present) for index, _ in held]
                matrices[pointer] = _matrix(tuple(result for _, result in held), rows.total, parts)
        opened[name] = DigestedBatch(one.decoded_batch, matrices)
    return opened


def _matrix(names: tuple[str, ...], total: int, parts: Sequence[tuple[Digests, NDArray[np.bool_] | None]]) -> _Matrix:
    values = np.full((len(names), total), NULL, np.uint64)
    present = None if all(there is None for _, there in parts) else np.ones((len(names), total), np.bool_)
    for at, (digests, there) in enumerate(parts):
        if there is None or present is None:
            values[at] = digests
        else:
            values[at, there], present[at] = digests, there
    mixed = mix(values + digest_names(names)[:, None])
    return _Matrix(names, values, mixed if present is None else np.where(present, mixed, NOTHING), present)


def images_of_one(reading: Reading) -> ImagePair:
    """Return the images of one message as the fast path would have them."""
    before, after = (_side_of_one(reading, side) if side is not None else None for side in reading.images.completed)
    return before, after


def _side_of_one(reading: Reading, side: Side) -> DigestedRows | None:
    rows = complete_rows(reading, side)
    if rows is None:
        return None
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    parts = [
        (digest_values([row[name] for row in rows if name in row]), np.array([name in row for row in rows]))
        for name in names
    ]
    whole = _matrix(names, len(rows), parts)
    return DigestedRows(np.zeros(len(rows), np.int64), whole.image, whole.shape, whole.key(reading.primary_key or ()))


def moments_of_one(reading: Reading) -> tuple[int, int]:
    """Return the event time and the position of a message; 0 if it has none."""
    envelope = reading.meaning.envelope
    found = [
        read(ParsedColumn([reading.place(place)], decoder_kinds.WIDE), place, reading)[0] if place else 0
        for read, place in ((_times, envelope.event_time), (_positions, envelope.position))
    ]
    return int(found[0]), int(found[1])


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


def _something(digests: Digests) -> Digests:
    """Return digests none of which is 0, which means no value."""
    return np.where(digests == NOTHING, np.uint64(1), digests)
