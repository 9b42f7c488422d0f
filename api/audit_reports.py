"""Audit reports: the published JSON report as a Python value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdc_contracts.api.results import AuditReport, ReportedDrift


def read_report(document: Mapping[str, Any]) -> AuditReport:
    """Return a report from its JSON document."""
    ledger = document["ledger"]
    return AuditReport(
        verdict=document["verdict"],
        contract=document["contract"],
        read=ledger["read"],
        conforming=ledger["conforming"],
        control=ledger["control"],
        tombstones=ledger["tombstone"],
        quarantined=ledger["quarantined"],
        changes=ledger["changes"],
        findings=tuple(map(_read_finding, document["findings"])),
        _document=document,
    )


def _read_finding(found: Mapping[str, Any]) -> ReportedDrift:
    first = found["first"]
    return ReportedDrift(
        rule=found["rule"],
        drift_class=found["class"],
        severity=found["severity"],
        path=found["path"],
        expected=found["expected"],
        observed=", ".join(found["observed"]),
        table=found["table"],
        count=found["count"],
        denominator=found["denominator"],
        first=(first["topic"], first["partition"], first["offset"]),
        action=found["action"],
    )
