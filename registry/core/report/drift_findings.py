"""Drift findings of a report: one finding over many records, what it means, and what to do about it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, cast

from msgspec import UNSET

from cdc_contracts.registry.core.common.findings import CLASSES
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.common.similar_names import similar_names
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.source_documents import describe_source
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.message.envelope_times import instant
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.report.drift_meaning import explain_drift
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.report.reported_findings import (
    BeginningSchema,
    ExampleMessage,
    ExplainingStatement,
    FindingExtent,
    FindingOnset,
    ObservedShape,
    ReportedFinding,
    ReportedMoment,
    Severity,
)
from cdc_contracts.registry.core.report.reproduce_commands import audit_command, detect_command, why_command
from cdc_contracts.registry.core.stats.ddl_statements import explaining_statement
from cdc_contracts.registry.core.stats.finding_overlaps import FindingOverlaps, is_per_column
from cdc_contracts.registry.core.stats.finding_tallies import FindingExample, FindingKey, FindingTally
from cdc_contracts.registry.core.stats.option_evidence import OPTION_CHANGE
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source
from cdc_contracts.registry.core.stats.record_facts import UNKNOWN_TABLE
from cdc_contracts.registry.core.stats.run_findings import INCOMPATIBLE_KEY, INCOMPATIBLE_SCHEMA
from cdc_contracts.registry.core.stats.schema_timeline import NO_SCHEMAS, SchemaTimeline
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.unlisted_tables import NEAREST
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.disclosure import known_members
from cdc_contracts.registry.core.validate.drift_rule import CROSS_FIELD, drift_rules
from cdc_contracts.registry.core.validate.redaction import CUT, cut_text, redact_message, redact_statement
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS, LEFT_OPEN

_MOST_OBSERVED: Final = 10
_ONE_OF: Final = "one of "
_A_TYPE_OF: Final = "a type of "
_ACTIONS: Final = {
    INCOMPATIBLE_SCHEMA: "Let readers ask the registry for the schema of each record and resolve it to their own, and "
    "upgrade them before producers write the next one; `cdc-contracts compat OLD NEW` shows a record that is not read.",
    INCOMPATIBLE_KEY: "Records of one row now have two keys, which may be in different partitions, and compaction "
    "keeps both: rebuild tables and caches by the new key.",
}
_OF_TABLES: Final = (UNKNOWN_TABLE, "table-schema")


OnsetKind = Literal["every", "sporadic", "once"]


class Onset(NamedTuple):
    """The onset of a finding: the records from which it is unbroken, and its first record, by partition."""

    kind: OnsetKind
    since: tuple[Moment, ...]
    begins: tuple[Moment, ...]


@dataclass(frozen=True)
class FindingContext:
    """What describing findings needs: the tally, contracts and source of the run, and whether values may be shown."""

    tally: Tally
    catalogue: Catalogue
    declared: str
    source: ReportSource
    overlaps: FindingOverlaps
    show_values: bool = False
    runs: Mapping[Source, Sequence[Run]] = field(default_factory=dict)
    ranged: bool = False
    families: TableFamilies = field(default_factory=TableFamilies)
    schemas: SchemaTimeline = NO_SCHEMAS

    def source_of(self, version: Version, finding: FindingTally) -> str | None:
        """Return the source of a version's facts about the kinds of source in the partitions of a finding."""
        partitions = {(source.topic, source.partition) for source in finding.extents}
        kinds = {one.kind for one in self.tally.statistics.kinds.seen if (one.topic, one.partition) in partitions}
        return describe_source(version.resolved.get("provenance", {}), self.catalogue.source_documents, kinds)

    def version(self, reference: str | None) -> Version | None:
        return None if reference is None else self.catalogue.version(reference)


def describe_drift(
    context: FindingContext, key: FindingKey, finding: FindingTally, onset: Onset, denominator: int
) -> ReportedFinding:
    """Return one finding as the report has it; `denominator` counts the records that might have had it."""
    extents = [finding.extents[source] for source in sorted(finding.extents)]
    ops = dict(sorted(finding.ops.items()))
    contract = contract_of(finding)
    version = context.version(contract)
    return ReportedFinding(
        rule=key.rule,
        name=key.name,
        severity=cast("Severity", finding.severity),
        path=key.path,
        table=key.table,
        op=next(iter(ops)) if len(ops) == 1 else None,
        ops=ops,
        count=finding.count,
        denominator=denominator,
        first=_moment(min((extent.first for extent in extents), key=_place)),
        last=_moment(max((extent.last for extent in extents), key=_place)),
        partitions=tuple(
            FindingExtent(
                topic=extent.first.topic,
                partition=extent.first.partition,
                count=extent.count,
                first_offset=extent.first.offset,
                last_offset=extent.last.offset,
            )
            for extent in extents
        ),
        expected=" / ".join(sorted(finding.expected)),
        observed=tuple(text for text, _ in sorted(finding.observed.items(), key=_by_count))[:_MOST_OBSERVED],
        document=None if version is None else context.source_of(version, finding),
        action=_action(context, key, finding, version),
        fingerprint=key.fingerprint,
        contract=contract,
        explanation=explain_drift(key.name, key.rule, finding.expected, finding.observed),
        onset=FindingOnset(onset.kind, tuple(_moment(moment) for moment in onset.since)),
        histogram=_histogram(finding),
        similar=tuple(_similar(key, finding, version, _message(context, finding.example))),
        explained_by=_explained_by(context, key, finding, onset, version),
        began_with=began_with(context, key, _column(key, version), onset),
        example=_example(context, finding.example),
        reproduce=_reproduce(context, finding, contract),
    )


