"""Profile baseline: an earlier report, and what has changed since in the profile of a topic, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import CLASSES, Severities, rule_id
from cdc_contracts.registry.core.report.drift_meaning import explain_drift
from cdc_contracts.registry.core.report.profile_changes import ProfileChange, compare_profiles
from cdc_contracts.registry.core.report.recorded_evidence import decide_again, threshold_of, with_findings
from cdc_contracts.registry.core.report.report_model import PartitionLedger, Report
from cdc_contracts.registry.core.report.reported_findings import (
    FindingExtent,
    FindingOnset,
    ReportedFinding,
    ReportedMoment,
    Severity,
    weight,
)
from cdc_contracts.registry.core.report.reported_profile import ReportedLag, ReportedTable, ReportedTopic
from cdc_contracts.registry.core.report.stored_reports import read_report
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey
from cdc_contracts.registry.core.stats.topic_profiles import (
    MOST_BUCKET,
    ColumnProfile,
    LagLine,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
)

PROFILE_CHANGE: Final = "profile-change"
MOST_CHANGES: Final = 1_000


@dataclass(frozen=True)
class ProfileBaseline:
    """The profiles of an earlier report, the subjects of its contracts, and the severity of changes since."""

    file: str
    topics: tuple[ReportedTopic, ...]
    subjects: frozenset[str]
    severity: str

    def check(self, declared: str) -> None:
        """Raise UsageError if the report is of another contract than the one that is declared now."""
        subjects = {one.partition("@")[0] for one in declared.split(", ")} - {"auto"}
        if subjects and self.subjects and not subjects & self.subjects:
            raise UsageError(
                f"the baseline report is of {', '.join(sorted(self.subjects))}, not of {declared}",
                where=self.file,
                hint="Compare with a report of the same contract; its versions may differ.",
            )


def read_profile_baseline(path: Path, severities: Severities) -> ProfileBaseline:
    """Return the profiles of a report. Raises as `read_report`, and UsageError if the report has none."""
    report = read_report(path)
    if report.profile is UNSET:
        raise UsageError(
            "this report has no profile", where=str(path), hint="Write one with `audit --profile --report FILE.json`."
        )
    versions = {table.contract for topic in report.profile for table in topic.tables}
    declared = {one for one in report.contract.split(", ") if one != "auto"}
    subjects = frozenset(one.partition("@")[0] for one in versions | declared)
    return ProfileBaseline(str(path), report.profile, subjects, severities.of(PROFILE_CHANGE))


def add_profile_changes(report: Report, baseline: ProfileBaseline) -> Report:
    """Return the report with a finding for each change of its profile; the verdict heeds them.

    Topics are compared by name; if the reports have none in common, as with files of two days, all of one report with
    all of the other.
    """
    changes = [
        (topics, change)
        for topics, before, now in _pairs(baseline.topics, report.profile or ())
        for change in compare_profiles(before, now)
    ]
    found = [_finding(report, baseline, topics, change) for topics, change in changes]
    validated = replace(report, evidence=with_findings(report, found))
    return replace(
        decide_again(validated, threshold_of(report)),
        findings=tuple(sorted([*report.findings, *found[:MOST_CHANGES]], key=weight)),
        findings_cut=report.findings_cut or len(changes) > MOST_CHANGES,
    )


def _pairs(
    before: Sequence[ReportedTopic], now: Sequence[ReportedTopic]
) -> Iterator[tuple[list[str], TopicProfiles, TopicProfiles]]:
    """Yield what is compared with what, with the topics that it is about."""
    known = {topic.topic: topic for topic in before}
    common = [topic for topic in now if topic.topic in known]
    if common:
        for topic in common:
            yield [topic.topic], _joined([known[topic.topic]]), _joined([topic])
    else:
        yield [topic.topic for topic in now], _joined(before), _joined(now)


def _joined(topics: Sequence[ReportedTopic]) -> TopicProfiles:
    """Return the profiles of topics as those of one."""
    profiles = TopicProfiles()
    for topic in topics:
        for one in topic.tables:
            profiles.add(ProfiledTable("", one.table, one.contract), _table(one))
        profiles.rows[""] = profiles.rows.get("", 0) + topic.other_rows
        for lag in topic.lag:
            profiles.add_lag(LagLine("", lag.until), _lag(lag))
    return profiles


def _table(one: ReportedTable) -> TableProfile:
    columns = {
        column.name: ColumnProfile(
            one.rows - column.absent, column.nulls, column.texts, column.empty, column.replaced, column.characters,
            column.shortest, column.longest,
        )
        for column in one.columns
    }  # fmt: skip
    values = sum(column.present for column in columns.values()) + one.other_values
    return TableProfile(one.rows, values, dict(one.ops), columns)


def _lag(lag: ReportedLag) -> LagProfile:
    buckets = {_bucket(bucket.below): bucket.messages for bucket in lag.buckets}
    return LagProfile(lag.messages, lag.unknown, lag.least, lag.most, buckets)


def _bucket(below: int | None) -> int:
    return MOST_BUCKET if below is None else below.bit_length() - 1


def _finding(
    report: Report, baseline: ProfileBaseline, topics: Sequence[str], change: ProfileChange
) -> ReportedFinding:
    rule = rule_id(PROFILE_CHANGE, change.cause)
    identity = f"{change.path}\x1f{change.contract}" if change.contract else change.path
    partitions = [one for one in report.ledger.partitions if one.topic in topics and one.read]
    first, last = partitions[0], partitions[-1]
    return ReportedFinding(
        rule=rule,
        name=PROFILE_CHANGE,
        severity=cast("Severity", baseline.severity),
        path=change.path,
        table=change.table,
        op=None,
        ops={},
        count=change.rows,
        denominator=change.of,
        first=_moment(first, first.start, first.first_timestamp),
        last=_moment(last, last.end - 1, last.last_timestamp),
        partitions=tuple(FindingExtent(one.topic, one.partition, 0, one.start, one.end - 1) for one in partitions),
        expected=change.expected,
        observed=(change.observed,),
        document=None,
        action=CLASSES[PROFILE_CHANGE].action,
        fingerprint=FindingKey(PROFILE_CHANGE, rule, identity, change.table).fingerprint,
        contract=change.contract,
        explanation=explain_drift(PROFILE_CHANGE, rule, (change.expected,), (change.observed,)),
        onset=FindingOnset("sporadic", ()),
        histogram=(),
        similar=(),
        explained_by=None,
        example=None,
        reproduce=None,
    )


def _moment(one: PartitionLedger, offset: int, timestamp: str | None) -> ReportedMoment:
    return ReportedMoment(one.topic, one.partition, offset, timestamp)
