"""Change evidence: what the row changes of a run prove of the versions that its messages were written in.

Two kinds of evidence are weighed together: links between changes in a known order, and states, which need no order. The
reading that they support is found by partition, also where it turns in mid-stream, by table where tables turn at
places of their own. What no turn explains is disputed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from cdc_contracts.registry.core.stats.chain_blocks import Blocks, ChainBlock, find_blocks
from cdc_contracts.registry.core.stats.chain_evidence import (
    ENOUGH_VOTES,
    ChainEvidence,
    ChainLine,
    ChainProof,
    ChainStretch,
    Readings,
    TableShare,
    VoteCount,
)
from cdc_contracts.registry.core.stats.change_links import (
    Intervals,
    LinkEnd,
    Links,
    PlacedChange,
    find_links,
    leave_out_repeats,
    point_of,
)
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.row_changes import RowChange, RowChanges
from cdc_contracts.registry.core.stats.state_votes import ReadingOf, States, StateVote

Proofs = Mapping[ChainLine, Sequence[ChainProof]]


def weigh_changes(row_changes: RowChanges, proofs: Proofs) -> list[ChainEvidence]:
    """Return the evidence of each line, from row changes and from records that prove their version by themselves."""
    known = row_changes.weighed
    if known is not None and known[0] == proofs:
        return known[1]
    row_changes.bound()
    topics: dict[tuple[str, str], list[ChainLine]] = defaultdict(list)
    for line in row_changes.lines:
        topics[line.topic, line.subject].append(line)
    found = [
        evidence
        for lines in topics.values()
        for evidence in _TopicChanges(row_changes, sorted(lines), proofs).evidence()
    ]
    result = sorted(found, key=lambda evidence: evidence.line)
    row_changes.weighed = proofs, result
    return result


@dataclass(frozen=True)
class _Timeline:
    """The reading of each change that some evidence supports: by partition, or by partition and table.

    `blocks` has what is known of a place; everywhere else the reading is `otherwise`.
    """

    blocks: Mapping[tuple[int, int | None], Sequence[ChainBlock]]
    otherwise: int

    def reading_of(self, partition: int, change: RowChange) -> int | None:
        """Return the reading of a change; None between two blocks of different readings."""
        return self.reading_at(partition, change.table, change.offset)

    def reading_at(self, partition: int, table: int, offset: int) -> int | None:
        """Return the reading of a table's changes at an offset; None between two blocks of different readings."""
        if not self.blocks:
            return self.otherwise
        blocks = self.blocks.get((partition, table), self.blocks.get((partition, None), ()))
        if not blocks:
            return self.otherwise
        if len(blocks) == 1:
            return blocks[0].reading
        place = bisect_right([block.first.offset for block in blocks], offset) - 1
        if place < 0 or place == len(blocks) - 1 or offset <= blocks[place].last.offset:
            return blocks[max(place, 0)].reading
        return None


