"""Range counts: how many records depend on each range of a versions file, and the evidence against its version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.count.range_lookup import NOWHERE, RangeFinder
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.range_evidence import RangeEvidence, RangeKey, VersionProof
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL, OTHER_VERSION, Verdict


def count_range_evidence(
    parts: Sequence[tuple[Batch, BatchResult]], finder: RangeFinder
) -> dict[RangeKey, RangeEvidence]:
    """Return the range evidence of a batch that was validated in parts."""
    evidence_by_message: dict[RangeKey, RangeEvidence] = {}
    for batch, batch_result in parts:
        for verdict, records in _concerned(batch_result):
            for place in np.unique(batch.source_of[records]).tolist():
                topic, partition = batch.sources[place]
                mine = records[batch.source_of[records] == place]
                numbers = finder.numbers(batch, topic, partition, mine)
                for number in np.unique(numbers[numbers != NOWHERE]).tolist():
                    range_evidence = evidence_by_message.setdefault((topic, partition, number), RangeEvidence())
                    range_evidence.merge(_evidence_of_message(verdict, batch.offsets[mine[numbers == number]]))
    return evidence_by_message


def _concerned(batch_result: BatchResult) -> Iterator[tuple[Verdict, NDArray[np.int64]]]:
    """Yield the records that some version accepts: those that prove a version, and those that fit several."""
    for group_result in batch_result.group_results:
        if group_result.verdict.fits:
            yield group_result.verdict, group_result.record_group.numbers
    for number, validated in batch_result.alone:
        if validated.verdict.fits:
            yield validated.verdict, np.array([number])


def _evidence_of_message(verdict: Verdict, offsets: NDArray[np.int64]) -> RangeEvidence:
    if verdict.outcome == OTHER_VERSION:
        first = verdict.findings[0]
        return RangeEvidence(proof=VersionProof(int(offsets.min()), first.path, first.expected, first.observed))
    total = len(offsets)
    return RangeEvidence(
        differing=total if verdict.outcome in (CONFORMING, CONTROL) and verdict.differs else 0,
        undecided=total if verdict.undecided else 0,
        proven=0 if verdict.undecided else total,
    )
