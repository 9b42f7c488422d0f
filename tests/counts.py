"""Counts of records by both paths: as the kernel counts them, and as the reference validates each one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.write.row_columns import observe_columns
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.reference_tally import account_of
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext

Judgements = Sequence[tuple[Mapping[str, Any], ValidatedMessage]]
"""Records, times as microseconds, and what the reference says of each."""


def counts_by_reference(validated: Judgements) -> dict[str, Any]:
    """Return what records come to one by one."""
    tally = Tally()
    for record, one in validated:
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
    statistics, shapes = tally.statistics, tally.statistics.shapes
    return {
        "partitions": tally.partitions,
        "outcomes": tally.outcomes,
        "readable": tally.readable,
        "findings": findings,
        "statements": sorted(tally.statements),
        "controls": statistics.controls,
        "exercise": statistics.rule_coverage,
        "breaches of order": statistics.sequences.breaches(),
        "breaches of tables": list(shapes.breaches()),
        "shapes": shapes.seen,
        "offsets of statements": {place: one.statements for place, one in shapes.offsets.items()},
        "writing": statistics.writing,
    }


def sighted_by_reference(validated: Iterable[ValidatedMessage]) -> Any:
    """Return the columns of the rows that records give one by one, as `shown_sightings` does."""
    seen = ObservedColumns()
    for one in validated:
        seen.merge(observe_columns(BatchResult(pa.array([None], pa.string()), alone=[(0, one)])))
    return shown_sightings(seen)


def shown_sightings(observed: ObservedColumns) -> Any:
    """Return the types and kinds that each column of each table was seen with."""
    return {table: observed.columns(table) for table in observed.tables()}


def unlike_counts(
    validation: ValidationContext,
    tally: Tally,
    observed: ObservedColumns,
    validated: Judgements,
    but: Sequence[str] = (),
) -> list[str]:
    """Return which numbers of the kernel are not those of the reference, some left out."""
    mine = counts_of(tally) | {"observed": shown_sightings(observed)}
    wanted = counts_by_reference(validated) | {"observed": sighted_by_reference(one for _, one in validated)}
    return [
        f"{validation.declared}: {name} {mine[name]!r:.1500}, not {wanted[name]!r:.1500}"
        for name in wanted
        if name not in but and mine[name] != wanted[name]
    ]
