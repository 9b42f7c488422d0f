"""Chaining: the row changes of judged records as key chains want them, digests of keys and images by the batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from cdc_contracts.registry.common.pointers import ABSENT
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.contract.image_model import Side
from cdc_contracts.registry.contract.table_contracts import table_name
from cdc_contracts.registry.engine.batch_statistics import whole_numbers
from cdc_contracts.registry.engine.decoded_batches import DecodedBatch
from cdc_contracts.registry.engine.fast_validator import BatchResult, CachedVerdict, GroupResult, RecordGroup
from cdc_contracts.registry.engine.text_digests import NULL, Digests, digest_name, digest_names, digest_values, mix
from cdc_contracts.registry.message.envelope_times import read_integer_times, read_time
from cdc_contracts.registry.message.reading import Reading, TableNames
from cdc_contracts.registry.records.record_batches import Batch
from cdc_contracts.registry.stats.chain_evidence import ChainLine, Readings
from cdc_contracts.registry.stats.chain_fragments import FRAGMENT
from cdc_contracts.registry.stats.key_chains import Chains
from cdc_contracts.registry.stats.record_facts import Track
from cdc_contracts.registry.validate.cross_field_checks import complete_rows
from cdc_contracts.registry.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.validate.validation_context import JudgedMessage, ValidationContext
from cdc_contracts.registry.validate.verdicts import CONTROL, Verdict
from cdc_contracts.registry.values import Number

Numbers = NDArray[np.int64]

_NOTHING: Final = np.uint64(0)
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True)
class Placing:
    """How versions read an UPDATE, where that is in two ways: the versions of each way.

    Mostly they are of one subject. Where all versions of a subject agree, the first way may be that of `strangers`:
    versions of other subjects that place the images the other way round. They matter only for messages that fit them.
    """

    versions: tuple[tuple[Version, ...], tuple[Version, ...]]
    strangers: tuple[ReferenceValidator, ...] = ()

    @property
    def readings(self) -> Readings:
        one, other = self.versions
        return tuple(version.reference for version in one), tuple(version.reference for version in other)

    def stranger(self, reading: Reading) -> Reading | None:
        """Return how a stranger reads a message that might be its own; None where it is none of theirs."""
        message = reading.message
        judge = next((one for one in self.strangers if one.claims(message) and one.judge(message).fits), None)
        return None if judge is None else Reading(judge.meaning, message, reading.reading_options)


@lru_cache(maxsize=256)
def placing_of(versions: tuple[Version, ...]) -> Placing | None:
    """Return how the versions of a subject place the images of an UPDATE; None where they agree on it."""
    ways: dict[_Places | None, list[Version]] = {}
    for version in versions:
        ways.setdefault(_places(version), []).append(version)
    if len(ways) != 2 or None in ways:  # noqa: PLR2004
        return None
    one, other = ways.values()
    return Placing((tuple(one), tuple(other)))


def placings_of(validation: ValidationContext) -> dict[str, Placing]:
    """Return by subject how the versions that records of a scope may be of disagree about before and after."""
    found = {one.subject: _placing_in(one) for one in _subjects(validation)}
    return {subject: placing for subject, placing in found.items() if placing is not None}


_Places = tuple[str, str]
"""Where the before and the after image of an UPDATE are."""


def _places(version: Version) -> _Places | None:
    sides = version.meaning.images.of("update")
    if sides is None or sides.before is None or sides.after is None:
        return None
    return sides.before.at, sides.after.at


def _placing_in(validation: ValidationContext) -> Placing | None:
    """Return how versions of the first subject of a scope place the images, and others that it may be taken for."""
    own = tuple(judge.version for judge in validation.judges)
    ways = {_places(version) for version in own}
    places = next(iter(ways))
    if len(ways) > 1 or places is None:
        return placing_of(own)
    strangers = tuple(
        validation.judge_of(version)
        for version in validation.catalogue.all_versions()
        if version.subject != validation.subject and _places(version) == places[::-1]
    )
    others = tuple(judge for judge in strangers if judge.wire.transport == validation.wire.transport)
    return Placing((tuple(judge.version for judge in others), own), others) if others else None


def follow_chains(parts: Sequence[tuple[Batch, BatchResult]], placings: Mapping[str, Placing]) -> Chains:
    """Return the key chains of the parts of a batch."""
    chains = Chains()
    found: dict[ChainLine, list[NDArray[Any]]] = {}
    for batch, batch_result in parts:
        for subject, rows in _Collector(batch, batch_result, placings, chains.tables).rows():
            for place, pair in enumerate(batch.sources):
                mine = rows.changes if len(batch.sources) == 1 else rows.changes[rows.sources == place]
                found.setdefault(ChainLine(*pair, subject), []).append(mine)
    for pair, intervals in _covered(parts).items():
        for subject, placing in placings.items():
            line = ChainLine(*pair, subject)
            if placing.strangers and line not in found:
                continue  # nothing there is like a message of theirs
            changes = np.concatenate(found[line]) if line in found else np.zeros(0, FRAGMENT)
            chains.add(line, placing.readings, intervals, changes)
    return chains


def _subjects(validation: ValidationContext) -> tuple[ValidationContext, ...]:
    return (validation, *validation.companions)


def _covered(parts: Sequence[tuple[Batch, BatchResult]]) -> dict[tuple[str, int], Numbers]:
    """Return the intervals of offsets that were read of each partition."""
    offsets: dict[tuple[str, int], list[Numbers]] = {}
    for batch, _ in parts:
        for place, pair in enumerate(batch.sources):
            mine = batch.offsets if len(batch.sources) == 1 else batch.offsets[batch.source_of == place]
            offsets.setdefault(pair, []).append(mine)
    covered = {}
    for pair, some in offsets.items():
        result = np.concatenate(some)
        if (np.diff(result) <= 0).any():
            result = np.unique(result)
        breaks = np.flatnonzero(np.diff(result) > 1)
        covered[pair] = np.stack([result[np.append(0, breaks + 1)], result[np.append(breaks, len(result) - 1)]], axis=1)
    return covered


class _Side(NamedTuple):
    """One image of some records: the record of each row, and digests of the row, its columns and its key (0: none)."""

    records: Numbers
    image: Digests
    shape: Digests
    key: Digests


_Images = tuple[_Side | None, _Side | None]
"""The before and the after image of some records."""


class _Changes(NamedTuple):
    """Row changes of some records, each a fragment of its own, and the record of each."""

    fragments: NDArray[Any]
    records: Numbers


class _Rows(NamedTuple):
    """Row changes as fragments of one change each, and the place of their partition in the batch."""

    changes: NDArray[Any]
    sources: Numbers


class _Collector:
    """The row changes of one judged batch, by subject."""

    def __init__(
        self, batch: Batch, batch_result: BatchResult, placings: Mapping[str, Placing], tables: dict[int, str | None]
    ) -> None:
        self._batch, self._batch_result, self._placings, self._tables = batch, batch_result, placings, tables

    def rows(self) -> Iterator[tuple[str, _Rows]]:
        """Yield the row changes with the subject they are of."""
        chosen = [
            group_result
            for group_result in self._batch_result.group_results
            if self._is_followed(group_result.verdict) and self._readings(group_result)
        ]
        opened = _open_sheets([group_result.record_group for group_result in chosen])
        for same in self._of_many_tables(chosen):
            decoded_batch, readings = opened[id(same[0].record_group.decoded_batch)], self._readings(same[0])
            positions = np.concatenate([group_result.record_group.positions for group_result in same])
            changes = _changes([decoded_batch.images(reading, positions) for reading in readings], readings[0])
            if changes is not None:
                numbers = np.concatenate([group_result.record_group.numbers for group_result in same])
                moments = [moments[positions] for moments in decoded_batch.moments(readings[0])]
                names = [self._readings(group_result)[0].names for group_result in same]
                of_table = np.repeat(
                    np.arange(len(same)), [len(group_result.record_group.positions) for group_result in same]
                )
                yield same[0].verdict.fits[0].subject, self._placed(changes, numbers, moments, names, of_table)
        alone = [(number, judged) for number, judged in self._batch_result.alone if self._is_followed(judged.verdict)]
        for number, judged in alone:
            result = self._readings_of(judged)
            changes = _changes([_images_of_one(reading) for reading in result], result[0]) if result else None
            if changes is not None:
                moments = [np.array([moment]) for moment in _moments_of_one(result[0])]
                names, first = [result[0].names], np.zeros(1, np.int64)
                yield judged.verdict.fits[0].subject, self._placed(changes, np.array([number]), moments, names, first)

    def _of_many_tables(self, group_results: Sequence[GroupResult]) -> list[list[GroupResult]]:
        """Return the rulings together that differ in the table of their records alone: they are read at once."""
        found: dict[Any, list[GroupResult]] = {}
        for group_result in group_results:
            key = [id(group_result.record_group.decoded_batch), group_result.verdict.fits[0].subject]
            key += [_way_of(reading) for reading in self._readings(group_result)]
            found.setdefault(tuple(key), []).append(group_result)
        return list(found.values())

    def _is_followed(self, verdict: Verdict) -> bool:
        return bool(verdict.fits) and verdict.outcome != CONTROL and verdict.fits[0].subject in self._placings

    def _readings(self, group_result: GroupResult) -> list[Reading]:
        """Return how each way reads the records of a ruling; what only one fits, it reads for both.

        Nothing where strangers read the other way, and such records are none of theirs.
        """
        fits, cached_verdict = group_result.verdict.fits, group_result.record_group.cached_verdict
        placing = self._placings[fits[0].subject]
        places = [
            next(
                (at for at, one in enumerate(cached_verdict.opinions) if one.version in way and one.version in fits),
                None,
            )
            for way in placing.versions
        ]
        readings = [None if place is None else cached_verdict.readings[place] for place in places]
        if placing.strangers:
            readings[0] = _read_strangely(cached_verdict, fits[0].subject, placing)
        return _of_both(readings, placing)

    def _readings_of(self, judged: JudgedMessage) -> list[Reading]:
        fits, reading = judged.verdict.fits, judged.reading
        if reading is None:
            return []
        placing = self._placings[fits[0].subject]
        found = [next((version for version in way if version in fits), None) for way in placing.versions]
        readings = [
            None if one is None else Reading(one.meaning, reading.message, reading.reading_options) for one in found
        ]
        if placing.strangers:
            readings[0] = placing.stranger(reading)
        return _of_both(readings, placing)

    def _placed(
        self,
        changes: _Changes,
        numbers: Numbers,
        moments: Sequence[Numbers],
        names: Sequence[TableNames],
        of_table: Numbers,
    ) -> _Rows:
        """Return row changes where they stand: by table, offset and moment; `of_table` says whose each record is."""
        fragments, records = changes
        mine = numbers[records]
        for partition in np.unique(self._batch.source_of[mine]).tolist() if len(mine) else ():
            topic, of_topic = self._batch.sources[partition][0], self._batch.source_of[mine] == partition
            tables = np.array([self._table(topic, one) for one in names], np.uint64)
            fragments["table"][of_topic] = tables[of_table[records]][of_topic]
        fragments["key"] = mix(fragments["key"] ^ fragments["table"])
        for end in ("first", "last"):
            fragments[end]["offset"], fragments[end]["time"] = self._batch.offsets[mine], self._batch.timestamps[mine]
            fragments[end]["event"], fragments[end]["position"] = (moment[records] for moment in moments)
        return _Rows(fragments, self._batch.source_of[mine])

    def _table(self, topic: str, names: TableNames) -> int:
        """Return the digest of a table in a topic, and note what it is called."""
        table = digest_name(topic, names.tenant, names.database, names.schema, names.table)
        self._tables[table] = table_name(names.database, names.schema, names.table)
        return table


def _way_of(reading: Reading) -> tuple[Any, ...]:
    """Return all that decides how the images of records are read, their table apart."""
    sides = reading.meaning.images.of(reading.op or "")
    sources = [reading.source(side) for side in (sides.before, sides.after) if side] if sides else ()
    return id(reading.meaning), reading.op, tuple(sources), tuple(reading.primary_key or ())


def _read_strangely(cached_verdict: CachedVerdict, subject: str, placing: Placing) -> Reading | None:
    """Return how a stranger reads records of one kind; of another table they differ in its name alone."""
    if subject not in cached_verdict.strangers:
        reading = cached_verdict.readings[0]
        if cached_verdict.like is None:
            found = placing.stranger(reading)
        else:
            like = _read_strangely(cached_verdict.like, subject, placing)
            found = None if like is None else Reading(like.meaning, reading.message, reading.reading_options)
        cached_verdict.strangers[subject] = found
    return cached_verdict.strangers[subject]


def _of_both(readings: Sequence[Reading | None], placing: Placing) -> list[Reading]:
    """Return the readings of both ways, the one there is for the other as well; none where strangers lack theirs."""
    result = [one for one in readings if one is not None]
    if placing.strangers and len(result) < len(readings):
        return []
    return [result[0] if one is None else one for one in readings]


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The values of an image as digests, a line for each column; `present` is None where every row has every column."""

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
        return _something(np.where(self.present, shapes[:, None], _NOTHING).sum(axis=0, dtype=np.uint64))

    def key(self, names: Sequence[str]) -> Digests:
        """The digest of each row's key: 0 where a column of it is missing or null."""
        places = [self.names.index(name) if name in self.names else -1 for name in names]
        if not places or -1 in places:
            return np.zeros(self.mixed.shape[1], np.uint64)
        missing = (self.values[places] == NULL).any(axis=0)
        if self.present is not None:
            missing |= ~self.present[places].all(axis=0)
        return np.where(missing, _NOTHING, _something(self.mixed[places].sum(axis=0, dtype=np.uint64)))


