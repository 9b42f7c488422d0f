"""Settling: the findings that only the whole of a run can give, made from its course when the report is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.catalogue import Catalogue
from cdc_contracts.registry.course import Course
from cdc_contracts.registry.exercise import unexercised
from cdc_contracts.registry.findings import CLASSES, rule_id
from cdc_contracts.registry.sequences import GOES_BACK, REPEATS, Point, Stretch
from cdc_contracts.registry.tally import Extent, FindingKey, FindingTally, Moment, Source, Start, Tally

_WORDS_OF_ORDER: Final = {
    GOES_BACK: ("not below the one before", "below the one before"),
    REPEATS: ("above the one before", "the same as the one before"),
}
Found = tuple[FindingKey, Source, str, str, Stretch, int]
"""One finding in one partition: expected and observed, the records that have it, the last offset of one without."""


def settle(tally: Tally, catalogue: Catalogue) -> None:
    """Add the findings of a course to those of single messages. Doing it again changes nothing."""
    course = tally.course
    valued = sum(counts.read - counts.tombstone for counts in tally.partitions.values())
    found: dict[FindingKey, FindingTally] = {}
    for key, source, expected, observed, stretch, clean in (
        *_order(course),
        *_tables(course),
        *_controls(course, valued),
    ):
        told = found.setdefault(key, _empty(course, key.name))
        told.merge(_as_tally(told.severity, source, expected, observed, stretch, clean))
    for key, reference, expected, observed in _unexercised(course, catalogue):
        told = found[key] = _empty(course, key.name)
        told.expected[expected], told.observed[observed], told.contracts[reference] = 0, 0, 0
        told.extents = _whole_range(tally)
    for key, one in found.items():
        tally.told += one.count - (tally.findings[key].count if key in tally.findings else 0)
    tally.findings |= found
    tally.dropped |= course.shapes.cut


def _order(course: Course) -> Iterator[Found]:
    for (line, cause), stretch in course.sequences.breaches().items():
        key = FindingKey("order", rule_id("order", cause), line.path, None)
        yield key, Source(line.topic, line.partition), *_WORDS_OF_ORDER[cause], stretch, stretch.last.offset


def _tables(course: Course) -> Iterator[Found]:
    for breach in course.shapes.breaches():
        key = FindingKey("table-schema", rule_id("table-schema", breach.cause), breach.path, breach.table)
        source = Source(breach.topic, breach.partition)
        yield key, source, breach.expected, breach.observed, breach.stretch, breach.clean


def _controls(course: Course, valued: int) -> Iterator[Found]:
    """Yield the messages without a row by kind, all of them one finding at the place of the op."""
    totals = Counter[str]()
    for kind, stretch in course.controls.items():
        totals[kind.op] += stretch.count
    path = min((kind.path for kind in course.controls), default="")
    for kind, stretch in course.controls.items():
        share = f"{kind.op}: {totals[kind.op]:,} of {valued:,} messages, {100 * totals[kind.op] / valued:.2f} %"
        key = FindingKey("control-share", rule_id("control-share"), path, None)
        yield key, Source(kind.topic, kind.partition), "messages with rows", share, stretch, stretch.last.offset


def _unexercised(course: Course, catalogue: Catalogue) -> Iterator[tuple[FindingKey, str, str, str]]:
    for one in unexercised(course.exercise, catalogue):
        key = FindingKey("not-exercised", rule_id("not-exercised", one.cause), one.path, None)
        yield key, one.contract, one.expected, one.observed


def _whole_range(tally: Tally) -> dict[Source, Extent]:
    """Return what was read of each partition, as the place where something never came."""
    return {
        source: Extent(0, Moment(*source, counts.first_offset, None), Moment(*source, counts.last_offset, None))
        for source, counts in tally.partitions.items()
        if counts.first_offset is not None and counts.last_offset is not None
    }


def _as_tally(
    severity: str, source: Source, expected: str, observed: str, stretch: Stretch, clean: int
) -> FindingTally:
    total = stretch.count
    starts = [Start(*stretch.first, total)] if stretch.first.offset > clean else []
    extent = Extent(total, _moment(source, stretch.first), _moment(source, stretch.last), clean, starts)
    return FindingTally(
        severity, Counter({expected: total}), Counter({observed: total}), stretch.ops.copy(),
        stretch.contracts.copy(), {source: extent},
    )  # fmt: skip


def _empty(course: Course, name: str) -> FindingTally:
    return FindingTally(course.severities.get(name, CLASSES[name].severity))


def _moment(source: Source, point: Point) -> Moment:
    return Moment(*source, point.offset, point.timestamp)
