"""Tallying: a validated batch as a tally."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from cdc_contracts.registry.core.engine.count.chain_links import follow_rows
from cdc_contracts.registry.core.engine.count.finding_counts import add_findings, find_series
from cdc_contracts.registry.core.engine.count.schema_counts import count_schemas
from cdc_contracts.registry.core.engine.count.two_image_orders import TwoImageOrders
from cdc_contracts.registry.core.engine.group.batch_positions import read_runs
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.group.verdict_records import (
    Numbers,
    PartitionRecords,
    VerdictRecords,
    join_groups,
    record_alone,
    records_of_group,
    time_of,
)
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables, join_tables
from cdc_contracts.registry.core.engine.statistics.batch_statistics import count_statistics
from cdc_contracts.registry.core.engine.statistics.profile_counts import count_profiles
from cdc_contracts.registry.core.records.record_batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.core.stats.ddl_statements import keep_first
from cdc_contracts.registry.core.stats.finding_tallies import FindingExample
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.range_evidence import exclusions, merge_exclusions
from cdc_contracts.registry.core.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.core.stats.row_changes import HIGHEST
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.verdicts import (
    AMBIGUOUS,
    TOMBSTONE,
    Verdict,
)

_LATEST: Final = 2**63 - 1
NO_ORDERS: Final[Mapping[str, TwoImageOrders]] = MappingProxyType({})


def count(
    batch_result: BatchResult, batch: Batch, *, orders_by_subject: Mapping[str, TwoImageOrders] = NO_ORDERS
) -> Tally:
    """Return the tally of a validated batch; observed values are reduced to their shapes."""
    return count_parts([(batch, batch_result)], orders_by_subject=orders_by_subject)


def count_parts(
    validated: Sequence[tuple[Batch, BatchResult]],
    *,
    show_values: bool = False,
    orders_by_subject: Mapping[str, TwoImageOrders] = NO_ORDERS,
    profiled: bool = False,
    ceiling: int = HIGHEST,
) -> Tally:
    """Return the tally of the parts of a batch, whose records may interleave.

    Observed values are reduced to their shapes unless `show_values`. `orders_by_subject` has the subjects whose key
    chains are followed, those of rows whose digest is at most `ceiling`. Only if `profiled`, the tally has profiles.
    """
    tallies, parts, versions = list[Tally](), list[PartitionRecords](), list[str]()
    proven: list[tuple[Batch, Numbers]] = []
    for batch, batch_result in validated:
        tally, mine, proofs = _count_part(batch_result, batch, versions, show_values=show_values)
        tallies.append(tally)
        parts += mine
        proven.append((batch, proofs))
    total = tallies[0] if tallies else Tally()
    for tally in tallies[1:]:
        total.merge(tally)
    runs = read_runs(batch for batch, _ in validated)
    if orders_by_subject:
        total.chains = follow_rows(validated, orders_by_subject, runs, ceiling)
    count_statistics(validated, total, runs)
    total.spans = {source: found.spans for source, found in runs.items()}
    find_series(total, parts, runs)
    _find_runs(total, proven, versions)
    if profiled:
        total.profiles = count_profiles(validated)
    return total


def _count_part(
    batch_result: BatchResult, batch: Batch, versions: list[str], *, show_values: bool
) -> tuple[Tally, list[PartitionRecords], Numbers]:
    """Return the tally of one part without series and runs, its records, and which of `versions` each proves, or -1."""
    result = join_groups([records_of_group(one, batch, values=show_values) for one in batch_result.group_results])
    result += [record_alone(number, validated, batch, values=show_values) for number, validated in batch_result.alone]
    if batch_result.tombstones:
        nothing = Verdict(TOMBSTONE, None, ())
        result.append(VerdictRecords(nothing, np.array(batch_result.tombstones), None, None, 0, [], []))
    tally = Tally()
    proven = np.full(len(batch), -1, np.int64)
    parts: list[PartitionRecords] = []
    examples: dict[int, FindingExample] = {}
    several: list[Tables] = []
    count_schemas(tally.statistics.schemas, result, batch)
    for one in result:
        verdict, total = one.verdict, len(one.numbers)
        tally.outcomes[verdict.outcome] += total
        if one.verdict.is_readable and one.tables is None:
            tally.readable[one.table] += total
        elif one.verdict.is_readable and one.tables is not None:
            several.append(one.tables)
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
    if several:
        tally.readable.update(join_tables(several).totals())
    _note_extents(tally, parts)
    tally.statements = keep_first(tally.statements)
    return tally, parts, proven


def _count_partitions(tally: Tally, one: VerdictRecords, batch: Batch) -> list[PartitionRecords]:
    """Count records by partition, and return them by partition: a topic may have hundreds, each with few of them."""
    if not len(one.numbers):
        return []
    order: Numbers | slice = slice(None)
    starts, sources = np.zeros(1, np.int64), batch.source_of[one.numbers]
    if one.tables is not None and (np.diff(batch.offsets[one.numbers]) < 0).any():
        order = np.lexsort((batch.offsets[one.numbers], sources))
    elif len(batch.sources) > 1:
        order = np.argsort(sources, kind="stable")
    if len(batch.sources) > 1:
        starts = np.flatnonzero(np.diff(sources[order], prepend=-1))
    numbers = one.numbers[order]
    offsets, times = batch.offsets[numbers], batch.timestamps[numbers]
    ends = np.append(starts[1:], len(numbers))
    totals = ends - starts
    changes = totals * one.changes if isinstance(one.changes, int) else np.add.reduceat(one.changes[order], starts)
    found = zip(
        batch.source_of[numbers[starts]].tolist(), starts.tolist(), ends.tolist(), changes.tolist(),
        np.minimum.reduceat(offsets, starts).tolist(), np.maximum.reduceat(offsets, starts).tolist(),
        np.minimum.reduceat(np.where(times == NO_TIMESTAMP, _LATEST, times), starts).tolist(),
        np.maximum.reduceat(times, starts).tolist(), strict=True,
    )  # fmt: skip
    called = [] if one.tables is None else [one.tables.called[code] for code in one.tables.codes[order].tolist()]
    rising = offsets.tolist() if called else []
    column, parts = one.verdict.counted_as, []
    for place, start, end, changed, first, last, earliest, latest in found:
        source, chosen = batch.sources[place], slice(start, end)
        partition = tally.partitions.get(source)
        if partition is None:
            partition = tally.partitions[source] = PartitionTally()
        partition.read += end - start
        setattr(partition, column, getattr(partition, column) + end - start)
        partition.changes += changed
        span = None if latest == NO_TIMESTAMP else (earliest, latest)
        lasts: dict[str | None, int] = dict(zip(called[chosen], rising[chosen], strict=True))
        if not called and one.verdict.is_readable:
            lasts[one.table] = last
        lasts[None] = last
        merge_exclusions(tally.excluded, exclusions(one.verdict, source, first))
        parts.append(
            PartitionRecords(one, source, numbers[chosen], offsets[chosen], times[chosen], first, last, span, lasts)
        )
    return parts


def _note_extents(tally: Tally, parts: Sequence[PartitionRecords]) -> None:
    """Record the first and last offset and time of each partition."""
    held: dict[Source, list[PartitionRecords]] = {}
    for part in parts:
        held.setdefault(part.source, []).append(part)
    for source, mine in held.items():
        spans = [part.span for part in mine if part.span is not None]
        span = (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None
        _note(tally, source, (min(part.first for part in mine), max(part.last for part in mine)), span)


def note_extent(tally: Tally, source: Source, offsets: Numbers, times: Numbers) -> None:
    """Record the range of offsets and times read from a partition."""
    times = times[times != NO_TIMESTAMP]
    span = (int(times.min()), int(times.max())) if len(times) else None
    _note(tally, source, (int(offsets.min()), int(offsets.max())), span)


def _note(tally: Tally, source: Source, offsets: tuple[int, int], times: tuple[int, int] | None) -> None:
    tally.partitions[source].widen(*offsets, *(times or (None, None)))
    tally.statistics.shapes.add_read(*source, ReadOffsets([offsets]))


def _find_runs(tally: Tally, validated: Iterable[tuple[Batch, Numbers]], versions: Sequence[str]) -> None:
    """Record the sequence of versions in each partition, from the records that prove one."""
    known: dict[Source, int] = {}
    parts = []
    for batch, proven in validated if versions else ():
        numbers = np.flatnonzero(proven >= 0)
        places = np.array([known.setdefault(source, len(known)) for source in batch.sources], np.int64)
        parts.append(
            (places[batch.source_of[numbers]], batch.offsets[numbers], proven[numbers], batch.timestamps[numbers])
        )
    if not sum(len(part[0]) for part in parts):
        return
    sources, offsets, codes, times = map(np.concatenate, zip(*parts, strict=True))
    if len(known) > 1 or (np.diff(offsets) < 0).any():
        order = np.lexsort((offsets, sources))
        sources, offsets, codes, times = sources[order], offsets[order], codes[order], times[order]
    starts = np.flatnonzero(np.append(True, (np.diff(codes) != 0) | (np.diff(sources) != 0)))
    ends = np.append(starts[1:], len(codes)) - 1
    found: dict[int, list[Run]] = {}
    for place, code, first, last, total, begin, end in zip(
        sources[starts].tolist(), codes[starts].tolist(), offsets[starts].tolist(), offsets[ends].tolist(),
        (ends - starts + 1).tolist(), times[starts].tolist(), times[ends].tolist(), strict=True,
    ):  # fmt: skip
        run = Run(versions[code], first, last, total, time_of(begin), time_of(end))
        found.setdefault(place, []).append(run)
    held = list(known)
    tally.runs |= {held[place]: runs for place, runs in found.items()}