@dataclass(eq=False)
class _OpenBatch:
    """What is found once for a sheet: the digests of its images, the times and positions of its records."""

    decoded_batch: DecodedBatch
    matrices: dict[str, _Matrix]
    _sides: dict[Any, tuple[Numbers, _Side]] = field(default_factory=dict)
    _moments: dict[Any, Numbers] = field(default_factory=dict)

    def images(self, reading: Reading, positions: Numbers) -> _Images:
        """Return the images of records that are alike."""
        sides = reading.meaning.images.of(reading.op or "")
        if sides is None:
            return None, None
        before, after = (
            self._side(reading, side, positions) if side is not None else None for side in (sides.before, sides.after)
        )
        return before, after

    def moments(self, reading: Reading) -> tuple[Numbers, Numbers]:
        """Return when each record happened and its position; 0 where it tells none."""
        envelope = reading.meaning.envelope
        return self._moment(envelope.event_time, _times, reading), self._moment(envelope.position, _positions, reading)

    def _moment(self, place: Place | None, read: Any, reading: Reading) -> Numbers:
        values = self.decoded_batch.members.get(place.at or "") if place is not None else None
        if place is None or values is None:
            return np.zeros(len(self.decoded_batch), np.int64)
        if (place, read) not in self._moments:
            self._moments[place, read] = read(values, place, reading)
        return self._moments[place, read]

    def _side(self, reading: Reading, side: Side, positions: Numbers) -> _Side | None:
        source = reading.source(side)
        if source is None or source not in self.matrices:
            return None
        below = side.over if source == side.at and side.over in self.matrices else None
        if self.matrices[source].present is None:
            below = None
        key = (source, below, tuple(reading.primary_key or ()), id(positions))
        if key not in self._sides:  # the positions are kept, so that no others get their id
            self._sides[key] = positions, self._read_side(source, below, reading.primary_key or (), positions)
        return self._sides[key][1]

    def _read_side(self, source: str, below: str | None, key: Sequence[str], positions: Numbers) -> _Side:
        top, rows = self.matrices[source], self.decoded_batch.rows[source]
        count = rows.count[positions]
        records = np.repeat(np.arange(len(positions)), count)
        within = np.arange(len(records)) - np.repeat(np.cumsum(count) - count, count)
        chosen = rows.start[positions][records] + within
        if below is None or top.present is None:
            return _Side(records, top.image[chosen], top.shape[chosen], top.key(key)[chosen])
        under, lower = self.matrices[below], self.decoded_batch.rows[below]
        there = within < lower.count[positions][records]
        places = np.where(there, lower.start[positions][records] + within, 0)
        present = top.present[:, chosen]
        held = np.ones(under.mixed.shape, np.bool_) if under.present is None else under.present
        whole = _Matrix(
            top.names,
            np.where(present, top.values[:, chosen], under.values[:, places]),
            np.where(present, top.mixed[:, chosen], np.where(there, under.mixed[:, places], _NOTHING)),
            present | (held[:, places] & there),
        )
        return _Side(records, whole.image, whole.shape, whole.key(key))


