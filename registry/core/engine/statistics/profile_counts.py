"""Profile counts: the contribution of a validated batch to the profiles of its tables, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.time_zones import Zone
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, RecordGroup
from cdc_contracts.registry.core.engine.group.row_facts import times_of
from cdc_contracts.registry.core.engine.layouts.batch_tables import join_tables
from cdc_contracts.registry.core.engine.layouts.decoded_batches import Rows
from cdc_contracts.registry.core.engine.statistics.value_texts import TEXT_STATE, ValueTexts, find_texts
from cdc_contracts.registry.core.message.envelope_times import is_local
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.records.record_batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.core.stats.message_profiles import (
    ProfiledImage,
    lag_until,
    profile_message,
    profiled_image,
)
from cdc_contracts.registry.core.stats.topic_profiles import (
    MOST_BUCKET,
    PROCESS_TIME,
    ColumnProfile,
    LagLine,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
    column_name,
)
from cdc_contracts.registry.core.validate.verdicts import CONFORMING

Numbers = NDArray[np.int64]

_UNKNOWN: Final = np.iinfo(np.int64).min
_BOUNDS: Final = np.array([0, *(2**power for power in range(MOST_BUCKET))], np.int64)
_LONGEST: Final = 2**31 - 1


class _ProfiledGroup(NamedTuple):
    """Records of a group whose rows are counted: as which version of their contract, how, and by which op."""

    record_group: RecordGroup
    place: int
    contract: str
    reading: Reading


@dataclass(frozen=True, eq=False)
class _Cells:
    """The rows of some groups: their indices, for each row its cell, and for each cell its table and its ops.

    `within` is the number of each row in its record, `records` the position of that record in the batch.
    """

    rows: Numbers
    of_row: Numbers
    tables: list[ProfiledTable]
    ops: list[dict[str, int]]
    records: Numbers
    within: Numbers


def count_profiles(validated: Sequence[tuple[Batch, BatchResult]]) -> TopicProfiles:
    """Return the profiles of the conforming records of a validated batch, given in parts."""
    profiles = TopicProfiles()
    for batch, batch_result in validated:
        of_image: dict[tuple[int, ProfiledImage], list[_ProfiledGroup]] = {}
        timed: dict[tuple[int, int], list[_ProfiledGroup]] = {}
        for one in _conforming(batch_result):
            timed.setdefault((id(one.record_group.decoded_batch), id(one.reading.meaning)), []).append(one)
            image = profiled_image(one.reading)
            if image is not None and image.source in one.record_group.decoded_batch.rows:
                of_image.setdefault((id(one.record_group.decoded_batch), image), []).append(one)
        for groups in timed.values():
            _count_lag(profiles, groups, batch)
        for (_, image), groups in of_image.items():
            _count_rows(profiles, groups, image, batch)
        for number, alone in batch_result.alone:
            time = int(batch.timestamps[number])
            profile_message(profiles, alone, batch.source(number).topic, None if time == NO_TIMESTAMP else time)
    return profiles


def _conforming(batch_result: BatchResult) -> Iterator[_ProfiledGroup]:
    for group_result in batch_result.group_results:
        version = group_result.verdict.version
        if group_result.verdict.outcome == CONFORMING and version is not None:
            record_group, place = group_result.record_group, group_result.place
            yield _ProfiledGroup(record_group, place, version.reference, record_group.cached_verdict.readings[place])


def _count_rows(profiles: TopicProfiles, groups: Sequence[_ProfiledGroup], image: ProfiledImage, batch: Batch) -> None:
    decoded_batch = groups[0].record_group.decoded_batch
    cells = _cells_of(groups, decoded_batch.rows[image.source], batch)
    if cells is None:
        return
    reading = groups[0].reading
    columns = _columns_of(groups[0].record_group, image.source, reading)
    values = {name: one.select(cells.rows) for name, one in columns}
    below = decoded_batch.rows.get(image.completed_from) if image.completed_from is not None else None
    if below is not None and below.total and image.completed_from is not None:
        there = cells.within < below.count[cells.records]
        rows = np.where(there, below.start[cells.records] + cells.within, 0)
        for name, one in _columns_of(groups[0].record_group, image.completed_from, reading):
            under = one.select(rows).where(there)
            values[name] = values[name].completed(under) if name in values else under
    profiled = _profiles_of(list(values.values()), cells) if values else [[] for _ in cells.tables]
    names = [*map(column_name, values)]
    for key, ops, listed in zip(cells.tables, cells.ops, profiled, strict=True):
        table = TableProfile()
        for op, rows_of_op in ops.items():
            table.add_ops(op, rows_of_op)
        table.add_columns({name: column for name, column in zip(names, listed, strict=True) if column.present})
        profiles.add(key, table)


def _columns_of(record_group: RecordGroup, pointer: str, reading: Reading) -> Iterable[tuple[str, ValueTexts]]:
    rows = record_group.decoded_batch.rows[pointer]
    named = reading.meaning.transport != "json"
    for (at, index), values in record_group.columns.items():
        if at == pointer:
            yield rows.image.columns[index].name, find_texts(values, named=named)


def _cells_of(groups: Sequence[_ProfiledGroup], rows: Rows, batch: Batch) -> _Cells | None:
    """Return the rows of some groups by cell, one for each table, version and topic; None if there are no rows."""
    positions = np.concatenate([one.record_group.positions for one in groups])
    count, mine = rows.count[positions], rows.of(positions)
    if not len(mine):
        return None
    sizes = [len(one.record_group.positions) for one in groups]
    contracts = list(dict.fromkeys(one.contract for one in groups))
    ops = list(dict.fromkeys(_op(one) for one in groups))
    topics = list(dict.fromkeys(topic for topic, _ in batch.sources))
    topic_of_source = np.array([topics.index(topic) for topic, _ in batch.sources])
    names: dict[str | None, int] = {}
    tables = join_tables([one.record_group.tables(one.place) for one in groups]).numbered(names)
    numbers = groups[0].record_group.decoded_batch.numbers[positions]
    contract_of = np.repeat([contracts.index(one.contract) for one in groups], sizes)
    keys = (topic_of_source[batch.source_of[numbers]] * len(contracts) + contract_of) * len(names) + tables
    distinct, of_record = _distinct(keys)
    of_row = np.repeat(of_record, count)
    op_of_row = np.repeat(np.repeat([ops.index(_op(one)) for one in groups], sizes), count)
    by_op = np.bincount(of_row * len(ops) + op_of_row, minlength=len(distinct) * len(ops)).reshape(-1, len(ops))
    called, found = list(names), []
    for key in distinct:
        rest, table = divmod(key, len(names))
        topic, contract = divmod(rest, len(contracts))
        found.append(ProfiledTable(topics[topic], called[table], contracts[contract]))
    ops_of_cell = [{op: rows for op, rows in zip(ops, row, strict=True) if rows} for row in by_op.tolist()]
    records, within = rows.within(positions)
    return _Cells(mine, of_row, found, ops_of_cell, positions[records], within)


def _op(one: _ProfiledGroup) -> str:
    return one.reading.op or ""


def _distinct(keys: Numbers) -> tuple[list[int], Numbers]:
    """Return the distinct keys, and the place of each key among them."""
    if (keys == keys[0]).all():
        return [int(keys[0])], np.zeros(len(keys), np.int64)
    distinct, places = np.unique(keys, return_inverse=True)
    return distinct.tolist(), places


def _profiles_of(values: Sequence[ValueTexts], cells: _Cells) -> list[list[ColumnProfile]]:
    """Return for each cell the profile of each column."""
    order, starts = slice(None), np.zeros(1, np.int64)
    if len(cells.tables) > 1:
        by_cell = np.argsort(cells.of_row, kind="stable")
        order = by_cell  # type: ignore[assignment]
        starts = np.flatnonzero(np.append(True, np.diff(cells.of_row[by_cell]) != 0))
    states = np.array([one.states for one in values])[:, order]
    lengths = np.array([one.characters for one in values])[:, order]
    texts = states == TEXT_STATE

    def add_up(counted: NDArray[Any]) -> list[list[int]]:
        found: list[list[int]] = np.add.reduceat(counted, starts, axis=1, dtype=np.int64).T.tolist()
        return found

    nothing = [[0] * len(values)] * len(cells.tables)
    replaced = any(one.replaced is not None for one in values)
    marks = (np.zeros(len(cells.rows), np.bool_) if one.replaced is None else one.replaced for one in values)
    sums = (
        add_up(states > 0), add_up(states == 1), add_up(texts), add_up(texts & (lengths == 0)),
        add_up(np.array(list(marks))[:, order]) if replaced else nothing, add_up(lengths),
        np.minimum.reduceat(np.where(texts, lengths, _LONGEST), starts, axis=1).T.tolist(),
        np.maximum.reduceat(lengths, starts, axis=1).T.tolist(),
    )  # fmt: skip
    return [
        [
            ColumnProfile(*counts[:6], *(counts[6:8] if counts[2] else (None, None)))
            for counts in zip(*of_cell, strict=True)
        ]
        for of_cell in zip(*sums, strict=True)
    ]


def _count_lag(profiles: TopicProfiles, groups: Sequence[_ProfiledGroup], batch: Batch) -> None:
    """Count the lag of the records of some groups of one decoded batch, which one version reads."""
    reading = groups[0].reading
    meaning, until = reading.meaning, lag_until(reading.meaning)
    if until is None:
        return
    positions = np.concatenate([one.record_group.positions for one in groups])
    record_group = replace(groups[0].record_group, positions=positions)
    zone = reading.reading_options.zone("time_zone")
    event = _micros(record_group, meaning.envelope.event_time, zone)
    if until == PROCESS_TIME:
        made = _micros(record_group, meaning.envelope.process_time, zone)
    else:
        times = batch.timestamps[record_group.numbers]
        made = np.where(times == NO_TIMESTAMP, _UNKNOWN, times)
    for topic, chosen in batch.by_topic(record_group.numbers):
        profiles.add_lag(LagLine(topic, until), _lag_of(event[chosen], made[chosen]))


def _micros(record_group: RecordGroup, place: Place | None, zone: Zone | None) -> Numbers:
    """Return the times of records in microseconds; the least integer for one that is not known."""
    if place is not None and zone is None and is_local(place) and not _has_zones(record_group, place):
        return np.full(len(record_group.positions), _UNKNOWN)
    times, _ = times_of(record_group, place, zone)
    if isinstance(times, pa.Array):
        return times.cast(pa.int64()).fill_null(_UNKNOWN).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    return np.array([_UNKNOWN if time is None else time for time in times], np.int64)


def _has_zones(record_group: RecordGroup, place: Place) -> bool:
    """Return whether some of the records may say in which zone their time is."""
    values = record_group.decoded_batch.members.get(place.at or "")
    if values is None:
        return False
    texts = values.as_texts.take(pa.array(record_group.positions))
    return bool(pc.any(pc.ends_with(texts, "Z")).as_py())


def _lag_of(event: Numbers, made: Numbers) -> LagProfile:
    known = (event != _UNKNOWN) & (made != _UNKNOWN)
    total, unknown = len(event), len(event) - int(np.count_nonzero(known))
    if unknown == total:
        return LagProfile(total, unknown)
    lags = made[known] - event[known]
    counts = np.bincount(np.searchsorted(_BOUNDS, lags // 1000, side="right"))
    buckets = {place - 1: count for place, count in enumerate(counts.tolist()) if count}
    return LagProfile(total, unknown, int(lags.min()), int(lags.max()), buckets)
