"""Chain links: the row changes of validated records, with digests computed per batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.count.image_changes import ImageChanges, list_sides, read_changes
from cdc_contracts.registry.core.engine.count.image_digests import (
    NOTHING,
    DigestedPart,
    Numbers,
    digest_batches,
)
from cdc_contracts.registry.core.engine.count.record_moments import moments_of
from cdc_contracts.registry.core.engine.count.single_changes import changes_of_message
from cdc_contracts.registry.core.engine.count.two_image_orders import TwoImageOrders, is_followed
from cdc_contracts.registry.core.engine.group.batch_positions import ReadRuns
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, CachedVerdict, GroupResult
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables, join_tables, table_of_all
from cdc_contracts.registry.core.engine.layouts.text_digests import Digests, mix
from cdc_contracts.registry.core.message.reading import Reading, TableNames
from cdc_contracts.registry.core.records.record_batches import Batch, split_by_code
from cdc_contracts.registry.core.stats.chain_evidence import ChainLine
from cdc_contracts.registry.core.stats.digests_without_arrow import digest_name
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.row_changes import CHANGE, HIGHEST, RowChanges


def follow_rows(
    parts: Sequence[tuple[Batch, BatchResult]],
    orders_by_subject: Mapping[str, TwoImageOrders],
    runs: Mapping[Source, ReadRuns],
    ceiling: int,
) -> RowChanges:
    """Return the row changes of the parts of a batch, which have these runs of offsets.

    Rows whose digest is above the ceiling are counted and not kept.
    """
    followed = RowChanges(ceiling=ceiling)
    found: dict[ChainLine, list[NDArray[Any]]] = {}
    for batch, batch_result in parts:
        for line, changes in _Collector(batch, batch_result, orders_by_subject, followed).changes():
            found.setdefault(line, []).append(changes)
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
        followed: RowChanges,
    ) -> None:
        self._batch, self._batch_result, self._orders_by_subject = batch, batch_result, orders_by_subject
        self._followed = followed
        self._passed_by: set[tuple[str, int]] = set()
        """The subjects and the partitions of rows that were counted and not kept."""

    def changes(self) -> Iterator[tuple[ChainLine, NDArray[Any]]]:
        """Yield the row changes by line: of a line whose rows were all counted and not kept there are none."""
        for subject, rows in self._rows():
            of_source = dict(split_by_code(rows.sources)) if len(self._batch.sources) > 1 else {0: slice(None)}
            for place, pair in enumerate(self._batch.sources):
                mine = rows.changes[of_source.get(place, slice(0))]
                if len(mine):
                    yield ChainLine(*pair, subject), mine
        for subject, place in self._passed_by:
            yield ChainLine(*self._batch.sources[place], subject), np.zeros(0, CHANGE)

    def _rows(self) -> Iterator[tuple[str, _Rows]]:
        """Yield the row changes with their subject."""
        chosen = [
            group_result
            for group_result in self._batch_result.group_results
            if is_followed(group_result.verdict, self._orders_by_subject) and self._readings(group_result)
        ]
        parts: dict[int, DigestedPart] = {}
        if self._followed.ceiling < HIGHEST:
            chosen, parts = self._pass_by(chosen)
        opened = digest_batches([group_result.record_group for group_result in chosen], parts)
        for same in self._read_alike(chosen):
            decoded_batch, readings = opened[id(same[0].record_group.decoded_batch)], self._readings(same[0])
            positions = np.concatenate([group_result.record_group.positions for group_result in same])
            kind = self._kind(readings[0], same[0].verdict.fits[0].subject)
            changes = read_changes([decoded_batch.images(reading, positions) for reading in readings], kind)
            if changes is not None:
                numbers = np.concatenate([group_result.record_group.numbers for group_result in same])
                moments = moments_of(decoded_batch.decoded_batch, readings[0], positions)
                tables = join_tables([self._tables_of(group_result) for group_result in same])
                yield same[0].verdict.fits[0].subject, self._placed(changes, numbers, moments, tables)
        alone = [
            (number, validated)
            for number, validated in self._batch_result.alone
            if is_followed(validated.verdict, self._orders_by_subject)
        ]
        for number, validated in alone:
            subject, source = validated.verdict.fits[0].subject, int(self._batch.source_of[number])
            found = changes_of_message(
                validated, self._orders_by_subject[subject], self._batch.sources[source].topic,
                int(self._batch.offsets[number]), int(self._batch.timestamps[number]), self._followed.tables,
            )  # fmt: skip
            yield subject, _Rows(np.array(found, CHANGE), np.full(len(found), source))

    def _pass_by(self, group_results: Sequence[GroupResult]) -> tuple[list[GroupResult], dict[int, DigestedPart]]:
        """Count the records all of whose rows are above the ceiling, by digests of key columns only.

        Return the results without them, and which records of each decoded batch are left.
        """
        keys: dict[int, set[str]] = {}
        for group_result in group_results:
            for reading in self._readings(group_result):
                keys.setdefault(id(group_result.record_group.decoded_batch), set()).update(reading.primary_key or ())
        parts = {number: DigestedPart(names) for number, names in keys.items()}
        opened = digest_batches([group_result.record_group for group_result in group_results], parts)
        left: list[GroupResult] = []
        for same in self._read_alike(group_results):
            decoded_batch, readings = opened[id(same[0].record_group.decoded_batch)], self._readings(same[0])
            positions = np.concatenate([group_result.record_group.positions for group_result in same])
            numbers = np.concatenate([group_result.record_group.numbers for group_result in same])
            tables = join_tables([self._tables_of(group_result) for group_result in same])
            shown = list_sides([decoded_batch.images(reading, positions) for reading in readings])
            low = np.zeros(len(positions), np.bool_)
            if shown:
                records = shown[0].records
                mixed = mix(shown[0].key ^ self._digest_tables(numbers[records], tables, records))
                has_key = np.logical_and.reduce([side.key == shown[0].key for side in shown])
                has_key &= shown[0].key != NOTHING
                low[records[~has_key | (mixed <= np.uint64(self._followed.ceiling))]] = True
                passed_by = ~low[records]
                self._followed.total += int(passed_by.sum())
                subject = same[0].verdict.fits[0].subject
                sources = np.flatnonzero(np.bincount(self._batch.source_of[numbers[records[passed_by]]]))
                self._passed_by |= {(subject, source) for source in sources.tolist()}
            ends = np.cumsum([len(group_result.record_group.positions) for group_result in same])
            for group_result, kept in zip(same, np.split(low, ends[:-1]), strict=True):
                if kept.any():
                    record_group = group_result.record_group
                    record_group = replace(record_group, positions=record_group.positions[kept])
                    left.append(GroupResult(group_result.verdict, record_group))
        places: dict[int, list[Numbers]] = {}
        for group_result in left:
            record_group = group_result.record_group
            places.setdefault(id(record_group.decoded_batch), []).append(record_group.positions)
        return left, {number: DigestedPart(None, np.sort(np.concatenate(one))) for number, one in places.items()}

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
        changes: ImageChanges,
        numbers: Numbers,
        moments: Sequence[Numbers],
        of: Tables,
    ) -> _Rows:
        """Return row changes where they stand: by table, offset and moment."""
        rows, records = changes
        mine = numbers[records]
        rows["table"] = self._digest_tables(mine, of, records)
        rows["key"] = mix(rows["key"] ^ rows["table"])
        rows["offset"], rows["time"] = self._batch.offsets[mine], self._batch.timestamps[mine]
        rows["event"], rows["position"] = (moment[records] for moment in moments)
        return _Rows(rows, self._batch.source_of[mine])

    def _digest_tables(self, numbers: Numbers, of: Tables, records: Numbers) -> Digests:
        """Return the digest of the table of each row, which has the number of its record and its place in `of`."""
        found = np.zeros(len(numbers), np.uint64)
        for topic, of_topic in self._batch.by_topic(numbers):
            codes = of.codes[records[of_topic]]
            tables = np.zeros(len(of.names), np.uint64)
            held = np.flatnonzero(np.bincount(codes, minlength=len(of.names)))
            tables[held] = [self._table(topic, of.names[place]) for place in held.tolist()]
            found[of_topic] = tables[codes]
        return found

    def _table(self, topic: str, names: TableNames) -> int:
        """Return the digest of a table in a topic, and record its name."""
        table = digest_name(topic, names.tenant, names.database, names.schema, names.table)
        self._followed.tables[table] = names.text
        return table


def _way_of(reading: Reading) -> tuple[Any, ...]:
    """Return everything that decides how the images of records are read, except their table."""
    return id(reading.meaning), reading.op, tuple(map(reading.source, reading.sides)), tuple(reading.primary_key or ())


def _foreign_reading(cached_verdict: CachedVerdict, subject: str, orders: TwoImageOrders) -> Reading | None:
    """Return how a version of another subject reads records of one kind, whatever their table is called."""
    if subject not in cached_verdict.foreign_readings:
        cached_verdict.foreign_readings[subject] = orders.foreign_reading(cached_verdict.readings[0])
    return cached_verdict.foreign_readings[subject]
