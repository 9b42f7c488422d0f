"""Slice shares: what slices of a range, read as a sample, say about the messages of the range that were not read.

Drift comes in clusters: neighbouring messages mostly conform together or not. So a slice is one observation, however
many messages it holds, and what a sample may miss follows from the spread between slices.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.stats.partition_tallies import SliceCount, Source

if TYPE_CHECKING:
    from cdc_contracts.registry.core.stats.tally import Tally

Slices = Mapping[Source, Sequence[tuple[int, int]]]
"""The first offset of each slice of a partition, and the one after its last, in order."""
CONFIDENCE: Final = 0.95
_MOST_SLICES: Final = 1_000
"""More do not make the bound lower: it is then far below what a sample is read for."""
_FEW_SLICES: Final = 100
_FEW_NODES: Final = 100
_NODES: Final = 400
"""Of the integral, exact to 0.0001 for as many slices."""
_PRECISION: Final = 0.002


def count_slices(tally: Tally, slices: Slices) -> None:
    """Count the records of a tally by slice. It must hold records of at most one slice of each partition."""
    for source, counts in tally.partitions.items():
        if counts.first_offset is not None and counts.valued:
            number = bisect_right(slices[source], (counts.first_offset, math.inf)) - 1
            counts.slices = {number: SliceCount(counts.valued, counts.quarantined)}


def bound_share(shares: Mapping[float, float], largest: float) -> float:
    """Return the share of all messages of a range that do not conform, at most, with a confidence of 95 %.

    `shares` has, by the share of its messages that do not conform, how much of the range slices stand for, and
    `largest` how much one of them stands for at most. Nothing is assumed of how drift is spread within the range, only
    that slices are as likely to hit it as other parts. The bound is Gaffke's for the mean of a variable between 0 and
    1: the slices, and one unseen part without a conforming message, are given random weights. Without drift it is the
    rule of three on slices; if each slice conforms whole or not at all, it is the bound of Clopper and Pearson.
    """
    total = sum(shares.values())
    observed = sum(share * part for share, part in shares.items()) / total
    count = min(total / largest, _MOST_SLICES)
    weights = Counter({share: count * part / total for share, part in shares.items()})
    weights[1.0] += 1
    low, high = observed, 1.0
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _exceeds(weights, middle) > 1 - CONFIDENCE else (low, middle)
    return high


def share_missed_by_half(slices: float) -> float:
    """Return the share of a range in which half of all samples of so many slices have none."""
    return float(1 - 0.5 ** (1 / slices))


def _exceeds(weights: Mapping[float, float], mean: float) -> float:
    """Return the probability that a mean of shares, weighted at random around `weights`, exceeds a number.

    A weighted mean does so if the sum of its differences, each by a variable of the gamma distribution, is positive:
    that probability is an integral over the characteristic function, by Gil-Pelaez.
    """
    parts = [(weight, share - mean) for share, weight in weights.items() if share != mean]
    scale = 1 / math.sqrt(sum(weight * part * part for weight, part in parts))
    nodes = _FEW_NODES if sum(weights.values()) <= _FEW_SLICES else _NODES
    step, total = math.pi / 2 / nodes, 0.0
    for node in range(nodes):
        angle = (node + 0.5) * step
        at = scale * math.tan(angle)
        turn = sum(weight * math.atan(at * part) for weight, part in parts)
        fall = sum(weight * math.log1p((at * part) ** 2) for weight, part in parts) / 2
        total += math.sin(turn) * math.exp(-fall) / (math.sin(angle) * math.cos(angle))
    return 0.5 + total * step / math.pi
