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
    """Yield the records that some version takes: those that prove one, and those that fit several."""
    for ruling in bench.rulings:
        if ruling.verdict.fits:
            yield ruling.verdict, ruling.alike.numbers
    for number, judged in bench.alone:
        if judged.verdict.fits:
            yield judged.verdict, np.array([number])


def _stake(verdict: Verdict, offsets: NDArray[np.int64]) -> Stake:
    if verdict.outcome == OTHER_VERSION:
        first = verdict.findings[0]
        return Stake(proof=Proof(int(offsets.min()), first.path, first.expected, first.observed))
    total = len(offsets)
    return Stake(
        differing=total if verdict.outcome in (CONFORMING, CONTROL) and verdict.differs else 0,
        undecided=total if verdict.undecided else 0,
        proven=0 if verdict.undecided else total,
    )