def column_of(context: FindingContext, key: FindingKey, finding: FindingTally) -> str | None:
    """Return the column that a finding is about, None if it is about no single one."""
    return _column(key, context.version(contract_of(finding)))


def source_type_of(context: FindingContext, key: FindingKey, finding: FindingTally) -> str | None:
    """Return the type of the column that a finding is about, as the first record with it says; None if it says none."""
    column, version = column_of(context, key, finding), context.version(contract_of(finding))
    message = _message(context, finding.example)
    if column is None or version is None or message is None:
        return None
    return (Reading(version.meaning, message, ReadingOptions()).types or {}).get(column)


def contract_of(finding: FindingTally) -> str | None:
    """Return the contract that most records of a finding were validated against, None if none was."""
    return min(finding.contracts.items(), key=_by_count)[0] if finding.contracts else None


def onset_of(tally: Tally, key: FindingKey, finding: FindingTally) -> Onset:
    """Return the onset: unbroken in each partition that ends with the finding, if not for a few records only."""
    firsts = [finding.extents[source].first for source in sorted(finding.extents)]
    if finding.count == 1:
        return Onset("once", tuple(firsts), tuple(firsts))
    since, records = [], 0
    for source in sorted(finding.extents):
        start = tally.unbroken(key, source)
        if start is not None:
            since.append(Moment(*source, start.offset, start.timestamp))
            records += start.records
    if since and len(since) == len(firsts) and 2 * records >= finding.count:
        return Onset("every", tuple(since), tuple(since))
    return Onset("sporadic", (), tuple(firsts))


def _histogram(finding: FindingTally) -> tuple[ObservedShape, ...]:
    """Count what was sent by kind and shape if the shapes are known, else by what was observed."""
    counts = Counter(finding.observed)
    for text, count in finding.shapes.items():
        counts[text] += count
        counts[text.partition(" ")[0]] -= count
    result = sorted(((text, count) for text, count in counts.items() if count > 0), key=_by_count)
    return tuple(ObservedShape(text, count) for text, count in result[:_MOST_OBSERVED])


def _similar(
    key: FindingKey, finding: FindingTally, version: Version | None, message: Mapping[str, Any] | None
) -> list[str]:
    """Return known names that are similar to the unknown one."""
    if version is None:
        return []
    above, name = _names(key.path)[:-1], key.path.rpartition("/")[2]
    beside = follow(message, above) if message is not None else None
    if key.name in ("unknown-field", "missing-field"):
        own = {path[-1] for path in known_members(version) if path[:-1] == above}
        if key.name == "unknown-field":
            return similar_names(name, own)
        if isinstance(beside, dict):
            return similar_names(name, set(beside) - own)
    if key.name == UNKNOWN_TABLE:
        return sorted({expected.partition(NEAREST)[2] for expected in finding.expected} - {""})
    if key.name == "unknown-enum":
        sent = follow(message, split_pointer(key.path)) if message is not None else None
        code = sent if isinstance(sent, str) else min(finding.observed.items(), key=_by_count)[0]
        return similar_names(code, _known_codes(finding, version))
    if key.rule == "D09.columns-typed" and message is not None:
        types = set(Reading(version.meaning, dict(message), ReadingOptions()).types or ())
        row = beside[0] if isinstance(beside, list) and beside else beside
        columns = set(row) if isinstance(row, dict) else set()
        return similar_names(name, types - columns if name in columns else columns - types)
    return []


def _known_codes(finding: FindingTally, version: Version) -> Iterator[str]:
    for expected in finding.expected:
        if expected.startswith(_ONE_OF):
            yield from expected.removeprefix(_ONE_OF).split(", ")
        elif expected.startswith(_A_TYPE_OF):
            mapping = version.catalogue.mapping(expected.removeprefix(_A_TYPE_OF))
            yield from (name for names in mapping.document.forms.values() for name in names)


