"""Finding counts: how often each finding occurs in each partition, since which record, and an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter

import numpy as np

from cdc_contracts.registry.core.engine.group.batch_positions import ReadRuns
from cdc_contracts.registry.core.engine.group.verdict_records import (
    PartitionRecords,
    VerdictRecords,
    moment_of,
    time_of,
)
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.finding_onsets import ANY_OP, FindingSeries, Start
from cdc_contracts.registry.core.stats.finding_overlaps import OverlapPlace, faults_on_columns
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingExample, FindingKey, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import make_example
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.verdicts import TOMBSTONE

TableOp = tuple[str | None, str]
"""A table and a canonical op."""


def add_findings(
    tally: Tally,
    one: VerdictRecords,
    parts: Sequence[PartitionRecords],
    batch: Batch,
    examples: dict[int, FindingExample],
) -> None:
    """Count the findings of records with one verdict, and keep the first of the records."""
    ends = [
        (part.source, len(part.numbers), part.numbers[int(part.offsets.argmin())],
         part.numbers[int(part.offsets.argmax())])
        for part in parts
    ]  # fmt: skip
    moments = [
        (source, total, moment_of(batch, source, first), moment_of(batch, source, last))
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
    faults = faults_on_columns(one.keys)
    for source, held, _, _ in moments if faults else ():
        tally.overlaps.add(faults, OverlapPlace(one.table, source, one.code), held)


def _example(one: VerdictRecords, batch: Batch, number: int) -> FindingExample:
    """Return a record as an example: its bytes as far as they may be shown, and the digest of the whole record."""
    source = batch.sources[int(batch.source_of[number])]
    value = batch.values[number] or b""
    return make_example(one.verdict, source, int(batch.offsets[number]), value)


def find_series(tally: Tally, parts: Sequence[PartitionRecords], runs: Mapping[Source, ReadRuns]) -> None:
    """Record the last message of each table and op, and the records of a finding that come after one without it."""
    found: dict[tuple[Source, FindingKey], list[PartitionRecords]] = {}
    for part in parts:
        if part.verdict_records.verdict.outcome == TOMBSTONE:
            continue
        tally.note_lasts(part.source, part.verdict_records.canonical_op, part.lasts)
        for key in tally.findings.keys() & part.verdict_records.keys:  # if there are too many, not all are kept
            found.setdefault((part.source, key), []).append(part)
    by_table_and_op = _by_table_and_op(parts) if found else {}
    for (source, key), held in found.items():
        series_by_op = tally.findings[key].extents[source].series_by_op
        for op in {*(part.verdict_records.canonical_op for part in held), ANY_OP}:
            mine_of_op = [part for part in held if op in (part.verdict_records.canonical_op, ANY_OP)]
            others = by_table_and_op.get((source, (key.table, op)), ())
            clean = next((last for last, result in others if key not in result.keys), -1)
            series_by_op[op] = _series_of(mine_of_op, clean, runs[source])


def _by_table_and_op(
    parts: Sequence[PartitionRecords],
) -> dict[tuple[Source, TableOp], list[tuple[int, VerdictRecords]]]:
    """Return the records of each table and op with their last offset, the highest first."""
    by_table_and_op: dict[tuple[Source, TableOp], list[tuple[int, VerdictRecords]]] = {}
    for part in parts:
        if part.verdict_records.verdict.outcome != TOMBSTONE:
            for op in {part.verdict_records.canonical_op, ANY_OP}:
                for table, last in part.lasts.items():
                    by_table_and_op.setdefault((part.source, (table, op)), []).append((last, part.verdict_records))
    for held in by_table_and_op.values():
        held.sort(key=itemgetter(0), reverse=True)
    return by_table_and_op


def _series_of(parts: Sequence[PartitionRecords], clean: int, runs: ReadRuns) -> FindingSeries:
    """Return the series of a finding in a batch: its records after the last message without the finding."""
    series = FindingSeries(sum(len(part.numbers) for part in parts), max(part.last for part in parts), clean)
    behind = [(part.offsets[part.offsets > clean], part.times[part.offsets > clean]) for part in parts]
    offsets, times = (np.concatenate(one) for one in zip(*behind, strict=True))
    if len(offsets) and (len(runs.starts) == 1 or runs.places(offsets.max()) == runs.places(offsets.min())):
        first = int(offsets.argmin())
        series.starts = [Start(int(offsets[first]), time_of(times[first]), len(offsets))]
    elif len(offsets):
        order = np.argsort(offsets)
        places = runs.places(offsets[order])
        firsts = np.flatnonzero(np.diff(places, prepend=-1))
        totals = np.diff(np.append(firsts, len(places))).tolist()
        series.starts = [
            Start(int(offsets[first]), time_of(times[first]), total)
            for first, total in zip(order[firsts].tolist(), totals, strict=True)
        ]
    return series
