"""Reported slices: what the slices of a sample say about the whole range, in the report and in words."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from cdc_contracts.registry.core.common.written_models import Count
from cdc_contracts.registry.core.stats.slice_shares import CONFIDENCE, bound_share, share_missed_by_half

if TYPE_CHECKING:
    from cdc_contracts.registry.core.stats.partition_tallies import Source
    from cdc_contracts.registry.core.stats.tally import Tally

Share = Annotated[float, Meta(ge=0, le=1)]


class SliceGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """Slices in which about the same share of messages does not conform."""

    share: Share
    """Share of their messages that do not conform, rounded up to two digits."""
    slices: Count
    """How many slices."""
    represents: Count
    """Messages of the range that they stand for."""


class ReportedSlices(Struct, frozen=True, forbid_unknown_fields=True):
    """What the slices of a sample say about the whole range."""

    read: Count
    """Slices read that hold messages."""
    drifting: Count
    """Slices with messages that do not conform."""
    share: Share
    """Share of all messages that do not conform, as the slices have it."""
    at_most: Share
    """Bound of this share with the confidence given, from the spread between slices."""
    confidence: Share
    """How often such a bound holds."""
    largest: Count
    """Messages of the range that one slice stands for at most."""
    spread: tuple[SliceGroup, ...]
    """The slices by the share of their messages that do not conform."""


def report_slices(tally: Tally, ranges: Mapping[Source, tuple[int, int]]) -> ReportedSlices | UnsetType:
    """Return what slices say about the messages of ranges, UNSET if no slices were counted or all was read.

    `ranges` are the offsets of each partition, and how many of them the slices have.
    """
    counted: dict[float, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    largest = 0.0
    for source, counts in tally.partitions.items():
        if not counts.slices or source not in ranges:
            continue
        offsets, sampled = ranges[source]
        each = offsets / max(1, sampled)
        for read, drifting in counts.slices.values():
            share, represents = _round_up(drifting / read), read * each
            slices, before = counted[share]
            counted[share] = (slices + 1, before + represents)
            largest = max(largest, represents)
    if all(offsets == sampled for offsets, sampled in ranges.values()):
        return UNSET
    groups = (SliceGroup(share, slices, round(part)) for share, (slices, part) in sorted(counted.items()))
    return _weigh(tuple(groups), round(largest))


def join_slices(parts: Iterable[ReportedSlices | UnsetType]) -> ReportedSlices | UnsetType:
    """Return what the slices of several ranges say about all of them; UNSET if one says nothing, as if it was not read.

    The bound is never lower than that of one range: slices at the same parts of several ranges may see the same.
    """
    found = [*parts]
    if not all(found):
        return UNSET
    counted: dict[float, SliceGroup] = {}
    largest = 0
    for part in found:
        for group in part.spread if part else ():
            known = counted.get(group.share, SliceGroup(group.share, 0, 0))
            counted[group.share] = SliceGroup(
                group.share, known.slices + group.slices, known.represents + group.represents
            )
        largest = max(largest, part.largest) if part else largest
    joined = _weigh(tuple(group for _, group in sorted(counted.items())), largest)
    if joined is UNSET:
        return UNSET
    return replace(joined, at_most=max(joined.at_most, *(part.at_most for part in found if part)))


def slice_notes(found: ReportedSlices | UnsetType) -> Sequence[str]:
    """Return what a sample may have missed, in words; nothing if the range was not sampled."""
    if not found:
        return ()
    if not found.drifting:
        seen = f"none of the {found.read:,} slices read has one"
    else:
        seen = (
            f"{found.drifting:,} of the {found.read:,} slices read have such messages ({_percent(found.share)} of all)"
        )
    effective = sum(group.represents for group in found.spread) / found.largest
    says = (
        f"With {_percent(found.confidence)} confidence at most {_percent(found.at_most)} of the messages in the whole "
        f"range do not conform: {seen}. Drift confined to less than {_percent(share_missed_by_half(effective))} of the "
        "range is more often missed than found."
    )
    return (says,)


def _weigh(groups: tuple[SliceGroup, ...], largest: int) -> ReportedSlices | UnsetType:
    if not groups:
        return UNSET
    total = sum(group.represents for group in groups)
    at_most = bound_share({group.share: group.represents for group in groups}, largest)
    return ReportedSlices(
        read=sum(group.slices for group in groups),
        drifting=sum(group.slices for group in groups if group.share),
        share=float(f"{sum(group.share * group.represents for group in groups) / total:.2g}"),
        at_most=_round_up(at_most),
        confidence=CONFIDENCE,
        largest=largest,
        spread=groups,
    )


def _round_up(share: float) -> float:
    """Return a share rounded up to two digits, so that there are few of them and none is too small."""
    if not share:
        return 0.0
    places = 1 - math.floor(math.log10(share))
    return min(1.0, round(math.ceil(round(share * 10.0**places, 6)) / 10.0**places, places))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else "100 %"
