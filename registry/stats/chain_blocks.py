"""Chain blocks: consecutive runs of links in a partition that prove the same reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from cdc_contracts.registry.stats.chain_evidence import ChainProof
from cdc_contracts.registry.stats.chain_fragments import RUN, Array
from cdc_contracts.registry.stats.position_sequences import Point
from cdc_contracts.registry.values.lazy_arrow import np

ENOUGH_LINKS: Final = 5
"""So many links prove a reading where none is against it."""
NO_TIME: Final = -(2**63)
MOST_NOISE: Final = 0.1
"""Above this share of links in stretches too short to prove anything, chains contradict each other."""


def prove(links: Sequence[ChainProof]) -> list[ChainProof]:
    """Return the stretches that the links of one partition prove, in order of their offsets.

    Empty if links throughout contradict each other.
    """
    blocks, noise = resolve_blocks(_block_links(links))
    if noise > MOST_NOISE * (noise + sum(block.weight for block in blocks)):
        return []
    strong = [block for block in blocks if block.weight >= ENOUGH_LINKS]
    return [ChainProof(block.reading, int(block.weight), block.first, block.last) for block in strong]


@dataclass
class ChainBlock:
    """Consecutive run ends that prove the same reading; each weighs half of its run's links."""

    reading: int
    first: Point
    last: Point
    weight: float


def _block_links(links: Sequence[ChainProof]) -> list[ChainBlock]:
    """Return the ends of links of one weight, grouped as `gather_blocks` does: detection has few and needs no numpy."""
    ends = sorted((end.offset, link.reading) for link in links for end in (link.first, link.last))
    blocks = []
    for reading, alike in groupby(ends, key=lambda end: end[1]):
        offsets = [offset for offset, _ in alike]
        blocks.append(ChainBlock(reading, Point(offsets[0], None), Point(offsets[-1], None), len(offsets) / 2))
    return blocks


def gather_blocks(runs: Array, proofs: Sequence[ChainProof]) -> list[ChainBlock]:
    """Return the ends of all runs in order of their offsets, adjacent ones of one reading grouped."""
    own = np.zeros(len(proofs), RUN)
    for at, proof in enumerate(proofs):
        first, last = ((point.offset, NO_TIME if point.timestamp is None else point.timestamp) for point in proof[2:])
        own[at] = (0, 0, proof.reading, 0, 2 * ENOUGH_LINKS, 0, *first, *last)
    runs = np.concatenate([runs, own])
    if not len(runs):
        return []
    offsets = np.concatenate([runs["first"], runs["last"]])
    order = np.lexsort((np.tile(runs["reading"], 2), offsets))
    offsets, times = offsets[order], np.concatenate([runs["first_time"], runs["last_time"]])[order]
    readings, weights = np.tile(runs["reading"], 2)[order], np.tile(runs["links"], 2)[order] / 2
    begins = np.flatnonzero(np.append(True, np.diff(readings) != 0))
    ends = np.append(begins[1:], len(readings)) - 1
    weighed = np.add.reduceat(weights, begins)
    return [
        ChainBlock(
            int(readings[begin]),
            point_of(offsets[begin], times[begin]),
            point_of(offsets[end], times[end]),
            float(weight),
        )
        for begin, end, weight in zip(begins, ends, weighed, strict=True)
    ]


def resolve_blocks(blocks: list[ChainBlock]) -> tuple[list[ChainBlock], float]:
    """Remove blocks too light to prove anything between blocks of the other reading that do; also return their weight.

    Blocks at an end of the range stay: the version may have switched there.
    """
    noise = 0.0
    while True:
        weak = [
            place
            for place in range(1, len(blocks) - 1)
            if blocks[place].weight < ENOUGH_LINKS
            and max(blocks[place - 1].weight, blocks[place + 1].weight) >= ENOUGH_LINKS
        ]
        if not weak:
            break
        place = min(weak, key=lambda one: blocks[one].weight)
        before, gone, after = blocks[place - 1 : place + 2]
        noise += gone.weight
        whole = ChainBlock(before.reading, before.first, after.last, before.weight + after.weight)
        blocks = [*blocks[: place - 1], whole, *blocks[place + 2 :]]
    noise += sum(block.weight for block in blocks[1:-1] if block.weight < ENOUGH_LINKS)
    return blocks, noise


def overlap(proof: ChainProof, block: ChainBlock) -> bool:
    """Return whether the records of a proof and those of a block overlap."""
    return proof.first.offset <= block.last.offset and proof.last.offset >= block.first.offset


def point_of(offset: Any, time: Any) -> Point:
    """Return a point by its offset and its time in microseconds; NO_TIME becomes None."""
    return Point(int(offset), None if time == NO_TIME else int(time))
