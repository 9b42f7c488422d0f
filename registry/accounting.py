"""Accounting for records one by one: the slow way from values to a tally, by the reference alone.

Lint judges its samples of streams so, without Arrow; and tests demand that the kernel comes to the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cdc_contracts.registry.codes import show_known
from cdc_contracts.registry.facts import (
    count_exercise,
    count_facts,
    facts_of_one,
    whole_number,
    written_table,
)
from cdc_contracts.registry.findings import Finding
from cdc_contracts.registry.read_offsets import ReadOffsets
from cdc_contracts.registry.scope import Judged, Scope
from cdc_contracts.registry.sequences import Line, Point, Segment, Step, Stretch
from cdc_contracts.registry.statements import MOST_CHARACTERS, Statement
from cdc_contracts.registry.tally import Extent, FindingTally, Moment, PartitionTally, Source, Tally
from cdc_contracts.registry.verdicts import CONFORMING, CONTROL, OTHER_DIALECT, TOMBSTONE, UNREADABLE

_LEDGER = {CONFORMING: "conforming", CONTROL: "control", TOMBSTONE: "tombstone"}


def account(scope: Scope, source: Source, values: Iterable[tuple[int, bytes | None]]) -> Tally:
    """Return what the records of a partition come to, given by offset and value."""
    tally = Tally()
    for offset, value in values:
        tally.merge(account_of(scope.judge(value), source, Point(offset, None)))
    return tally


def account_of(judged: Judged, source: Source, point: Point) -> Tally:
    """Return what one record comes to, given what it was judged to be and where it stands."""
    offset, moment = point.offset, Moment(*source, *point)
    outcome, version = judged.verdict.outcome, judged.verdict.version
    tally = Tally()
    counts = PartitionTally(
        read=1, changes=len(judged.changes), first_offset=offset, last_offset=offset,
        first_timestamp=point.timestamp, last_timestamp=point.timestamp,
    )  # fmt: skip
    setattr(counts, _LEDGER.get(outcome, "quarantined"), 1)
    tally.partitions[source] = counts
    tally.outcomes[outcome] += 1
    table = judged.table if outcome not in (UNREADABLE, OTHER_DIALECT) else None
    if outcome not in (TOMBSTONE, UNREADABLE, OTHER_DIALECT):
        tally.readable[table] += 1
    for finding in judged.verdict.findings:
        tally.add_finding(finding, table, _once(finding, judged, moment))
    facts = facts_of_one(judged)
    statements = [offset] if facts is not None and facts.is_statement else []
    if statements and judged.control is not None and judged.control.ddl_text:
        tally.statements.append(Statement(*moment, table, judged.control.ddl_text[:MOST_CHARACTERS]))
    tally.course.shapes.add_read(*source, ReadOffsets([(offset, offset)], statements))
    if facts is not None and version is not None and judged.reading is not None:
        contract = version.reference
        ops = {facts.code: 1} if facts.code is not None else {}
        count_facts(tally, facts, source, Stretch(1, point, point, {contract: 1}, ops))
        count_exercise(tally, facts, 1)
        if facts.written is not None:
            written = written_table(facts, facts.written, source)
            stretch = Stretch(1, point, point, {contract: 1}, dict(ops))
            for row in judged.reading.rows(facts.written.source) or ():
                tally.course.writing.add_row(written, row, stretch)
        if facts.track is not None:
            told = whole_number(judged.reading.at(facts.track.path), facts.track)
            step = None if told is None else Step(point, told, facts.half, contract)
            line = Line(*source, *facts.track[:3])
            tally.course.sequences.add(line, [Segment(offset, offset, step, step)])
    return tally


def _once(finding: Finding, judged: Judged, moment: Moment) -> FindingTally:
    version = judged.verdict.version
    return FindingTally(
        finding.severity, Counter({finding.expected: 1}), Counter({finding.observed: 1}),
        Counter({show_known(judged.code, version): 1} if judged.code is not None and version is not None else {}),
        Counter({version.reference: 1} if version else {}),
        {Source(moment.topic, moment.partition): Extent(1, moment, moment)},
    )  # fmt: skip