def _explained_by(
    context: FindingContext, key: FindingKey, finding: FindingTally, onset: Onset, version: Version | None
) -> ExplainingStatement | None:
    """Return the DDL message that changed the column, or the table, that the finding is about."""
    if key.table is None or not context.tally.statements:
        return None
    column = _column(key, version)
    if column is None and key.name not in _OF_TABLES:
        return None
    found = explaining_statement(context.tally.statements, key.table, column, onset.begins)
    if found is None:
        return None
    text = found.text if context.show_values else redact_statement(found.text)
    return ExplainingStatement(*found[:3], instant(found[3]), cut_text(text))


def began_with(
    context: FindingContext, key: FindingKey, column: str | None, onset: Onset
) -> Sometimes[BeginningSchema]:
    """Return the writer schema with which a finding began, UNSET if it began with none.

    A column that differs from its table contract may do so from the first schema on.
    """
    start = context.schemas.start_of(key.table, column, onset.begins, first=is_per_column(key.rule))
    if start is None:
        return UNSET
    topic, partition, offset, timestamp = start.moment
    of = cast("Literal['value', 'key']", start.of)
    return BeginningSchema(topic, partition, offset, instant(timestamp), start.number, of)


def _column(key: FindingKey, version: Version | None) -> str | None:
    """Return the column that a path leads to, in an image or in the types of the columns."""
    path = _names(key.path)
    if version is None or not path:
        return None
    columns = version.meaning.columns
    places = [*version.meaning.images.pointers(), columns.codes.at if columns.codes else None]
    places.append(columns.types.at if columns.types != "none" else None)
    return path[-1] if path[:-1] in [_names(place) for place in places if place is not None] else None


def _example(context: FindingContext, example: FindingExample | None) -> ExampleMessage | None:
    if example is None:
        return None
    version = context.version(example.contract)
    try:
        text = _wire_text(version, example)
    except Unreadable:
        text = example.value
    message = cut_text(text.decode("utf-8", "replace")) if context.show_values else redact_message(text, version)
    if len(example.value) < example.size and not message.endswith(CUT):
        message += CUT
    return ExampleMessage(
        topic=example.topic,
        partition=example.partition,
        offset=example.offset,
        message=message,
        size=example.size,
        sha256=example.sha256 or hashlib.sha256(example.value).hexdigest(),
    )


def _message(context: FindingContext, example: FindingExample | None) -> dict[str, Any] | None:
    """Return the message of an example, None if its bytes are cut or hold none."""
    version = context.version(example.contract) if example is not None else None
    if example is None or version is None or len(example.value) < example.size:
        return None
    try:
        return parse_message(_wire_text(version, example))
    except Unreadable:
        return None


def _wire_text(version: Version | None, example: FindingExample) -> bytes:
    return example.value if version is None else open_transport(version, ReadingOptions()).text_of(example.value)


def _reproduce(context: FindingContext, finding: FindingTally, contract: str | None) -> str | None:
    first = min((extent.first for extent in finding.extents.values()), key=_place)
    if finding.of_run:
        several = context.ranged or context.source.contracts
        return audit_command(context.source, first.topic, contract if several else context.declared)
    reference = contract if context.declared == "auto" or context.ranged else context.declared
    return why_command(context.source, *_place(first), reference)


def _action(context: FindingContext, key: FindingKey, finding: FindingTally, version: Version | None) -> str:
    """Return what to do; where a topic changes versions, how each part of it is decoded by its own."""
    if key.rule == OPTION_CHANGE:
        return (
            "`audit --write-versions versions.yaml` writes which value of the option holds where. State what the file "
            "leaves open; `decode --versions versions.yaml` then reads each part by its own."
        )
    if key.name == CROSS_FIELD:
        return drift_rules()[key.rule.partition(".")[2]].action
    if key.name != AMBIGUOUS:
        return _ACTIONS.get(key.rule) or CLASSES[key.name].action
    if key.rule == LEFT_OPEN:
        return (
            "Cover these offsets by a range of the versions file; `replay quarantine DIR --versions` decodes them then."
        )
    seen = {
        run.version
        for source in finding.extents
        for run in context.runs.get(source, ())
        if version is not None and run.version.startswith(f"{version.subject}@")
    }
    write = detect_command(context.source, [source.topic for source in finding.extents])
    if len(seen) < 2 or write is None:  # noqa: PLR2004
        return CLASSES[key.name].action
    return (
        f"The version changes midway: `{write} --write-versions versions.yaml` writes which applies where, and "
        "`decode --versions versions.yaml` decodes each part by its own."
    )


def _names(pointer: str) -> tuple[str, ...]:
    """Return the names on the way to a member; positions in lists, which paths write 0, are not named."""
    return tuple(part for part in split_pointer(pointer) if part != "0")


def _moment(moment: Moment) -> ReportedMoment:
    return ReportedMoment(moment.topic, moment.partition, moment.offset, instant(moment.timestamp))


def _place(moment: Moment) -> tuple[str, int, int]:
    return moment[:3]


def _by_count(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]
