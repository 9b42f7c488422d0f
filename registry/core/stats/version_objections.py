"""Version objections: evidence of a run against the versions that its messages were read by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.version_ranges import VersionRanges
from cdc_contracts.registry.core.stats.chain_evidence import ChainLine, ChainStretch, is_strange
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.range_evidence import contradicted
from cdc_contracts.registry.core.stats.refutations import Refutation, refute, refute_ranges
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.run_evidence import DoubtedRange, VersionObjection
from cdc_contracts.registry.core.stats.tally import Tally, proven_runs


def find_objections(
    tally: Tally, validated: Sequence[Version], preferences: Sequence[Version] = (), earlier: RowChanges | None = None
) -> Iterator[VersionObjection]:
    """Yield the evidence against the declared version, and against those that a sample supports.

    A record that fits another version and not this one is evidence if others of the run depend on which is right; so
    are key chains, together with those of `earlier` batches of a stream, even if they are too few to prove another
    version. With several versions in `validated`, evidence has to contradict all of them.
    """
    for version in preferences:
        exclusion = tally.excluded.get(version.reference)
        if exclusion is not None and tally.differing:
            says = f"the sample supports {version}, offset {exclusion.offset} is proven to be {exclusion.fits}"
            doubted = _doubted(tally, exclusion[:3], exclusion.fits, [version.reference])
            yield VersionObjection(version.reference, says, tally.differing, reported=False, doubted=doubted)
    exclusion = tally.excluded.get(validated[0].reference) if len(validated) == 1 else None
    if exclusion is not None and exclusion.difference is not None and tally.differing:
        path, expected, observed = exclusion.difference
        says = (
            f"{exclusion.topic} partition {exclusion.partition} offset {exclusion.offset} is proven to be another "
            f"version ({path}: expected {expected}, observed {observed})"
        )
        doubted = _doubted(tally, exclusion[:3], exclusion.fits, [validated[0].reference])
        yield VersionObjection(validated[0].reference, says, tally.differing, reported=True, doubted=doubted)
    joined = _joined(tally, earlier)
    for versions, declared in ((validated, True), *(((version,), False) for version in preferences)):
        references = [version.reference for version in versions]
        for one in refute(joined.chain_evidence(), references) if references else ():
            reported = declared and one.stretch.proven and earlier is None
            yield from _object(one, tally, tally.differing, "", reported=reported)


def find_range_objections(
    tally: Tally, ranges: VersionRanges, earlier: RowChanges | None = None
) -> Iterator[VersionObjection]:
    """Yield the evidence against the declared versions of ranges, each by its own records.

    Chains that cross the boundary of a range contradict its version only if they prove another one.
    """
    for (topic, partition, number), differing, proof in contradicted(tally.evidence_by_message):
        declared = ranges.ranges_of(topic, partition)[number].contract
        says = (
            f"{topic} partition {partition} offset {proof.offset} is proven to be another version than {declared}, "
            f"which its range declares ({proof.path}: expected {proof.expected}, observed {proof.observed})"
        )
        doubted = _doubted(tally, (topic, partition, proof.offset), None, [declared])
        yield VersionObjection(declared, says, differing, reported=True, doubted=doubted)
    for one in refute_ranges(_joined(tally, earlier).chain_evidence(), ranges):
        range_evidence = tally.evidence_by_message.get((one.line.topic, one.line.partition, one.number))
        differing = range_evidence.differing if range_evidence is not None else 0
        reported = one.stretch.proven and earlier is None
        yield from _object(one, tally, differing, f", their range declares {one.contract}", reported=reported)


def _object(
    one: Refutation, tally: Tally, differing: int, of_range: str, *, reported: bool
) -> Iterator[VersionObjection]:
    """Yield the objection of a stretch that reaches into the records of a tally."""
    stretch = one.stretch
    if (stretch.proven or (one.whole and stretch.links)) and _reaches(stretch, one.line, tally):
        if not differing and is_strange(one.line, stretch):
            differing = stretch.records
        says = f"{_describe(one.line, stretch)}{of_range}"
        doubted = DoubtedRange(*one.line[:2], one.since, one.until, stretch.contract, stretch.proven)
        yield VersionObjection(one.contract, says, differing, reported=reported, doubted=doubted)


def _doubted(tally: Tally, place: tuple[str, int, int], fits: str | None, references: Sequence[str]) -> DoubtedRange:
    """Return the offsets around a record of another version that nothing proves to be of the version read by."""
    topic, partition, offset = place
    runs = [run for run in proven_runs(tally).get(Source(topic, partition), ()) if run.version in references]
    since = max((run.last + 1 for run in runs if run.last < offset), default=0)
    until = min((run.first for run in runs if run.first > offset), default=None)
    return DoubtedRange(topic, partition, since, until, fits, proven=fits is not None)


def _joined(tally: Tally, earlier: RowChanges | None) -> Tally:
    if not earlier:
        return tally
    joined = Tally(runs=tally.runs)
    for chains in (earlier, tally.chains):
        if chains:
            joined.chains.merge(chains)
    return joined


def _reaches(stretch: ChainStretch, line: ChainLine, tally: Tally) -> bool:
    """Return whether a stretch reaches into the records of a tally."""
    counts = tally.partitions.get(Source(line.topic, line.partition))
    return counts is not None and counts.first_offset is not None and stretch.last.offset >= counts.first_offset


def _describe(line: ChainLine, stretch: ChainStretch) -> str:
    sure = "prove" if stretch.proven else "support"
    few = "" if stretch.proven else ", too few to prove it"
    votes = "1 vote" if stretch.links == 1 else f"{stretch.links:,} votes"
    return (
        f"{line.topic} partition {line.partition}: row changes {sure} {stretch.contract} from offset "
        f"{stretch.first.offset} to {stretch.last.offset} ({votes}{few})"
    )
