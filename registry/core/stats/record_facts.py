"""Record facts: the contribution of records of one kind to stream statistics, whatever their values.

The fast path computes them once per cached verdict, the reference once per record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.findings import Finding, Severities, rule_id
from cdc_contracts.registry.core.common.named_tuples import make_all
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.contract.known_codes import show_known
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.table_contracts import table_name
from cdc_contracts.registry.core.contract.type_families import may_hold, type_name_in
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.column_ways import WrittenTable
from cdc_contracts.registry.core.stats.finding_onsets import ANY_OP, FindingSeries
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.core.stats.option_evidence import OpenColumn, open_columns
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source
from cdc_contracts.registry.core.stats.position_sequences import (
    FIRST_HALF,
    SECOND_HALF,
    WHOLE,
    Stretch,
    count_stretch,
)
from cdc_contracts.registry.core.stats.second_parts import TimedColumns, count_parts, timed_columns
from cdc_contracts.registry.core.stats.source_kinds import SourceKind
from cdc_contracts.registry.core.stats.stream_statistics import STREAM_CLASSES, ControlKind, StreamStatistics
from cdc_contracts.registry.core.stats.substitute_evidence import SubstituteColumn, substitute_columns
from cdc_contracts.registry.core.stats.table_drift import RowGroup, Shape
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.rule_coverage import CoverageItem, coverage_by
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL, Verdict
from cdc_contracts.registry.core.values import FORMS, Number

DDL: Final = "ddl"
UNKNOWN_TABLE: Final = "unknown-table"
_KINDS: Final = {"snapshot": "loaded", "delete": "deleted", "update-before": "deleted"}
_HALVES: Final = {"update-before": FIRST_HALF, "update-after": SECOND_HALF}


class Track(NamedTuple):
    """The positions of a subject: pointer, promised order, and the value that means none."""

    subject: str
    path: str
    monotonic: str
    null_text: str | None
    absent_value: int | None


class RowFacts(NamedTuple):
    """The rows of a message: their kind, the pointer to their columns, the columns, and those of the table contract."""

    kind: str
    at: str
    shape: Shape
    listed: Shape | None


class WrittenRows(NamedTuple):
    """The rows of a message whose values show more than their types: all of their columns, or those that changed.

    `source` is the pointer to them, `at` that to the row of an insert; `open` are the columns whose form an option
    decides that nobody states, `substitutes` those with values that are also sent in place of others. `described` if
    the message itself says the types of its columns, so that the writing of values says nothing more.
    """

    source: str
    at: str
    loaded: bool
    typed: bool
    open: tuple[OpenColumn, ...]
    substitutes: tuple[SubstituteColumn, ...]
    described: bool


@dataclass(frozen=True, eq=False)
class Facts:
    """What records of one kind have in common: `op` is the canonical op, `code` its code as sent.

    `op_of_code` is the canonical op by the code alone, by which findings are counted: no flag is heeded.

    `track` is None if no order of positions is promised; `control` is the path and the name of an op without rows;
    `unlisted` the finding on a table that no table contract lists. `kind` is the kind of source that messages with rows
    name, for reports.
    """

    subject: str
    contract: str
    table: str | None
    op: str
    op_of_code: str
    code: str | None
    half: int
    track: Track | None
    rows: RowFacts | None
    written: WrittenRows | None
    timed: TimedColumns | None
    control: tuple[str, str] | None
    kind: str | None
    unlisted: Finding | None
    exercised: tuple[CoverageItem, ...]
    severities: Severities

    @property
    def is_statement(self) -> bool:
        return self.op == DDL and self.control is not None


def facts_of(verdict: Verdict, reading: Reading, columns: TypedColumns) -> Facts | None:
    """Return the facts of a message as a version reads it; None if it is not of the subject."""
    if verdict.version is None or not verdict.is_ours:
        return None
    names, contract, fits = reading.names, verdict.version.reference, bool(verdict.fits)
    types = columns.types or {}
    forms = [form for result in types.values() if (form := columns.mapping.form_of(result)) is not None]
    kind = reading.kind if reading.holds_rows else None
    return Facts(
        subject=verdict.version.subject,
        contract=contract,
        table=table_name(names.database, names.schema, names.table),
        op=reading.op or "",
        op_of_code=verdict.version.meaning.ops.get(reading.code or "", ANY_OP),
        code=None if reading.code is None else show_known(reading.code, verdict.version),
        half=_HALVES.get(reading.op or "", WHOLE),
        track=_track(reading, verdict.version.subject) if fits else None,
        rows=_rows(reading, columns) if fits and reading.holds_rows else None,
        written=written_rows(reading, columns) if verdict.outcome == CONFORMING else None,
        timed=timed_columns(reading, columns) if verdict.outcome == CONFORMING else None,
        control=(reading.meaning.envelope.op.at, reading.op or "") if verdict.outcome == CONTROL else None,
        kind=_known_kind(kind, verdict.version, fits=fits),
        unlisted=_unlisted(reading),
        exercised=coverage_by(reading, contract, forms if reading.holds_rows else ()),
        severities=reading.reading_options.severities,
    )


def _known_kind(kind: str | None, version: Version, *, fits: bool) -> str | None:
    """Return a kind of source as reports show it; None for one of messages that drift which no contract lists."""
    shown = None if kind is None else show_known(kind, version)
    return shown if fits or shown == kind else None


def facts_of_one(validated: ValidatedMessage) -> Facts | None:
    """Return the facts of a record that was validated individually; None if it is no message of the subject."""
    if validated.reading is None or validated.columns is None:
        return None
    return facts_of(validated.verdict, validated.reading, validated.columns)


def count_facts(
    tally: Tally,
    facts: Facts,
    sources: Sequence[Source],
    tables: Sequence[str | None],
    stretches: Sequence[Stretch],
) -> None:
    """Count records of one kind in stretches, each of one partition and table."""
    statistics = tally.statistics
    if facts.kind is not None:  # first, since a stretch that is kept may grow by later ones
        for source, stretch in zip(sources, stretches, strict=True):
            statistics.kinds.add(SourceKind(*source, facts.kind), stretch)
    if facts.unlisted is not None:
        for source, table, stretch in zip(sources, tables, stretches, strict=True):
            tally.add_finding(facts.unlisted, table, _find_unlisted(facts, facts.unlisted, source, stretch))
    if facts.rows is not None:
        topics, partitions = zip(*sources, strict=True)
        rest = (repeat(one) for one in (facts.subject, facts.rows.kind, facts.rows.at, facts.rows.listed))
        groups = make_all(RowGroup, zip(topics, partitions, tables, *rest))  # noqa: B905  the rest has no end
        statistics.shapes.add(groups, facts.rows.shape, stretches)
    if facts.control is not None:
        for source, stretch in zip(sources, stretches, strict=True):
            count_stretch(statistics.controls, ControlKind(*source, *facts.control), stretch)


def _find_unlisted(facts: Facts, finding: Finding, source: Source, stretch: Stretch) -> FindingTally:
    """Return the finding on a table that no table contract lists, as often as its records."""
    first, last = Moment(*source, *stretch.first), Moment(*source, *stretch.last)
    series_by_op = {op: FindingSeries.of(stretch) for op in (facts.op_of_code, ANY_OP)}
    extent = Extent(stretch.count, first, last, series_by_op)
    total = stretch.count
    return FindingTally(
        finding.severity, _counter({finding.expected: total}), _counter({finding.observed: total}),
        _counter(stretch.ops), _counter(stretch.contracts), {source: extent},
    )  # fmt: skip


def _counter(counts: Mapping[str, int]) -> Counter[str]:
    """Return counts as a counter; its own initialisation takes five times as long, and each table has four."""
    counter: Counter[str] = Counter.__new__(Counter)
    dict.update(counter, counts)
    return counter


def written_table(table: str | None, facts: Facts, rows: WrittenRows, source: Source) -> WrittenTable:
    """Return the rows of a partition that the values of some records of a table belong to."""
    return WrittenTable(*source, table, facts.subject, rows.loaded, rows.at, rows.typed)


def count_rows(statistics: StreamStatistics, facts: Facts, reading: Reading, source: Source, stretch: Stretch) -> None:
    """Count what the values in the rows of one record show."""
    if facts.timed is not None:
        count_parts(statistics.parts, facts.timed, reading, source.topic, facts.table)
    written = facts.written
    if written is None:
        return
    rows = written_table(facts.table, facts, written, source)
    for row in reading.rows(written.source) or ():
        if not written.described:
            statistics.writing.add_row(rows, row, stretch)
        statistics.options.add_row(rows, row, written.open, stretch)
        statistics.substitutes.add_row(rows, row, written.substitutes, stretch)


def canonical_op(verdict: Verdict, code: str | None) -> str:
    """Return the canonical op of a record by its code alone, or ANY_OP if the code is unknown."""
    if verdict.version is None or code is None or not verdict.is_readable:
        return ANY_OP
    return verdict.version.meaning.ops.get(code, ANY_OP)


def shown_code(verdict: Verdict, code: str | None) -> str | None:
    """Return the op code of a record, as far as it may be shown."""
    return None if verdict.version is None or code is None else show_known(code, verdict.version)


def count_coverage(tally: Tally, facts: Facts, total: int) -> None:
    """Count the rules that a number of records of one kind exercised, and record the severities of stream findings."""
    tally.statistics.severities = {name: facts.severities.of(name) for name in STREAM_CLASSES}
    for one in facts.exercised:
        tally.statistics.rule_coverage[one] += total


def whole_number(value: Any, track: Track) -> int | None:
    """Return the position in one member; None if it has none."""
    if type(value) is int:
        return None if value == track.absent_value else value
    text = value.token if isinstance(value, Number) and is_integer(value) else value
    if not isinstance(text, str) or text == track.null_text:
        return None
    try:
        found = int(text)
    except ValueError:
        return None
    return None if found == track.absent_value else found


def _track(reading: Reading, subject: str) -> Track | None:
    """Return the position track; none for a full load, whose rows have no position or a meaningless one (E77)."""
    place = reading.meaning.envelope.position
    if place is None or place.at is None or place.monotonic is None or reading.op == "snapshot":
        return None
    return Track(subject, place.at, place.monotonic, place.null_text, place.absent_value)


def _rows(reading: Reading, columns: TypedColumns) -> RowFacts | None:
    """Return the columns of a complete row: those with a type, otherwise those of an image that is not partial.

    A message without the types that others have says nothing of the columns of its table. A row that may lack columns
    counts as having those of the table contract.
    """
    if columns.origin == "message" and columns.types is None:
        return None
    sides = reading.meaning.images.of(reading.op or "")
    for side in (sides.after, sides.before) if sides else ():
        source = reading.source(side) if side is not None else None
        if side is None or source is None:
            continue
        if columns.origin == "message":
            types = columns.types or {}
        elif side.completed_from is not None and source == side.at:
            continue  # has only the changed columns
        elif reading.reading_options.may_lack_columns(reading.meaning.columns):
            if columns.table is None:
                return None
            types = dict.fromkeys((*columns.table.types, *reading.column_names(source)), "")
        else:
            types = dict.fromkeys(reading.column_names(source), "")
        if _is_key_of_deleted_row(reading, types):
            return None
        at = source if reading.meaning.images.hold_one_row else f"{source}/0"
        listed = columns.table.types if columns.table is not None else None
        result = {name: _as_listed(type_, (listed or {}).get(name), reading, columns) for name, type_ in types.items()}
        shape, kind = tuple(sorted(result.items())), _KINDS.get(reading.op or "", "written")
        return RowFacts(kind, at, shape, None if listed is None else tuple(sorted(listed.items())))
    return None


def _is_key_of_deleted_row(reading: Reading, columns: Mapping[str, str]) -> bool:
    """Return whether an image has just the columns of the Kafka key, as that of a null value has."""
    deletes = reading.reading_options.deletes_by_null(reading.meaning.envelope.op.null_means)
    if not deletes or reading.op != "delete" or reading.key_columns is None:
        return False
    return columns.keys() == reading.key_columns.keys()


def written_rows(reading: Reading, columns: TypedColumns) -> WrittenRows | None:
    """Return the image with the values of a row: the after image, if there is one; None if they show nothing more."""
    described = columns.origin == "message"
    open_, substitutes = open_columns(columns), substitute_columns(columns)
    if described and not (open_ or substitutes):
        return None
    sides, images = reading.meaning.images.of(reading.op or ""), reading.meaning.images
    sources = [reading.source(side) for side in (sides.after, sides.before) if side] if sides else []
    source = next((source for source in sources if source is not None), None)
    if source is None:
        return None
    placed = [op.after.at for name in ("insert", "upsert", "snapshot") if (op := images.of(name)) and op.after]
    at = placed[0] if placed else source
    at = at if images.hold_one_row else f"{at}/0"
    return WrittenRows(source, at, reading.op == "snapshot", bool(columns.types), open_, substitutes, described)


def _as_listed(sent: str, listed: str | None, reading: Reading, columns: TypedColumns) -> str:
    """Return a type as the table contract names it if both mean the same, otherwise as it was sent."""
    if not sent or listed is None:
        return sent
    types, mapping = reading.meaning.columns.types, columns.mapping
    if types != "none" and types.names_encodings:
        form = mapping.form_of(sent)
        return listed if form is not None and may_hold(FORMS[form].kind, listed) else sent
    known_as = type_name_in(mapping, listed, None if types == "none" else types.table)
    return listed if known_as is None or mapping.normalise(known_as) == mapping.normalise(sent) else sent


def _unlisted(reading: Reading) -> Finding | None:
    names, tables = reading.names, reading.reading_options.tables
    if not tables or not names.table or tables.of(names.database, names.schema, names.table) is not None:
        return None
    return Finding(
        rule=rule_id(UNKNOWN_TABLE),
        name=UNKNOWN_TABLE,
        severity=reading.reading_options.severities.of(UNKNOWN_TABLE),
        path=_place_of_table(reading.meaning),
        expected="a table that the table contracts list",
        observed="another table",
    )


def _place_of_table(meaning: Meaning) -> str:
    place = meaning.envelope.table or meaning.envelope.database_table
    return (place.at or "") if place is not None else ""
