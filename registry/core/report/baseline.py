"""Baseline: the findings that are known, so that a run reports only what is new.

The file is JSON, sorted, one finding a block, so that it is readable in a review and changes little from run to run. A
finding is identified by its fingerprint; its count does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.report.recorded_evidence import (
    decide_again,
    evidence_of,
    fingerprints_by_table,
    fingerprints_in,
    threshold_of,
)
from cdc_contracts.registry.core.report.report_model import KnownFindings, OtherFindings, Report
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding

BASELINE_VERSION: Final = 1


@dataclass(frozen=True)
class Baseline:
    """The name of the file, and the fingerprints it holds."""

    file: str
    fingerprints: frozenset[str]


def read_baseline(path: Path) -> Baseline:
    """Return a baseline that an earlier run wrote. Raises UsageError if there is none, or it is another file."""
    hint = "Write one with --write-baseline."
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
    """Return the findings of a report as a baseline; of those that it does not list, the class and fingerprint."""
    known: dict[str, dict[str, str | None]] = {}
    for kind in evidence_of(report).findings:
        for fingerprint in kind.fingerprints:
            known[fingerprint] = {
                "fingerprint": fingerprint, "class": kind.name, "rule": None, "path": None, "table": None,
            }  # fmt: skip
    for finding in report.findings:
        if finding.fingerprint is UNSET:
            raise UsageError("an early release wrote this report: its findings have no fingerprint")
        known |= {entry["fingerprint"] or "": entry for entry in _entries(finding)}
    found = sorted(known.values(), key=_order)
    document = {"baseline_version": BASELINE_VERSION, "findings": found}
    return json.dumps(document, indent=2) + "\n"


def leave_out_known(report: Report, baseline: Baseline) -> Report:
    """Return the report without the findings of the baseline, its verdict from the others.

    The ledger is unchanged: known findings were quarantined too.
    """
    findings = tuple(
        _mark_known(one, baseline)
        for one in report.findings
        if not baseline.fingerprints.issuperset(fingerprints_in(one))
    )
    unlisted = evidence_of(report).fingerprints().difference(*map(fingerprints_in, report.findings))
    others = report.findings_other
    if others:
        new = len(unlisted - baseline.fingerprints)
        others = OtherFindings(findings=new if unlisted else others.findings, records=others.records)
    known = len(report.findings) - len(findings) + len(unlisted & baseline.fingerprints)
    result = decide_again(report, threshold_of(report), baseline.fingerprints)
    return replace(result, findings=findings, findings_other=others, baseline=KnownFindings(baseline.file, known))


def _mark_known(finding: ReportedFinding, baseline: Baseline) -> ReportedFinding:
    """Return a finding of which something is new, its known tables marked."""
    if not finding.tables:
        return finding
    by_table = fingerprints_by_table(finding)
    tables = tuple(
        replace(one, known=True) if baseline.fingerprints.issuperset(by_table[one.table]) else one
        for one in finding.tables
    )
    return replace(finding, tables=tables)


def _entries(finding: ReportedFinding) -> Iterator[dict[str, str | None]]:
    """Yield the baseline's entries for a finding: one for each column of each table."""
    columns = [(one.rule, one.path) for one in finding.columns or ()] or [(finding.rule, finding.path)]
    for table, fingerprints in fingerprints_by_table(finding).items():
        for fingerprint, (rule, path) in zip(fingerprints, columns, strict=True):
            yield {"fingerprint": fingerprint, "class": finding.name, "rule": rule, "path": path, "table": table}


def _order(entry: Mapping[str, str | None]) -> tuple[str, ...]:
    return tuple(entry[key] or "" for key in ("class", "rule", "path", "table", "fingerprint"))
