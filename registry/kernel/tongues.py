"""Tongues: where several subjects are spoken in one topic, which of them each stretch of a partition speaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cdc_contracts.registry.kernel.batches import NO_TIMESTAMP, Batch
from cdc_contracts.registry.kernel.judging import Bench
from cdc_contracts.registry.runs import Run, leave_out_open
from cdc_contracts.registry.scope import Scope
from cdc_contracts.registry.tally import Source
from cdc_contracts.registry.verdicts import Verdict


def runs_of(parts: Sequence[tuple[Batch, Bench]], scope: Scope) -> dict[Source, list[Run]]:
    """Return the runs of a batch that was judged in parts, by partition.

    A record that fits several versions is of the one that evidence speaks for, else of its subject.
    """
    told: dict[Source, list[Run]] = {}
    for batch, bench in parts:
        for verdict, numbers in _verdicts(bench):
            name = _name(verdict, scope)
            for number in numbers if name else ():
                source = Source(*batch.sources[int(batch.source_of[number])])
                offset, moment = int(batch.offsets[number]), int(batch.timestamps[number])
                time = None if moment == NO_TIMESTAMP else moment
                told.setdefault(source, []).append(Run(name, offset, offset, 1, time, time))
    return {source: leave_out_open(runs) for source, runs in told.items()}


def _verdicts(bench: Bench) -> Iterator[tuple[Verdict, Any]]:
    for ruling in bench.rulings:
        yield ruling.verdict, ruling.alike.numbers.tolist()
    for number, judged in bench.alone:
        yield judged.verdict, [number]


def _name(verdict: Verdict, scope: Scope) -> str:
    if len(verdict.fits) < 2:  # noqa: PLR2004
        return verdict.fits[0].reference if verdict.fits else ""
    preferred = next((version for version in scope.preferences if version in verdict.fits), None)
    return preferred.reference if preferred else verdict.fits[0].subject
