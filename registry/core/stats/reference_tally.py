"""Reference tally: records counted one by one with the reference validator only.

Lint validates its sample streams this way, without Arrow; tests require that the kernel gives the same tally.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import Finding, rule_id
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import show_code
from cdc_contracts.registry.core.message.envelope_times import TIME_UNIT
from cdc_contracts.registry.core.message.reading import Reading, Row
from cdc_contracts.registry.core.stats.ddl_statements import MOST_CHARACTERS, Statement
from cdc_contracts.registry.core.stats.finding_onsets import ANY_OP, FindingSeries
from cdc_contracts.registry.core.stats.finding_overlaps import OverlapPlace, faults_on_columns
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingExample, FindingTally, key_of
from cdc_contracts.registry.core.stats.message_profiles import profile_message
from cdc_contracts.registry.core.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.core.stats.position_sequences import Point, PositionStep, Segment, SequenceLine, Stretch
from cdc_contracts.registry.core.stats.range_evidence import exclusions
from cdc_contracts.registry.core.stats.read_offsets import ReadOffsets
from cdc_contracts.registry.core.stats.record_facts import (
    canonical_op,
    count_coverage,
    count_facts,
    count_rows,
    facts_of_one,
    shown_code,
    whole_number,
)
from cdc_contracts.registry.core.stats.schema_uses import VALUE, SchemaLine, UsedRange
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.topic_profiles import TopicProfiles
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import (
    AMBIGUOUS,
    TOMBSTONE,
    Verdict,
)
from cdc_contracts.registry.core.values import Number, describe_shape
from cdc_contracts.registry.core.writer_schemas.writer_schemas import frame_of

MOST_BYTES: Final = 32 * 1024
"""The number of bytes of a value that are kept as an example: more than is ever shown."""

_NESTED: Final = ("array", "object")


def account(validation: ValidationContext, source: Source, values: Iterable[tuple[int, bytes | None]]) -> Tally:
    """Return the tally of the records of a partition, given by offset and value."""
    tally = Tally()
    for offset, value in values:
        tally.merge(account_of(validation.validate(value), source, Point(offset, None)))
    return tally


def account_of(
    validated: ValidatedMessage, source: Source, point: Point, value: bytes | None = None, *, show_values: bool = False
) -> Tally:
    """Return the tally of one record, given its verdict and its coordinates.

    `value` becomes the example of its findings; observed values are reduced to their shapes unless `show_values`.
    """
    offset, moment = point.offset, Moment(*source, *point)
    outcome, version = validated.verdict.outcome, validated.verdict.version
    tally = Tally()
    counts = PartitionTally(
        read=1, changes=len(validated.changes), first_offset=offset, last_offset=offset,
        first_timestamp=point.timestamp, last_timestamp=point.timestamp,
    )  # fmt: skip
    setattr(counts, validated.verdict.counted_as, 1)
    tally.partitions[source], tally.spans[source] = counts, [(offset, offset)]
    tally.outcomes[outcome] += 1
    table = validated.table if validated.verdict.is_ours else None
    if validated.verdict.is_readable:
        tally.readable[table] += 1
    op = canonical_op(validated.verdict, validated.code)
    _count_versions(tally, validated.verdict, source, point)
    if outcome != TOMBSTONE:
        tally.note_lasts(source, op, {table: offset, None: offset})
    example = None if value is None else make_example(validated.verdict, source, offset, value)
    _add_findings(tally, validated, moment, table, example, show_values=show_values)
    if validated.reading is not None and validated.reading.reading_options.profiled:
        tally.profiles = TopicProfiles()
        profile_message(tally.profiles, validated, source.topic, point.timestamp)
    facts = facts_of_one(validated)
    statements = [offset] if facts is not None and facts.is_statement else []
    if statements and validated.control is not None and validated.control.ddl_text:
        tally.statements.append(Statement(*moment, table, validated.control.ddl_text[:MOST_CHARACTERS]))
    tally.statistics.shapes.add_read(*source, ReadOffsets([(offset, offset)], statements))
    _count_schema(tally, validated, source, point, value)
    if facts is not None and version is not None and validated.reading is not None:
        contract = version.reference
        ops = {facts.code: 1} if facts.code is not None else {}
        count_facts(tally, facts, [source], [facts.table], [Stretch(1, point, point, {contract: 1}, ops)])
        count_coverage(tally, facts, 1)
        stretch = Stretch(1, point, point, {contract: 1}, dict(ops))
        count_rows(tally.statistics, facts, validated.reading, source, stretch)
        if facts.track is not None:
            result = whole_number(validated.reading.at(facts.track.path), facts.track)
            step = None if result is None else PositionStep(point, result, facts.half, contract)
            line = SequenceLine(*source, *facts.track[:3])
            tally.statistics.sequences.add(line, [Segment(offset, offset, step, step)])
    return tally


def _count_schema(tally: Tally, validated: ValidatedMessage, source: Source, point: Point, value: bytes | None) -> None:
    """Count the writer schema that a framed record names, if it was read as a message."""
    reading, frame = validated.reading, frame_of(value or b"")
    if reading is None or reading.reading_options.schemas is None or frame is None:
        return
    if validated.verdict.is_readable:
        line = SchemaLine(source.topic, validated.table, VALUE)
        tally.statistics.schemas.add(line, frame.number, source.partition, UsedRange(1, point, point))


def _add_findings(
    tally: Tally,
    validated: ValidatedMessage,
    moment: Moment,
    table: str | None,
    example: FindingExample | None,
    *,
    show_values: bool,
) -> None:
    """Count the findings of one record, and which it has at once."""
    source, point = Source(*moment[:2]), Point(*moment[2:])
    op = canonical_op(validated.verdict, validated.code)
    for finding in validated.verdict.findings:
        found = _once(finding, validated, moment, show_values=show_values)
        found.extents[source].series_by_op |= {
            lane: FindingSeries.of(Stretch(1, point, point)) for lane in (op, ANY_OP)
        }
        found.example = example
        tally.add_finding(finding, table, found)
    faults = faults_on_columns(key_of(finding, table) for finding in validated.verdict.findings)
    if faults:
        tally.overlaps.add(faults, OverlapPlace(table, source, shown_code(validated.verdict, validated.code)), 1)


def observed_code(reading: Reading, finding: Finding) -> str | None:
    """Return the unknown code that a finding is about, as it was sent; None if it is neither text nor number."""
    value = reading.at(finding.path)
    return show_code(value.token if isinstance(value, Number) else value) if isinstance(value, str | Number) else None


def value_of_one(finding: Finding, validated: ValidatedMessage) -> str:
    """Return the value that a finding is about, as far as it is one value that may be shown."""
    reading = validated.reading
    if reading is None:
        return finding.observed
    if finding.name == "unknown-enum":
        return observed_code(reading, finding) or finding.observed
    if finding.name != "value-form" or finding.rule == rule_id("value-form", TIME_UNIT) or _is_irregular(validated):
        return finding.observed
    texts = (sent_text(value) for value in _values_at(reading, finding.path))
    shown = (text for text in texts if text is not None and describe_shape(text) == finding.observed)
    return next(map(show_code, shown), finding.observed)


def observed_of_one(validated: ValidatedMessage, *, values: bool) -> tuple[Finding, ...]:
    """Return the findings of one record, with `values` each with the value that it is about, if there is one."""
    findings = validated.verdict.findings
    return tuple(replace(one, observed=value_of_one(one, validated)) for one in findings) if values else findings


def kinds_of_one(finding: Finding, validated: ValidatedMessage, *, show_values: bool) -> Counter[str]:
    """Count the kinds and shapes of the values of a wrong kind that a finding is about."""
    if (
        finding.name != "type-change"
        or finding.observed in _NESTED
        or validated.reading is None
        or _is_irregular(validated)
    ):
        return Counter()
    values = [value for value in _values_at(validated.reading, finding.path) if kind_of(value) == finding.observed]
    texts = [text for value in values if (text := sent_text(value)) is not None]
    return Counter(f"{finding.observed} {show_code(text) if show_values else describe_shape(text)}" for text in texts)


def make_example(verdict: Verdict, source: tuple[str, int], offset: int, value: bytes) -> FindingExample:
    """Return a record as an example: its bytes as far as they may be shown, and the digest of the whole record."""
    known = verdict.version.reference if verdict.version is not None and verdict.is_ours else None
    digest = hashlib.sha256(value).hexdigest() if len(value) > MOST_BYTES else None
    return FindingExample(*source, offset, value[:MOST_BYTES], len(value), digest, known)


def _count_versions(tally: Tally, verdict: Verdict, source: Source, point: Point) -> None:
    """Count which version a record proves, or that it proves none, and which it excludes."""
    tally.excluded = exclusions(verdict, source, point.offset)
    if len(verdict.fits) == 1:
        reference = verdict.fits[0].reference
        tally.seen[reference] += 1
        tally.runs[source] = [Run(reference, point.offset, point.offset, 1, point.timestamp, point.timestamp)]
    elif verdict.undecided:
        tally.undecided += 1
        tally.differing += verdict.differs and verdict.outcome != AMBIGUOUS


def _once(finding: Finding, validated: ValidatedMessage, moment: Moment, *, show_values: bool) -> FindingTally:
    version, code = validated.verdict.version, shown_code(validated.verdict, validated.code)
    observed = value_of_one(finding, validated) if show_values else finding.observed
    return FindingTally(
        finding.severity, Counter({finding.expected: 1}), Counter({observed: 1}),
        Counter({code: 1} if code is not None else {}),
        Counter({version.reference: 1} if version else {}),
        {Source(moment.topic, moment.partition): Extent(1, moment, moment)},
        kinds_of_one(finding, validated, show_values=show_values),
    )  # fmt: skip


def sent_text(value: Any) -> str | None:
    """Return a value as its text was sent; None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return write_json(value)
    return value.token if isinstance(value, Number) else str(value)


