"""Tallying: a validated batch as a tally."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from cdc_contracts.registry.engine.batch_results import BatchResult
from cdc_contracts.registry.engine.batch_statistics import count_statistics
from cdc_contracts.registry.engine.chain_links import follow_chains
from cdc_contracts.registry.engine.finding_counts import add_findings, find_series
from cdc_contracts.registry.engine.image_placings import Placing
from cdc_contracts.registry.engine.profile_counts import count_profiles
from cdc_contracts.registry.engine.verdict_records import (
    Numbers,
    PartitionRecords,
    VerdictRecords,
    join_groups,
    record_alone,
    records_of_group,
    time_of,
)
from cdc_contracts.registry.records.record_batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.stats.ddl_statements import keep_first
from cdc_contracts.registry.stats.finding_tallies import FindingExample
from cdc_contracts.registry.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.stats.version_runs import Run, join_runs
from cdc_contracts.registry.validate.verdicts import AMBIGUOUS, CONFORMING, CONTROL, QUARANTINED, TOMBSTONE, Verdict

NO_PLACINGS: Final[Mapping[str, Placing]] = MappingProxyType({})


def count(
    batch_result: BatchResult, batch: Batch, *, show_values: bool = False, placings: Mapping[str, Placing] = NO_PLACINGS
) -> Tally:
    """Return the tally of a validated batch; observed values are reduced to their shapes unless `show_values`."""
    return count_parts([(batch, batch_result)], show_values=show_values, placings=placings)


def count_parts(
    judged: Sequence[tuple[Batch, BatchResult]],
    *,
    show_values: bool = False,
    placings: Mapping[str, Placing] = NO_PLACINGS,
    profiled: bool = False,
) -> Tally:
    """Return the tally of the parts of a batch, whose records may interleave.

    `placings` has the subjects whose key chains are followed. Only if `profiled` the tally has profiles.
    """
    total, parts, versions = Tally(), list[PartitionRecords](), list[str]()
    proven: list[tuple[Batch, Numbers]] = []
    if placings:
        total.chains = follow_chains(judged, placings)
    for batch, batch_result in judged:
        tally, mine, proofs = _count_part(batch_result, batch, versions, show_values=show_values)
        total.merge(tally)
        parts += mine
        proven.append((batch, proofs))
    count_statistics(judged, total)
    find_series(total, parts)
    _find_runs(total, proven, versions)
    if profiled:
        total.profiles = count_profiles(judged)
    return total


def _count_part(
    batch_result: BatchResult, batch: Batch, versions: list[str], *, show_values: bool
) -> tuple[Tally, list[PartitionRecords], Numbers]:
    """Return the tally of one part without series and runs, its records, and which of `versions` each proves, or -1."""
    result = join_groups([records_of_group(one, batch, values=show_values) for one in batch_result.group_results])
    result += [record_alone(number, judged, batch, values=show_values) for number, judged in batch_result.alone]
    if batch_result.tombstones:
        nothing = Verdict(TOMBSTONE, None, ())
        result.append(VerdictRecords(nothing, np.array(batch_result.tombstones), None, None, 0, [], []))
    tally = Tally()
    proven = np.full(len(batch), -1, np.int64)
    parts: list[PartitionRecords] = []
    examples: dict[int, FindingExample] = {}
    for one in result:
        verdict, total = one.verdict, len(one.numbers)
        tally.outcomes[verdict.outcome] += total
        if one.readable:
            tally.readable.update({one.table: total} if one.tables is None else one.tables.totals())
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
            add_findings(tally, one, mine, batch, examples)
        tally.statements += one.statements
    _note_extents(tally, parts)
    tally.statements = keep_first(tally.statements)
    return tally, parts, proven


def _count_partitions(tally: Tally, one: VerdictRecords, batch: Batch) -> list[PartitionRecords]:
    """Count records by partition, and return them by partition."""
    parts = []
    for source, chosen in batch.by_source(one.numbers):
        mine = one.numbers[chosen]
        total = len(mine)
        partition = tally.partitions.setdefault(source, PartitionTally())
        partition.read += total
        column = _LEDGER.get(one.verdict.outcome, "quarantined")
        setattr(partition, column, getattr(partition, column) + total)
        partition.changes += one.changes * total if isinstance(one.changes, int) else int(one.changes[chosen].sum())
        tables = None if one.tables is None else one.tables.select(chosen)
        parts.append(PartitionRecords(one, source, mine, batch.offsets[mine], batch.timestamps[mine], tables))
    return parts


def _note_extents(tally: Tally, parts: Sequence[PartitionRecords]) -> None:
    """Record the first and last offset and time of each partition."""
    held: dict[Source, list[PartitionRecords]] = {}
    for part in parts:
        held.setdefault(part.source, []).append(part)
    for source, mine in held.items():
        offsets = np.concatenate([part.offsets for part in mine])
        times = np.concatenate([part.times for part in mine])
        note_extent(tally, source, offsets, times)


def note_extent(tally: Tally, source: Source, offsets: Numbers, times: Numbers) -> None:
    """Record the range of offsets and times read from a partition."""
    times = times[times != NO_TIMESTAMP]
    first, last = int(offsets.min()), int(offsets.max())
    extent = PartitionTally(first_offset=first, last_offset=last)
    if len(times):
        extent.first_timestamp, extent.last_timestamp = int(times.min()), int(times.max())
    tally.partitions.setdefault(source, PartitionTally()).merge(extent)
    tally.statistics.shapes.add_read(*source, ReadOffsets([(first, last)]))


def _find_runs(tally: Tally, judged: Iterable[tuple[Batch, Numbers]], versions: Sequence[str]) -> None:
    """Record the sequence of versions in each partition, from the records that prove one."""
    held: dict[Source, list[tuple[Numbers, Numbers, Numbers]]] = {}
    for batch, proven in judged if versions else ():
        of_version = np.flatnonzero(proven >= 0)
        for source, chosen in batch.by_source(of_version):
            numbers = of_version[chosen]
            held.setdefault(source, []).append((batch.offsets[numbers], proven[numbers], batch.timestamps[numbers]))
    for source, parts in held.items():
        offsets, codes, times = map(np.concatenate, zip(*parts, strict=True))
        if (np.diff(offsets) < 0).any():
            order = np.argsort(offsets, kind="stable")
            offsets, codes, times = offsets[order], codes[order], times[order]
        starts = np.flatnonzero(np.append(True, np.diff(codes) != 0))
        ends = np.append(starts[1:], len(codes)) - 1
        tally.runs[source] = join_runs(
            Run(versions[codes[start]], int(offsets[start]), int(offsets[end]), end - start + 1,
                time_of(times[start]), time_of(times[end]))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        )  # fmt: skip


_LEDGER = {
    CONFORMING: "conforming",
    CONTROL: "control",
    TOMBSTONE: "tombstone",
    **dict.fromkeys(QUARANTINED, "quarantined"),
}