class _TopicChanges:
    """The row changes of one subject in one topic."""

    def __init__(self, row_changes: RowChanges, lines: Sequence[ChainLine], proofs: Proofs) -> None:
        self._names = row_changes.tables
        self._lines, self._proofs = lines, {line.partition: proofs.get(line, ()) for line in lines}
        self._readings: Readings = row_changes.readings[lines[0].subject]
        self._changes: list[PlacedChange] = [
            (line.partition, change) for line in lines for change in row_changes.changes_of(line)
        ]
        intervals = Intervals({line.partition: row_changes.intervals_of(*line[:2]) for line in lines})
        once = leave_out_repeats(self._changes)
        self._links: Links = find_links(once, intervals, row_changes.busy)
        self._states = States(once, row_changes.busy)
        self._ends: dict[int, list[LinkEnd]] = defaultdict(list)
        for end in (*self._links.ends, *self._placed_votes()):
            self._ends[end.partition].append(end)

    def _placed_votes(self) -> Sequence[LinkEnd]:
        """Return the votes of states that are about one place, where votes of both readings are cast.

        Then a partition may have turned where no link shows it. Where all are for one reading, places add nothing.
        """
        votes = list(self._states.find_ends())
        cast = {end.reading for end in votes} | {end.reading for end in self._links.ends if end.links}
        return votes if len(cast) > 1 else ()

    def evidence(self) -> Iterator[ChainEvidence]:
        """Yield the evidence of each line."""
        by_partition = {line.partition: self._blocks_of(line.partition) for line in self._lines}
        blocks = {
            place: one.explaining for found in by_partition.values() for place, one in found.items() if one.proven
        }
        timeline = self._best_timeline(blocks)
        states = list(self._states.votes(timeline.reading_of))
        disputes = self._disputes(timeline, states)
        pairs = {**self._states.find_pairs(), **self._links.pairs}
        links = Counter[tuple[int, int]]()
        for end in self._links.ends:
            links[end.partition, end.reading] += end.links
        for line in self._lines:
            found = by_partition[line.partition]
            doubtful = any(one.doubtful for one in found.values())
            stretches = [
                self._stretch(line.partition, block, table, doubtful=one.doubtful)
                for (_, table), one in found.items()
                for block in one.blocks
            ]
            if not disputes and not doubtful and len(stretches) <= 1 and not any(one.proven for one in stretches):
                stretches = self._stretches_of_states(line.partition, timeline, states) or stretches
            yield ChainEvidence(
                line=line,
                readings=self._readings,
                links=VoteCount(*(links[line.partition, way] for way in (0, 1))),
                torn=self._links.torn[line.partition],
                stretches=tuple(sorted(stretches, key=lambda stretch: (stretch.first.offset, stretch.last.offset))),
                doubtful=doubtful,
                states=self._state_votes,
                disputed=tuple(self._disputed(line.partition, disputes)),
                pairs=(pairs.get((line.partition, 0)), pairs.get((line.partition, 1))),
            )

    def _blocks_of(self, partition: int) -> dict[tuple[int, int | None], Blocks]:
        """Return the blocks of a partition; of each of its tables where these turn at places of their own."""
        ends, proofs = self._ends[partition], self._proofs[partition]
        whole = find_blocks(ends, proofs)
        tables = sorted({end.table for end in ends})
        if whole.doubtful and len(tables) > 1:
            by_table: dict[tuple[int, int | None], Blocks] = {
                (partition, table): find_blocks([end for end in ends if end.table == table], ()) for table in tables
            }
            if not any(blocks.doubtful for blocks in by_table.values()):
                return by_table
        return {(partition, None): whole}

    def _best_timeline(self, blocks: Mapping[tuple[int, int | None], Sequence[ChainBlock]]) -> _Timeline:
        """Return the timeline that most votes support.

        It follows the links; where there are none, one reading throughout, or one turn by partition if the states
        support that and nothing else.
        """
        found = [_Timeline(blocks, way) for way in (0, 1)]
        votes = [self._weigh(timeline) for timeline in found]
        best = max((0, 1), key=lambda way: votes[way].one - votes[way].other)
        if votes[best].supports(0) or not (votes[best].one or votes[best].other):
            return found[best]
        turn = self._states.find_turn()
        if turn is not None:
            turned = _Timeline(dict(self._turned_blocks(turn.reading_of, blocks)), turn.first)
            if self._weigh(turned).supports(0):
                return turned
        return found[best]

    def _turned_blocks(
        self, reading_of: ReadingOf, known: Mapping[tuple[int, int | None], Sequence[ChainBlock]]
    ) -> Iterator[tuple[tuple[int, int | None], Sequence[ChainBlock]]]:
        """Yield the blocks of a turn by partition."""
        yield from known.items()
        for line in self._lines:
            place = line.partition, None
            if not known.get(place):
                changes = sorted(self._open_changes(line.partition), key=lambda change: change.offset)
                yield (
                    place,
                    [
                        ChainBlock(reading or 0, point_of(held[0]), point_of(held[-1]), 0.0)
                        for reading, alike in groupby(changes, key=lambda one: reading_of(line.partition, one))
                        for held in [list(alike)]
                    ],
                )

    def _weigh(self, timeline: _Timeline, table: int | None = None) -> VoteCount:
        """Return the votes for a timeline and those against it, of one table or of all."""
        counts = Counter[bool]()
        for against, of_table in self._link_votes(timeline):
            counts[against] += table in (None, of_table)
        for vote in self._states.votes(timeline.reading_of):
            counts[vote.against] += table in (None, vote.table)
        return VoteCount(counts[False], counts[True])

    def _link_votes(self, timeline: _Timeline) -> Iterator[tuple[bool, int]]:
        """Yield for each link whether it is against a timeline, and its table."""
        for end in self._links.ends:
            if end.links:
                reading = timeline.reading_at(end.partition, end.table, end.point.offset)
                if reading is not None:
                    yield end.reading != reading, end.table

    def _disputes(self, timeline: _Timeline, states: Iterable[StateVote]) -> dict[int, int]:
        """Return by reading the votes for it, where votes that no turn explains speak against each other.

        If votes support one reading and are too few to prove it, only those are returned; so are single changes that
        both neighbours show to be read the other way, and links over gaps if there are no votes. A table is looked at
        alone if it has enough votes.
        """
        by_table: dict[int, Counter[bool]] = defaultdict(Counter)
        for against, table in self._link_votes(timeline):
            by_table[table][against] += 1
        for vote in states:
            by_table[vote.table][vote.against] += 1
        whole = Counter[bool]()
        for counts in by_table.values():
            whole.update(counts)
        parts = [counts for counts in by_table.values() if counts.total() >= ENOUGH_VOTES]
        for counts in (whole, *parts):
            votes = VoteCount(counts[False], counts[True])
            if votes.contradict(0):
                links = Counter(end.reading for end in self._links.ends if end.links)
                own = self._state_votes
                return {way: max(links[way] + own[way], 1) for way in (0, 1)}
        turns = any(len(blocks) > 1 for blocks in timeline.blocks.values())
        if whole and whole[False] < ENOUGH_VOTES and not turns:
            reading = next((blocks[0].reading for blocks in timeline.blocks.values() if blocks), timeline.otherwise)
            return {reading: whole[False]}
        outliers = Counter(
            reading
            for (partition, change), reading in self._links.outliers
            if timeline.reading_of(partition, change) == 1 - reading
        )
        if outliers:
            return dict(outliers)
        over_gaps = VoteCount(*(self._links.over_gaps[way] for way in (0, 1)))
        supported = [way for way in (0, 1) if not whole and over_gaps.supports(way)]
        return {way: over_gaps.of(way) for way in supported}

    @cached_property
    def _state_votes(self) -> tuple[int, int]:
        """The votes of all states for each reading throughout."""
        votes = Counter(int(vote.against) for vote in self._states.uniform_votes)
        return votes[0], votes[1]

    def _disputed(self, partition: int, disputes: Mapping[int, int]) -> Iterator[ChainStretch]:
        changes = list(self._open_changes(partition))
        if changes:
            first, last = (point_of(way(changes, key=lambda change: change.offset)) for way in (min, max))
            records = len({change.offset for change in changes})
            for reading, votes in disputes.items():
                yield self._as_stretch(reading, votes, records, first, last)._replace(proven=False)

    def _stretches_of_states(
        self, partition: int, timeline: _Timeline, states: Iterable[StateVote]
    ) -> list[ChainStretch]:
        """Return the stretches of a partition that the states of the whole topic prove.

        They are about all of its changes, unless some states vote for the other reading.
        """
        votes = Counter[int | None]()
        for vote in states:
            if vote.against:
                return []
            votes.update({timeline.reading_of(*placed) for placed in vote.updates})
        changes = sorted(self._open_changes(partition), key=lambda change: change.offset)
        found = []
        for reading, alike in groupby(changes, key=lambda change: timeline.reading_of(partition, change)):
            held = list(alike)
            if reading is not None and votes[reading]:
                stretch = self._as_stretch(
                    reading, votes[reading], len({change.offset for change in held}), point_of(held[0]),
                    point_of(held[-1]),
                )  # fmt: skip
                shares = self._shares((change.table, point_of(change)) for change in held)
                found.append(stretch._replace(tables=shares))
        return found

    def _open_changes(self, partition: int) -> Iterator[RowChange]:
        """Yield the changes of a partition that the two readings see differently."""
        return (change for place, change in self._changes if place == partition and change.is_open)

    def _stretch(self, partition: int, block: ChainBlock, table: int | None, *, doubtful: bool) -> ChainStretch:
        ends = [
            end
            for end in self._ends[partition]
            if end.reading == block.reading
            and block.first.offset <= end.point.offset <= block.last.offset
            and table in (None, end.table)
        ]
        records = len({end.record for end in ends})
        own = [
            proof
            for proof in self._proofs[partition]
            if proof.reading == block.reading
            and proof.first.offset <= block.last.offset
            and proof.last.offset >= block.first.offset
            and table is None
        ]
        return ChainStretch(
            contract=self._readings[block.reading][-1],
            reading=block.reading,
            links=sum(end.links for end in ends),
            records=records + sum(proof.records for proof in own),
            first=block.first,
            last=block.last,
            proven=block.is_strong and not doubtful,
            tables=self._shares((end.table, end.point) for end in ends),
            inner=block.inner,
        )

    def _shares(self, records: Iterable[tuple[int, Point]]) -> tuple[TableShare, ...]:
        """Return the records of a stretch by table; each is given by its table and its place."""
        by_table: dict[int, dict[int, Point]] = defaultdict(dict)
        for table, point in records:
            by_table[table][point.offset] = point
        shares = [
            TableShare(self._names.get(table), tuple(sorted(found)), *_extent(found.values()))
            for table, found in by_table.items()
        ]
        return tuple(sorted(shares, key=lambda share: (share.table is not None, share.table or "")))

    def _as_stretch(self, reading: int, votes: int, records: int, first: Point, last: Point) -> ChainStretch:
        return ChainStretch(
            self._readings[reading][-1],
            reading,
            votes,
            records,
            first,
            last,
            proven=bool(records) and votes >= ENOUGH_VOTES,
        )


def _extent(points: Iterable[Point]) -> tuple[Point, Point]:
    found = sorted(points, key=lambda point: point.offset)
    return found[0], found[-1]