def _rows_by_pointer(reading: Reading) -> dict[str, list[Row]]:
    """Return the rows of every image that the op of a message has, by pointer."""
    sides = reading.meaning.images.of(reading.op or "")
    present = [side for side in (sides.before, sides.after) if side] if sides else []
    pointers = [
        pointer for side in present for pointer in (side.at, side.either, side.completed_from) if pointer is not None
    ]
    return {pointer: reading.rows(pointer) or [] for pointer in pointers}


def _values_at(reading: Reading, path: str) -> list[Any]:
    """Return the values of a column in every row, or the member, that the path of a finding names."""
    for pointer, rows in _rows_by_pointer(reading).items():
        for infix in ("/0", ""):
            head = f"{pointer}{infix}/"
            found = [row[name] for row in rows for name in row if head + join_pointer(name)[1:] == path]
            if found:
                return found
    value = reading.at(path)
    return [] if value is ABSENT else [value]


def _is_irregular(validated: ValidatedMessage) -> bool:
    """Return whether a column holds an array or object that no form reads, or a member should have been one.

    A batch has no place for such records, and leaves them out of what it counts here.
    """
    return any(
        one.observed in _NESTED or (one.name == "type-change" and any(kind in one.expected for kind in _NESTED))
        for one in validated.verdict.findings
    )