def _changes(images: Sequence[_Images], reading: Reading) -> _Changes | None:
    """Return the row changes of records that two readings see so; None where their rows do not go together.

    A row of a full load tells what stood there at some time, not what changed; where a key changes, the row that ends
    and the row that begins are none that neighbours could be compared with.
    """
    shown = [side for sides in images for side in sides if side is not None]
    if not shown or any(not np.array_equal(side.records, shown[0].records) for side in shown):
        return None
    records = shown[0].records
    starts = np.flatnonzero(np.append(True, np.diff(records) != 0)) if len(records) else records
    fragments = np.zeros(len(records), FRAGMENT)
    fragments["changes"], fragments["key"] = 1, shown[0].key
    within = np.arange(len(records)) - np.repeat(starts, np.diff(np.append(starts, len(records))))
    record_group = np.logical_and.reduce([side.shape == shown[0].shape for side in shown])
    stays = np.logical_and.reduce([side.key == shown[0].key for side in shown])
    shape = np.where(record_group & stays, shown[0].shape, _NOTHING)
    for at, end in enumerate(("first", "last")):
        fragments[end]["within"] = within
        fragments[end]["shape"] = _NOTHING if reading.op == "snapshot" else shape
        for way, sides in enumerate(images):
            side = sides[at]
            if side is not None:
                fragments[end]["image"][:, way] = side.image
    for side in images[0] if not stays.all() else ():
        if side is not None and side is not shown[0]:
            others = np.flatnonzero(side.key != shown[0].key)
            moved = fragments[others]
            moved["key"] = side.key[others]
            fragments, records = np.concatenate([fragments, moved]), np.concatenate([records, records[others]])
    held = fragments["key"] != 0
    return _Changes(fragments[held], records[held])


