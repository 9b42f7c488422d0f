"""Baseline: the findings that are known, so that a run reports only what is new.

The file is JSON, sorted, one finding a block, so that it is readable in a review and changes little from run to run. A
finding is identified by its fingerprint; its count does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.common.exit_codes import INCONCLUSIVE
from cdc_contracts.registry.common.thresholds import split_words, verdict_of
from cdc_contracts.registry.report.finding_causes import fingerprints_of
from cdc_contracts.registry.report.report_model import KnownFindings, Report
from cdc_contracts.registry.report.reported_findings import ColumnFinding, ReportedFinding

BASELINE_VERSION: Final = 1
_DEFAULT_FAIL_ON: Final = ("warning",)


@dataclass(frozen=True)
class Baseline:
    """The name of the file, and the fingerprints it holds."""

    file: str
    fingerprints: frozenset[str]


def read_baseline(path: Path) -> Baseline:
    """Return a baseline that an earlier run wrote. Raises UsageError if there is none, or it is another file."""
    hint = "write one with --write-baseline"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        version = document["baseline_version"]
        fingerprints = frozenset(str(one["fingerprint"]) for one in document["findings"])
    except OSError as error:
        raise UsageError(f"the baseline cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError("this is not a baseline", where=str(path), hint=hint) from error
    if version != BASELINE_VERSION:
        raise UsageError(
            f"this release does not support version {version} of the baseline format", where=str(path), hint=hint
        )
    return Baseline(str(path), fingerprints)


def render_baseline(report: Report) -> str:
    """Return the findings of a report as a baseline."""
    known = {}
    for finding in report.findings:
        if finding.fingerprint is UNSET:
            raise UsageError("an early release wrote this report: its findings have no fingerprint")
        known[finding.fingerprint] = _entry(finding, finding)
    for finding in report.findings:
        known |= {one.fingerprint: _entry(one, finding) for one in finding.columns or ()}
    found = sorted(known.values(), key=_order)
    document = {"baseline_version": BASELINE_VERSION, "findings": found}
    return json.dumps(document, indent=2) + "\n"


def leave_out_known(report: Report, baseline: Baseline) -> Report:
    """Return the report without the findings of the baseline, its verdict from the others.

    The ledger is unchanged: known findings were quarantined too.
    """
    findings = [one for one in report.findings if not baseline.fingerprints.issuperset(fingerprints_of(one))]
    known = len(report.findings) - len(findings)
    result = judge_again(report, findings, ",".join(report.fail_on or _DEFAULT_FAIL_ON))
    return replace(result, baseline=KnownFindings(baseline.file, known))


def judge_again(report: Report, findings: Sequence[ReportedFinding], fail_on: str) -> Report:
    """Return a report with some of its findings; its verdict follows from them and from what fails a run now."""
    verdict = verdict_of(
        ((one.name, one.severity) for one in findings),
        valued=report.ledger.valued,
        ambiguous=_is_ambiguous(findings) or _is_open(report),
        unproven=bool(report.unproven),
        fail_on=fail_on,
    )
    return replace(report, verdict=verdict, fail_on=tuple(split_words(fail_on)), findings=tuple(findings))


def _is_ambiguous(findings: Sequence[ReportedFinding]) -> bool:
    return any(one.name == "ambiguous" for one in findings)


def _is_open(report: Report) -> bool:
    """Return whether a run is inconclusive for a reason that is no finding, and so cannot be in a baseline.

    This is so if the contract was detected from a sample, and records of the range prove another version.
    """
    if report.verdict == INCONCLUSIVE and not _is_ambiguous(report.findings):
        return True
    if any(
        not stretch.proven and stretch.links > line.torn and stretch.contract != report.contract
        for line in report.chains or () if not line.doubtful and report.contract in line.links
        for stretch in line.stretches
    ):  # fmt: skip
        return True
    detection = report.detection
    if not detection or detection.version is None:
        return False
    runs = [run.contract for line in report.timeline or () for run in line.runs]
    return any(run != detection.reference and run.partition("@")[0] == detection.subject for run in runs)


def _entry(one: ReportedFinding | ColumnFinding, of: ReportedFinding) -> dict[str, str | None]:
    """Return the baseline's entry for a finding, or for one column of it."""
    return {
        "fingerprint": one.fingerprint or None,
        "class": of.name,
        "rule": one.rule,
        "path": one.path,
        "table": of.table,
    }


def _order(entry: Mapping[str, str | None]) -> tuple[str, ...]:
    return tuple(entry[key] or "" for key in ("class", "rule", "path", "table"))
