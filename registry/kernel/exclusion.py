"""Records of tables that nobody asked about: taken out of what was judged, and counted, so that the ledger adds up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.kernel.batches import Batch
from cdc_contracts.registry.kernel.counting import note_extent
from cdc_contracts.registry.kernel.judging import Bench, Ruling
from cdc_contracts.registry.selection import Selection
from cdc_contracts.registry.tables import table_name
from cdc_contracts.registry.tally import PartitionTally, Tally
from cdc_contracts.registry.verdicts import OTHER_DIALECT, UNREADABLE, Verdict


def exclude(bench: Bench, batch: Batch, selection: Selection) -> tuple[Bench, Tally]:
    """Return what was judged of the selected tables, and a tally of the other records as excluded."""
    kept = replace(bench, rulings=[], alone=[])
    tally = Tally()
    for ruling in bench.rulings:
        if _is_taken(selection, ruling.verdict, _table_of(ruling)):
            kept.rulings.append(ruling)
        else:
            _count(tally, ruling.alike.numbers, batch)
    for number, judged in bench.alone:
        if _is_taken(selection, judged.verdict, judged.table):
            kept.alone.append((number, judged))
        else:
            _count(tally, np.array([number]), batch)
    return kept, tally


def _is_taken(selection: Selection, verdict: Verdict, table: str | None) -> bool:
    """Keep what is no message of the subject: which table it means, nobody can say."""
    return verdict.outcome in (UNREADABLE, OTHER_DIALECT) or selection.takes(table)


def _table_of(ruling: Ruling) -> str | None:
    precedent = ruling.alike.precedent
    versions = [opinion.version for opinion in precedent.opinions]
    found = ruling.verdict.version
    names = precedent.readings[versions.index(found) if found in versions else -1].names
    return table_name(names.database, names.schema, names.table)


def _count(tally: Tally, numbers: NDArray[np.int64], batch: Batch) -> None:
    for source, chosen in batch.by_source(numbers):
        mine = numbers[chosen]
        partition = tally.partitions.setdefault(source, PartitionTally())
        partition.read += len(mine)
        partition.excluded += len(mine)
        note_extent(tally, source, batch.offsets[mine], batch.timestamps[mine])
