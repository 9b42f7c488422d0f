"""Counting: a judged batch as a tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.findings import Finding
from cdc_contracts.registry.kernel.batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.kernel.judging import Bench, Ruling
from cdc_contracts.registry.kernel.observations import observed_shapes
from cdc_contracts.registry.schemas import show_code
from cdc_contracts.registry.tables import table_name
from cdc_contracts.registry.tally import (
    Extent,
    FindingTally,
    Moment,
    PartitionTally,
    Run,
    Source,
    Tally,
    join_runs,
)
from cdc_contracts.registry.verdicts import (
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


@dataclass(frozen=True)
class _Told:
    """Records of one verdict with what findings say of them."""

    verdict: Verdict
    numbers: Numbers
    table: str | None
    op: str | None
    changes: int | Numbers
    shapes: Sequence[list[str] | None]


def count(bench: Bench, batch: Batch) -> Tally:
    """Return what a judged batch came to."""
    told = [_told(ruling) for ruling in bench.rulings]
    told += [
        _Told(
            judged.verdict,
            np.array([number]),
            judged.table if _is_ours(judged.verdict) else None,
            judged.code,
            len(judged.changes),
            [None] * len(judged.verdict.findings),
        )
        for number, judged in bench.alone
    ]
    if bench.tombstones:
        nothing = Verdict(TOMBSTONE, None, ())
        told.append(_Told(nothing, np.array(bench.tombstones), None, None, 0, []))
    tally = Tally()
    proven = np.full(len(batch), -1, np.int64)
    versions: list[str] = []
    for one in told:
        verdict, total = one.verdict, len(one.numbers)
        tally.outcomes[verdict.outcome] += total
        if verdict.outcome not in (TOMBSTONE, UNREADABLE, OTHER_DIALECT):
            tally.readable[one.table] += total
        if len(verdict.fits) == 1:
            reference = verdict.fits[0].reference
            if reference not in versions:
                versions.append(reference)
            proven[one.numbers] = versions.index(reference)
            tally.seen[reference] += total
        elif verdict.undecided:
            tally.undecided += total
            tally.differing += total if verdict.differs and verdict.outcome != AMBIGUOUS else 0
        extents = _count_partitions(tally, one, batch)
        for finding, shapes in zip(verdict.findings, one.shapes, strict=True):
            tally.add_finding(finding, one.table, _finding_tally(finding, one, shapes, extents))
    _find_runs(tally, proven, versions, batch)
    return tally


def _told(ruling: Ruling) -> _Told:
    alike, verdict = ruling.alike, ruling.verdict
    opinions = alike.precedent.opinions
    index = next((at for at, opinion in enumerate(opinions) if opinion.version is verdict.version), -1)
    reading = alike.precedent.readings[index]
    changes: int | Numbers = 0
    if verdict.outcome == CONFORMING:
        source = opinions[index].placed_at
        changes = alike.sheet.rows[source].count[alike.positions]
    names = reading.names
    table = table_name(names.database, names.schema, names.table) if _is_ours(verdict) else None
    shapes = [observed_shapes(alike, finding) for finding in verdict.findings]
    return _Told(verdict, alike.numbers, table, reading.code, changes, shapes)


def _is_ours(verdict: Verdict) -> bool:
    return verdict.outcome not in (UNREADABLE, OTHER_DIALECT)


def _count_partitions(tally: Tally, one: _Told, batch: Batch) -> dict[Source, Extent]:
    """Count records by partition, and return from where to where they lie in each."""
    extents: dict[Source, Extent] = {}
    sources = batch.source_of[one.numbers]
    for place in np.unique(sources).tolist():
        source = Source(*batch.sources[place])
        mine = one.numbers[sources == place]
        total = len(mine)
        partition = tally.partitions.setdefault(source, PartitionTally())
        partition.read += total
        column = _LEDGER.get(one.verdict.outcome, "quarantined")
        setattr(partition, column, getattr(partition, column) + total)
        if isinstance(one.changes, int):
            partition.changes += one.changes * total
        else:
            partition.changes += int(one.changes[sources == place].sum())
        offsets, times = batch.offsets[mine], batch.timestamps[mine]
        partition.merge(PartitionTally(first_offset=int(offsets.min()), last_offset=int(offsets.max())))
        times = times[times != NO_TIMESTAMP]
        if len(times):
            partition.merge(PartitionTally(first_timestamp=int(times.min()), last_timestamp=int(times.max())))
        if one.verdict.findings:
            first, last = mine[int(offsets.argmin())], mine[int(offsets.argmax())]
            extents[source] = Extent(total, _moment(batch, source, first), _moment(batch, source, last))
    return extents


def _moment(batch: Batch, source: Source, number: Any) -> Moment:
    return Moment(*source, int(batch.offsets[number]), _time(batch.timestamps[number]))


def _time(timestamp: Any) -> int | None:
    return None if timestamp == NO_TIMESTAMP else int(timestamp)


def _finding_tally(
    finding: Finding, one: _Told, shapes: list[str] | None, extents: dict[Source, Extent]
) -> FindingTally:
    total = len(one.numbers)
    return FindingTally(
        severity=finding.severity,
        expected=Counter({finding.expected: total}),
        observed=Counter({finding.observed: total} if shapes is None else shapes),
        ops=Counter({show_code(one.op): total} if one.op is not None else {}),
        contracts=Counter({one.verdict.version.reference: total} if one.verdict.version else {}),
        extents={source: Extent(extent.count, extent.first, extent.last) for source, extent in extents.items()},
    )


def _find_runs(tally: Tally, proven: Numbers, versions: list[str], batch: Batch) -> None:
    """Note which versions follow each other in each partition, by records that prove theirs."""
    if not versions:
        return
    for place, pair in enumerate(batch.sources):
        numbers = np.flatnonzero((batch.source_of == place) & (proven >= 0))
        if not len(numbers):
            continue
        offsets = batch.offsets[numbers]
        if (np.diff(offsets) < 0).any():
            order = np.argsort(offsets, kind="stable")
            numbers, offsets = numbers[order], offsets[order]
        codes, times = proven[numbers], batch.timestamps[numbers]
        starts = np.flatnonzero(np.append(True, np.diff(codes) != 0))
        ends = np.append(starts[1:], len(codes)) - 1
        tally.runs[Source(*pair)] = join_runs(
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
