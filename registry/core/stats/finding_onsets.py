"""Finding onsets: the record from which every message has a finding, in a stream counted in parts."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, NamedTuple

from cdc_contracts.registry.core.stats.position_sequences import Stretch
from cdc_contracts.registry.core.stats.read_offsets import Span

ANY_OP: Final = ""
"""The series of all messages of a table, whatever they do to a row."""

_first = itemgetter(0)


class Start(NamedTuple):
    """Where a series of records with a finding begins, and how many there are.

    No record that may lack it can come between them any more: every offset between them was read.
    """

    offset: int
    timestamp: int | None
    records: int


@dataclass
class FindingSeries:
    """Records of one partition, table and op with and without a finding.

    `clean` is the last offset of a record without it, -1 for none. `starts` are records with it after that offset:
    the first of each span of offsets that was read without a gap, in order.
    """

    count: int
    last: int
    clean: int = -1
    starts: list[Start] = field(default_factory=list)

    @classmethod
    def of(cls, stretch: Stretch, clean: int = -1) -> FindingSeries:
        """Return the series of records that all have a finding, and begin one where they are after the last clean."""
        starts = [Start(*stretch.first, stretch.count)] if stretch.first.offset > clean else []
        return cls(stretch.count, stretch.last.offset, clean, starts)

    def add(self, other: FindingSeries) -> None:
        """Add other records of the same kind; each side has seen all clean records of its part."""
        self.count += other.count
        self.last = max(self.last, other.last)
        for start in other.starts:
            insort(self.starts, start)
        self.see_clean(other.clean)

    def see_clean(self, offset: int) -> None:
        """Record an offset without the finding."""
        self.clean = max(self.clean, offset)
        del self.starts[: bisect(self.starts, self.clean, key=_first)]

    def join_starts(self, spans: Sequence[Span], most: int) -> None:
        """Join starts with nothing unread between them; `spans` are the offsets read. Of too many, join the last."""
        joined: list[tuple[int, Start]] = []
        for start in self.starts:
            span = bisect(spans, start.offset, key=_first)
            if joined and (joined[-1][0] == span or len(joined) == most):
                known = joined[-1][1]
                joined[-1] = (span, known._replace(records=known.records + start.records))
            else:
                joined.append((span, start))
        self.starts = [start for _, start in joined]

    def clean_up_to(self, last: int) -> int:
        """Return the last offset without the finding, if the last of all records is at `last`."""
        return last if last > self.last else self.clean


def unbroken_series(series_by_op: Mapping[str, FindingSeries], lasts: Mapping[str, int]) -> Start | None:
    """Return the record from which every message that can have a finding has it; None if the last does not.

    These are messages of the ops that have it somewhere, or all messages if an unknown op has it. `lasts` has the
    offset of the last message of each op.
    """
    over_all = series_by_op.get(ANY_OP)
    shown = [series for op, series in series_by_op.items() if op != ANY_OP]
    clean = max(
        (series.clean_up_to(lasts.get(op, -1)) for op, series in series_by_op.items() if op != ANY_OP), default=-1
    )
    if over_all is not None and sum(series.count for series in shown) < over_all.count:
        shown, clean = [], over_all.clean_up_to(lasts.get(ANY_OP, -1))
    by_op = sorted(start for series in shown for start in series.starts if start.offset > clean)
    by_none = [start for start in over_all.starts if start.offset > clean] if over_all is not None else []
    if not (by_op or by_none):
        return None
    records = max(sum(start.records for start in starts) for starts in (by_op, by_none))
    return min([*by_op[:1], *by_none[:1]])._replace(records=records)
