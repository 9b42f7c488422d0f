"""Reference tally: records counted one by one with the reference validator only.

Lint validates its sample streams this way, without Arrow; tests require that the kernel gives the same tally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cdc_contracts.registry.common.findings import Finding
from cdc_contracts.registry.contract.known_codes import show_known
from cdc_contracts.registry.stats.ddl_statements import MOST_CHARACTERS, Statement
from cdc_contracts.registry.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.stats.position_sequences import Point, PositionStep, Segment, SequenceLine, Stretch
from cdc_contracts.registry.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.stats.record_facts import (
    count_coverage,
    count_facts,
    facts_of_one,
    whole_number,
    written_table,
)
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.validate.validation_context import JudgedMessage, ValidationContext
from cdc_contracts.registry.validate.verdicts import CONFORMING, CONTROL, OTHER_DIALECT, TOMBSTONE, UNREADABLE

_LEDGER = {CONFORMING: "conforming", CONTROL: "control", TOMBSTONE: "tombstone"}


def account(validation: ValidationContext, source: Source, values: Iterable[tuple[int, bytes | None]]) -> Tally:
    """Return the tally of the records of a partition, given by offset and value."""
    tally = Tally()
    for offset, value in values:
        tally.merge(account_of(validation.judge(value), source, Point(offset, None)))
    return tally


def account_of(judged: JudgedMessage, source: Source, point: Point) -> Tally:
    """Return the tally of one record, given its verdict and its coordinates."""
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
    tally.statistics.shapes.add_read(*source, ReadOffsets([(offset, offset)], statements))
    if facts is not None and version is not None and judged.reading is not None:
        contract = version.reference
        ops = {facts.code: 1} if facts.code is not None else {}
        count_facts(tally, facts, facts.table, source, Stretch(1, point, point, {contract: 1}, ops))
        count_coverage(tally, facts, 1)
        if facts.written is not None:
            written = written_table(facts.table, facts, facts.written, source)
            stretch = Stretch(1, point, point, {contract: 1}, dict(ops))
            for row in judged.reading.rows(facts.written.source) or ():
                tally.statistics.writing.add_row(written, row, stretch)
        if facts.track is not None:
            result = whole_number(judged.reading.at(facts.track.path), facts.track)
            step = None if result is None else PositionStep(point, result, facts.half, contract)
            line = SequenceLine(*source, *facts.track[:3])
            tally.statistics.sequences.add(line, [Segment(offset, offset, step, step)])
    return tally


def _once(finding: Finding, judged: JudgedMessage, moment: Moment) -> FindingTally:
    version = judged.verdict.version
    return FindingTally(
        finding.severity, Counter({finding.expected: 1}), Counter({finding.observed: 1}),
        Counter({show_known(judged.code, version): 1} if judged.code is not None and version is not None else {}),
        Counter({version.reference: 1} if version else {}),
        {Source(moment.topic, moment.partition): Extent(1, moment, moment)},
    )  # fmt: skip
