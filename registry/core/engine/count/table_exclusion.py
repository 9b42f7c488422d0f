"""Table exclusion: records of tables that are not selected are removed but counted, so that the ledger adds up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.table_selection import Selection
from cdc_contracts.registry.core.engine.count.tallying import note_extent
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, GroupResult
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.verdicts import Verdict


def exclude(batch_result: BatchResult, batch: Batch, selection: Selection) -> tuple[BatchResult, Tally]:
    """Return the results of the selected tables, and a tally of the other records as excluded."""
    kept = replace(batch_result, group_results=[], alone=[])
    tally = Tally()
    for group_result in batch_result.group_results:
        record_group, verdict = group_result.record_group, group_result.verdict
        tables = record_group.tables(group_result.place)
        taken = tables.marked(partial(_is_taken, selection, verdict))
        if taken.any():
            chosen = replace(record_group, positions=record_group.positions[taken])
            kept.group_results.append(GroupResult(verdict, chosen))
        if not taken.all():
            _count(tally, record_group.numbers[~taken], batch)
    for number, validated in batch_result.alone:
        if _is_taken(selection, validated.verdict, validated.table):
            kept.alone.append((number, validated))
        else:
            _count(tally, np.array([number]), batch)
    return kept, tally


def _is_taken(selection: Selection, verdict: Verdict, table: str | None) -> bool:
    """Return whether to keep records; always if they are no messages of the subject: their table is unknown."""
    return not verdict.is_ours or selection.takes(table)


def _count(tally: Tally, numbers: NDArray[np.int64], batch: Batch) -> None:
    for source, chosen in batch.by_source(numbers):
        mine = numbers[chosen]
        partition = tally.partitions.setdefault(source, PartitionTally())
        partition.read += len(mine)
        partition.excluded += len(mine)
        note_extent(tally, source, batch.offsets[mine], batch.timestamps[mine])