def _open_sheets(record_group: Sequence[RecordGroup]) -> dict[int, _OpenBatch]:
    """Return the sheets of some records with the digests of all their values, found at once."""
    decoded_batches = {id(one.decoded_batch): one for one in record_group}
    values: list[Any] = []
    places: dict[tuple[int, str, int], slice] = {}
    for name, one in decoded_batches.items():
        for (pointer, index), column in one.columns.items():
            places[name, pointer, index] = slice(len(values), len(values) + len(column.values))
            values += column.values
    digests = digest_values(values)
    opened = {}
    for name, one in decoded_batches.items():
        matrices = {}
        for pointer, rows in one.decoded_batch.rows.items():
            columns = [(index, column.name) for index, column in enumerate(rows.image.columns)]
            held = [(index, result) for index, result in columns if (name, pointer, index) in places]
            if rows.total and held:
                parts = [
                    (digests[places[name, pointer, index]], one.columns[pointer, index].present) for index, _ in held
                ]
                matrices[pointer] = _matrix(tuple(result for _, result in held), rows.total, parts)
        opened[name] = _OpenBatch(one.decoded_batch, matrices)
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
    return _Matrix(names, values, mixed if present is None else np.where(present, mixed, _NOTHING), present)


def _images_of_one(reading: Reading) -> _Images:
    """Return the images of one message as the fast path would see them."""
    sides = reading.meaning.images.of(reading.op or "")
    if sides is None:
        return None, None
    before, after = (_side_of_one(reading, side) if side is not None else None for side in (sides.before, sides.after))
    return before, after


