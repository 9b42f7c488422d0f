"""Cause findings: the findings of one cause as one finding of a report, with each column and the messages in union."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.report.drift_findings import (
    FindingContext,
    Onset,
    OnsetKind,
    began_with,
    column_of,
    describe_drift,
    onset_of,
    source_type_of,
)
from cdc_contracts.registry.core.report.finding_causes import Cause, find_causes
from cdc_contracts.registry.core.report.reported_findings import (
    BeginningSchema,
    ColumnFinding,
    FindingExtent,
    ObservedShape,
    ReportedFinding,
    TableFinding,
    weight,
)
from cdc_contracts.registry.core.stats.finding_overlaps import (
    Fault,
    FindingOverlaps,
    MessageUnion,
    Overlap,
    unite,
    unite_unknown,
)
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey, FindingTally, combine_tallies
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source

_MOST_OBSERVED: Final = 10


def describe_findings(context: FindingContext) -> tuple[ReportedFinding, ...]:
    """Return the findings of a run, one for each cause, the heaviest first."""
    overlaps = context.overlaps.by_table()
    described = (_Described(context, cause, overlaps).finding() for cause in find_causes(context))
    return tuple(sorted(described, key=weight))


@dataclass(frozen=True)
class _Described:
    """One cause, as it is described."""

    context: FindingContext
    cause: Cause
    overlaps: Mapping[str | None, Sequence[Overlap]]

    def finding(self) -> ReportedFinding:
        """Return the cause as one finding: that of its first fault, with the messages of all."""
        described = [self._describe(fault) for fault in self.cause.findings]
        head = described[0]
        if len(described) > 1:
            head = self._of_columns(described)
        if len(self.cause.tables) > 1:
            tables = tuple(self._of_table(table) for table in self.cause.tables if table is not None)
            head = replace(head, table=None, tables=tables, began_with=UNSET)
        return head

    def _of_columns(self, described: Sequence[ReportedFinding]) -> ReportedFinding:
        """Return several faults as one finding."""
        union = join_unions(self._unions.values())
        return replace(
            described[0],
            op=next(iter(union.ops)) if len(union.ops) == 1 else None,
            ops=union.ops,
            count=union.messages,
            last=max((one.last for one in described), key=lambda moment: moment.place),
            partitions=_extents(union, described),
            observed=tuple(dict.fromkeys(text for one in described for text in one.observed))[:_MOST_OBSERVED],
            histogram=_histogram(described),
            began_with=next((one.began_with for one in described if one.began_with), UNSET),
            explained_by=next((one.explained_by for one in described if one.explained_by), None),
            columns=tuple(map(self._column, self.cause.findings, described)),
            at_least=True if union.at_least else UNSET,
        )

    def _of_table(self, table: str) -> TableFinding:
        key = FindingKey(*next(iter(self.cause.findings)), table)
        messages, family = self._unions[table].messages, self.context.families.family_of(table)
        return TableFinding(
            table, key.fingerprint, messages, self.context.tally.readable[table],
            family=UNSET if family is None else family,
            began_with=self._began_with(key),
        )  # fmt: skip

    def _describe(self, fault: Fault) -> ReportedFinding:
        """Return one fault as a finding, with the onset of the cause."""
        key = FindingKey(*fault, self.cause.tables[0])
        return describe_drift(self.context, key, self._combined[fault], self._onset, self._denominator)

    def _began_with(self, key: FindingKey) -> Sometimes[BeginningSchema]:
        known = self.context.schemas.lines
        return began_with(self.context, key, self._column_name, self._onset_on(key.table)) if known else UNSET

    @cached_property
    def _column_name(self) -> str | None:
        """The column that the first fault is about, None if it is about no single one."""
        fault = next(iter(self.cause.findings))
        return column_of(self.context, FindingKey(*fault, self.cause.tables[0]), self._combined[fault])

    @cached_property
    def _combined(self) -> dict[Fault, FindingTally]:
        """The faults over all tables."""
        return {fault: combine_tallies([*of.values()]) for fault, of in self.cause.findings.items()}

    def _column(self, fault: Fault, finding: ReportedFinding) -> ColumnFinding:
        """Return one of several faults, described as a finding of its own, as a column of the finding."""
        key = FindingKey(*fault, self.cause.tables[0])
        source_type = source_type_of(self.context, key, self._combined[fault])
        return ColumnFinding(
            rule=finding.rule,
            path=finding.path,
            fingerprint=finding.fingerprint or "",
            expected=finding.expected,
            observed=finding.observed,
            count=finding.count,
            first=finding.first,
            source_type=UNSET if source_type is None else source_type,
        )

    @cached_property
    def _denominator(self) -> int:
        """The messages that might have had the finding."""
        tally = self.context.tally
        if self.cause.tables == (None,):
            return sum(counts.valued for counts in tally.partitions.values())
        return sum(tally.readable[table] for table in self.cause.tables)

    @cached_property
    def _unions(self) -> dict[str | None, MessageUnion]:
        """The messages with any of the faults by table; those of different tables are different."""
        return {
            table: unite_faults(self.cause.of_table(table), self.context.overlaps, self.overlaps.get(table, ()), table)
            for table in self.cause.tables
        }

    @cached_property
    def _onset(self) -> Onset:
        return join_tables(
            [self._onset_on(table) for table in self.cause.tables],
            every=sum(one.messages for one in self._unions.values()) == self._denominator,
        )

    def _onset_on(self, table: str | None) -> Onset:
        tally = self.context.tally
        return join_columns([
            onset_of(tally, FindingKey(*fault, table), of[table]) for fault, of in self.cause.findings.items()
        ])  # fmt: skip


def unite_faults(
    findings: Mapping[Fault, FindingTally], overlaps: FindingOverlaps, own: Sequence[Overlap], table: str | None
) -> MessageUnion:
    """Return the messages of a table that have one of some findings; `own` are the overlaps of the table."""
    unknown = any(one.counted_alone for one in findings.values()) or overlaps.misses(table)
    if len(findings) > 1 and unknown:
        return unite_unknown(findings.values())
    return unite(findings, own if len(findings) > 1 else ())


def join_unions(unions: Iterable[MessageUnion]) -> MessageUnion:
    """Return messages together that have nothing in common."""
    by_source, ops, at_least = Counter[Source](), Counter[str](), False
    for one in unions:
        by_source.update(one.by_source)
        ops.update(one.ops)
        at_least |= one.at_least
    return MessageUnion(by_source, dict(sorted(ops.items())), at_least)


def _extents(union: MessageUnion, findings: Sequence[ReportedFinding]) -> tuple[FindingExtent, ...]:
    held: dict[Source, list[FindingExtent]] = defaultdict(list)
    for part in (part for one in findings for part in one.partitions):
        held[Source(part.topic, part.partition)].append(part)
    return tuple(
        FindingExtent(
            *source,
            count=union.by_source[source],
            first_offset=min(part.first_offset for part in parts),
            last_offset=max(part.last_offset for part in parts),
        )
        for source, parts in sorted(held.items())
    )


def join_columns(onsets: Sequence[Onset]) -> Onset:
    """Return the onset that all have, each partition from where some column has it; that of the first where not."""
    if len(onsets) == 1 or len({onset.kind for onset in onsets}) > 1:
        return onsets[0]
    return _from_first(onsets, onsets[0].kind)


def join_tables(onsets: Sequence[Onset], *, every: bool) -> Onset:
    """Return the onset on several tables: unbroken if it is in each, or if `every` message has the finding."""
    if len(onsets) == 1:
        return onsets[0]
    if every or all(onset.kind == "every" for onset in onsets):
        return _from_first(onsets, "every")
    return _from_first(onsets, "sporadic")._replace(since=())


def _from_first(onsets: Sequence[Onset], kind: OnsetKind) -> Onset:
    return Onset(kind, _firsts(onset.since for onset in onsets), _firsts(onset.begins for onset in onsets))


def _firsts(moments: Iterable[Sequence[Moment]]) -> tuple[Moment, ...]:
    """Return the first moment of each partition."""
    firsts: dict[tuple[str, int], Moment] = {}
    for one in sorted((one for some in moments for one in some), key=lambda moment: moment[:3]):
        firsts.setdefault(one[:2], one)
    return tuple(firsts.values())


def _histogram(findings: Sequence[ReportedFinding]) -> tuple[ObservedShape, ...]:
    counts = Counter[str]()
    for entry in (entry for finding in findings for entry in finding.histogram or ()):
        counts[entry.observed] += entry.count
    result = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(ObservedShape(text, count) for text, count in result[:_MOST_OBSERVED])
