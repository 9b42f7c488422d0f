"""Chain blocks: consecutive ends of links in a partition that prove the same reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from cdc_contracts.registry.core.stats.chain_evidence import ENOUGH_VOTES, ChainProof
from cdc_contracts.registry.core.stats.change_links import LinkEnd
from cdc_contracts.registry.core.stats.position_sequences import Point

OF_A_PROOF: Final = 2.0
"""The weight of a record that proves its version by itself: one or two may have come late."""
MOST_NOISE: Final = 0.1
"""Above this share of links in stretches too short to prove anything, links contradict each other."""


@dataclass
class ChainBlock:
    """Consecutive ends of links that prove the same reading."""

    reading: int
    first: Point
    last: Point
    weight: float
    offsets: Sequence[int] = ()
    """The offsets of its ends, ascending, each once."""
    outer: int = 2
    """How many of them, at each side, do not show by themselves how far it reaches."""

    @property
    def inner(self) -> tuple[int, int]:
        """The offsets between which it certainly holds: at a switch, a row in few states can give a wrong link."""
        outer = min(self.outer, (len(self.offsets) - 1) // 2)
        return self.offsets[outer], self.offsets[-1 - outer]

    @property
    def is_strong(self) -> bool:
        """Whether it proves its reading, where nothing contradicts it."""
        return self.weight >= ENOUGH_VOTES


@dataclass(frozen=True)
class Blocks:
    """The blocks of a partition, and whether so many links contradict their neighbours that none proves anything."""

    blocks: tuple[ChainBlock, ...]
    doubtful: bool

    @property
    def proven(self) -> list[ChainBlock]:
        """The blocks that prove their reading."""
        return [] if self.doubtful else [block for block in self.blocks if block.is_strong]

    @property
    def explaining(self) -> list[ChainBlock]:
        """The blocks that prove their reading, and those at the ends, where the version may have switched."""
        ends = (self.blocks[0], self.blocks[-1]) if self.blocks else ()
        return [] if self.doubtful else [block for block in self.blocks if block.is_strong or block in ends]


def find_blocks(ends: Sequence[LinkEnd], proofs: Sequence[ChainProof]) -> Blocks:
    """Return the blocks of the links of a partition, and of records that prove their version by themselves."""
    blocks, noise = _resolve(_gather(ends, proofs))
    if noise == 0:
        blocks = [replace(block, outer=1) for block in blocks]
    return Blocks(tuple(blocks), noise > MOST_NOISE * (noise + sum(block.weight for block in blocks)))


def _gather(ends: Sequence[LinkEnd], proofs: Sequence[ChainProof]) -> list[ChainBlock]:
    """Return all ends in order of their offsets, adjacent ones of one reading grouped."""
    found = [(end.point, end.reading, end.weight) for end in ends]
    found += [
        (point, proof.reading, min(proof.records * OF_A_PROOF, float(ENOUGH_VOTES)))
        for proof in proofs
        for point in {proof.first, proof.last}
    ]
    found.sort(key=lambda one: (one[0].offset, one[1]))
    blocks = []
    for reading, alike in groupby(found, key=lambda one: one[1]):
        held = list(alike)
        offsets = [*dict.fromkeys(point.offset for point, *_ in held)]
        blocks.append(ChainBlock(reading, held[0][0], held[-1][0], sum(weight for *_, weight in held), offsets))
    return blocks


def _resolve(blocks: list[ChainBlock]) -> tuple[list[ChainBlock], float]:
    """Remove blocks too light to prove anything between blocks of the other reading that do; also return their weight.

    Blocks at an end of the range stay: the version may have switched there.
    """
    noise = 0.0
    while True:
        weak = [
            place
            for place in range(1, len(blocks) - 1)
            if not blocks[place].is_strong and (blocks[place - 1].is_strong or blocks[place + 1].is_strong)
        ]
        if not weak:
            break
        place = min(weak, key=lambda one: blocks[one].weight)
        before, gone, after = blocks[place - 1 : place + 2]
        noise += gone.weight
        offsets = [*dict.fromkeys((*before.offsets, *after.offsets))]
        whole = ChainBlock(before.reading, before.first, after.last, before.weight + after.weight, offsets)
        blocks = [*blocks[: place - 1], whole, *blocks[place + 2 :]]
    noise += sum(block.weight for block in blocks[1:-1] if not block.is_strong)
    return blocks, noise
