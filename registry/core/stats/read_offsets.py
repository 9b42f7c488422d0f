"""Read offsets: the offsets read from a partition and those of its DDL statements, at which rows are split.

Two rows are on the same side of all statements once every offset between them was read and had no statement; until
then a part of the run that is merged later may contain one. The offsets between a batch's first and last record of a
partition count as read.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

MOST_SPANS: Final = 128
MOST_STATEMENTS: Final = 1_000

Span = tuple[int, int]
Cell = tuple[int, int]
"""By number: the offsets that were read without a gap, and those between two statements."""

_start = itemgetter(0)


@dataclass
class ReadOffsets:
    """The spans of a partition that were read without a gap, and the offsets of its statements, both in order.

    Bounded: of more statements the first are kept. If there are more than twice the maximum of spans, the narrowest
    gaps count as read: transactions and compaction leave narrow gaps, unfinished tasks wide ones.
    """

    spans: list[Span] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)

    def merge(self, other: ReadOffsets) -> bool:
        """Merge the offsets of another part of the run; return whether rows in different cells may share one now."""
        if not self.spans and len(other.spans) == 1 and not (self.statements or other.statements):
            self.spans = other.spans.copy()
            return False
        known, most = self.spans, (self.statements or [0])[-1]
        self.spans = _bound(join_spans([*known, *other.spans]), MOST_SPANS) if other.spans != known else known
        if other.statements:
            self.statements = sorted({*self.statements, *other.statements})[:MOST_STATEMENTS]
        bridged = len(known) > 1 and len({bisect(self.spans, start, key=_start) for start, _ in known}) < len(known)
        return bridged or (self.statements or [0])[-1] < most

    def cell(self, offset: int) -> Cell:
        """Return the cell of an offset; rows of one cell are on the same side of every statement."""
        return bisect(self.spans, offset, key=_start), bisect(self.statements, offset)

    @property
    def parted(self) -> bool:
        """Whether there is more than one cell."""
        return bool(self.statements) or len(self.spans) > 1


def merge_spans(spans: Sequence[Span], more: Sequence[Span], most: int) -> list[Span]:
    """Return the spans of two parts of a partition in order, adjacent ones joined.

    If there are more than twice the maximum, the narrowest gaps count as read.
    """
    if not spans:
        joined = list(more)
    elif more and spans[-1][1] < more[0][0]:  # mostly: one batch follows the other
        joined = [*spans[:-1], *join_spans([spans[-1], more[0]]), *more[1:]]
    else:
        joined = join_spans([*spans, *more])
    return _bound(joined, most)


def join_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, adjacent ones joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _bound(spans: list[Span], most: int) -> list[Span]:
    if len(spans) <= 2 * most:
        return spans
    gaps = sorted(range(1, len(spans)), key=lambda at: (spans[at][0] - spans[at - 1][1], at))
    kept = [0, *sorted(gaps[len(spans) - most :])]
    ends = [*(spans[at - 1][1] for at in kept[1:]), spans[-1][1]]
    return [(spans[at][0], end) for at, end in zip(kept, ends, strict=True)]
