"""Report as JUnit XML, as narrow as the schema that Jenkins checks reports with (junit-10).

A finding that fails the run is a failed test; one that does not is a passed test whose output is the finding. The first
test is the run itself: it is in error if the run was inconclusive or stopped, so that a topic that was not read never
appears as passed.
"""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree as ET

from msgspec import UNSET

from cdc_contracts.registry.core.common.exit_codes import INCONCLUSIVE
from cdc_contracts.registry.core.common.safe_text import sentence, visible, visible_lines
from cdc_contracts.registry.core.common.thresholds import parse_threshold
from cdc_contracts.registry.core.report.finding_wording import (
    began_words,
    column_lines,
    command,
    contrast_words,
    explained_words,
    frequency,
    observed_words,
    onset_words,
    subject_line,
    table_words,
)
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.report_wording import COUNTS, headline, notes, source_words
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding

_RUN: Final = "every message was validated"


def render_junit(report: Report) -> str:
    """Return the report as JUnit XML."""
    threshold = parse_threshold(",".join(report.fail_on or ("warning",)))
    unsettled = report.verdict == INCONCLUSIVE or bool(report.stopped)
    failing = [threshold.fails(one.name, one.severity) for one in report.findings]
    totals = {"tests": str(1 + len(failing)), "failures": str(sum(failing)), "errors": str(int(unsettled))}
    root = ET.Element("testsuites", {"name": "cdc-contracts audit", **totals})
    suite = ET.SubElement(root, "testsuite", {"name": source_words(report), **totals, "skipped": "0"})
    _properties(suite, report)
    _run(suite, report, unsettled=unsettled)
    for finding, fails in zip(report.findings, failing, strict=True):
        _finding(suite, finding, fails=fails)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(suite: ET.Element, report: Report) -> None:
    properties = ET.SubElement(suite, "properties")
    ledger = report.ledger
    counts = {name: str(count) for name in COUNTS if (count := getattr(ledger, name)) is not UNSET}
    for name, value in {"tool": report.tool, "contract": report.contract, "verdict": report.verdict, **counts}.items():
        if value:
            ET.SubElement(properties, "property", {"name": name, "value": visible(value)})


def _run(suite: ET.Element, report: Report, *, unsettled: bool) -> None:
    case = ET.SubElement(suite, "testcase", {"name": _RUN, "classname": "run"})
    result = "\n".join([headline(report), *notes(report)])
    if unsettled:
        kind = report.stopped or report.verdict
        error = ET.SubElement(case, "error", {"type": visible(kind), "message": headline(report)})
        error.text = result
    else:
        ET.SubElement(case, "system-out").text = result


def _finding(suite: ET.Element, finding: ReportedFinding, *, fails: bool) -> None:
    name = f"{finding.name} {finding.rule} {subject_line(finding)}"
    case = ET.SubElement(
        suite, "testcase", {"name": visible(name, most=None), "classname": visible(finding.contract or finding.name)}
    )
    result = "\n".join(f"{title}: {text}" for title, text in _facts(finding) if text)
    if fails:
        message = f"{frequency(finding)}: {contrast_words(finding)}"
        ET.SubElement(case, "failure", {"type": visible(finding.name), "message": message}).text = result
    else:
        ET.SubElement(case, "system-out").text = result


def _facts(finding: ReportedFinding) -> list[tuple[str, str | None]]:
    example = finding.example
    return [
        ("why", sentence(finding.explanation or "")),
        ("count", frequency(finding)),
        ("onset", onset_words(finding)),
        ("tables", table_words(finding)),
        ("columns", "\n".join(column_lines(finding))),
        ("expected", None if finding.columns else visible(finding.expected)),
        ("observed", None if finding.columns else observed_words(finding)),
        ("explained by", explained_words(finding)),
        ("began with", began_words(finding)),
        ("similar", ", ".join(visible(name) for name in finding.similar or ())),
        ("example", "\n".join(visible_lines(example.message)) if example else None),
        ("source", visible(finding.document or "")),
        ("fix", sentence(finding.action)),
        ("reproduce", visible(command(finding) or "", most=None)),
    ]
