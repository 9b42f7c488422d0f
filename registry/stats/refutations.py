"""Refutations: stretches of key chains that contradict the version declared for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cdc_contracts.registry.contract.version_ranges import OFFSETS, VersionRange, VersionRanges
from cdc_contracts.registry.stats.chain_evidence import ChainEvidence, ChainLine, ChainStretch
from cdc_contracts.registry.stats.position_sequences import Point


class Refutation(NamedTuple):
    """The part of a stretch for which `contract` is declared: for a whole run, or for the range of that number.

    `whole` means that this is all of the stretch, `goes_on` that no later stretch contradicts it.
    """

    line: ChainLine
    number: int
    contract: str
    stretch: ChainStretch
    whole: bool
    goes_on: bool


def refute(evidence: Iterable[ChainEvidence], references: Sequence[str]) -> Iterator[Refutation]:
    """Yield the stretches that contradict the version declared for all records, or every one of several."""
    for found in evidence:
        for stretch in found.against(*references):
            goes_on = stretch in found.stretches[-1:]
            yield Refutation(found.line, 0, references[-1], stretch, whole=True, goes_on=goes_on)


def refute_ranges(evidence: Iterable[ChainEvidence], ranges: VersionRanges) -> Iterator[Refutation]:
    """Yield the stretches that contradict the declared versions of ranges, each within its range."""
    for found in evidence:
        for number, one in enumerate(ranges.ranges_of(found.line.topic, found.line.partition)):
            for stretch in found.against(one.contract):
                clipped = _clip(stretch, one)
                if clipped is not None:
                    goes_on = stretch in found.stretches[-1:] and one.end is None
                    whole = (clipped.first, clipped.last) == (stretch.first, stretch.last)
                    yield Refutation(found.line, number, one.contract, clipped, whole=whole, goes_on=goes_on)


def _clip(stretch: ChainStretch, one: VersionRange) -> ChainStretch | None:
    """Return the part of a stretch within a range, None if there is none; in a time range only a whole stretch."""
    if one.unit != OFFSETS:
        return stretch if one.holds(*stretch.first) and one.holds(*stretch.last) else None
    ends = _cut(stretch.first, stretch.last, one)
    if ends is None:
        return None
    tables = [(share, _cut(share.first, share.last, one)) for share in stretch.tables]
    return stretch._replace(
        first=ends[0],
        last=ends[1],
        records=min(stretch.records, _offsets(*ends)),
        tables=tuple(
            share._replace(first=cut[0], last=cut[1], records=min(share.records, _offsets(*cut)))
            for share, cut in tables
            if cut is not None
        ),
    )


def _cut(first: Point, last: Point, one: VersionRange) -> tuple[Point, Point] | None:
    start = first if one.start is None or one.start <= first.offset else Point(one.start, None)
    end = last if one.end is None or last.offset < one.end else Point(one.end - 1, None)
    return (start, end) if start.offset <= end.offset else None


def _offsets(first: Point, last: Point) -> int:
    return last.offset - first.offset + 1
