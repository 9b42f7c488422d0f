"""Reports as the documents that machines read: tests give and assert these, and the product gets its models."""

import dataclasses
import functools
import json

import msgspec

from cdc_contracts.registry.core.report import (
    audit_report,
    baseline,
    combined_reports,
    report_wording,
    version_proposals,
)
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange
from cdc_contracts.registry.core.report.html_page import render_page as _render_page
from cdc_contracts.registry.core.report.report_formats import write_reports as _write_reports
from cdc_contracts.registry.core.report.report_junit import render_junit as _render_junit
from cdc_contracts.registry.core.report.report_markdown import render_markdown as _render_markdown
from cdc_contracts.registry.core.report.report_model import Report, ReportSource
from cdc_contracts.registry.core.report.stored_reports import write_document

_COUNTS = ("read", "conforming", "control", "tombstone", "quarantined", "excluded", "changes")
LEDGER = dict.fromkeys(_COUNTS, 0) | {"partitions": []}
_LEAST = {
    "report_version": 2,
    "tool": "cdc-contracts",
    "source": {"kind": "kafka"},
    "contract": "dts/canal",
    "fail_on": ["warning"],
    "verdict": "pass",
    "detection": None,
    "coverage": {"read": 0, "of": 0, "sample": None},
    "stopped": None,
    "baseline": None,
    "ledger": LEDGER,
    "findings": [],
    "findings_cut": False,
    "findings_other": {"findings": 0, "records": 0},
    "versions_seen": {},
    "versions_undecided": 0,
    "timeline": [],
    "switches": [],
}


def document_of(report):
    """Return a report as who reads its JSON has it."""
    return json.loads(json.dumps(write_document(report)))


def report_of(document):
    """Return the report that a document describes; what a test does not say is as in a report of nothing."""
    least = _LEAST if document.get("report_version", 2) == 2 else {}
    return msgspec.convert(least | document, Report)


def build_report(tally, *, source=None, spans, **asked):
    """The JSON of a report; what is asked for by name goes to the contract, to the range, or to the report itself."""
    described = msgspec.convert(source or {"kind": "kafka"}, ReportSource)
    applied, read = (
        {one.name: asked.pop(one.name) for one in dataclasses.fields(group) if one.name in asked}
        for group in (AppliedContract, ReadRange)
    )
    report = audit_report.build_report(tally, AppliedContract(**applied), ReadRange(described, spans, **read), **asked)
    return document_of(report)


def _with_documents(function):
    @functools.wraps(function)
    def called(report, *rest, **named):
        given = [report_of(one) for one in report] if isinstance(report, list) else report_of(report)
        result = function(given, *rest, **named)
        return document_of(result) if isinstance(result, Report) else result

    return called


combine_reports = _with_documents(combined_reports.combine_reports)
headline = _with_documents(report_wording.headline)
leave_out_known = _with_documents(baseline.leave_out_known)
notes = _with_documents(report_wording.notes)
propose_versions = _with_documents(version_proposals.propose_versions)
render_baseline = _with_documents(baseline.render_baseline)
render_junit = _with_documents(_render_junit)
render_markdown = _with_documents(_render_markdown)
render_page = _with_documents(_render_page)
write_reports = _with_documents(_write_reports)