def _side_of_one(reading: Reading, side: Side) -> _Side | None:
    rows = complete_rows(reading, side)
    if rows is None:
        return None
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    parts = [
        (digest_values([row[name] for row in rows if name in row]), np.array([name in row for row in rows]))
        for name in names
    ]
    whole = _matrix(names, len(rows), parts)
    return _Side(np.zeros(len(rows), np.int64), whole.image, whole.shape, whole.key(reading.primary_key or ()))


def _moments_of_one(reading: Reading) -> tuple[int, int]:
    envelope = reading.meaning.envelope
    times = _times([reading.place(envelope.event_time)], envelope.event_time, reading) if envelope.event_time else [0]
    places = _positions([reading.place(envelope.position)], envelope.position, reading) if envelope.position else [0]
    return int(times[0]), int(places[0])


def _times(values: Sequence[Any], place: Place, reading: Reading) -> Numbers:
    whole = read_integer_times(values, place) if set(map(type, values)) == {int} else None
    if whole is not None:
        return np.array(whole, np.int64)
    zone = reading.reading_options.zone("time_zone")
    known: dict[Any, int] = {}
    for value in values:
        if value not in known:
            result = ABSENT if value is UNSET else Number(str(value)) if type(value) is int else value
            known[value] = read_time(result, place, zone).micros or 0
    return np.fromiter((known[value] for value in values), np.int64, len(values))


def _positions(values: Sequence[Any], place: Place, _reading: Reading) -> Numbers:
    if place.order != "integer":
        return np.zeros(len(values), np.int64)
    numbers, _ = whole_numbers(values, Track("", place.at or "", "", place.null_text, place.absent_value))
    if numbers.dtype == object:
        return np.array([number if abs(number) <= _LARGEST else 0 for number in numbers], np.int64)
    return numbers


def _something(digests: Digests) -> Digests:
    """Return digests none of which says that there is nothing."""
    return np.where(digests == _NOTHING, np.uint64(1), digests)
