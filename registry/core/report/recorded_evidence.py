"""Recorded evidence: what the verdict of a report follows from, also of a report that an earlier release wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.core.common.exit_codes import INCONCLUSIVE
from cdc_contracts.registry.core.common.thresholds import split_words
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey
from cdc_contracts.registry.core.stats.run_evidence import FindingsOfClass, RunEvidence, VersionObjection, join_findings
from cdc_contracts.registry.core.stats.run_verdict import NOTHING_KNOWN, decide_run
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS

_DEFAULT_FAIL_ON: Final = ("warning",)


def threshold_of(report: Report) -> str:
    """Return what failed the run of a report, as `--fail-on` takes it."""
    return ",".join(report.fail_on or _DEFAULT_FAIL_ON)


def decide_again(report: Report, fail_on: str, known: frozenset[str] = NOTHING_KNOWN) -> Report:
    """Return a report with the verdict that follows from its evidence and from what fails a run now."""
    verdict = decide_run(evidence_of(report), fail_on, known).verdict
    return replace(report, verdict=verdict, fail_on=tuple(split_words(fail_on)))


def with_findings(report: Report, findings: Sequence[ReportedFinding]) -> RunEvidence:
    """Return the evidence of a report together with more findings."""
    evidence = evidence_of(report)
    more = (FindingsOfClass(one.name, one.severity, tuple(fingerprints_in(one))) for one in findings)
    return replace(evidence, findings=join_findings([*evidence.findings, *more]))


def fingerprints_in(finding: ReportedFinding) -> list[str]:
    """Return the fingerprints of all findings that one stands for, its own first; the first release wrote none."""
    return list(dict.fromkeys(one for ones in fingerprints_by_table(finding).values() for one in ones))


def fingerprints_by_table(finding: ReportedFinding) -> dict[str | None, list[str]]:
    """Return the fingerprints that a finding stands for by table, those of the columns of each in order."""
    columns = [(one.rule, one.path) for one in finding.columns or ()] or [(finding.rule, finding.path)]
    if finding.tables:
        return {
            one.table: [FindingKey(finding.name, *column, one.table).fingerprint for column in columns]
            for one in finding.tables
        }
    own = finding.fingerprint
    if own is UNSET:
        own = FindingKey(finding.name, finding.rule, finding.path, finding.table).fingerprint
    return {finding.table: list(dict.fromkeys([own, *(one.fingerprint for one in finding.columns or ())]))}


def evidence_of(report: Report) -> RunEvidence:
    """Return the evidence of a report. Earlier releases recorded none: theirs follows from the lists of the report."""
    if report.evidence is not UNSET:
        return report.evidence
    listed = replace(report, evidence=RunEvidence(valued=report.ledger.valued))
    ambiguous = sum(one.count for one in report.findings if one.name == AMBIGUOUS)
    return replace(
        with_findings(listed, report.findings),
        ambiguous=ambiguous,
        unlisted=report.findings_cut and report.ledger.quarantined > 0,
        unproven=bool(report.unproven),
        objections=tuple(_objections(report)),
        stopped=report.verdict == INCONCLUSIVE and not ambiguous and report.ledger.valued > 0,
    )


def _objections(report: Report) -> Iterator[VersionObjection]:
    """Yield what the report of an earlier release has against its versions and does not list as a finding."""
    for line in report.chains or ():
        for stretch in line.stretches if not line.doubtful and report.contract in line.links else ():
            if not stretch.proven and stretch.links > line.torn and stretch.contract != report.contract:
                yield VersionObjection(report.contract, f"row changes support {stretch.contract}", 0, reported=False)
    detection = report.detection
    if detection and detection.version is not None:
        runs = [run.contract for line in report.timeline or () for run in line.runs]
        for run in dict.fromkeys(runs):
            if run != detection.reference and run.partition("@")[0] == detection.subject:
                yield VersionObjection(f"{detection.reference}", f"messages prove {run}", 0, reported=False)
