"""Combined reports: topics validated against different contracts are one run with one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.recorded_evidence import evidence_of, threshold_of
from cdc_contracts.registry.core.report.report_model import (
    DeclaredRange,
    Ledger,
    OtherFindings,
    PartitionLedger,
    PartitionTimeline,
    RangeCoverage,
    Report,
    ReportedChains,
    ReportSource,
    VersionSwitch,
)
from cdc_contracts.registry.core.report.reported_findings import weight
from cdc_contracts.registry.core.report.reported_kinds import ReportedKind
from cdc_contracts.registry.core.report.reported_null_values import join_null_values
from cdc_contracts.registry.core.report.reported_options import ReportedOption
from cdc_contracts.registry.core.report.reported_parts import ReportedParts
from cdc_contracts.registry.core.report.reported_profile import ReportedTopic
from cdc_contracts.registry.core.report.reported_schemas import join_schemas
from cdc_contracts.registry.core.report.reported_slices import join_slices
from cdc_contracts.registry.core.stats.run_evidence import join_evidence
from cdc_contracts.registry.core.stats.run_verdict import decide_run
from cdc_contracts.registry.core.stats.second_parts import MOST_COLUMNS

P = TypeVar("P", PartitionLedger, PartitionTimeline, ReportedChains, VersionSwitch)
T = TypeVar("T", ReportedOption, ReportedKind, ReportedParts, ReportedTopic)


def combine_reports(reports: Sequence[Report]) -> Report:
    """Return the report of a whole run from those of its parts, each of other topics with a contract of its own.

    What was counted is added; findings stay apart by contract, each with its own denominator.
    """
    first = reports[0]
    if len(reports) == 1:
        return first
    evidence = join_evidence([evidence_of(report) for report in reports])
    contracts = list(dict.fromkeys(report.contract for report in reports))
    return replace(
        first,
        source=_source(reports),
        contract=", ".join(contracts),
        verdict=decide_run(evidence, threshold_of(first)).verdict,
        detection=None,
        coverage=_coverage([report.coverage for report in reports if report.coverage]),
        stopped=next((report.stopped for report in reports if report.stopped), None),
        ledger=_ledger([report.ledger for report in reports]),
        findings=tuple(sorted((finding for report in reports for finding in report.findings), key=weight)),
        findings_cut=any(report.findings_cut for report in reports),
        findings_other=_others([report.findings_other for report in reports if report.findings_other]),
        versions_seen=_sum(report.versions_seen for report in reports),
        versions_undecided=sum(report.versions_undecided for report in reports),
        unproven=tuple(one for report in reports for one in report.unproven or ()),
        chains=_joined(report.chains or () for report in reports),
        chains_left_out=sum(report.chains_left_out or 0 for report in reports),
        timeline=_joined(report.timeline or () for report in reports),
        switches=_joined(report.switches for report in reports),
        versions=_ranges(reports),
        evidence=evidence,
        options=_by_topic(report.options or () for report in reports) or UNSET,
        kinds=_by_topic(report.kinds or () for report in reports) or UNSET,
        parts=_by_topic(report.parts or () for report in reports)[:MOST_COLUMNS] or UNSET,
        null_values=join_null_values(report.null_values for report in reports if report.null_values),
        schemas=join_schemas(report.schemas for report in reports if report.schemas),
        profile=_profiles(reports),
    )


def _ranges(reports: Sequence[Report]) -> tuple[DeclaredRange, ...] | UnsetType:
    """Return the ranges that declare versions, where some part of the run was validated by them."""
    ranges = tuple(one for report in reports for one in report.versions or ())
    return ranges if any(report.versions is not UNSET for report in reports) else UNSET


def _profiles(reports: Sequence[Report]) -> tuple[ReportedTopic, ...] | UnsetType:
    """Return the profiles of all topics, in order of their names."""
    wanted = any(report.profile is not UNSET for report in reports)
    return _by_topic(report.profile or () for report in reports) if wanted else UNSET


def _source(reports: Sequence[Report]) -> ReportSource:
    sources = [report.source for report in reports]
    by_topic = {topic: report for report in reports for topic in report.source.topics or ()}
    known = {topic: one for source in sources for topic, one in (source.detections or {}).items()}
    found = {topic: report.detection for topic, report in by_topic.items() if report.detection} | known
    return replace(
        sources[0],
        topics=tuple(topic for source in sources for topic in source.topics or ()),
        ranges={topic: found for source in sources for topic, found in (source.ranges or {}).items()},
        contracts={topic: name_contract(report.contract, found.get(topic)) for topic, report in by_topic.items()},
        detections=found or UNSET,
    )


def with_detections(report: Report, found: Mapping[str, ReportedDetection]) -> Report:
    """Return the report of several topics that were read by one contract, with what was detected in each of them."""
    if not found:
        return report
    contracts = {topic: name_contract(report.contract, one) for topic, one in found.items()}
    return replace(report, detection=None, source=replace(report.source, contracts=contracts, detections=dict(found)))


def name_contract(declared: str, found: ReportedDetection | None) -> str:
    """Return the contract of a topic, declared or detected."""
    if found is None:
        return declared
    return f"{declared}: {found.reference or (found.verdict if found.messages else 'no messages')}"


def _coverage(parts: Sequence[RangeCoverage]) -> RangeCoverage:
    return replace(
        parts[0],
        read=sum(one.read for one in parts),
        of=sum(one.of for one in parts),
        slices=join_slices(one.slices for one in parts if one.of),
    )


def _ledger(parts: Sequence[Ledger]) -> Ledger:
    *names, _ = Ledger.__struct_fields__
    counts = {name: sum(getattr(one, name) or 0 for one in parts) for name in names}
    return Ledger(**counts, partitions=_joined(one.partitions for one in parts))


def _others(parts: Sequence[OtherFindings]) -> OtherFindings:
    known = [one.findings for one in parts if one.findings is not None]
    return OtherFindings(
        findings=sum(known) if len(known) == len(parts) else None, records=sum(one.records for one in parts)
    )


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _by_topic(parts: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """Return the entries of topics, each of which is in one part, in order of their names."""
    return tuple(sorted((one for part in parts for one in part), key=lambda one: one.topic))


def _joined(parts: Iterable[Iterable[P]]) -> tuple[P, ...]:
    """Return the entries of partitions, in their order."""
    return tuple(sorted((one for part in parts for one in part), key=lambda one: (one.topic, one.partition)))
