"""Chain links: the row changes of validated records, with digests computed per batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.count.image_digests import (
    NOTHING,
    ImagePair,
    Numbers,
    digest_batches,
    images_of_one,
    moments_of_one,
)
from cdc_contracts.registry.core.engine.count.two_image_orders import TwoImageOrders, is_followed
from cdc_contracts.registry.core.engine.group.batch_positions import ReadRuns
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, CachedVerdict, GroupResult
from cdc_contracts.registry.core.engine.group.batch_tables import Tables, join_tables, table_of_all
from cdc_contracts.registry.core.engine.layouts.text_digests import Digests, mix
from cdc_contracts.registry.core.message.reading import Reading, TableNames
from cdc_contracts.registry.core.records.record_batches import Batch, split_by_code
from cdc_contracts.registry.core.stats.chain_evidence import ChainLine
from cdc_contracts.registry.core.stats.digests_without_arrow import digest_name
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.row_changes import CHANGE, LOAD, RowChanges


def follow_rows(
    parts: Sequence[tuple[Batch, BatchResult]],
    orders_by_subject: Mapping[str, TwoImageOrders],
    runs: Mapping[Source, ReadRuns],
) -> RowChanges:
    """Return the row changes of the parts of a batch, which have these runs of offsets."""
    followed = RowChanges()
    found: dict[ChainLine, list[NDArray[Any]]] = {}
    for batch, batch_result in parts:
        for subject, rows in _Collector(batch, batch_result, orders_by_subject, followed.tables).rows():
            of_source = dict(split_by_code(rows.sources)) if len(batch.sources) > 1 else {0: slice(None)}
            for place, pair in enumerate(batch.sources):
                mine = rows.changes[of_source.get(place, slice(0))]
                if len(mine):
                    found.setdefault(ChainLine(*pair, subject), []).append(mine)
    if not found and all(orders.foreign_validators for orders in orders_by_subject.values()):
        return followed  # no message resembles one of theirs
    for pair, read in runs.items():
        followed.read(*pair, read.spans)
        for subject, orders in orders_by_subject.items():
            line = ChainLine(*pair, subject)
            if orders.foreign_validators and line not in found:
                continue
            followed.open_line(line, orders.readings)
            for changes in found.get(line, ()):
                followed.add_array(line, changes)
    return followed


class _Changes(NamedTuple):
    """Row changes of some records, and the record of each."""

    changes: NDArray[Any]
    records: Numbers


class _Rows(NamedTuple):
    """Row changes, and the index of their partition in the batch."""

    changes: NDArray[Any]
    sources: Numbers


class _Collector:
    """The row changes of one validated batch, by subject."""

    def __init__(
        self,
        batch: Batch,
        batch_result: BatchResult,
        orders_by_subject: Mapping[str, TwoImageOrders],
        tables: dict[int, str | None],
    ) -> None:
        self._batch, self._batch_result, self._orders_by_subject, self._tables = (
            batch,
            batch_result,
            orders_by_subject,
            tables,
        )

    def rows(self) -> Iterator[tuple[str, _Rows]]:
        """Yield the row changes with their subject."""
        chosen = [
            group_result
            for group_result in self._batch_result.group_results
            if is_followed(group_result.verdict, self._orders_by_subject) and self._readings(group_result)
        ]
        opened = digest_batches([group_result.record_group for group_result in chosen])
        for same in self._read_alike(chosen):
            decoded_batch, readings = opened[id(same[0].record_group.decoded_batch)], self._readings(same[0])
            positions = np.concatenate([group_result.record_group.positions for group_result in same])
            kind = self._kind(readings[0], same[0].verdict.fits[0].subject)
            changes = _changes([decoded_batch.images(reading, positions) for reading in readings], kind)
            if changes is not None:
                numbers = np.concatenate([group_result.record_group.numbers for group_result in same])
                moments = [moments[positions] for moments in decoded_batch.moments(readings[0])]
                tables = join_tables([self._tables_of(group_result) for group_result in same])
                yield same[0].verdict.fits[0].subject, self._placed(changes, numbers, moments, tables)
        alone = [
            (number, validated)
            for number, validated in self._batch_result.alone
            if is_followed(validated.verdict, self._orders_by_subject)
        ]
        for number, validated in alone:
            result = self._orders_by_subject[validated.verdict.fits[0].subject].readings_of(validated)
            kind = self._kind(result[0], validated.verdict.fits[0].subject) if result else LOAD
            changes = _changes([images_of_one(reading) for reading in result], kind) if result else None
            if changes is not None:
                moments = [np.array([moment]) for moment in moments_of_one(result[0])]
                tables = table_of_all(result[0].names, 1)
                yield validated.verdict.fits[0].subject, self._placed(changes, np.array([number]), moments, tables)

    def _read_alike(self, group_results: Sequence[GroupResult]) -> list[list[GroupResult]]:
        """Return the results together whose records are read in the same way: they are read at once."""
        found: dict[Any, list[GroupResult]] = {}
        for group_result in group_results:
            key = [id(group_result.record_group.decoded_batch), group_result.verdict.fits[0].subject]
            key += [_way_of(reading) for reading in self._readings(group_result)]
            found.setdefault(tuple(key), []).append(group_result)
        return list(found.values())

    def _kind(self, reading: Reading, subject: str) -> int:
        return self._orders_by_subject[subject].kind_of(reading.op)

    def _tables_of(self, group_result: GroupResult) -> Tables:
        """Return the tables of records as the first way reads them."""
        record_group = group_result.record_group
        if record_group.batch_tables is None:
            return table_of_all(self._readings(group_result)[0].names, len(record_group.positions))
        return record_group.tables(0)

    def _readings(self, group_result: GroupResult) -> list[Reading]:
        """Return how each image order reads the records of a result; if only one fits, its reading counts for both.

        Empty if the other order is that of other subjects and the records cannot be theirs.
        """
        fits, cached_verdict = group_result.verdict.fits, group_result.record_group.cached_verdict
        orders = self._orders_by_subject[fits[0].subject]
        places = [
            next(
                (at for at, one in enumerate(cached_verdict.opinions) if one.version in way and one.version in fits),
                None,
            )
            for way in orders.versions
        ]
        readings = [None if place is None else cached_verdict.readings[place] for place in places]
        if orders.foreign_validators:
            readings[0] = _foreign_reading(cached_verdict, fits[0].subject, orders)
        return orders.of_both(readings)

    def _placed(
        self,
        changes: _Changes,
        numbers: Numbers,
        moments: Sequence[Numbers],
        of: Tables,
    ) -> _Rows:
        """Return row changes where they stand: by table, offset and moment."""
        rows, records = changes
        mine = numbers[records]
        for topic, of_topic in self._batch.by_topic(mine):
            held, codes = np.unique(of.codes[records[of_topic]], return_inverse=True)
            tables = np.array([self._table(topic, of.names[place]) for place in held.tolist()], np.uint64)
            rows["table"][of_topic] = tables[codes]
        rows["key"] = mix(rows["key"] ^ rows["table"])
        rows["offset"], rows["time"] = self._batch.offsets[mine], self._batch.timestamps[mine]
        rows["event"], rows["position"] = (moment[records] for moment in moments)
        return _Rows(rows, self._batch.source_of[mine])

    def _table(self, topic: str, names: TableNames) -> int:
        """Return the digest of a table in a topic, and record its name."""
        table = digest_name(topic, names.tenant, names.database, names.schema, names.table)
        self._tables[table] = names.text
        return table


def _way_of(reading: Reading) -> tuple[Any, ...]:
    """Return everything that decides how the images of records are read, except their table."""
    return id(reading.meaning), reading.op, tuple(map(reading.source, reading.sides)), tuple(reading.primary_key or ())


def _foreign_reading(cached_verdict: CachedVerdict, subject: str, orders: TwoImageOrders) -> Reading | None:
    """Return how a version of another subject reads records of one kind, whatever their table is called."""
    if subject not in cached_verdict.foreign_readings:
        cached_verdict.foreign_readings[subject] = orders.foreign_reading(cached_verdict.readings[0])
    return cached_verdict.foreign_readings[subject]


_IMAGES: Final = (("before", "after"), ("other_before", "other_after"))
"""The members of a change that hold the images of each reading."""


def _changes(images: Sequence[ImagePair], kind: int) -> _Changes | None:
    """Return the row changes of records that two readings agree on; None if their rows do not correspond.

    If a key changes, the change is one of both rows, each with its own image only. A row without a key is known by its
    image.
    """
    shown = [side for sides in images for side in sides if side is not None]
    if not shown or any(not np.array_equal(side.records, shown[0].records) for side in shown):
        return None
    records = shown[0].records
    starts = np.flatnonzero(np.append(True, np.diff(records) != 0)) if len(records) else records
    rows = np.zeros(len(records), CHANGE)
    rows["kind"] = kind
    rows["within"] = np.arange(len(records)) - np.repeat(starts, np.diff(np.append(starts, len(records))))
    keys = [np.where(side.key == NOTHING, side.image, side.key) for side in shown]
    alike = np.logical_and.reduce([side.shape == shown[0].shape for side in shown])
    stays = np.logical_and.reduce([key == keys[0] for key in keys])
    rows["shape"] = np.where(alike & (shown[0].key != NOTHING), shown[0].shape, NOTHING)
    rows["key"] = keys[0]
    for sides, names in zip(images, _IMAGES, strict=True):
        for side, name in zip(sides, names, strict=True):
            if side is not None:
                rows[name] = side.image
    moves = np.flatnonzero(~stays & alike)
    if len(moves):
        parts = [rows[stays], *(_moved(rows, images, moves, key) for key in _both(keys, moves))]
        chosen = np.concatenate([np.flatnonzero(stays), moves, moves])
        return _Changes(np.concatenate(parts), records[chosen])
    return _Changes(rows[stays], records[stays])


def _both(keys: Sequence[Digests], moves: Numbers) -> tuple[Digests, Digests]:
    """Return the two keys of changes of a key."""
    one = keys[0][moves]
    other = one
    for key in keys[1:]:
        other = np.where(other == one, key[moves], other)
    return one, other


def _moved(rows: NDArray[Any], images: Sequence[ImagePair], moves: Numbers, key: Digests) -> NDArray[Any]:
    """Return changes of a key as the changes of one of its two rows."""
    mine = rows[moves]
    mine["key"] = key
    for sides, names in zip(images, _IMAGES, strict=True):
        for side, name in zip(sides, names, strict=True):
            if side is not None:
                own = np.where(side.key == NOTHING, side.image, side.key)[moves]
                mine[name] = np.where(own == key, mine[name], NOTHING)
    return mine
