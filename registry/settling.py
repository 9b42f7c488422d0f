"""Settling: the findings that only the whole of a run can give, made from its course when the report is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from cdc_contracts.registry.catalogue import Catalogue
from cdc_contracts.registry.course import Course
from cdc_contracts.registry.exercise import unexercised
from cdc_contracts.registry.findings import CLASSES, rule_id
from cdc_contracts.registry.sequences import GOES_BACK, REPEATS, Stretch
from cdc_contracts.registry.tally import Extent, FindingKey, FindingTally, Moment, Source, Tally
from cdc_contracts.registry.trails import Start, Trail

_WORDS_OF_ORDER: Final = {
    GOES_BACK: ("not below the one before", "below the one before"),
    REPEATS: ("above the one before", "the same as the one before"),
}


class _Found(NamedTuple):
    """One finding in one partition: the records that have it, and since when where that can be told."""

    key: FindingKey
    source: Source
    expected: str
    observed: str
    stretch: Stretch
    trails: dict[str, Trail]


def settle(tally: Tally, catalogue: Catalogue) -> None:
    """Add the findings of a course to those of single messages. Doing it again changes nothing."""
    course = tally.course
    valued = sum(counts.valued for counts in tally.partitions.values())
    found: dict[FindingKey, FindingTally] = {}
    for one in (*_order(course), *_tables(course), *_controls(course, valued)):
        found.setdefault(one.key, _empty(course, one.key)).merge(_as_tally(course, one))
    for key, reference, expected, observed in _unexercised(course, catalogue):
        told = found[key] = _empty(course, key)
        told.expected[expected], told.observed[observed], told.contracts[reference] = 0, 0, 0
        told.extents = _whole_range(tally)
    for key, drift in found.items():
        tally.told += drift.count - (tally.findings[key].count if key in tally.findings else 0)
    tally.findings |= found
    tally.dropped |= course.shapes.cut


def _order(course: Course) -> Iterator[_Found]:
    for (line, cause), stretch in course.sequences.breaches().items():
        key = FindingKey("order", rule_id("order", cause), line.path, None)
        yield _Found(key, Source(line.topic, line.partition), *_WORDS_OF_ORDER[cause], stretch, {})


def _tables(course: Course) -> Iterator[_Found]:
    for breach in course.shapes.breaches():
        group, stretch, clean = breach.group, breach.stretch, breach.clean
        key = FindingKey("table-schema", rule_id("table-schema", breach.cause), breach.path, group.table)
        starts = [Start(*stretch.first, stretch.count)] if stretch.first.offset > clean else []
        trail = Trail(stretch.count, stretch.last.offset, clean, starts)
        source, rows = Source(group.topic, group.partition), f"{group.subject} {group.kind}"
        yield _Found(key, source, breach.expected, breach.observed, stretch, {rows: trail})


def _controls(course: Course, valued: int) -> Iterator[_Found]:
    """Yield the messages without a row by kind, all of them one finding at the place of the op."""
    totals = Counter[str]()
    for kind, stretch in course.controls.items():
        totals[kind.op] += stretch.count
    path = min((kind.path for kind in course.controls), default="")
    for kind, stretch in course.controls.items():
        share = f"{kind.op}: {totals[kind.op]:,} of {valued:,} messages, {100 * totals[kind.op] / valued:.2f} %"
        key = FindingKey("control-share", rule_id("control-share"), path, None)
        yield _Found(key, Source(kind.topic, kind.partition), "messages with rows", share, stretch, {})


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


def _as_tally(course: Course, one: _Found) -> FindingTally:
    stretch, total = one.stretch, one.stretch.count
    first, last = Moment(*one.source, *stretch.first), Moment(*one.source, *stretch.last)
    found = _empty(course, one.key)
    found.expected[one.expected] = found.observed[one.observed] = total
    found.ops, found.contracts = Counter(stretch.ops), Counter(stretch.contracts)
    found.extents = {one.source: Extent(total, first, last, one.trails)}
    return found


def _empty(course: Course, key: FindingKey) -> FindingTally:
    return FindingTally(course.severities.get(key.name, CLASSES[key.name].severity))
