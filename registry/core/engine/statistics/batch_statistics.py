"""Batch statistics: the contribution of a validated batch to the statistics of its stream.

Whatever follows from a cached verdict is computed once per verdict (`facts`). Per batch only numbers remain: the kind,
the offset and the position of each record, in order of offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.group.batch_positions import BatchPositions, ReadRuns, join_positions
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.statistics.option_columns import note_options
from cdc_contracts.registry.core.engine.statistics.part_counts import note_parts
from cdc_contracts.registry.core.engine.statistics.substitute_columns import note_substitutes
from cdc_contracts.registry.core.engine.statistics.written_columns import (
    WrittenGroup,
    WrittenRecords,
    note_writing,
    stretch_of,
)
from cdc_contracts.registry.core.records.code_orders import order_by_code
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import SequenceLine, Stretch
from cdc_contracts.registry.core.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.core.stats.record_facts import (
    Facts,
    Track,
    count_coverage,
    count_facts,
    count_rows,
    facts_of_one,
    whole_number,
)
from cdc_contracts.registry.core.stats.stream_statistics import StreamStatistics
from cdc_contracts.registry.core.stats.tally import Tally

Numbers = NDArray[np.int64]


def count_statistics(
    validated: Sequence[tuple[Batch, BatchResult]], tally: Tally, runs: Mapping[Source, ReadRuns]
) -> None:
    """Add the records of a validated batch to the statistics of their stream; parts of the batch may interleave."""
    counted = [
        one for batch, batch_result in validated if (one := _count_part(batch_result, batch, tally.statistics)).facts
    ]
    statements: dict[Source, list[int]] = {}
    for part in counted:
        for source, offsets in part.statements():
            statements[source] = sorted([*statements.get(source, ()), *offsets])
    for source, offsets in statements.items():
        tally.statistics.shapes.add_read(*source, ReadOffsets(statements=offsets))
    positions: dict[SequenceLine, list[BatchPositions]] = {}
    for part in counted:
        part.count(tally, statements)
        for line, tracked in part.positions():
            positions.setdefault(line, []).append(tracked)
    tally.statistics.shapes.bound()
    for line, held in positions.items():
        join_positions(held).add_to(tally.statistics.sequences, line, runs[Source(*line[:2])])


def _count_part(batch_result: BatchResult, batch: Batch, statistics: StreamStatistics) -> _CountedPart:
    counted = _CountedPart(batch)
    result: list[WrittenGroup] = []
    for group_result in batch_result.group_results:
        record_group = group_result.record_group
        facts = record_group.cached_verdict.facts_by(group_result.verdict)
        if facts is not None:
            members = record_group.decoded_batch.members
            values = members.get(facts.track.path) if facts.track is not None else None
            tables = record_group.tables(group_result.place)
            counted.take(facts, tables, record_group.numbers, values, record_group.positions)
            result.append(WrittenGroup(record_group, facts, tables))
    records = WrittenRecords(result, batch)
    note_writing(statistics.writing, records)
    note_options(statistics.options, records)
    note_substitutes(statistics.substitutes, records)
    note_parts(statistics.parts, result, batch)
    for number, validated in batch_result.alone:
        alone = facts_of_one(validated)
        if alone is not None and validated.reading is not None:
            track = alone.track
            values = None if track is None else ParsedColumn([validated.reading.at(track.path)], decoder_kinds.WIDE)
            tables = Tables(np.zeros(1, np.int64), [validated.reading.names], [alone.table])
            counted.take(alone, tables, np.array([number]), values, np.array([0]))
            source, stretch = batch.source(number), stretch_of(alone, batch, number)
            count_rows(statistics, alone, validated.reading, source, stretch)
    return counted


class _CountedPart:
    """The readable records of one batch: for each its facts, by number, and its position."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.facts: list[Facts] = []
        self._codes = np.full(len(batch), -1, np.int64)
        self._tables = np.zeros(len(batch), np.int64)
        self._known_tables: dict[str | None, int] = {}
        self._positions: NDArray[Any] = np.zeros(len(batch), np.int64)
        self._has_position = np.zeros(len(batch), np.bool_)
        self._opened: dict[int, tuple[ParsedColumn, NDArray[Any], NDArray[np.bool_]]] = {}

    def take(
        self, facts: Facts, tables: Tables, numbers: Numbers, values: ParsedColumn | None, places: Numbers
    ) -> None:
        """Take records of one kind; where they have a position, each by its index in `values`."""
        self._codes[numbers] = len(self.facts)
        self._tables[numbers] = tables.numbered(self._known_tables)
        self.facts.append(facts)
        if values is None or facts.track is None:
            return
        if id(values) not in self._opened:
            self._opened[id(values)] = (values, *whole_numbers(values, facts.track))
        _, positions, there = self._opened[id(values)]
        if positions.dtype == object:
            self._positions = self._positions.astype(object)
        self._positions[numbers], self._has_position[numbers] = positions[places], there[places]

    def count(self, tally: Tally, statements: Mapping[Source, list[int]]) -> None:
        """Count the records by kind and partition, each with the first and the last of them."""
        for facts, sources, tables, stretches in self._stretches(statements):
            count_facts(tally, facts, sources, tables, stretches)
        totals = np.bincount(self._codes[self._codes >= 0], minlength=len(self.facts)).tolist()
        record_group: dict[int, int] = {}
        for facts, total in zip(self.facts, totals, strict=True):
            record_group[id(facts.exercised)] = record_group.get(id(facts.exercised), 0) + total
        for facts in {id(facts.exercised): facts for facts in self.facts}.values():
            count_coverage(tally, facts, record_group[id(facts.exercised)])

    def positions(self) -> Iterator[tuple[SequenceLine, BatchPositions]]:
        """Yield the records of each line that have a position, in order of their offsets."""
        tracks = list(dict.fromkeys(facts.track for facts in self.facts if facts.track is not None))
        if not tracks:
            return
        tracks_of_facts = [-1 if facts.track is None else tracks.index(facts.track) for facts in self.facts]
        track_of = np.append(tracks_of_facts, -1)[self._codes]
        halves = np.array([facts.half for facts in self.facts])
        contracts = np.array([facts.contract for facts in self.facts], object)
        order = self._order()
        for source, chosen in self.batch.by_source(order):
            numbers = order[chosen]
            for index, track in enumerate(tracks):
                mine = numbers[self._has_position[numbers] & (track_of[numbers] == index)]
                codes = self._codes[mine]
                yield SequenceLine(*source, *track[:3]), BatchPositions(
                    self.batch.offsets[mine], self.batch.timestamps[mine], self._positions[mine],
                    halves[codes], contracts[codes],
                )  # fmt: skip

    def _order(self) -> Numbers:
        offsets = self.batch.offsets
        if (np.diff(offsets) >= 0).all():
            return np.arange(len(offsets))
        return np.argsort(offsets, kind="stable")

    def statements(self) -> Iterator[tuple[Source, list[int]]]:
        """Yield the offsets of the DDL statements of each partition."""
        codes = [code for code, facts in enumerate(self.facts) if facts.is_statement]
        numbers = np.flatnonzero(np.isin(self._codes, codes)) if codes else np.zeros(0, np.int64)
        for source, chosen in self.batch.by_source(numbers):
            yield source, self.batch.offsets[numbers[chosen]].tolist()

    def _stretches(
        self, statements: Mapping[Source, list[int]]
    ) -> Iterator[tuple[Facts, list[Source], list[str | None], list[Stretch]]]:
        """Yield each kind of records by partition and table, cut at the statements of the partition."""
        order = self._order()
        order = order[self._codes[order] >= 0]
        keys = self._codes[order] * len(self.batch.sources) + self.batch.source_of[order]
        most = max(map(len, statements.values()), default=0) + 1
        if most > 1:
            eras = np.zeros(len(order), np.int64)
            for source, chosen in self.batch.by_source(order):
                eras[chosen] = np.searchsorted(statements.get(source, []), self.batch.offsets[order[chosen]])
            keys = keys * most + eras
        called = list(self._known_tables)
        keys = keys * len(called) + self._tables[order]
        by_key = order_by_code(keys)
        order, keys = order[by_key], keys[by_key]
        starts = np.flatnonzero(np.append(True, np.diff(keys) != 0)) if len(keys) else np.zeros(0, np.int64)
        ends = np.append(starts[1:], len(keys))
        firsts = self.batch.points(order[starts])
        lasts, several = firsts.copy(), np.flatnonzero(ends - starts > 1)
        for place, point in zip(several.tolist(), self.batch.points(order[ends[several] - 1]), strict=True):
            lasts[place] = point
        known = self.batch.sources
        sources = [known[place] for place in self.batch.source_of[order[starts]].tolist()]
        tables = [called[table] for table in self._tables[order[starts]].tolist()]
        totals, codes = (ends - starts).tolist(), self._codes[order[starts]]
        begins = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
        for begin, end in pairwise([*begins, len(starts)]):
            facts, mine = self.facts[codes[begin]], slice(begin, end)
            contract, op = facts.contract, facts.code
            stretches = [
                Stretch(total, first, last, {contract: total}, {} if op is None else {op: total})
                for total, first, last in zip(totals[mine], firsts[mine], lasts[mine], strict=True)
            ]
            yield facts, sources[mine], tables[mine], stretches


def whole_numbers(values: ParsedColumn, track: Track) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the positions in some members, and a mask of the members that hold one."""
    found = values.all_integers
    if found is None and not (track.null_text or "").isdigit():
        found = values.all_digits
    if found is not None:
        there = np.ones(len(found), np.bool_) if track.absent_value is None else found != track.absent_value
        return np.where(there, found, 0), there
    result = [whole_number(value, track) for value in values]
    there = np.fromiter((one is not None for one in result), np.bool_, len(result))
    whole = [0 if one is None else one for one in result]
    try:
        return np.array(whole, np.int64), there
    except OverflowError:
        return np.array(whole, object), there
