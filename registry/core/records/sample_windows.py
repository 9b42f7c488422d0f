"""Sample windows: the offsets of a partition that a sample reads, always the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.core.stats.partition_tallies import Source

Window = tuple[int, int]
"""The first offset, and the one after the last."""

_PARTS: Final = 3


def place_windows(start: int, end: int, total: int, count: int, turn: int = 0, turns: int = 1) -> list[Window]:
    """Return a number of windows with a total number of offsets, spread from the beginning to the end of a range.

    Several ranges that take turns have their windows at different parts, those of the first from its beginning and
    those of the last to its end.
    """
    each, rest = divmod(total, count)
    found: list[Window] = []
    for number in range(count):
        before = number * each + min(number, rest)
        gaps = (end - start - total) * (number * turns + turn) // max(1, count * turns - 1)
        first = start + before + gaps
        found.append((first, first + each + (number < rest)))
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
