"""Dialect runs: the subject of each stretch of a partition, in a topic of several subjects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.version_runs import Run, leave_out_open
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.validate.verdicts import Verdict

if TYPE_CHECKING:
    from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
    from cdc_contracts.registry.core.records.record_batches import Batch


def runs_of(parts: Sequence[tuple[Batch, BatchResult]], validation: ValidationContext) -> dict[Source, list[Run]]:
    """Return the runs of a batch that was validated in parts, by partition.

    A record that fits several versions belongs to the version that the evidence favours, otherwise to its subject.
    """
    from cdc_contracts.registry.core.records.record_batches import (
        NO_TIMESTAMP,  # here, as plain validation has no numpy
    )

    result: dict[Source, list[Run]] = {}
    for batch, batch_result in parts:
        for verdict, numbers in _verdicts(batch_result):
            name = name_run(verdict, validation)
            for number in numbers if name else ():
                source = batch.source(number)
                offset, moment = int(batch.offsets[number]), int(batch.timestamps[number])
                time = None if moment == NO_TIMESTAMP else moment
                result.setdefault(source, []).append(Run(name, offset, offset, 1, time, time))
    return {source: leave_out_open(runs) for source, runs in result.items()}


def _verdicts(batch_result: BatchResult) -> Iterator[tuple[Verdict, Any]]:
    for group_result in batch_result.group_results:
        yield group_result.verdict, group_result.record_group.numbers.tolist()
    for number, validated in batch_result.alone:
        yield validated.verdict, [number]


def name_run(verdict: Verdict, validation: ValidationContext) -> str:
    """Return the version, or the subject, whose run a record belongs to; empty if it belongs to none."""
    if len(verdict.fits) < 2:  # noqa: PLR2004
        return verdict.fits[0].reference if verdict.fits else ""
    preferred = next((version for version in validation.preferences if version in verdict.fits), None)
    return preferred.reference if preferred else verdict.fits[0].subject
