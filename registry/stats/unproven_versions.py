"""Unproven versions: declared for a run or for a range of it, and indistinguishable from others by its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cdc_contracts.registry.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.contract.version_ranges import VersionRange, VersionRanges
from cdc_contracts.registry.stats.chain_evidence import ChainEvidence
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.stats.writing_turns import ToldTurn, told_turns


@dataclass(frozen=True)
class Unproven:
    """A declared version, the others that its messages may be of as well, and how many messages fit several.

    `place` is the topic, the partition and the range that it is declared for; None if that is the whole run.
    """

    contract: str
    others: tuple[str, ...]
    records: int
    place: tuple[str, int, VersionRange] | None = None


def find_unproven(tally: Tally, judged: Sequence[Version]) -> list[Unproven]:
    """Return the version that was declared for a run if it read messages, and nothing distinguishes it from another."""
    if len(judged) != 1 or not tally.undecided:
        return []
    (version,) = judged
    others = _others(version)
    evidence = tally.chain_evidence()
    result = (
        any(tally.seen[reference] for reference in (version.reference, *others))
        or any(found.speaks_for(version.reference) for found in evidence)
        or bool(tally.speaks_against(version.reference))
        or any(_speaks_of(turn, version.reference) for turn in told_turns(tally.statistics.writing, version.catalogue))
    )
    return [] if result else [Unproven(version.reference, others, tally.undecided)]


def find_unproven_ranges(tally: Tally, ranges: VersionRanges, catalogue: Catalogue) -> Iterator[Unproven]:
    """Yield the ranges with messages in which nothing distinguishes the version that they declare from another."""
    evidence = tally.chain_evidence()
    turns = list(told_turns(tally.statistics.writing, catalogue))
    for (topic, partition, number), range_evidence in sorted(tally.stakes.items()):
        within = ranges.ranges_of(topic, partition)[number]
        if not range_evidence.undecided or range_evidence.proven or range_evidence.proof is not None:
            continue
        chains = [found for found in evidence if found.line[:2] == (topic, partition)]
        own = [turn for turn in turns if (turn.turn.rows.topic, turn.turn.rows.partition) == (topic, partition)]
        if not (_describe_by_chains(chains, within) or _describe_by_turns(own, within)):
            others = _others(catalogue.version(within.contract))
            yield Unproven(within.contract, others, range_evidence.undecided, (topic, partition, within))


def _others(version: Version) -> tuple[str, ...]:
    return tuple(one.reference for one in version.catalogue.versions(version.subject) if one != version)


def _describe_by_chains(evidence: Iterable[ChainEvidence], within: VersionRange) -> bool:
    """Return whether key chains in a range prove its version, or contradict it."""
    return any(
        stretch.links and within.meets(stretch.first, stretch.last)
        for found in evidence
        for stretch in (
            *(one for one in found.proven() if found.readings[one.reading] == (within.contract,)),
            *found.against(within.contract),
        )
    )


def _describe_by_turns(turns: Iterable[ToldTurn], within: VersionRange) -> bool:
    """Return whether a column turned from the version of a range, or to it, in the range or at its border."""
    return any(
        _speaks_of(result, within.contract)
        and any(within.meets(way.first, way.last) for way in (result.turn.was, result.turn.stretch))
        for result in turns
    )


def _speaks_of(told: ToldTurn, reference: str) -> bool:
    """Return whether a turn is a switch from or to a version."""
    return told.switch is not None and reference in (told.switch.before.reference, told.switch.after.reference)
