"""Audit report: built from the tally of a run, for people and for other tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from cdc_contracts import __version__
from cdc_contracts.registry.core.common.errors import LedgerError
from cdc_contracts.registry.core.common.thresholds import split_words
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.contract.version_ranges import TIMES, VersionRange, VersionRanges
from cdc_contracts.registry.core.message.envelope_times import instant
from cdc_contracts.registry.core.report.cause_findings import describe_findings
from cdc_contracts.registry.core.report.drift_findings import FindingContext
from cdc_contracts.registry.core.report.profile_report import report_profile
from cdc_contracts.registry.core.report.report_model import (
    DeclaredRange,
    Ledger,
    OtherFindings,
    PartitionLedger,
    PartitionTimeline,
    RangeCoverage,
    Report,
    ReportedChains,
    ReportedPair,
    ReportedPlace,
    ReportedRun,
    ReportedStretch,
    ReportSource,
    StopReason,
    UnprovenVersion,
    VersionSwitch,
)
from cdc_contracts.registry.core.report.reported_kinds import report_kinds
from cdc_contracts.registry.core.report.reported_null_values import report_null_values
from cdc_contracts.registry.core.report.reported_options import report_options
from cdc_contracts.registry.core.report.reported_parts import report_parts
from cdc_contracts.registry.core.report.reported_schemas import report_schemas
from cdc_contracts.registry.core.report.reported_slices import report_slices
from cdc_contracts.registry.core.report.reported_sources import source_read_by
from cdc_contracts.registry.core.stats.chain_evidence import ChainEvidence, ChangePlace
from cdc_contracts.registry.core.stats.option_evidence import TopicOption
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.refutations import Refutation, refute, refute_ranges
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.run_evidence import collect_evidence
from cdc_contracts.registry.core.stats.run_findings import count_contradicted, count_overlaps, finalize, with_chains
from cdc_contracts.registry.core.stats.run_verdict import decide_run
from cdc_contracts.registry.core.stats.schema_timeline import trace_schemas
from cdc_contracts.registry.core.stats.tally import Tally, proven_runs
from cdc_contracts.registry.core.stats.unlisted_tables import name_nearest
from cdc_contracts.registry.core.stats.unproven_versions import Unproven, find_unproven, find_unproven_ranges
from cdc_contracts.registry.core.stats.version_objections import find_objections, find_range_objections
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.validation_context import AUTO, ValidationContext

if TYPE_CHECKING:
    from cdc_contracts.registry.core.detect.detection import Detection

_MOST_RUNS: Final = 100


@dataclass(frozen=True)
class Span:
    """The range of a partition: from `start` up to, but not including, `end`, without `skipped` offsets."""

    start: int
    end: int
    skipped: int = 0


Spans = Mapping[Source, Span]


@dataclass(frozen=True)
class ReadRange:
    """What was read: its source, and the range of each partition.

    If that is not all there was, `sample` says which part of it was read, `stopped` why the run ended early, and
    `wanted` what it was to read then.
    """

    source: ReportSource
    spans: Spans
    wanted: Spans | None = None
    sample: str | None = None
    stopped: StopReason | None = None


@dataclass(frozen=True)
class AppliedContract:
    """What messages were read by: the contract as it was declared, or what was found where it was not.

    `detection` is what was detected where no contract was declared, `validation` what the messages were read by then.
    """

    catalogue: Catalogue
    contract: str
    detection: Detection | None = None
    validation: ValidationContext | None = None

    @property
    def versions(self) -> VersionRanges | None:
        """The ranges that declare versions, where some do."""
        return None if self.validation is None else self.validation.ranges

    @property
    def listed_tables(self) -> Sequence[str]:
        """The tables that table contracts list."""
        return () if self.validation is None else self.validation.reading_options.tables.names()

    @property
    def preferences(self) -> Sequence[Version]:
        """The versions that a sample supports, which decide how ambiguous messages were read."""
        if self.validation is not None:
            return self.validation.preferences
        return self.detection.preferences if self.detection is not None else ()


def build_report(
    tally: Tally,
    applied: AppliedContract,
    read: ReadRange,
    *,
    fail_on: str,
    show_values: bool = False,
    profiled: bool = False,
    earlier: RowChanges | None = None,
    taken: Iterable[TopicOption] = (),
) -> Report:
    """Return the report of a run.

    Values are shown as their shapes unless `show_values`; there is a profile if `profiled`. `earlier` are the key
    chains of the previous batches of a stream, `taken` is what a sample said of the options that were read by. The
    tally stays as it is, so that more can be added to it. Raises LedgerError if the counts do not add up.
    """
    catalogue, contract, versions, detection = applied.catalogue, applied.contract, applied.versions, applied.detection
    tally = replace(tally, findings=dict(tally.findings), folded=tally.folded.copy())
    validated = [] if contract == AUTO or versions is not None else catalogue.resolve(contract)
    declared = validated[0].reference if len(validated) == 1 else AUTO
    options = applied.validation.reading_options if applied.validation is not None else None
    timeline = trace_schemas(tally.statistics.schemas, None if options is None else options.schemas)
    finalize(tally, catalogue, declared, ranged=versions is not None, schemas=timeline)
    refutations: list[Refutation] = []
    if versions is not None:
        refutations = list(refute_ranges(tally.chain_evidence(), versions))
    elif validated:
        refutations = list(refute(tally.chain_evidence(), [version.reference for version in validated]))
    tally = with_chains(tally, catalogue, refutations)
    unproven = (
        find_unproven(tally, validated) if versions is None else list(find_unproven_ranges(tally, versions, catalogue))
    )
    if versions is not None:
        objections = find_range_objections(tally, versions, earlier)
    else:
        read_by = applied.validation.validated if applied.validation is not None else validated
        objections = find_objections(tally, read_by, applied.preferences, earlier)
    evidence = collect_evidence(tally, objections, unproven=bool(unproven), stopped=read.stopped is not None)
    tally.bound()
    name_nearest(tally, applied.listed_tables)
    subjects = (
        [one.subject for one in detection.detected]
        if detection
        else [one.partition("@")[0] for one in contract.split(", ")]
    )
    if detection is None and contract == AUTO:  # a stream was detected earlier: only its records' contracts are known
        subjects = sorted({reference.partition("@")[0] for reference in tally.seen})
    runs = proven_runs(tally)
    overlaps = count_overlaps(tally)
    source = source_read_by(read.source, applied.validation)
    families = options.families if options is not None else TableFamilies()
    context = FindingContext(
        tally, catalogue, contract, source, overlaps, show_values, runs, versions is not None, families, timeline
    )
    return Report(
        tool=f"cdc-contracts {__version__}",
        source=source,
        contract=contract,
        fail_on=tuple(split_words(fail_on)),
        verdict=decide_run(evidence, fail_on).verdict,
        detection=detection.report() if detection else None,
        coverage=_coverage(tally, read),
        stopped=read.stopped,
        baseline=None,
        ledger=_ledger(tally, read.spans, count_contradicted(refutations)),
        findings=describe_findings(context),
        findings_cut=tally.dropped,
        findings_other=_others(tally),
        versions_seen=_versions_seen(tally, catalogue, subjects),
        versions_undecided=tally.undecided,
        unproven=tuple(map(_unproven, unproven)),
        chains=tuple(map(_chains, tally.chain_evidence())),
        chains_left_out=tally.chains.left_out() if tally.chains else 0,
        timeline=_timeline(runs, tally, read.spans),
        switches=_switches(runs),
        versions=UNSET if versions is None else _declared(versions),
        evidence=evidence,
        options=report_options(tally.statistics.options, taken),
        kinds=report_kinds(tally.statistics.kinds),
        parts=report_parts(tally.statistics.parts),
        null_values=report_null_values(tally, catalogue, options),
        schemas=report_schemas(timeline),
        profile=report_profile(tally) if profiled else UNSET,
    )


def check_ledger(tally: Tally, spans: Spans) -> None:
    """Check that every record read is counted once, and no more than the range holds. Raises LedgerError if not."""
    for source, counts in sorted(tally.partitions.items()):
        parts = counts.conforming + counts.control + counts.tombstone + counts.quarantined + counts.excluded
        span = spans.get(source)
        if counts.read != parts or (span is not None and counts.read > span.end - span.start - span.skipped):
            raise LedgerError(
                f"the ledger does not add up: read {counts.read}, accounted for {parts}",
                where=f"{source.topic} partition {source.partition}",
                hint="This is a bug in cdc-contracts: please report it with the command you ran.",
            )


def _ledger(tally: Tally, spans: Spans, contradicted: Counter[Source]) -> Ledger:
    check_ledger(tally, spans)
    partitions = []
    for source in sorted({*tally.partitions, *spans}):
        counts = tally.partitions.get(source, PartitionTally())
        start, end = _window(tally, spans, source)
        partitions.append(
            PartitionLedger(
                topic=source.topic,
                partition=source.partition,
                start=start,
                end=end,
                **_counts(counts, contradicted[source]),
                gaps=end - start - counts.read - (spans[source].skipped if source in spans else 0),
                first_timestamp=instant(counts.first_timestamp),
                last_timestamp=instant(counts.last_timestamp),
            )
        )
    total = PartitionTally()
    for counts in tally.partitions.values():
        total.merge(counts)
    return Ledger(**_counts(total, contradicted.total()), partitions=tuple(partitions))


def _counts(counts: PartitionTally, contradicted: int) -> dict[str, int]:
    """Return counts as a ledger has them: what was read by a refuted version does not count as conforming."""
    names = ("read", "control", "tombstone", "quarantined", "excluded", "changes")
    return {
        **{name: getattr(counts, name) for name in names},
        "conforming": counts.conforming - contradicted,
        "contradicted": contradicted,
    }


def _versions_seen(tally: Tally, catalogue: Catalogue, subjects: Iterable[str]) -> dict[str, int]:
    references = [version.reference for subject in dict.fromkeys(subjects) for version in catalogue.versions(subject)]
    return {reference: tally.seen[reference] for reference in references}


def _others(tally: Tally) -> OtherFindings:
    """Count the findings that are not kept, and their records."""
    kept = sum(finding.count for finding in tally.findings.values())
    return OtherFindings(findings=len(tally.folded), records=tally.total_findings - kept)


def _unproven(found: Unproven) -> UnprovenVersion:
    if found.place is None:
        return UnprovenVersion(found.contract, found.others, found.records)
    topic, partition, within = found.place
    return UnprovenVersion(found.contract, found.others, found.records, topic, partition, *_bounds(within))


def _chains(found: ChainEvidence) -> ReportedChains:
    return ReportedChains(
        topic=found.line.topic,
        partition=found.line.partition,
        links={versions[-1]: links for versions, links in zip(found.readings, found.links, strict=True)},
        torn=found.torn,
        doubtful=found.doubtful,
        stretches=tuple(
            ReportedStretch(
                contract=stretch.contract,
                links=stretch.links,
                records=stretch.records,
                first_offset=stretch.first.offset,
                last_offset=stretch.last.offset,
                first_timestamp=instant(stretch.first.timestamp),
                last_timestamp=instant(stretch.last.timestamp),
                proven=stretch.proven,
            )
            for stretch in found.stretches
        ),
        states={versions[-1]: votes for versions, votes in zip(found.readings, found.states, strict=True)},
        pairs={
            versions[-1]: ReportedPair("link" if pair.neighbours else "state", (_place(pair.one), _place(pair.other)))
            for versions, pair in zip(found.readings, found.pairs, strict=True)
            if pair is not None
        },
    )


def _place(place: ChangePlace) -> ReportedPlace:
    return ReportedPlace(*place)


def _timeline(by_source: Mapping[Source, list[Run]], tally: Tally, spans: Spans) -> tuple[PartitionTimeline, ...]:
    return tuple(
        PartitionTimeline(
            *source,
            *_window(tally, spans, source),
            cut=len(runs) > _MOST_RUNS,
            runs=tuple(
                ReportedRun(
                    contract=run.version,
                    records=run.records,
                    first_offset=run.first,
                    last_offset=run.last,
                    first_timestamp=instant(run.first_timestamp),
                    last_timestamp=instant(run.last_timestamp),
                    certain_from=UNSET if run.certain is None or run.certain[0] == run.first else run.certain[0],
                    certain_to=UNSET if run.certain is None or run.certain[1] == run.last else run.certain[1],
                )
                for run in runs[:_MOST_RUNS]
            ),
        )
        for source, runs in sorted(by_source.items())
    )


def _switches(by_source: Mapping[Source, list[Run]]) -> tuple[VersionSwitch, ...]:
    return tuple(
        VersionSwitch(
            topic=source.topic,
            partition=source.partition,
            old=before.version,
            new=after.version,
            after=before.last,
            at=after.first,
            after_timestamp=instant(before.last_timestamp),
            at_timestamp=instant(after.first_timestamp),
        )
        for source, runs in sorted(by_source.items())
        for before, after in pairwise(runs[:_MOST_RUNS])
    )


def _declared(versions: VersionRanges) -> tuple[DeclaredRange, ...]:
    """Return ranges that declare versions as a versions file writes them; partition None is every other one."""
    return tuple(
        DeclaredRange(topic, partition, *_bounds(one), one.contract, dict(one.options) or UNSET)
        for (topic, partition), result in versions.places.items()
        for one in result
    )


def _bounds(within: VersionRange) -> tuple[int | str | None, int | str | None]:
    """Return where a range begins and ends, as offsets or as times."""
    start, end = within.start, within.end
    return (instant(start), instant(end)) if within.unit == TIMES else (start, end)


def _window(tally: Tally, spans: Spans, source: Source) -> tuple[int, int]:
    """Return the range of a partition, or what was read of it if no range is given."""
    if source in spans:
        return spans[source].start, spans[source].end
    counts = tally.partitions.get(source, PartitionTally())
    return counts.first_offset or 0, (-1 if counts.last_offset is None else counts.last_offset) + 1


def _sampled(spans: Spans) -> dict[Source, tuple[int, int]]:
    """Return the number of offsets of each partition, and how many of them slices have."""
    lengths = {source: span.end - span.start for source, span in spans.items()}
    return {source: (length, length - spans[source].skipped) for source, length in lengths.items()}


def _coverage(tally: Tally, ranges: ReadRange) -> RangeCoverage:
    spans = ranges.wanted or ranges.spans
    windows = [_window(tally, spans, source) for source in {*tally.partitions, *spans}]
    read = sum(counts.read for counts in tally.partitions.values())
    slices = report_slices(tally, _sampled(ranges.spans)) if ranges.sample and not ranges.stopped else UNSET
    return RangeCoverage(read=read, of=sum(end - start for start, end in windows), sample=ranges.sample, slices=slices)
