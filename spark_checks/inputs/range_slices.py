"""Range slices: the offsets that a sample reads, and the pieces that a long range is read in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.records.sample_windows import Window, place_windows
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source

MOST_SLICES: Final = 10
LEAST_SLICES: Final = 30
"""Of all partitions together: of one partition more are read, as ten slices can say little of the whole range."""
LEAST_OFFSETS: Final = 100

Windows = Mapping[Source, Sequence[Window]]


def parse_fraction(text: str) -> Fraction:
    """Return the fraction of a range that a sample reads. Raises UsageError if the text is not a fraction of 1."""
    if not re.fullmatch(r"[0-9]{1,9}/[0-9]{1,9}|[0-9]{0,9}\.?[0-9]{1,9}", text) or re.fullmatch(r".*/0+", text):
        raise UsageError("not a fraction", where=f"--sample {text}", hint="Write 1/10 or 0.1.")
    fraction = Fraction(text)
    if not 0 < fraction <= 1:
        raise UsageError("not a part of the whole", where=f"--sample {text}", hint="Write 1/10 or 0.1.")
    return fraction


def describe_sample(fraction: Fraction) -> str:
    """Return the words by which a report describes the fraction read."""
    return f"{fraction} of each partition, in slices spread over its range"


def spread(spans: Mapping[Source, Span], fraction: Fraction) -> dict[Source, tuple[Window, ...]]:
    """Return the slices of each partition that a sample reads, spread over its span, always the same.

    Partitions have theirs at different parts, because drift often begins and ends in all of them at once.
    """
    turns = len(spans)
    most = max(MOST_SLICES, -(-LEAST_SLICES // max(1, turns)))
    return {
        source: tuple(_spread(spans[source], fraction, most, turn, turns)) for turn, source in enumerate(sorted(spans))
    }


def cut(windows: Windows, offsets: int | None) -> list[dict[Source, Window]]:
    """Return windows in pieces of about a number of offsets, in order, each with at most one window per partition."""
    step = max(1, offsets // max(1, len(windows))) if offsets is not None else None
    parts = {source: [part for window in held for part in _cut(*window, step)] for source, held in windows.items()}
    rounds = max(map(len, parts.values()), default=0)
    return [
        {source: found[number] for source, found in parts.items() if number < len(found)} for number in range(rounds)
    ]


def skipped(span: Span, windows: Sequence[Window]) -> int:
    """Return the number of offsets of a span outside all windows."""
    return span.end - span.start - sum(max(0, min(end, span.end) - max(start, span.start)) for start, end in windows)


def keep(batch: pa.RecordBatch, windows: Windows) -> list[pa.RecordBatch]:
    """Return the records of a batch that are in windows, those of each window of a partition in a batch of its own."""
    records = Batch(batch)
    numbers = np.full(len(records), -1)
    for source, mine in records.by_source(np.arange(len(records))):
        if source in windows:
            offsets, (starts, ends) = records.offsets[mine], np.array(windows[source]).T
            at = np.searchsorted(starts, offsets, "right") - 1
            numbers[mine] = np.where((at >= 0) & (offsets < ends[at]), at, -1)
    found = np.unique(numbers)
    if len(found) == 1 and found[0] >= 0:
        return [batch]
    return [batch.filter(pa.array(numbers == number)) for number in found if number >= 0]


def _spread(span: Span, fraction: Fraction, most: int, turn: int, turns: int) -> list[Window]:
    start, end = span.start, span.end
    total = -(-(end - start) * fraction.numerator // fraction.denominator)
    if not total:
        return [(start, start)]
    count = max(1, min(most, total // LEAST_OFFSETS))
    return place_windows(start, end, total, count, turn, turns)


def _cut(start: int, end: int, step: int | None) -> list[Window]:
    if step is None or end - start <= step:
        return [(start, end)]
    return [(first, min(end, first + step)) for first in range(start, end, step)]
