"""Unproven versions: declared versions of a run or range that its messages do not distinguish from others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.version_ranges import VersionRange, VersionRanges
from cdc_contracts.registry.core.stats.chain_evidence import ChainEvidence
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.writing_turns import DriftingTurn, drifting_turns


@dataclass(frozen=True)
class Unproven:
    """A declared version, the other versions that its messages may be of, and the number that fit several.

    `place` is the topic, the partition and the range that it is declared for; None for a whole run.
    """

    contract: str
    others: tuple[str, ...]
    records: int
    place: tuple[str, int, VersionRange] | None = None


def find_unproven(tally: Tally, validated: Sequence[Version]) -> list[Unproven]:
    """Return the declared version of a run if it read messages that do not distinguish it from another version."""
    if len(validated) != 1 or not tally.undecided:
        return []
    (version,) = validated
    others = _others(version)
    evidence = tally.chain_evidence()
    result = (
        any(tally.seen[reference] for reference in (version.reference, *others))
        or any(found.proves(version.reference) for found in evidence)
        or bool(tally.contradicting_stretches(version.reference))
        or any(
            _involves(turn, version.reference) for turn in drifting_turns(tally.statistics.writing, version.catalogue)
        )
    )
    return [] if result else [Unproven(version.reference, others, tally.undecided)]


def find_unproven_ranges(tally: Tally, ranges: VersionRanges, catalogue: Catalogue) -> Iterator[Unproven]:
    """Yield the ranges whose messages do not distinguish their declared version from another."""
    evidence = tally.chain_evidence()
    turns = list(drifting_turns(tally.statistics.writing, catalogue))
    for (topic, partition, number), range_evidence in sorted(tally.evidence_by_message.items()):
        within = ranges.ranges_of(topic, partition)[number]
        if not range_evidence.undecided or range_evidence.proven or range_evidence.proof is not None:
            continue
        chains = [found for found in evidence if found.line[:2] == (topic, partition)]
        own = [turn for turn in turns if (turn.turn.rows.topic, turn.turn.rows.partition) == (topic, partition)]
        if not (_is_decided_by_chains(chains, within) or _is_decided_by_turns(own, within)):
            others = _others(catalogue.version(within.contract))
            yield Unproven(within.contract, others, range_evidence.undecided, (topic, partition, within))


def _others(version: Version) -> tuple[str, ...]:
    return tuple(one.reference for one in version.catalogue.versions(version.subject) if one != version)


def _is_decided_by_chains(evidence: Iterable[ChainEvidence], within: VersionRange) -> bool:
    """Return whether key chains in a range prove its version, or contradict it."""
    return any(
        stretch.links and within.meets(stretch.first, stretch.last)
        for found in evidence
        for stretch in (
            *(one for one in found.proven() if found.readings[one.reading] == (within.contract,)),
            *found.against(within.contract),
        )
    )


def _is_decided_by_turns(turns: Iterable[DriftingTurn], within: VersionRange) -> bool:
    """Return whether a column switched from or to the version of a range, within the range or at its boundary."""
    return any(
        _involves(result, within.contract)
        and any(within.meets(way.first, way.last) for way in (result.turn.was, result.turn.stretch))
        for result in turns
    )


def _involves(turn: DriftingTurn, reference: str) -> bool:
    """Return whether a turn is a switch from or to a version."""
    return turn.switch is not None and reference in (turn.switch.before.reference, turn.switch.after.reference)
