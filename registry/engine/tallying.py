"""Counting: a judged batch as a tally."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.contract.known_codes import show_known
from cdc_contracts.registry.contract.table_contracts import table_name
from cdc_contracts.registry.engine.batch_statistics import count_statistics
from cdc_contracts.registry.engine.chain_links import Placing, follow_chains
from cdc_contracts.registry.engine.fast_validator import BatchResult, GroupResult
from cdc_contracts.registry.engine.observed_shapes import observed_code, observed_kinds, observed_shapes
from cdc_contracts.registry.message.reading import Reading
from cdc_contracts.registry.records.record_batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.stats.ddl_statements import MOST_CHARACTERS, Statement, keep_first
from cdc_contracts.registry.stats.finding_onsets import ANY_OP, FindingSeries, Start
from cdc_contracts.registry.stats.finding_tallies import Extent, FindingExample, FindingKey, FindingTally, key_of
from cdc_contracts.registry.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.stats.record_facts import DDL
from cdc_contracts.registry.stats.tally import Lane, Tally
from cdc_contracts.registry.stats.version_runs import Run, join_runs
from cdc_contracts.registry.validate.validation_context import JudgedMessage
from cdc_contracts.registry.validate.verdicts import (
    AMBIGUOUS,
    CONFORMING,
    CONTROL,
    OTHER_DIALECT,
    QUARANTINED,
    TOMBSTONE,
    UNREADABLE,
    Verdict,
)

Numbers = NDArray[np.int64]

NO_PLACINGS: Final[Mapping[str, Placing]] = MappingProxyType({})

_FEW: Final = 8
"""Up to so many records of a table are counted together with those of others."""

MOST_BYTES: Final = 32 * 1024
"""So much of a value is kept as an example: more than is ever shown of it."""


@dataclass(eq=False)
class _Told:
    """Records of one verdict with what findings say of them; `shapes` and `kinds` have an entry per finding."""

    verdict: Verdict
    numbers: Numbers
    table: str | None
    op: str | None
    changes: int | Numbers
    shapes: Sequence[list[str] | None]
    kinds: Sequence[Counter[str] | None]
    statements: Iterable[Statement] = ()
    tables: Sequence[str | None] = ()
    """The table of each record, where they are of several; nothing is found in such records."""

    @cached_property
    def keys(self) -> tuple[FindingKey, ...]:
        return tuple(key_of(finding, self.table) for finding in self.verdict.findings)

    @cached_property
    def does(self) -> str:
        """The canonical op; that of any op where the code is not known."""
        version = self.verdict.version
        if version is None or self.op is None or not self.readable:
            return ANY_OP
        return version.meaning.ops.get(self.op, ANY_OP)

    @cached_property
    def code(self) -> str | None:
        """The code of the op as far as it may be shown."""
        version = self.verdict.version
        return None if version is None or self.op is None else show_known(self.op, version)

    @property
    def readable(self) -> bool:
        return self.verdict.outcome not in (TOMBSTONE, UNREADABLE, OTHER_DIALECT)


@dataclass(eq=False)
class _Part:
    """The records of one verdict in one partition, by their numbers in the batch and their offsets."""

    told: _Told
    source: Source
    numbers: Numbers
    offsets: Numbers
    times: Numbers
    tables: Sequence[str | None] = ()

    @cached_property
    def lasts(self) -> dict[str | None, int]:
        """The last offset of each table, and of all of them."""
        if not self.told.readable:
            return {None: self.last}
        if not self.tables:
            return {self.told.table: self.last, None: self.last}
        found: dict[str | None, int] = {}
        for table, offset in zip(self.tables, self.offsets.tolist(), strict=True):
            if offset >= found.get(table, offset):
                found[table] = offset
        return found | {None: self.last}

    @cached_property
    def first(self) -> int:
        return int(self.offsets.min())

    @cached_property
    def last(self) -> int:
        return int(self.offsets.max())


def count(
    batch_result: BatchResult, batch: Batch, *, show_values: bool = False, placings: Mapping[str, Placing] = NO_PLACINGS
) -> Tally:
    """Return what a judged batch came to; what was observed of values is their shapes unless `show_values`."""
    return count_parts([(batch, batch_result)], show_values=show_values, placings=placings)


def count_parts(
    judged: Sequence[tuple[Batch, BatchResult]],
    *,
    show_values: bool = False,
    placings: Mapping[str, Placing] = NO_PLACINGS,
) -> Tally:
    """Return what the parts of a batch came to, whose records may lie between each other.

    `placings` has the subjects whose key chains are followed.
    """
    total, parts, versions = Tally(), list[_Part](), list[str]()
    proven: list[tuple[Batch, Numbers]] = []
    if placings:
        total.chains = follow_chains(judged, placings)
    for batch, batch_result in judged:
        tally, mine, proofs = _count_part(batch_result, batch, versions, show_values=show_values)
        total.merge(tally)
        parts += mine
        proven.append((batch, proofs))
    count_statistics(judged, total)
    _find_series(total, parts)
    _find_runs(total, proven, versions)
    return total


def _count_part(
    batch_result: BatchResult, batch: Batch, versions: list[str], *, show_values: bool
) -> tuple[Tally, list[_Part], Numbers]:
    """Return what one part came to but for trails and runs, its records, and which of `versions` each proves, or -1."""
    result = [
        _told_of(group_results, batch, values=show_values)
        for group_results in _of_many_tables(batch_result.group_results)
    ]
    result += [_told_alone(number, judged, batch, values=show_values) for number, judged in batch_result.alone]
    if batch_result.tombstones:
        nothing = Verdict(TOMBSTONE, None, ())
        result.append(_Told(nothing, np.array(batch_result.tombstones), None, None, 0, [], []))
    tally = Tally()
    proven = np.full(len(batch), -1, np.int64)
    parts: list[_Part] = []
    examples: dict[int, FindingExample] = {}
    for one in result:
        verdict, total = one.verdict, len(one.numbers)
        tally.outcomes[verdict.outcome] += total
        if one.readable:
            tally.readable.update(one.tables or {one.table: total})
        if len(verdict.fits) == 1:
            reference = verdict.fits[0].reference
            if reference not in versions:
                versions.append(reference)
            proven[one.numbers] = versions.index(reference)
            tally.seen[reference] += total
        elif verdict.undecided:
            tally.undecided += total
            tally.differing += total if verdict.differs and verdict.outcome != AMBIGUOUS else 0
        mine = _count_partitions(tally, one, batch)
        parts += mine
        if verdict.findings:
            _add_findings(tally, one, mine, batch, examples)
        tally.statements += one.statements
    _note_extents(tally, parts)
    tally.statements = keep_first(tally.statements)
    return tally, parts, proven


def _of_many_tables(group_results: Sequence[GroupResult]) -> list[list[GroupResult]]:
    """Return the rulings together that differ in the table of their few records alone, and find nothing in them."""
    found: dict[Any, list[GroupResult]] = {}
    for group_result in group_results:
        record_group, verdict = group_result.record_group, group_result.verdict
        joins = not verdict.findings and len(record_group.positions) <= _FEW
        key = (
            (
                id(record_group.decoded_batch),
                id(record_group.cached_verdict.like or record_group.cached_verdict),
                id(verdict),
            )
            if joins
            else id(group_result)
        )
        found.setdefault(key, []).append(group_result)
    return list(found.values())


def _told_of(group_results: Sequence[GroupResult], batch: Batch, *, values: bool) -> _Told:
    """Return what is told of the records of one verdict, whether they are of one table or of many."""
    first = group_results[0]
    if len(group_results) == 1:
        return _told(first, batch, values=values)
    positions = [group_result.record_group.positions for group_result in group_results]
    result = _told(
        GroupResult(first.verdict, replace(first.record_group, positions=np.concatenate(positions))),
        batch,
        values=values,
    )
    if _is_ours(first.verdict):
        index = _place_of(first)
        result.tables = [
            table
            for group_result, mine in zip(group_results, positions, strict=True)
            for table in [_table_of(group_result.record_group.cached_verdict.readings[index])] * len(mine)
        ]
    return result


def _place_of(group_result: GroupResult) -> int:
    opinions = group_result.record_group.cached_verdict.opinions
    return next((at for at, opinion in enumerate(opinions) if opinion.version is group_result.verdict.version), -1)


def _table_of(reading: Reading) -> str | None:
    names = reading.names
    return table_name(names.database, names.schema, names.table)


def _told(group_result: GroupResult, batch: Batch, *, values: bool) -> _Told:
    record_group, verdict = group_result.record_group, group_result.verdict
    index = _place_of(group_result)
    reading = record_group.cached_verdict.readings[index]
    changes: int | Numbers = 0
    if verdict.outcome == CONFORMING:
        source = record_group.cached_verdict.opinions[index].placed_at
        changes = record_group.decoded_batch.rows[source].count[record_group.positions]
    table = _table_of(reading) if _is_ours(verdict) else None
    shapes = [observed_shapes(record_group, finding, values=values) for finding in verdict.findings]
    kinds = [observed_kinds(record_group, finding, values=values) for finding in verdict.findings]
    statements: list[Statement] = []
    if reading.op == DDL and verdict.outcome == CONTROL:
        for number, one in record_group.reread(index, batch.values):
            statements += _statement(batch, number, _table_of(one), one.ddl_text)
    return _Told(verdict, record_group.numbers, table, reading.code, changes, shapes, kinds, statements)


def _told_alone(number: int, judged: JudgedMessage, batch: Batch, *, values: bool) -> _Told:
    verdict, control = judged.verdict, judged.control
    table = judged.table if _is_ours(verdict) else None
    nothing = [None] * len(verdict.findings)
    shapes: list[list[str] | None] = list(nothing)
    if values and judged.reading is not None:
        codes = (observed_code(judged.reading, one) if one.name == "unknown-enum" else None for one in verdict.findings)
        shapes = [None if code is None else [code] for code in codes]
    is_statement = control is not None and judged.reading is not None and judged.reading.op == DDL
    statements = _statement(batch, number, table, control.ddl_text) if control and is_statement else []
    return _Told(
        verdict, np.array([number]), table, judged.code, len(judged.changes), shapes, nothing, statements
    )  # fmt: skip


def _is_ours(verdict: Verdict) -> bool:
    return verdict.outcome not in (UNREADABLE, OTHER_DIALECT)


def _statement(batch: Batch, number: int, table: str | None, text: str | None) -> list[Statement]:
    if not text:
        return []
    source = batch.source(number)
    return [Statement(*_moment(batch, source, number), table, text[:MOST_CHARACTERS])]


def _count_partitions(tally: Tally, one: _Told, batch: Batch) -> list[_Part]:
    """Count records by partition, and return them so."""
    parts = []
    for source, chosen in batch.by_source(one.numbers):
        mine = one.numbers[chosen]
        total = len(mine)
        partition = tally.partitions.setdefault(source, PartitionTally())
        partition.read += total
        column = _LEDGER.get(one.verdict.outcome, "quarantined")
        setattr(partition, column, getattr(partition, column) + total)
        partition.changes += one.changes * total if isinstance(one.changes, int) else int(one.changes[chosen].sum())
        tables = one.tables if isinstance(chosen, slice) else [*compress(one.tables, chosen.tolist())]
        parts.append(_Part(one, source, mine, batch.offsets[mine], batch.timestamps[mine], tables))
    return parts


def _note_extents(tally: Tally, parts: Sequence[_Part]) -> None:
    """Note where each partition begins and ends, by offsets and by times."""
    held: dict[Source, list[_Part]] = {}
    for part in parts:
        held.setdefault(part.source, []).append(part)
    for source, mine in held.items():
        offsets = np.concatenate([part.offsets for part in mine])
        times = np.concatenate([part.times for part in mine])
        note_extent(tally, source, offsets, times)


def note_extent(tally: Tally, source: Source, offsets: Numbers, times: Numbers) -> None:
    """Note from where to where records of a partition were read, by offsets and by times."""
    times = times[times != NO_TIMESTAMP]
    first, last = int(offsets.min()), int(offsets.max())
    extent = PartitionTally(first_offset=first, last_offset=last)
    if len(times):
        extent.first_timestamp, extent.last_timestamp = int(times.min()), int(times.max())
    tally.partitions.setdefault(source, PartitionTally()).merge(extent)
    tally.statistics.shapes.add_read(*source, ReadOffsets([(first, last)]))


def _add_findings(
    tally: Tally, one: _Told, parts: Sequence[_Part], batch: Batch, examples: dict[int, FindingExample]
) -> None:
    """Count the findings of records with one verdict, and keep the first of the records."""
    ends = [
        (part.source, len(part.numbers), part.numbers[int(part.offsets.argmin())],
         part.numbers[int(part.offsets.argmax())])
        for part in parts
    ]  # fmt: skip
    moments = [
        (source, total, _moment(batch, source, first), _moment(batch, source, last))
        for source, total, first, last in ends
    ]
    number = int(min(ends)[2])
    if number not in examples:
        examples[number] = _example(one, batch, number)
    total = len(one.numbers)
    for finding, shapes, kinds in zip(one.verdict.findings, one.shapes, one.kinds, strict=True):
        found = FindingTally(
            severity=finding.severity,
            expected=Counter({finding.expected: total}),
            observed=Counter({finding.observed: total} if shapes is None else shapes),
            ops=Counter({one.code: total} if one.code is not None else {}),
            contracts=Counter({one.verdict.version.reference: total} if one.verdict.version else {}),
            extents={source: Extent(held, first, last) for source, held, first, last in moments},
            shapes=kinds or Counter(),
            example=examples[number],
        )
        tally.add_finding(finding, one.table, found)


def _example(one: _Told, batch: Batch, number: int) -> FindingExample:
    """Return a record as an example: its bytes as far as they may be shown, and what the whole of it is known by."""
    source = batch.sources[int(batch.source_of[number])]
    value = batch.values[number] or b""
    known = one.verdict.version.reference if one.verdict.version and _is_ours(one.verdict) else None
    long = len(value) > MOST_BYTES
    digest = hashlib.sha256(value).hexdigest() if long else None
    return FindingExample(*source, int(batch.offsets[number]), value[:MOST_BYTES], len(value), digest, known)


def _find_series(tally: Tally, parts: Sequence[_Part]) -> None:
    """Note the last message of each table and op, and which records of a finding come behind one without it."""
    found: dict[tuple[Source, FindingKey], list[_Part]] = {}
    for part in parts:
        if part.told.verdict.outcome == TOMBSTONE:
            continue
        lasts = tally.lasts.setdefault(part.source, {})
        for op in {part.told.does, ANY_OP}:
            for table, last in part.lasts.items():
                lasts[table, op] = max(last, lasts.get((table, op), last))
        for key in tally.findings.keys() & part.told.keys:  # of very many not all are kept
            found.setdefault((part.source, key), []).append(part)
    decoders = _by_lane(parts) if found else {}
    for (source, key), held in found.items():
        series_by_finding = tally.findings[key].extents[source].series_by_finding
        for op in {*(part.told.does for part in held), ANY_OP}:
            mine_of_op = [part for part in held if op in (part.told.does, ANY_OP)]
            others = decoders.get((source, (key.table, op)), ())
            clean = next((last for last, result in others if key not in result.keys), -1)
            series_by_finding[op] = _trail(mine_of_op, clean)


def _by_lane(parts: Sequence[_Part]) -> dict[tuple[Source, Lane], list[tuple[int, _Told]]]:
    """Return the records of each table and op, each with the offset of the last, the last of all first."""
    decoders: dict[tuple[Source, Lane], list[tuple[int, _Told]]] = {}
    for part in parts:
        if part.told.verdict.outcome != TOMBSTONE:
            for op in {part.told.does, ANY_OP}:
                for table, last in part.lasts.items():
                    decoders.setdefault((part.source, (table, op)), []).append((last, part.told))
    for held in decoders.values():
        held.sort(key=itemgetter(0), reverse=True)
    return decoders


def _trail(parts: Sequence[_Part], clean: int) -> FindingSeries:
    """Return the trail of a finding in a batch: what of it comes behind the last message without."""
    series = FindingSeries(sum(len(part.numbers) for part in parts), max(part.last for part in parts), clean)
    behind = [(part.offsets[part.offsets > clean], part.times[part.offsets > clean]) for part in parts]
    offsets, times = (np.concatenate(one) for one in zip(*behind, strict=True))
    if len(offsets):
        first = int(offsets.argmin())
        series.starts = [Start(int(offsets[first]), _time(times[first]), len(offsets))]
    return series


def _moment(batch: Batch, source: Source, number: Any) -> Moment:
    return Moment(*source, int(batch.offsets[number]), _time(batch.timestamps[number]))


def _time(timestamp: Any) -> int | None:
    return None if timestamp == NO_TIMESTAMP else int(timestamp)


def _find_runs(tally: Tally, judged: Iterable[tuple[Batch, Numbers]], versions: Sequence[str]) -> None:
    """Note which versions follow each other in each partition, by records that prove theirs."""
    held: dict[Source, list[tuple[Numbers, Numbers, Numbers]]] = {}
    for batch, proven in judged if versions else ():
        for place, pair in enumerate(batch.sources):
            numbers = np.flatnonzero((batch.source_of == place) & (proven >= 0))
            if len(numbers):
                found = batch.offsets[numbers], proven[numbers], batch.timestamps[numbers]
                held.setdefault(Source(*pair), []).append(found)
    for source, parts in held.items():
        offsets, codes, times = map(np.concatenate, zip(*parts, strict=True))
        if (np.diff(offsets) < 0).any():
            order = np.argsort(offsets, kind="stable")
            offsets, codes, times = offsets[order], codes[order], times[order]
        starts = np.flatnonzero(np.append(True, np.diff(codes) != 0))
        ends = np.append(starts[1:], len(codes)) - 1
        tally.runs[source] = join_runs(
            Run(versions[codes[start]], int(offsets[start]), int(offsets[end]), end - start + 1,
                _time(times[start]), _time(times[end]))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        )  # fmt: skip


_LEDGER = {
    CONFORMING: "conforming",
    CONTROL: "control",
    TOMBSTONE: "tombstone",
    **dict.fromkeys(QUARANTINED, "quarantined"),
}
