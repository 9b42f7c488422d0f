"""Contradictions: evidence that records were read by the wrong version."""

from __future__ import annotations

from collections.abc import Iterator

from cdc_contracts.registry.contract.version_ranges import VersionRanges
from cdc_contracts.registry.stats.chain_evidence import ChainLine, ChainStretch, is_strange
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.registry.stats.range_evidence import contradicted
from cdc_contracts.registry.stats.refutations import refute_ranges
from cdc_contracts.registry.stats.row_changes import RowChanges
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.validate.validation_context import ValidationContext
from cdc_contracts.registry.validate.verdicts import OTHER_VERSION


def contradiction(tally: Tally, validation: ValidationContext, earlier: RowChanges | None = None) -> str | None:
    """Return why the version that records are read by cannot be trusted, or None if nothing contradicts it.

    A record that fits another version and not this one is proof, and so are key chains, together with those of
    `earlier` batches of a stream. Even too few chains to prove another version raise enough doubt. A contradiction
    counts only if some undecided record would be read differently. If ranges declare versions, each is checked against
    its own records only.
    """
    if validation.ranges is not None:
        return next(_contradicted_ranges(tally, validation.ranges, earlier), None)
    for version in validation.preferences:
        run = tally.refutes(version.reference)
        if run is not None:
            return (
                f"the sample supports {version}, offset {run.first} is proven to be {run.version}, and "
                f"{tally.differing or run.records} records fit both versions but mean different rows"
            )
    if not (tally.outcomes[OTHER_VERSION] and tally.differing):
        return _chained(tally, validation, earlier)
    proofs = [
        (extent.first, key, finding)
        for key, finding in tally.findings.items()
        if key.name == OTHER_VERSION
        for extent in finding.extents.values()
    ]
    first, key, finding = min(proofs, key=lambda proof: proof[0][:3])
    return (
        f"{first.topic} partition {first.partition} offset {first.offset} is proven to be another version "
        f"({key.path}: expected {min(finding.expected)}, observed {min(finding.observed)}), and {tally.differing} "
        "records fit both versions but mean different rows"
    )


def _chained(tally: Tally, validation: ValidationContext, earlier: RowChanges | None) -> str | None:
    """Return how key chains that include these records contradict the version they were read by."""
    joined = _joined(tally, earlier)
    asked = [validation.judged, *((version,) for version in validation.preferences)]
    for versions in asked:
        for line, stretch in joined.contradicting_stretches(*(version.reference for version in versions)):
            if (tally.differing or is_strange(line, stretch)) and _reaches(stretch, line, tally):
                result = f"{tally.differing or stretch.records} records fit both versions but mean different rows"
                return f"{_describe(line, stretch)}, and {result}"
    return None


def _contradicted_ranges(tally: Tally, ranges: VersionRanges, earlier: RowChanges | None) -> Iterator[str]:
    """Yield the ranges whose version is contradicted by one of their records or by a key chain in them.

    RowChanges that cross the boundary of a range contradict its version only if they prove another one.
    """
    for (topic, partition, number), differing, proof in contradicted(tally.stakes):
        declared = ranges.ranges_of(topic, partition)[number].contract
        yield (
            f"{topic} partition {partition} offset {proof.offset} is proven to be another version than {declared}, "
            f"which its range declares ({proof.path}: expected {proof.expected}, observed {proof.observed}), "
            f"and {differing} records of the range fit both versions but mean different rows"
        )
    for one in refute_ranges(_joined(tally, earlier).chain_evidence(), ranges):
        range_evidence = tally.stakes.get((one.line.topic, one.line.partition, one.number))
        counts = one.stretch.proven or (one.whole and one.stretch.links)
        differing = range_evidence.differing if range_evidence is not None else 0
        if is_strange(one.line, one.stretch):
            differing = differing or one.stretch.records
        if counts and differing and _reaches(one.stretch, one.line, tally):
            yield (
                f"{_describe(one.line, one.stretch)}, their range declares {one.contract}, and {differing} records "
                "of the range fit both versions but mean different rows"
            )


def _joined(tally: Tally, earlier: RowChanges | None) -> Tally:
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
    return (
        f"{line.topic} partition {line.partition}: key chains {sure} {stretch.contract} from offset "
        f"{stretch.first.offset} to {stretch.last.offset} ({stretch.links} of them{few})"
    )
