"""Staking: of each range of a versions file, how many records hang on its declaration, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.kernel.batches import Batch
from cdc_contracts.registry.kernel.judging import Bench
from cdc_contracts.registry.kernel.ranging import NOWHERE, RangeFinder
from cdc_contracts.registry.stakes import Proof, RangeKey, Stake
from cdc_contracts.registry.verdicts import CONFORMING, CONTROL, OTHER_VERSION, Verdict


def count_stakes(parts: Sequence[tuple[Batch, Bench]], finder: RangeFinder) -> dict[RangeKey, Stake]:
    """Return the stakes of a batch that was judged in parts."""
    stakes: dict[RangeKey, Stake] = {}
    for batch, bench in parts:
        for verdict, records in _concerned(bench):
            for place in np.unique(batch.source_of[records]).tolist():
                topic, partition = batch.sources[place]
                mine = records[batch.source_of[records] == place]
                numbers = finder.numbers(batch, topic, partition, mine)
                for number in np.unique(numbers[numbers != NOWHERE]).tolist():
                    stake = stakes.setdefault((topic, partition, number), Stake())
                    stake.merge(_stake(verdict, batch.offsets[mine[numbers == number]]))
    return stakes


def _concerned(bench: Bench) -> Iterator[tuple[Verdict, NDArray[np.int64]]]:
    """Yield the records that prove another version than the declared one, or would be read otherwise by one."""
    for ruling in bench.rulings:
        if _concerns(ruling.verdict):
            yield ruling.verdict, ruling.alike.numbers
    for number, judged in bench.alone:
        if _concerns(judged.verdict):
            yield judged.verdict, np.array([number])


def _concerns(verdict: Verdict) -> bool:
    return verdict.outcome == OTHER_VERSION or (verdict.outcome in (CONFORMING, CONTROL) and verdict.differs)


def _stake(verdict: Verdict, offsets: NDArray[np.int64]) -> Stake:
    if verdict.outcome != OTHER_VERSION:
        return Stake(differing=len(offsets))
    first = verdict.findings[0]
    return Stake(proof=Proof(int(offsets.min()), first.path, first.expected, first.observed))
