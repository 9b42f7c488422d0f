"""Refutations: stretches of key chains that contradict the version declared for them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cdc_contracts.registry.core.contract.version_ranges import OFFSETS, VersionRange, VersionRanges
from cdc_contracts.registry.core.stats.chain_evidence import ChainEvidence, ChainLine, ChainStretch
from cdc_contracts.registry.core.stats.position_sequences import Point


class Refutation(NamedTuple):
    """The part of a stretch for which `contract` is declared: for a whole run, or for the range of that number.

    `whole` means that this is all of the stretch, `goes_on` that no later stretch contradicts it. From `since` up to
    `until` no other stretch supports the declared version.
    """

    line: ChainLine
    number: int
    contract: str
    stretch: ChainStretch
    whole: bool
    goes_on: bool
    since: int = 0
    until: int | None = None


def refute(evidence: Iterable[ChainEvidence], references: Sequence[str]) -> Iterator[Refutation]:
    """Yield the stretches that contradict the version declared for all records, or every one of several."""
    for found in evidence:
        for stretch in found.against(*references):
            goes_on = stretch in found.stretches[-1:]
            since, until = _between(found, stretch)
            yield Refutation(
                found.line, 0, references[-1], stretch, whole=True, goes_on=goes_on, since=since, until=until
            )


def refute_ranges(evidence: Iterable[ChainEvidence], ranges: VersionRanges) -> Iterator[Refutation]:
    """Yield the stretches that contradict the declared versions of ranges, each within its range."""
    for found in evidence:
        for number, one in enumerate(ranges.ranges_of(found.line.topic, found.line.partition)):
            for stretch in found.against(one.contract):
                clipped = _clip(stretch, one)
                if clipped is not None:
                    goes_on = stretch in found.stretches[-1:] and one.end is None
                    whole = (clipped.first, clipped.last) == (stretch.first, stretch.last)
                    since, until = _between(found, stretch)
                    if one.unit == OFFSETS:
                        since = max(since, one.start or 0)
                        until = one.end if until is None else min(until, one.end or until)
                    yield Refutation(
                        found.line, number, one.contract, clipped,
                        whole=whole, goes_on=goes_on, since=since, until=until,
                    )  # fmt: skip


def _between(found: ChainEvidence, stretch: ChainStretch) -> tuple[int, int | None]:
    """Return the offsets around a stretch that no stretch of the other reading supports."""
    others = [one for one in found.stretches if one.reading != stretch.reading]
    since = max((one.last.offset + 1 for one in others if one.last.offset < stretch.first.offset), default=0)
    until = min((one.first.offset for one in others if one.first.offset > stretch.last.offset), default=None)
    return since, until


def _clip(stretch: ChainStretch, one: VersionRange) -> ChainStretch | None:
    """Return the part of a stretch within a range, None if there is none; in a time range only a whole stretch."""
    if one.unit != OFFSETS:
        return stretch if one.holds(*stretch.first) and one.holds(*stretch.last) else None
    ends = _cut(stretch.first, stretch.last, one)
    if ends is None:
        return None
    shares = [
        share._replace(first=cut[0], last=cut[1], offsets=offsets)
        for share in stretch.tables
        if (cut := _cut(share.first, share.last, one)) and (offsets := _within(share.offsets, *cut))
    ]
    return stretch._replace(
        first=ends[0], last=ends[1], records=min(stretch.records, _offsets(*ends)), tables=tuple(shares)
    )


def _cut(first: Point, last: Point, one: VersionRange) -> tuple[Point, Point] | None:
    start = first if one.start is None or one.start <= first.offset else Point(one.start, None)
    end = last if one.end is None or last.offset < one.end else Point(one.end - 1, None)
    return (start, end) if start.offset <= end.offset else None


def _within(offsets: Sequence[int], first: Point, last: Point) -> tuple[int, ...]:
    return tuple(offsets[bisect_left(offsets, first.offset) : bisect_right(offsets, last.offset)])


def _offsets(first: Point, last: Point) -> int:
    return last.offset - first.offset + 1
