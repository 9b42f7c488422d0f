"""What records come to in numbers by both paths: as the kernel counts them, and as the reference tells of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from cdc_contracts.registry.accounting import account_of
from cdc_contracts.registry.canonical.sightings import Sightings
from cdc_contracts.registry.kernel.judging import Bench
from cdc_contracts.registry.kernel.sighting import sight
from cdc_contracts.registry.scope import Judged, Scope
from cdc_contracts.registry.sequences import Point
from cdc_contracts.registry.tally import Source, Tally

Judgements = Sequence[tuple[Mapping[str, Any], Judged]]
"""Records, times as microseconds, and what the reference says of each."""


def counts_by_reference(judged: Judgements) -> dict[str, Any]:
    """Return what records come to one by one."""
    tally = Tally()
    for record, one in judged:
        point = Point(record["offset"], record.get("timestamp"))
        tally.merge(account_of(one, Source(record["topic"], record["partition"]), point))
    return counts_of(tally)


def counts_of(tally: Tally) -> dict[str, Any]:
    """Return what the reference counts as well, by name."""
    findings = {
        key: (one.severity, one.count, one.expected, one.ops, one.contracts,
              {source: (extent.count, extent.first, extent.last) for source, extent in one.extents.items()})
        for key, one in tally.findings.items()
    }  # fmt: skip
    course, shapes = tally.course, tally.course.shapes
    return {
        "partitions": tally.partitions,
        "outcomes": tally.outcomes,
        "readable": tally.readable,
        "findings": findings,
        "statements": sorted(tally.statements),
        "controls": course.controls,
        "exercise": course.exercise,
        "breaches of order": course.sequences.breaches(),
        "breaches of tables": list(shapes.breaches()),
        "shapes": shapes.seen,
        "offsets of statements": {place: one.statements for place, one in shapes.offsets.items()},
        "writing": course.writing,
    }


def sighted_by_reference(judged: Iterable[Judged]) -> Any:
    """Return the columns of the rows that records give one by one, as `shown_sightings` does."""
    seen = Sightings()
    for one in judged:
        seen.merge(sight(Bench(pa.array([None], pa.string()), alone=[(0, one)])))
    return shown_sightings(seen)


def shown_sightings(sightings: Sightings) -> Any:
    """Return the types and kinds that each column of each table was seen with."""
    return {table: sightings.columns(table) for table in sightings.tables()}


def unlike_counts(
    scope: Scope, tally: Tally, sightings: Sightings, judged: Judgements, but: Sequence[str] = ()
) -> list[str]:
    """Return which numbers of the kernel are not those of the reference, some left out."""
    mine = counts_of(tally) | {"sightings": shown_sightings(sightings)}
    wanted = counts_by_reference(judged) | {"sightings": sighted_by_reference(one for _, one in judged)}
    return [
        f"{scope.declared}: {name} {mine[name]!r:.1500}, not {wanted[name]!r:.1500}"
        for name in wanted
        if name not in but and mine[name] != wanted[name]
    ]
