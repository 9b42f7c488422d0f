"""Key chains: under the right reading, the after image of a change is the before image of the row's next change.

Versions of a subject may disagree about which image of an UPDATE is the row before it. No single message shows which
is right; two adjacent changes of one row do. A row is identified by a digest of its key, an image by a digest of its
columns, so that little is kept per row: its first and its last change, and the stretches of changes that prove one
reading. Two parts of a run can be merged in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.stats.chain_blocks import (
    ENOUGH_LINKS,
    MOST_NOISE,
    ChainBlock,
    gather_blocks,
    overlap,
    point_of,
    resolve_blocks,
)
from cdc_contracts.registry.stats.chain_evidence import (
    ChainEvidence,
    ChainLine,
    ChainProof,
    ChainStretch,
    Readings,
    TableShare,
)
from cdc_contracts.registry.stats.chain_fragments import READINGS, RUN, Array, ChainRows
from cdc_contracts.registry.values.lazy_arrow import np

MOST_KEYS: Final = 10_000
"""The number of rows that are followed: those with the lowest digests, however the records were batched."""
MOST_FRAGMENTS: Final = 8 * MOST_KEYS


@dataclass
class Chains:
    """The key chains of a run, by line. Adding them up is commutative and associative.

    `changes` counts all row changes, including those of rows that are not followed because their digest is above
    `ceiling`.
    """

    lines: dict[ChainLine, ChainRows] = field(default_factory=dict)
    readings: dict[str, Readings] = field(default_factory=dict)
    tables: dict[int, str | None] = field(default_factory=dict)
    changes: int = 0
    ceiling: int = 2**64 - 1

    def __bool__(self) -> bool:
        return bool(self.lines)

    def followed(self) -> Iterable[ChainLine]:
        """Return the lines whose chains are followed."""
        return self.lines

    def add(self, line: ChainLine, readings: Readings, covered: Array, fragments: Array) -> None:
        """Add row changes of one line, each as a separate fragment, and the intervals of offsets that were read."""
        self.readings[line.subject] = readings
        self.changes += int(fragments["changes"].sum())
        rows = self.lines.setdefault(line, ChainRows())
        rows.add(covered, fragments[fragments["key"] <= self.ceiling], np.zeros(0, RUN))

    def merge(self, other: Chains) -> None:
        """Merge the chains of another part of the run; the order of merging does not matter."""
        self.readings |= other.readings
        self.tables |= other.tables
        self.changes += other.changes
        self.ceiling = min(self.ceiling, other.ceiling)
        for line, theirs in other.lines.items():
            mine = self.lines.setdefault(line, ChainRows())
            mine.until = min(mine.until, theirs.until)
            for part in ((theirs.covered, theirs.fragments, theirs.runs), *theirs.pending):
                mine.add(*part)
        if sum(len(rows.fragments) for rows in self.lines.values()) > 2 * MOST_KEYS:
            self.bound()

    def bound(self) -> None:
        """Keep the rows with the lowest digests, up to the maximum for a whole run."""
        for rows in self.lines.values():
            rows.compact()
        keys = np.sort(np.concatenate([rows.fragments["key"] for rows in self.lines.values()]))
        distinct = np.unique(keys)
        if len(distinct) > MOST_KEYS:
            self.ceiling = min(self.ceiling, int(distinct[MOST_KEYS - 1]))
        if len(keys) > MOST_FRAGMENTS and keys[MOST_FRAGMENTS] > 0:
            self.ceiling = min(self.ceiling, int(keys[MOST_FRAGMENTS]) - 1)
        for rows in self.lines.values():
            rows.keep(rows.fragments["key"] <= self.ceiling, rows.runs["key"] <= self.ceiling)
        named = {int(table) for rows in self.lines.values() for table in np.unique(rows.fragments["table"])}
        self.tables = {table: name for table, name in self.tables.items() if table in named}

    def left_out(self) -> int:
        """Return the number of changes of rows that are not followed."""
        self.bound()
        return self.changes - sum(int(rows.fragments["changes"].sum()) for rows in self.lines.values())

    def evidence(self, proofs: Mapping[ChainLine, Sequence[ChainProof]]) -> list[ChainEvidence]:
        """Return the evidence of each line, from its chains and from records that prove their version by themselves."""
        if not self.lines:
            return []
        self.bound()
        scattered = self._scattered()
        return [
            self._evidence_of(line, self.lines[line], scattered, proofs.get(line, ())) for line in sorted(self.lines)
        ]

    def _evidence_of(
        self, line: ChainLine, rows: ChainRows, scattered: Array, proofs: Sequence[ChainProof]
    ) -> ChainEvidence:
        runs = rows.runs[~np.isin(rows.runs["table"], scattered)]
        torn = rows.fragments["torn"][~np.isin(rows.fragments["table"], scattered)]
        links = [int(runs["links"][runs["reading"] == reading].sum()) for reading in range(READINGS)]
        blocks, noise = resolve_blocks(gather_blocks(runs, proofs))
        doubtful = noise > MOST_NOISE * (noise + sum(block.weight for block in blocks))
        readings = self.readings[line.subject]
        stretches = tuple(self._stretch(block, readings, runs, proofs, doubtful=doubtful) for block in blocks)
        return ChainEvidence(line, readings, (links[0], links[1]), int(torn.sum()), stretches, doubtful)

    def _stretch(
        self, block: ChainBlock, readings: Readings, runs: Array, proofs: Sequence[ChainProof], *, doubtful: bool
    ) -> ChainStretch:
        mine = runs[
            (runs["reading"] == block.reading) & (runs["last"] >= block.first.offset)
            & (runs["first"] <= block.last.offset)
        ]  # fmt: skip
        own = [one for one in proofs if one.reading == block.reading and overlap(one, block)]
        shares = []
        for table in np.unique(mine["table"]).tolist():
            of_table = mine[mine["table"] == table]
            first, last = of_table[of_table["first"].argmin()], of_table[of_table["last"].argmax()]
            shares.append(TableShare(
                self.tables.get(table), int(of_table["records"].sum()),
                point_of(first["first"], first["first_time"]), point_of(last["last"], last["last_time"]),
            ))  # fmt: skip
        return ChainStretch(
            contract=readings[block.reading][-1],
            reading=block.reading,
            links=int(mine["links"].sum()),
            records=int(mine["records"].sum()) + sum(one.records for one in own),
            first=block.first,
            last=block.last,
            proven=block.weight >= ENOUGH_LINKS and not doubtful,
            tables=tuple(sorted(shares, key=lambda share: (share.table is not None, share.table or ""))),
        )

    def _scattered(self) -> Array:
        """Return the tables with a row in several partitions: no partition has all changes of such a row."""
        result = [np.unique(rows.fragments[["key", "table"]]) for rows in self.lines.values()]
        keys, counts = np.unique(np.concatenate(result), return_counts=True)
        return np.unique(keys["table"][counts > 1])
