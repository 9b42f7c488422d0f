"""Sample windows: the offsets of a partition that a sample reads, always the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.core.stats.partition_tallies import Source

Window = tuple[int, int]
"""The first offset, and the one after the last."""

_PARTS: Final = 3


def place_windows(start: int, end: int, total: int, count: int) -> list[Window]:
    """Return a number of windows with a total number of offsets, spread from the beginning to the end of a range."""
    each, rest = divmod(total, count)
    found: list[Window] = []
    for number in range(count):
        size = each + (number < rest)
        first = start + (end - start - size) * number // max(1, count - 1)
        first = max(first, found[-1][1] if found else start)
        found.append((first, min(end, first + size)))
    return found


def share_windows(limits: Mapping[Source, Window], most: int) -> list[dict[Source, Window]]:
    """Return windows with at most a total number of offsets: for each partition one at either end and in the middle.

    The share that smaller partitions do not use goes to the others.
    """
    windows: list[dict[Source, Window]] = [{} for _ in range(_PARTS)]
    left = most
    by_size = sorted(limits.items(), key=lambda entry: (entry[1][1] - entry[1][0], entry[0]))
    for place, (source, (start, end)) in enumerate(by_size):
        share = min(end - start, -(-left // (len(by_size) - place)))
        left -= share
        found = [(start, end)] if share == end - start else place_windows(start, end, share, _PARTS)
        for part, window in zip(windows, found, strict=False):
            part[source] = window
    return windows
